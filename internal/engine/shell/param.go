package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// static returns the text of a scalar that is certain.
func (v variable) static() (string, bool) {
	if v.unset {
		return "", true
	}
	if len(v.words) == 0 {
		return "", v.array
	}
	return v.words[0].Static()
}

// lookup returns what is known of a variable, following name references.
func (w *walker) lookup(s *state, name string) variable {
	for range 10 {
		v, ok := s.vars.get(name)
		if !ok {
			return w.environ(s, name)
		}
		if v.ref == "" {
			return v
		}
		name = v.ref
	}
	return unknownVar(name, FromVariable)
}

func (w *walker) environ(s *state, name string) variable {
	switch name {
	case "PWD":
		if s.dir.known {
			return scalar(Lit(s.dir.path))
		}
	case "OLDPWD":
		if s.old.known {
			return scalar(Lit(s.old.path))
		}
	case anyName:
		return unknownVar(AnyVariable, FromVariable)
	case "IFS":
		return scalar(Lit(" \t\n"))
	case "0":
		return scalar(Lit("bash"))
	case "?", "$", "#", "PPID":
		return numberVar(name)
	case "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "BASHPID", "OPTIND":
		// Other shells may not set them.
		if !s.posix {
			return numberVar(name)
		}
	case "!", "-":
		return scalar(Word{Parts: []Part{{Kind: Unknown, Text: "$" + name, Origin: FromVariable, Split: true}}})
	}
	if v, ok := w.opts.Env[name]; ok {
		u := scalar(Word{Parts: []Part{{Text: v, Var: name}}})
		u.exported = true
		return u
	}
	return unknownVar(name, FromVariable)
}

func numberVar(name string) variable {
	return scalar(Word{Parts: []Part{{Kind: Unknown, Text: "$" + name, Origin: FromArithmetic}}})
}

// isList reports an expansion to separate elements: "$@", "${a[@]}".
func isList(pe *syntax.ParamExp) bool {
	if pe.Length || pe.Excl || pe.Param == nil {
		return false
	}
	if pe.Param.Value == "@" {
		return true
	}
	if word, ok := pe.Index.(*syntax.Word); ok {
		return word.Lit() == "@"
	}
	return false
}

func isStar(pe *syntax.ParamExp) bool {
	if pe.Param != nil && pe.Param.Value == "*" {
		return true
	}
	word, ok := pe.Index.(*syntax.Word)
	return ok && word.Lit() == "*"
}

func (f *fielder) param(pe *syntax.ParamExp, quoted bool) {
	vals, _ := f.w.param(f.s, pe, f.c)
	if len(vals) == 0 {
		if quoted && !isList(pe) {
			f.add(Part{})
		}
		return
	}
	f.values(vals, quoted, isList(pe))
}

// param evaluates a parameter expansion. Commands inside it are followed
// whatever comes of it. all is false when the number of elements is not certain.
func (w *walker) param(s *state, pe *syntax.ParamExp, c ctx) (vals []Word, all bool) {
	if pe.Param == nil {
		return []Word{{Parts: []Part{{Kind: Unknown, Text: "${…}", Split: true}}}}, false
	}
	name := pe.Param.Value
	inner := w.insideParam(s, pe, c)
	switch {
	case name == "@" || name == "*":
		return w.positional(s, pe)
	case isNumber(name) && name != "0":
		return w.positional(s, pe)
	}
	if pe.Excl && pe.Names == 0 && pe.Index == nil && pe.Exp == nil {
		return w.indirect(s, name)
	}
	v := w.lookup(s, name)
	if simple(pe) && pe.Index == nil {
		if v.unset {
			return nil, true
		}
		if len(v.words) == 0 {
			return nil, v.array
		}
		return v.words[:1], true
	}
	if (isList(pe) || isStar(pe)) && simple(pe) && (v.array || len(v.words) == 1 && !v.unset) {
		return v.words, true
	}
	if vals, ok := w.evaluate(s, pe, c); ok {
		return vals, true
	}
	if len(v.words) == 1 && v.words[0].HasPattern() && !v.words[0].HasUnknown() {
		if word, ok := trimmedName(pe, v.words[0]); ok {
			return []Word{word}, true
		}
	}
	return []Word{w.opaqueParam(pe, name, inner)}, false
}

