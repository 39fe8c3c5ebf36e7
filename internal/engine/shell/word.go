package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// The bounds of one expansion.
const (
	maxFields = 4096
	maxBraces = 1 << 20
)

// fielder builds the fields of words the way the shell does: quoted text stays
// together, unquoted values are split, unquoted * ? [ are globs.
type fielder struct {
	w *walker
	s *state
	c ctx
	// value: an assignment or redirection, where nothing is split or matched.
	value  bool
	fields []Word
	cur    []Part
	open   bool
}

// fields expands words into arguments.
func (w *walker) fields(s *state, words []*syntax.Word, c ctx) []Word {
	f := &fielder{w: w, s: s, c: c}
	for _, word := range words {
		if !mayBrace(word) {
			f.word(word)
			f.end()
			continue
		}
		for _, one := range w.braces(word) {
			f.word(one)
			f.end()
		}
		if len(f.fields) > maxFields {
			w.problem(TooMuch, 0, "a word expands to too many")
			break
		}
	}
	return f.fields
}

// value expands a word where the shell does not split: an assignment, a
// redirection target, a here-string, a case word.
func (w *walker) value(s *state, word *syntax.Word, c ctx) Word {
	if word == nil {
		return Lit("")
	}
	f := &fielder{w: w, s: s, c: c, value: true}
	f.word(word)
	f.end()
	if len(f.fields) == 0 {
		return Lit("")
	}
	return f.fields[0]
}

func mayBrace(word *syntax.Word) bool {
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

func (w *walker) braces(word *syntax.Word) []*syntax.Word {
	split := *word
	if !syntax.SplitBraces(&split) {
		return []*syntax.Word{word}
	}
	var out []*syntax.Word
	size := 0
	for one, err := range expand.BracesSeq(nil, &split) {
		if one != nil {
			size += len(one.Lit()) + 64
			out = append(out, one)
		}
		if err != nil || size > maxBraces {
			w.problem(TooMuch, 0, "a brace expansion is too large")
			break
		}
	}
	return out
}

func (f *fielder) add(p Part) {
	f.open = true
	if p.Text == "" && p.Kind == Literal {
		return
	}
	if n := len(f.cur); n > 0 && p.Kind == f.cur[n-1].Kind && p.Kind != Unknown && p.Var == f.cur[n-1].Var {
		f.cur[n-1].Text += p.Text
		return
	}
	f.cur = append(f.cur, p)
}

// end closes the field that is open, if one is.
func (f *fielder) end() {
	if f.open {
		f.fields = append(f.fields, Word{Parts: f.cur})
	}
	f.cur, f.open = nil, false
}

func (f *fielder) word(word *syntax.Word) {
	for i, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && i == 0 {
			text := f.tilde(l.Value, len(word.Parts) == 1)
			f.lit(text)
			continue
		}
		f.part(p, false)
	}
}

func (f *fielder) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			f.add(Part{Text: unescapeQuoted(p.Value)})
			return
		}
		f.lit(p.Value)
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text = unescapeDollar(text)
		}
		f.add(Part{Text: text})
	case *syntax.DblQuoted:
		f.add(Part{})
		f.quoted(p.Parts)
	case *syntax.ParamExp:
		f.param(p, quoted)
	case *syntax.CmdSubst:
		f.subst(p, quoted)
	case *syntax.ArithmExp:
		f.values([]Word{f.w.number(f.s, p.X, f.c)}, quoted, false)
	case *syntax.ProcSubst:
		from := len(f.w.out.Commands)
		c := f.c.through("process substitution")
		c.piped, c.forked = true, true
		c.input = Input{}
		n := *f.s
		f.w.run([]*state{&n}, p.Stmts, c)
		f.add(Part{Kind: Unknown, Text: "/dev/fd/63", Origin: FromProcess, Subst: span(from, len(f.w.out.Commands))})
	case *syntax.ExtGlob:
		f.add(Part{Kind: Pattern, Text: p.Op.String() + p.Pattern.Value + ")"})
	default:
		f.add(Part{Kind: Unknown, Text: "…", Split: !quoted})
	}
}

// quoted adds the parts of a double-quoted string or here-document. A lone "$@"
// with no elements makes no field, with several makes several.
func (f *fielder) quoted(parts []syntax.WordPart) {
	if len(parts) == 1 {
		if pe, ok := parts[0].(*syntax.ParamExp); ok && isList(pe) {
			if vals, all := f.w.param(f.s, pe, f.c); all && len(vals) == 0 && len(f.cur) == 0 {
				f.open = false
				return
			}
		}
	}
	for _, p := range parts {
		f.part(p, true)
	}
}

