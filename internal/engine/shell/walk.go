package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of a text (D30). Work is bounded apart from length, because loops
// and nested texts can multiply it.
const (
	MaxBytes = 64 << 10
	MaxDepth = 64

	maxSteps    = 200_000
	maxCommands = 50_000
)

// source is a text with its parse.
type source struct {
	text string
	file *syntax.File
	// base is added to line numbers, for texts inside a text.
	base uint
}

// walker follows one text. It is used once, by one goroutine.
type walker struct {
	opts   Options
	out    Script
	parser *syntax.Parser
	steps  int
	full   bool
	// salvaging: a broken text is being read for what it may still run.
	salvaging bool
	called    map[*syntax.Stmt]bool
	funcs     []pending
	// integers and keyed are the integers and associative arrays that were declared
	// anywhere in the text.
	integers, keyed map[string]bool
	// rewired says that exec moved descriptors somewhere in the text, so that read may
	// read anything.
	rewired bool
}

// pending is a function that may never be called.
type pending struct {
	name string
	fn   function
	at   *state
	c    ctx
}

// ctx is where in the text a command stands. It is passed by value.
type ctx struct {
	src    *source
	via    []string
	input  Input
	remote bool
	depth  int
	// piped: standard output goes into a pipe or substitution. forked: a process of
	// its own since the innermost function was called.
	piped      bool
	forked     bool
	background bool
	loop       bool
	// cond: a failure here does not end the script under set -e.
	cond  bool
	calls []string
	// plain: functions and aliases are bypassed.
	plain bool
	posix bool
}

func (c ctx) through(name string) ctx {
	via := make([]string, len(c.via), len(c.via)+1)
	copy(via, c.via)
	c.via = append(via, name)
	return c
}

// Read parses text and follows it. It never panics; what it cannot decide is
// among the problems of the result.
func Read(text string, o Options) (s Script) {
	w := &walker{opts: o, called: map[*syntax.Stmt]bool{}}
	defer func() {
		if r := recover(); r != nil {
			w.problem(Unparsed, 0, "the reader met a text it cannot follow")
			s = w.out
		}
	}()
	text, fatal := w.checkBytes(text)
	if fatal {
		return w.out
	}
	src := w.parse(text, 0, o.Dialect == POSIX)
	if src == nil {
		return w.out
	}
	if len(src.file.Stmts) == 0 {
		w.problem(Empty, 0, "there is nothing to run")
		return w.out
	}
	w.out.Commands = make([]Command, 0, 4+len(text)/20)
	start := &state{dir: place{o.Dir, o.Dir != ""}, posix: o.Dialect == POSIX}
	w.rewired = strings.Contains(text, "exec") // a loop may come to it later
	in := Input{Number: true}                  // the shell tool gives no input
	w.run([]*state{start}, src.file.Stmts, ctx{src: src, posix: o.Dialect == POSIX, input: in})
	w.uncalled()
	return w.out
}

func (w *walker) problem(k ProblemKind, line uint, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, p := range w.out.Problems {
		if p.Kind == k && p.Text == text {
			return
		}
	}
	w.out.Problems = append(w.out.Problems, Problem{Kind: k, Text: text, Line: line})
}

// uncalled follows functions that nothing called, because something else may.
func (w *walker) uncalled() {
	for i := 0; i < len(w.funcs); i++ {
		f := w.funcs[i]
		if w.called[f.fn.body] {
			continue
		}
		w.called[f.fn.body] = true
		s := *f.at
		s.args, s.argsOpen, s.flow = nil, true, flowNext
		c := f.c.through("function " + f.name)
		c.src, c.calls = f.fn.text, []string{f.name}
		w.stmt(&s, f.fn.body, c)
	}
}

