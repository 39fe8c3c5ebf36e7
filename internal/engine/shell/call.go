package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call follows a simple command.
func (w *walker) call(s *state, st *syntax.Stmt, ce *syntax.CallExpr, c ctx) []*state {
	n := *s
	cmd := Command{Source: w.slice(c, st), Line: line(c, st), node: st}
	if c.plainAlias(&n, ce) {
		if out, ok := w.alias(&n, st, ce, c); ok {
			return out
		}
	}
	// Words expand before assignments take effect.
	cmd.Words = w.fields(&n, ce.Args, c)
	cmd.Redirs = w.redirs(&n, st.Redirs, &c)
	cmd.Input = c.input
	cmd.Assigns = w.assigns(&n, ce.Assigns, c)
	if len(cmd.Words) == 0 {
		for i, a := range cmd.Assigns {
			w.assign(&n, a, ce.Assigns[i].Index != nil)
			w.given(&n, a.Name, c)
			cmd.Assigns[i].Exported = w.exported(&n, a.Name)
		}
		w.emit(&n, cmd, c)
		return []*state{n.with(statusUnknown)}
	}
	for i := range cmd.Assigns {
		cmd.Assigns[i].Exported = true
	}
	return w.dispatch(&n, cmd, c)
}

// exported reports whether children see a variable.
func (w *walker) exported(s *state, name string) bool {
	if v, ok := s.vars.get(name); ok && v.exported {
		return true
	}
	_, env := w.opts.Env[name]
	return env
}

func (w *walker) assigns(s *state, in []*syntax.Assign, c ctx) []Assign {
	var out []Assign
	for _, a := range in {
		one := Assign{Append: a.Append}
		if a.Name != nil {
			one.Name = a.Name.Value
		}
		w.index(s, one.Name, a.Index, c)
		switch {
		case a.Array != nil:
			one.array = true
			for _, e := range a.Array.Elems {
				if e.Index != nil {
					w.index(s, one.Name, e.Index, c)
					one.keyed = true
				}
				if e.Value != nil {
					one.elems = append(one.elems, w.fields(s, []*syntax.Word{e.Value}, c)...)
				}
			}
			one.Value = Word{Parts: []Part{{Kind: Unknown, Text: "(…)", Origin: FromMerge}}}
		case a.Value != nil:
			one.Value = w.value(s, a.Value, c)
		}
		out = append(out, one)
	}
	return out
}

// assign makes an assignment part of the state; indexed is a[i]=v.
func (w *walker) assign(s *state, a Assign, indexed bool) {
	if a.Name == "" {
		return
	}
	old, was := s.vars.get(a.Name)
	if was && old.ref != "" {
		a.Name = old.ref
		old, was = s.vars.get(a.Name)
	}
	v := variable{exported: was && old.exported}
	if _, env := w.opts.Env[a.Name]; env {
		v.exported = true
	}
	switch {
	case a.keyed, indexed:
		v.words = unknownVar(a.Name, FromMerge).words
	case a.array:
		v.array = true
		if a.Append {
			v.words = slices.Clone(w.lookup(s, a.Name).words)
		}
		v.words = append(v.words, a.elems...)
	case a.Append:
		base := w.lookup(s, a.Name)
		var parts []Part
		if !base.unset && len(base.words) > 0 {
			parts = slices.Clone(base.words[0].Parts)
		}
		v.words = []Word{join(parts, a.Value.Parts)}
	default:
		v.words = []Word{a.Value}
	}
	s.setVar(a.Name, v)
}

// join puts parts together, literal text as one.
func join(a, b []Part) Word {
	f := &fielder{}
	for _, p := range append(a, b...) {
		f.add(p)
	}
	return Word{Parts: f.cur}
}

// plainAlias reports whether an alias may replace the first word.
func (c ctx) plainAlias(s *state, ce *syntax.CallExpr) bool {
	return s.opts.aliases && s.aliases != nil && len(ce.Args) > 0 && ce.Args[0].Lit() != "" && len(ce.Assigns) == 0 && !c.plain
}