func span(from, to int) []int {
	out := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// lit adds unquoted text: escapes are quoted, the rest may be a glob.
func (f *fielder) lit(text string) {
	if !strings.ContainsAny(text, `\*?[`) {
		f.add(Part{Text: text})
		return
	}
	var b strings.Builder
	glob := false
	flush := func(kind PartKind) {
		if b.Len() > 0 {
			f.add(Part{Kind: kind, Text: b.String()})
			b.Reset()
		}
	}
	kindOf := func() PartKind {
		if glob && !f.value && !f.s.opts.noglob {
			return Pattern
		}
		return Literal
	}
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; ch {
		case '\\':
			flush(kindOf())
			glob = false
			if i+1 < len(text) {
				i++
				if text[i] != '\n' {
					f.add(Part{Text: string(text[i])})
				}
			} else {
				f.add(Part{Text: `\`})
			}
		case '*', '?', '[':
			if !glob && ch != '[' {
				flush(Literal)
			}
			if ch == '[' && !strings.Contains(text[i:], "]") {
				b.WriteByte(ch)
				continue
			}
			if !glob {
				flush(Literal)
			}
			glob = true
			b.WriteByte(ch)
		case '/':
			if glob {
				flush(kindOf())
				glob = false
			}
			b.WriteByte(ch)
		default:
			b.WriteByte(ch)
		}
	}
	flush(kindOf())
}

// tilde expands a leading ~ of an unquoted literal.
func (f *fielder) tilde(text string, whole bool) string {
	if f.value {
		// After : in an assignment a tilde expands too.
		parts := strings.Split(text, ":")
		for i, p := range parts {
			parts[i] = f.home(p, whole || i < len(parts)-1 || strings.Contains(p, "/"))
		}
		return strings.Join(parts, ":")
	}
	return f.home(text, whole || strings.Contains(text, "/"))
}

func (f *fielder) home(text string, closed bool) string {
	if !strings.HasPrefix(text, "~") || !closed {
		return text
	}
	name, rest, _ := strings.Cut(text[1:], "/")
	if rest != "" || strings.HasSuffix(text, "/") {
		rest = "/" + rest
	}
	quote := func(dir string) string { return escapeLit(dir) + rest }
	switch name {
	case "":
		if v, ok := f.w.lookup(f.s, "HOME").static(); ok {
			return quote(v)
		}
	case "+":
		if f.s.dir.known {
			return quote(f.s.dir.path)
		}
	case "-":
		if f.s.old.known {
			return quote(f.s.old.path)
		}
	case "root":
		return "/root" + rest
	default:
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
			return text
		}
		if f.w.opts.Env["USER"] == name && name != "" {
			return quote(f.w.opts.Env["HOME"])
		}
		return "/home/" + name + rest
	}
	return "/nowhere" + rest
}

// escapeLit protects text that will be read as an unquoted literal again.
func escapeLit(s string) string {
	if !strings.ContainsAny(s, `\*?[`) {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// values adds the values of an expansion, split and matched where unquoted.
// list keeps elements apart even in quotes.
func (f *fielder) values(vals []Word, quoted, list bool) {
	for i, v := range vals {
		if i > 0 {
			if list || !quoted {
				if quoted {
					f.open = true
				}
				f.end()
			} else {
				f.add(Part{Text: " "})
			}
		}
		if quoted {
			f.add(Part{})
		}
		for _, p := range v.Parts {
			switch {
			case quoted || f.value || p.Kind == Pattern:
				q := p
				q.Split = q.Split && !quoted && !f.value
				f.add(q)
			case p.Kind == Unknown:
				p.Split = p.Origin != FromArithmetic
				f.add(p)
			default:
				f.split(p)
			}
		}
	}
}

// split adds an unquoted known value: IFS breaks it, globs in it are active.
func (f *fielder) split(p Part) {
	ifs, known := " \t\n", true
	if v, set := f.s.vars.get("IFS"); set {
		ifs, known = v.static()
	}
	if !known {
		f.add(Part{Kind: Unknown, Text: p.Text, Origin: FromMerge, Var: p.Var, Split: true})
		return
	}
	text := p.Text
	for text != "" {
		i := strings.IndexAny(text, ifs)
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			if piece := text[:i]; strings.ContainsAny(piece, "*?[") && !f.s.opts.noglob {
				f.add(Part{Kind: Pattern, Text: piece, Var: p.Var})
			} else {
				f.add(Part{Text: piece, Var: p.Var})
			}
		}
		if i < len(text) {
			f.end()
			i++
		}
		text = text[i:]
	}
}

// subst adds a command substitution: its output when it is certain, else an
// unknown part that names the commands.
func (f *fielder) subst(cs *syntax.CmdSubst, quoted bool) {
	from := len(f.w.out.Commands)
	c := f.c.through("substitution")
	c.piped, c.forked, c.cond = true, true, true
	n := *f.s
	if c.depth++; c.depth > MaxDepth {
		f.w.problem(TooDeep, 0, "the text is nested deeper than %d levels", MaxDepth)
		return
	}
	f.w.run([]*state{&n}, cs.Stmts, c)
	if len(cs.Stmts) == 1 {
		if text, ok := f.w.output(cs.Stmts[0], from); ok {
			f.values([]Word{Lit(strings.TrimRight(text, "\n"))}, quoted, false)
			return
		}
	}
	p := Part{Kind: Unknown, Text: f.w.slice(f.c, cs), Origin: FromSubstitution, Subst: span(from, len(f.w.out.Commands))}
	if p.Text == "" {
		p.Text = "$(…)"
	}
	p.Number = len(cs.Stmts) == 1 && f.w.prints(cs.Stmts[0], from)
	f.values([]Word{{Parts: []Part{p}}}, quoted, false)
}