// run follows statements one after another, from each state.
func (w *walker) run(states []*state, stmts []*syntax.Stmt, c ctx) []*state {
	for _, st := range stmts {
		var next []*state
		live := false
		for _, s := range states {
			if s.flow != flowNext {
				next = append(next, s)
				continue
			}
			live = true
			next = append(next, w.stmt(s, st, c)...)
		}
		if !live {
			w.unreached(states, []*syntax.Stmt{st}, c)
		}
		states = settle(next)
	}
	return states
}

// unreached follows statements that no way leads to: a call is judged by all of
// its parts (corpus, "a call made of parts").
func (w *walker) unreached(states []*state, stmts []*syntax.Stmt, c ctx) {
	if len(states) == 0 {
		return
	}
	ghost := *states[0]
	ghost.flow = flowNext
	at := []*state{&ghost}
	for _, st := range stmts {
		at = settle(w.stmt(at[0], st, c))
		if len(at) == 0 {
			return
		}
		g := *at[0]
		g.flow = flowNext
		at[0] = &g
	}
}

func (w *walker) stmt(s *state, st *syntax.Stmt, c ctx) []*state {
	w.steps++
	if w.steps > maxSteps || len(w.out.Commands) > maxCommands {
		if !w.full {
			w.full = true
			w.problem(TooMuch, 0, "the text does more than can be followed")
		}
		return []*state{s}
	}
	if st.Background || st.Coprocess || st.Disown {
		c.background, c.forked = true, true
		w.plain(s, st, c)
		return []*state{s.with(statusOK)}
	}
	if !st.Negated {
		return w.plain(s, st, c)
	}
	c.cond = true
	out := w.plain(s, st, c)
	for i, o := range out {
		switch o.status {
		case statusOK:
			out[i] = o.with(statusFailed)
		case statusFailed:
			out[i] = o.with(statusOK)
		case statusUnknown:
		}
	}
	return out
}

// plain follows a statement without its ! and &.
func (w *walker) plain(s *state, st *syntax.Stmt, c ctx) []*state {
	switch cmd := st.Cmd.(type) {
	case nil:
		n := *s
		cmdr := Command{Source: w.slice(c, st), Line: line(c, st)}
		cmdr.Redirs = w.redirs(&n, st.Redirs, &c)
		w.emit(&n, cmdr, c)
		return []*state{n.with(statusUnknown)}
	case *syntax.CallExpr:
		return w.errexit(w.call(s, st, cmd, c), c)
	case *syntax.DeclClause:
		return w.errexit(w.decl(s, st, cmd, c), c)
	default:
		n := *s
		if len(st.Redirs) > 0 {
			r := Command{Source: w.slice(c, st), Line: line(c, st)}
			r.Redirs = w.redirs(&n, st.Redirs, &c)
			w.emit(&n, r, c)
		}
		return w.compound(&n, st, c)
	}
}

// errexit ends the ways on which a command failed under set -e.
func (w *walker) errexit(states []*state, c ctx) []*state {
	for i, s := range states {
		if !s.opts.errexit || c.cond || s.flow != flowNext {
			continue
		}
		switch s.status {
		case statusFailed:
			n := s.with(statusFailed)
			n.flow = flowExit
			states[i] = n
		case statusUnknown:
			states[i] = s.with(statusOK)
		case statusOK:
		}
	}
	return states
}