// alias follows a command whose first word is an alias.
func (w *walker) alias(s *state, st *syntax.Stmt, ce *syntax.CallExpr, c ctx) ([]*state, bool) {
	name := ce.Args[0].Lit()
	body, ok := s.aliases.get(name)
	if !ok || slices.Contains(c.calls, "alias "+name) {
		return nil, false
	}
	rest := ""
	if text := w.slice(c, st); strings.HasPrefix(text, name) {
		rest = text[len(name):]
	}
	c = c.through("alias " + name)
	c.calls = append(slices.Clone(c.calls), "alias "+name)
	return w.text(s, body+rest, c, false), true
}

// text follows shell text that stands inside the text, in this state.
func (w *walker) text(s *state, text string, c ctx, posix bool) []*state {
	c.depth++
	if c.depth > MaxDepth {
		w.problem(TooDeep, 0, "the text is nested deeper than %d levels", MaxDepth)
		return []*state{s}
	}
	if len(text) > MaxBytes {
		w.problem(TooLong, 0, "the text is longer than %d bytes", MaxBytes)
		return []*state{s}
	}
	src := w.parse(text, 0, posix)
	if src == nil {
		return []*state{s}
	}
	c.src = src
	n := *s
	n.posix = n.posix || posix
	return w.run([]*state{&n}, src.file.Stmts, c)
}

// decl follows export, declare, local, readonly, typeset and nameref.
func (w *walker) decl(s *state, st *syntax.Stmt, d *syntax.DeclClause, c ctx) []*state {
	n := *s
	name := d.Variant.Value
	cmd := Command{Words: []Word{Lit(name)}, Source: w.slice(c, st), Line: line(c, st), Builtin: true}
	flags := ""
	for _, a := range d.Args {
		if a.Naked && a.Name == nil {
			words := w.fields(&n, []*syntax.Word{a.Value}, c)
			cmd.Words = append(cmd.Words, words...)
			for _, word := range words {
				if text, ok := word.Static(); ok && len(text) > 1 && (text[0] == '-' || text[0] == '+') {
					flags += text
				}
				w.declWord(&n, name, flags, word, &cmd, c)
			}
			continue
		}
		one := w.assigns(&n, []*syntax.Assign{a}, c)[0]
		cmd.Words = append(cmd.Words, declText(one, a.Naked))
		if a.Naked {
			w.declare(&n, name, flags, one.Name)
			w.typed(&n, flags, one.Name, c)
			continue
		}
		w.assign(&n, one, a.Index != nil)
		w.declare(&n, name, flags, one.Name)
		w.typed(&n, flags, one.Name, c)
		if strings.Contains(flags, "n") || name == "nameref" {
			w.named(&n, one.Value, c)
			w.reference(&n, one)
		}
		one.Exported = w.exported(&n, one.Name)
		cmd.Assigns = append(cmd.Assigns, one)
	}
	cmd.Redirs = w.redirs(&n, st.Redirs, &c)
	w.emit(&n, cmd, c)
	return []*state{n.with(statusOK)}
}

func declText(a Assign, naked bool) Word {
	if naked {
		return Lit(a.Name)
	}
	return join([]Part{{Text: a.Name + "="}}, a.Value.Parts)
}

// declWord follows an argument of a declaration that was built by expansion.
func (w *walker) declWord(s *state, builtin, flags string, word Word, cmd *Command, c ctx) {
	text := word.Prefix()
	name, _, found := strings.Cut(text, "=")
	if !found || !isName(name) {
		w.named(s, word, c)
		return
	}
	value, _ := word.Cut(len(name) + 1)
	a := Assign{Name: name, Value: value}
	w.assign(s, a, false)
	w.declare(s, builtin, flags, name)
	w.typed(s, flags, name, c)
	a.Exported = w.exported(s, name)
	cmd.Assigns = append(cmd.Assigns, a)
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func (w *walker) declare(s *state, builtin, flags, name string) {
	if builtin == "export" && !strings.Contains(flags, "n") || strings.Contains(flags, "-") && strings.Contains(flags, "x") {
		v := w.lookup(s, name)
		v.exported = true
		s.vars = s.vars.set(name, v)
	}
}

func (w *walker) reference(s *state, a Assign) {
	if to, ok := a.Value.Static(); ok && isName(to) {
		s.vars = s.vars.set(a.Name, variable{ref: to})
		return
	}
	s.vars = s.vars.set(a.Name, unknownVar(a.Name, FromMerge))
}