// simple reports an expansion without operators.
func simple(pe *syntax.ParamExp) bool {
	return !pe.Length && !pe.Excl && !pe.Width && pe.Slice == nil && pe.Repl == nil && pe.Names == 0 && pe.Exp == nil
}

// trimmedName is ${f%.txt} and ${f##*/} of a name that a glob matched: what is
// left lies in the same folder, or in none.
func trimmedName(pe *syntax.ParamExp, w Word) (Word, bool) {
	if pe.Exp == nil {
		return Word{}, false
	}
	some := Part{Kind: Pattern, Text: "*"}
	switch pe.Exp.Op {
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		var keep []Part
		for _, p := range w.Parts {
			if p.Kind != Literal {
				return Word{Parts: append(keep, some)}, true
			}
			keep = append(keep, p)
		}
	case syntax.RemLargePrefix:
		if pe.Exp.Word.Lit() == "*/" {
			return Word{Parts: []Part{some}}, true
		}
	}
	return Word{}, false
}

// indirect is ${!name}: the variable that name holds the name of.
func (w *walker) indirect(s *state, name string) ([]Word, bool) {
	if v, ok := s.vars.get(name); ok && v.ref != "" {
		return []Word{Lit(v.ref)}, true
	}
	target, ok := w.lookup(s, name).static()
	if ok && isName(target) {
		v := w.lookup(s, target)
		if v.unset || len(v.words) == 0 {
			return nil, true
		}
		return v.words[:1], true
	}
	return []Word{{Parts: []Part{{Kind: Unknown, Text: "${!" + name + "}", Origin: FromVariable, Var: AnyVariable, Split: true}}}}, false
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// opaqueParam is an expansion that cannot be evaluated.
func (w *walker) opaqueParam(pe *syntax.ParamExp, name string, inner []Part) Word {
	p := Part{Kind: Unknown, Text: "${" + name + "}", Origin: FromVariable, Var: name, Split: true}
	switch {
	case pe.Length:
		return Word{Parts: []Part{{Kind: Unknown, Text: "${#" + name + "}", Origin: FromArithmetic, Derived: true}}}
	case pe.Names != 0:
		p.Derived, p.Text = true, "${!"+name+"*}"
	case pe.Excl:
		p.Text = "${!" + name + "}"
	case pe.Exp != nil && (pe.Exp.Op == syntax.AlternateUnset || pe.Exp.Op == syntax.AlternateUnsetOrNull):
		p.Derived = true
	}
	return Word{Parts: append([]Part{p}, inner...)}
}

// insideParam follows what stands inside an expansion: default values,
// replacements, subscripts. It returns the unknown parts of a default.
func (w *walker) insideParam(s *state, pe *syntax.ParamExp, c ctx) []Part {
	var unknown []Part
	if pe.Exp != nil && pe.Exp.Word != nil {
		v := w.value(s, pe.Exp.Word, c)
		for _, p := range v.Parts {
			if p.Kind == Unknown {
				unknown = append(unknown, p)
			}
		}
		switch pe.Exp.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if old := w.lookup(s, pe.Param.Value); !old.unset && len(old.words) == 1 && old.words[0].HasUnknown() {
				s.setVar(pe.Param.Value, unknownVar(pe.Param.Value, FromMerge))
			}
		case syntax.OtherParamOps:
			w.transform(s, pe, c)
		}
	}
	if pe.Repl != nil {
		if pe.Repl.Orig != nil {
			w.value(s, pe.Repl.Orig, c)
		}
		if pe.Repl.With != nil {
			unknown = append(unknown, w.value(s, pe.Repl.With, c).Parts...)
		}
	}
	if pe.Slice != nil {
		w.arithm(s, pe.Slice.Offset, c)
		w.arithm(s, pe.Slice.Length, c)
	}
	w.index(s, pe.Param.Value, pe.Index, c)
	return unknown
}

// transform follows ${x@P}, which expands the value once more.
func (w *walker) transform(s *state, pe *syntax.ParamExp, c ctx) {
	if pe.Exp.Word.Lit() != "P" {
		return
	}
	if text, ok := w.lookup(s, pe.Param.Value).static(); ok {
		w.document(s, text, c.through("prompt expansion"))
		return
	}
	w.problem(Opaque, 0, "a prompt expansion of text that is not known")
}

