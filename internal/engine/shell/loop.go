package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxRounds is how many items of a for loop are followed one by one.
const maxRounds = 64

func (w *walker) ifClause(states []*state, cl *syntax.IfClause, c ctx) []*state {
	if len(cl.Cond) == 0 {
		// The final else.
		return w.run(states, cl.Then, c)
	}
	cond := c
	cond.cond = true
	var yes, no, out []*state
	tested := w.run(states, cl.Cond, cond)
	for _, s := range tested {
		switch {
		case s.flow != flowNext:
			out = append(out, s)
		case s.status == statusOK:
			yes = append(yes, s)
		case s.status == statusFailed:
			no = append(no, s)
		default:
			yes, no = append(yes, s), append(no, s)
		}
	}
	if len(yes) == 0 {
		w.unreached(tested, cl.Then, c)
	}
	out = append(out, w.run(yes, cl.Then, c)...)
	if cl.Else != nil {
		if len(no) == 0 && len(tested) > 0 {
			ghost := *tested[0]
			ghost.flow = flowNext
			w.ifClause([]*state{&ghost}, cl.Else, c)
		} else {
			out = append(out, w.ifClause(no, cl.Else, c)...)
		}
	} else {
		for _, s := range no {
			out = append(out, s.with(statusOK))
		}
	}
	return settle(out)
}

// while follows a body twice, then once more with everything unknown that it
// changed: whatever a later round does, that one covers.
func (w *walker) while(s *state, cl *syntax.WhileClause, c ctx) []*state {
	if endless(cl) {
		c.loop = true
	}
	return w.rounds(s, func(at *state) (again, done []*state) {
		cond := c
		cond.cond = true
		tested := w.run([]*state{at}, cl.Cond, cond)
		for _, x := range tested {
			goes, ends := x.status != statusFailed, x.status != statusOK
			if cl.Until {
				goes, ends = ends, goes
			}
			if x.flow != flowNext {
				done = append(done, x)
				continue
			}
			if ends {
				done = append(done, x)
			}
			if goes {
				again = append(again, w.run([]*state{x}, cl.Do, c)...)
			}
		}
		if len(again) == 0 {
			w.unreached(tested, cl.Do, c)
		}
		return again, done
	})
}

// rounds drives a loop whose number of rounds is not known. body returns the
// states after one round and those in which the loop has ended.
func (w *walker) rounds(s *state, body func(*state) (again, done []*state)) []*state {
	var out []*state
	entry := []*state{s}
	for round := range 3 {
		var next []*state
		for _, e := range entry {
			again, done := body(e)
			out = append(out, done...)
			for _, a := range again {
				switch a.flow {
				case flowNext, flowContinue:
					n := *a
					n.flow = flowNext
					next = append(next, &n)
				default:
					out = append(out, a)
				}
			}
		}
		next = settle(next)
		if len(next) == 0 || allSame(s, next) {
			out = append(out, next...)
			break
		}
		if round == 1 {
			wide := s
			for _, n := range next {
				wide = widen(wide, n)
			}
			next = []*state{wide}
		}
		if round == 2 {
			out = append(out, next...)
		}
		entry = next
	}
	for i, o := range out {
		if o.flow == flowBreak || o.flow == flowContinue {
			n := *o
			n.flow, n.status = flowNext, statusOK
			out[i] = &n
		}
	}
	return settle(out)
}

func allSame(s *state, states []*state) bool {
	for _, n := range states {
		if !s.sameWorld(n) {
			return false
		}
	}
	return true
}

// endless reports a loop whose condition cannot become false.
func endless(cl *syntax.WhileClause) bool {
	if len(cl.Cond) != 1 {
		return false
	}
	call, ok := cl.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		_, arith := cl.Cond[0].Cmd.(*syntax.ArithmCmd)
		return arith
	}
	switch call.Args[0].Lit() {
	case "true", ":", "/bin/true", "/usr/bin/true":
		return !cl.Until
	case "false":
		return cl.Until
	case "[", "test":
		return len(call.Args) == 3 && strings.Trim(call.Args[1].Lit(), "1") == ""
	}
	return false
}