func (w *walker) compound(s *state, st *syntax.Stmt, c ctx) []*state {
	one := []*state{s}
	switch cmd := st.Cmd.(type) {
	case *syntax.Block:
		return w.run(one, cmd.Stmts, c)
	case *syntax.Subshell:
		return []*state{s.with(outcome(w.run(one, cmd.Stmts, c)))}
	case *syntax.BinaryCmd:
		return w.binary(s, cmd, c)
	case *syntax.IfClause:
		return w.ifClause(one, cmd, c)
	case *syntax.WhileClause:
		return w.while(s, cmd, c)
	case *syntax.ForClause:
		return w.forClause(s, cmd, c)
	case *syntax.CaseClause:
		return w.caseClause(s, cmd, c)
	case *syntax.FuncDecl:
		return w.define(s, cmd, c)
	case *syntax.ArithmCmd:
		w.arithm(s, cmd.X, c)
		return []*state{s.with(statusUnknown)}
	case *syntax.LetClause:
		for _, x := range cmd.Exprs {
			w.arithm(s, x, c)
		}
		return []*state{s.with(statusUnknown)}
	case *syntax.TestClause:
		w.test(s, cmd.X, c)
		return []*state{s.with(statusUnknown)}
	case *syntax.TimeClause:
		if cmd.Stmt == nil {
			return one
		}
		return w.stmt(s, cmd.Stmt, c)
	case *syntax.CoprocClause:
		c.background, c.forked = true, true
		w.stmt(s, cmd.Stmt, c)
		return []*state{s.with(statusOK)}
	default:
		w.problem(Unparsed, line(c, st), "a kind of statement that the reader does not know")
		return one
	}
}

// outcome is the status that a subshell with these last states leaves.
func outcome(states []*state) status {
	if len(states) == 0 {
		return statusUnknown
	}
	st := states[0].status
	for _, s := range states[1:] {
		if s.status != st {
			return statusUnknown
		}
	}
	return st
}

func (w *walker) binary(s *state, b *syntax.BinaryCmd, c ctx) []*state {
	switch b.Op {
	case syntax.Pipe, syntax.PipeAll:
		return w.pipe(s, b, c)
	case syntax.AndStmt, syntax.OrStmt:
	default:
		w.problem(Unparsed, 0, "a list operator that the reader does not know")
	}
	left := c
	left.cond = true
	run, skip := statusOK, statusFailed
	if b.Op == syntax.OrStmt {
		run, skip = statusFailed, statusOK
	}
	var out []*state
	ran := false
	before := settle(w.stmt(s, b.X, left))
	for _, x := range before {
		if x.flow != flowNext {
			out = append(out, x)
			continue
		}
		if x.status != skip {
			ran = true
			out = append(out, w.stmt(x.with(run), b.Y, c)...)
		}
		if x.status != run {
			out = append(out, x.with(skip))
		}
	}
	if !ran {
		w.unreached(before, []*syntax.Stmt{b.Y}, c)
	}
	return settle(out)
}

func (w *walker) pipe(s *state, b *syntax.BinaryCmd, c ctx) []*state {
	left := c
	left.piped, left.forked, left.cond = true, true, true
	from := len(w.out.Commands)
	w.stmt(s, b.X, left)
	to := len(w.out.Commands)
	right := c
	right.forked = true
	right.input = Input{Feeds: true, From: from, To: to, Number: w.prints(b.X, from)}
	if text, ok := w.output(b.X, from); ok {
		right.input.Known, right.input.Text = true, text
	}
	last := w.stmt(s, b.Y, right)
	return []*state{s.with(outcome(last))}
}

// emit records a command and returns its index.
func (w *walker) emit(s *state, cmd Command, c ctx) int {
	cmd.Dir, cmd.DirKnown = s.dir.path, s.dir.known
	cmd.Via = c.via
	if cmd.Input == (Input{}) {
		cmd.Input = c.input
	}
	cmd.Remote = cmd.Remote || c.remote
	cmd.Background = c.background
	cmd.Loop = c.loop
	cmd.Piped = c.piped
	cmd.DotGlob = s.opts.dotglob
	cmd.Source = strings.TrimSpace(cmd.Source)
	w.out.Commands = append(w.out.Commands, cmd)
	return len(w.out.Commands) - 1
}

// slice returns the source text of a node.
func (w *walker) slice(c ctx, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if c.src == nil || from < 0 || to > len(c.src.text) || from >= to {
		return ""
	}
	return c.src.text[from:to]
}

func line(c ctx, n syntax.Node) uint {
	if c.src == nil {
		return n.Pos().Line()
	}
	return c.src.base + n.Pos().Line()
}