// document follows the substitutions of text that the shell expands as if it
// were a here-document.
func (w *walker) document(s *state, text string, c ctx) {
	if !strings.ContainsAny(text, "$`") {
		return
	}
	if c.depth++; c.depth > MaxDepth {
		w.problem(TooDeep, 0, "the text is nested deeper than %d levels", MaxDepth)
		return
	}
	word, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(text))
	if err != nil || word == nil || strings.Contains(text, "MVDAN_CC_SH_SYNTAX_EOF") {
		w.problem(Opaque, 0, "an expansion of text that does not parse")
		return
	}
	c.src = &source{text: text, base: 0}
	f := &fielder{w: w, s: s, c: c, value: true}
	f.quoted(word.Parts)
}

// positional returns $1, $@ and their kin.
func (w *walker) positional(s *state, pe *syntax.ParamExp) ([]Word, bool) {
	name := pe.Param.Value
	if s.argsOpen || !simple(pe) {
		p := Part{Kind: Unknown, Text: "$" + name, Origin: FromPositional, Split: true}
		if pe.Length {
			p.Origin, p.Derived = FromArithmetic, true
		}
		if !s.argsOpen && !pe.Length && len(s.args) > 0 {
			// The value is among the arguments; say so, so that secrets are seen.
			p.Text = "${" + name + "…}"
		}
		return []Word{{Parts: []Part{p}}}, false
	}
	if name == "@" || name == "*" {
		return s.args, true
	}
	n, err := strconv.Atoi(name)
	switch {
	case err == nil && n == 0:
		return w.environ(s, "0").words, true
	case err != nil || n > len(s.args):
		return nil, true
	}
	return s.args[n-1 : n], true
}

// known is an expand.Environ over a state that notes every look at something
// that is not certain.
type known struct {
	w      *walker
	s      *state
	missed bool
}

// Get returns what is certain of a variable.
func (k *known) Get(name string) expand.Variable {
	switch name {
	case "@", "*":
		if k.s.argsOpen {
			k.missed = true
		}
		return k.list(k.s.args)
	case "#":
		if k.s.argsOpen {
			k.missed = true
		}
		return expand.Variable{Set: true, Kind: expand.String, Str: strconv.Itoa(len(k.s.args))}
	}
	if isNumber(name) && name != "0" {
		n, err := strconv.Atoi(name)
		if k.s.argsOpen || err != nil {
			k.missed = true
		}
		if n > len(k.s.args) || n < 1 {
			return expand.Variable{}
		}
		return k.one(k.s.args[n-1])
	}
	if v, ok := k.s.vars.get(name); ok && v.ref != "" {
		return expand.Variable{Set: true, Kind: expand.NameRef, Str: v.ref}
	}
	v := k.w.lookup(k.s, name)
	if v.unset {
		return expand.Variable{}
	}
	if v.array {
		return k.list(v.words)
	}
	if len(v.words) == 0 {
		return expand.Variable{}
	}
	return k.one(v.words[0])
}

func (k *known) one(w Word) expand.Variable {
	text, ok := w.Static()
	if !ok {
		k.missed = true
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: text}
}

func (k *known) list(words []Word) expand.Variable {
	v := expand.Variable{Set: true, Kind: expand.Indexed}
	for _, w := range words {
		text, ok := w.Static()
		if !ok {
			k.missed = true
		}
		v.List = append(v.List, text)
	}
	return v
}

// Each lists nothing: names cannot be told apart from the environment's.
func (k *known) Each(func(string, expand.Variable) bool) { k.missed = true }

// Set keeps ${x:=v} within the state.
func (k *known) Set(name string, v expand.Variable) error {
	k.s.setVar(name, scalar(Lit(v.Str)))
	return nil
}

// evaluate runs an expansion whose every input is certain.
func (w *walker) evaluate(s *state, pe *syntax.ParamExp, _ ctx) (vals []Word, ok bool) {
	if holdsCommand(pe) || s.argsOpen && pe.Param.Value == "#" {
		return nil, false
	}
	k := &known{w: w, s: s}
	text, err := expand.Literal(&expand.Config{Env: k}, &syntax.Word{Parts: []syntax.WordPart{pe}})
	if err != nil || k.missed {
		return nil, false
	}
	if text == "" {
		return nil, true
	}
	return []Word{{Parts: []Part{{Text: text, Var: pe.Param.Value}}}}, true
}

func holdsCommand(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}