func (w *walker) forClause(s *state, cl *syntax.ForClause, c ctx) []*state {
	switch loop := cl.Loop.(type) {
	case *syntax.WordIter:
		return w.forWords(s, cl, loop, c)
	case *syntax.CStyleLoop:
		c.loop = c.loop || loop.Cond == nil
		w.arithm(s, loop.Init, c)
		n := *s
		for _, x := range []syntax.ArithmExpr{loop.Init, loop.Post} {
			w.forgetAssigned(&n, x)
		}
		return w.rounds(&n, func(at *state) (again, done []*state) {
			x := *at
			w.arithm(&x, loop.Cond, c)
			again = w.run([]*state{&x}, cl.Do, c)
			for _, a := range again {
				w.arithm(a, loop.Post, c)
				w.forgetAssigned(a, loop.Post)
			}
			return again, []*state{&x}
		})
	}
	return []*state{s}
}

func (w *walker) forWords(s *state, cl *syntax.ForClause, loop *syntax.WordIter, c ctx) []*state {
	n := *s
	var items []Word
	if loop.InPos.IsValid() {
		items = w.fields(&n, loop.Items, c)
	} else if !n.argsOpen {
		items = n.args
	} else {
		items = []Word{unknownVar("@", FromPositional).words[0]}
	}
	name := loop.Name.Value
	open := cl.Select || len(items) > maxRounds
	for _, it := range items {
		open = open || it.HasUnknown()
	}
	if open {
		return w.forOpen(&n, cl, name, items, c)
	}
	states := []*state{&n}
	var ended []*state
	for _, it := range items {
		var next []*state
		for _, at := range states {
			x := *at
			x.setVar(name, scalar(it))
			for _, a := range w.run([]*state{&x}, cl.Do, c) {
				switch a.flow {
				case flowNext, flowContinue:
					m := *a
					m.flow = flowNext
					next = append(next, &m)
				case flowBreak:
					m := *a
					m.flow, m.status = flowNext, statusOK
					ended = append(ended, &m)
				default:
					ended = append(ended, a)
				}
			}
		}
		states = settle(next)
	}
	return settle(append(states, ended...))
}

// forOpen follows a loop over items that are not all certain: each kind of item
// once, then whatever the body changed as unknown.
func (w *walker) forOpen(s *state, cl *syntax.ForClause, name string, items []Word, c ctx) []*state {
	kinds := items
	if len(kinds) > maxRounds {
		kinds = append(kinds[:maxRounds:maxRounds], unknownVar(name, FromMerge).words[0])
		for _, it := range items[maxRounds:] {
			// A long list still names what it names: no path in it goes unseen.
			x := *s
			x.setVar(name, scalar(it))
			w.given(&x, name, c)
			w.run([]*state{&x}, cl.Do, c)
		}
	}
	var out []*state
	out = append(out, s)
	for _, it := range kinds {
		it := it
		out = append(out, w.rounds(s, func(at *state) (again, done []*state) {
			x := *at
			x.setVar(name, scalar(it))
			w.given(&x, name, c)
			again = w.run([]*state{&x}, cl.Do, c)
			for i, a := range again {
				m := *a
				m.setVar(name, unknownVar(name, FromMerge))
				again[i] = &m
			}
			return again, []*state{at}
		})...)
		out = settle(out)
	}
	return out
}

// caseClause follows every arm: a call is judged by all of its parts, whichever
// pattern would match.
func (w *walker) caseClause(s *state, cl *syntax.CaseClause, c ctx) []*state {
	n := *s
	w.value(&n, cl.Word, c)
	out := []*state{n.with(statusOK)}
	var through []*state
	for _, item := range cl.Items {
		for _, p := range item.Patterns {
			w.value(&n, p, c)
		}
		after := w.run(append(through, &n), item.Stmts, c)
		through = nil
		if item.Op == syntax.Fallthrough {
			through = after
		}
		out = append(out, after...)
	}
	return settle(out)
}

func (w *walker) define(s *state, fd *syntax.FuncDecl, c ctx) []*state {
	n := *s
	name := ""
	if fd.Name != nil {
		name = fd.Name.Value
	}
	fn := function{body: fd.Body, text: c.src}
	if name == "" {
		w.problem(Unparsed, 0, "a function without a name")
	} else {
		n.funcs = n.funcs.set(name, fn)
	}
	w.funcs = append(w.funcs, pending{name: name, fn: fn, at: &n, c: c})
	return []*state{n.with(statusOK)}
}
