package policy

import (
	"path"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// call is one command as the table reads it.
type call struct {
	cmd   *shell.Command
	index int
	// name is the program, or program and subcommand, as the table knows it.
	name string
	row  *program
	// args are all words behind the name; globals are options in front of a subcommand.
	args     []shell.Word
	globals  []given
	options  []given
	operands []shell.Word
	// dash is how many operands came before --, -1 when there was none.
	dash int

	class    string
	tier     ir.Tier
	rev      ir.Reversibility
	verdict  Verdict
	always   bool
	reason   string
	classSet bool
}

// given is an option as it stands on the command line.
type given struct {
	name  string
	value *shell.Word
	spec  option
	known bool
	// open: the name itself is not certain.
	open bool
	// joined: the value stands behind the = of a name that is certain, so that it can
	// be no option of its own.
	joined bool
}

func (c *call) has(names ...string) bool {
	for _, o := range c.options {
		for _, n := range names {
			if o.name == n {
				return true
			}
		}
	}
	return false
}

func (c *call) value(names ...string) *shell.Word {
	var v *shell.Word
	for _, o := range c.options {
		for _, n := range names {
			if o.name == n && o.value != nil {
				v = o.value
			}
		}
	}
	return v
}

// find looks a command up in the table: the longest name that has a row.
func (p *Policy) find(name string, words []shell.Word) (row *program, full string, globals []given, rest []shell.Word) {
	row, ok := p.table[name]
	if !ok {
		return nil, name, nil, words
	}
	full, rest = name, words
	for range 3 {
		opts, operands, _ := row.parse(rest, true)
		if len(operands) == 0 {
			break
		}
		sub, static := operands[0].Static()
		next, ok := p.table[full+" "+sub]
		if !static || !ok {
			break
		}
		globals = append(globals, opts...)
		full, row, rest = full+" "+sub, next, operands[1:]
	}
	return row, full, globals, rest
}

// parse splits words into options and operands. first stops at the first
// operand, returning the rest as they stand.
func (p *program) parse(words []shell.Word, first bool) (opts []given, operands []shell.Word, dash int) {
	dash = -1
	for len(words) > 0 {
		text, static := words[0].Static()
		if !static {
			text = words[0].Prefix()
		}
		switch {
		case text == "--" && static:
			if first {
				return opts, words[1:], dash
			}
			dash = len(operands)
			return opts, append(operands, words[1:]...), dash
		case len(text) < 2 || text[0] != '-' || isNumberOption(text, static):
			if isNumberOption(text, static) && !first && len(text) > 1 && text[0] == '-' {
				opts = append(opts, given{name: text, known: true})
				words = words[1:]
				continue
			}
			if first || p.stops {
				return opts, append(operands, words...), dash
			}
			operands, words = append(operands, words[0]), words[1:]
		case strings.HasPrefix(text, "--") || p.single:
			var g given
			g, words = p.longOption(text, static, words)
			opts = append(opts, g)
		default:
			opts, words = p.cluster(opts, text, static, words)
		}
	}
	return opts, operands, dash
}

// isNumberOption reports -5 and its like, a count for head, git log and others.
func isNumberOption(text string, static bool) bool {
	return static && len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "0123456789") == ""
}

func (p *program) longOption(text string, static bool, words []shell.Word) (given, []shell.Word) {
	name, _, found := strings.Cut(text, "=")
	spec, full, known := p.lookup(name)
	g := given{name: full, spec: spec, known: known}
	rest := words[1:]
	switch {
	case found:
		if v, ok := words[0].Cut(len(name) + 1); ok {
			g.value, g.joined = &v, true
		}
	case !static:
		// --name$value: the name itself is not known.
		g.known, g.open, g.value = false, true, &words[0]
	case spec.takes && !spec.attached && len(rest) > 0:
		g.value, rest = &rest[0], rest[1:]
	}
	return g, rest
}

// lookup finds an option by its name or a unique-enough abbreviation: what an
// abbreviation might mean counts as given.
func (p *program) lookup(name string) (spec option, full string, known bool) {
	if o, ok := p.opts[name]; ok {
		return o, name, true
	}
	if p.single && strings.HasPrefix(name, "--") {
		if o, ok := p.opts[name[1:]]; ok {
			return o, name[1:], true
		}
	}
	if strings.HasPrefix(name, "--") && len(name) > 3 {
		// Only what would write or start something matters under a short name.
		for one, o := range p.opts {
			if o.weight() > 1 && strings.HasPrefix(one, name) && (!known || o.weight() > spec.weight() || o.weight() == spec.weight() && one < full) {
				spec, full, known = o, one, true
			}
		}
		if known {
			return spec, full, true
		}
	}
	return option{}, name, false
}

// weight orders options by how much they matter when an abbreviation may be
// either.
func (o option) weight() int {
	switch {
	case o.role == roleHelper || o.role == roleShell || o.class != "":
		return 3
	case o.role == roleWrite || o.role == roleOutDir:
		return 2
	case o.takes:
		return 1
	}
	return 0
}

func (p *program) cluster(opts []given, text string, static bool, words []shell.Word) ([]given, []shell.Word) {
	// Some programs have words behind one dash beside letters: find them whole.
	if o, ok := p.opts[text]; ok && len(text) > 2 {
		g := given{name: text, spec: o, known: true}
		rest := words[1:]
		if o.takes && !o.attached && len(rest) > 0 {
			g.value, rest = &rest[0], rest[1:]
		}
		return append(opts, g), rest
	}
	rest := words[1:]
	for i := 1; i < len(text); i++ {
		name := "-" + text[i:i+1]
		o, known := p.opts[name]
		g := given{name: name, spec: o, known: known}
		if !o.takes {
			opts = append(opts, g)
			continue
		}
		if i+1 < len(text) || !static {
			if v, ok := words[0].Cut(i + 1); ok && len(v.Parts) > 0 {
				g.value = &v
				return append(opts, g), rest
			}
		}
		if !o.attached && len(rest) > 0 {
			g.value, rest = &rest[0], rest[1:]
		}
		return append(opts, g), rest
	}
	if !static {
		// -x$value: more letters or a value, nobody can tell.
		opts = append(opts, given{name: text, open: true, value: &words[0]})
	}
	return opts, rest
}

// programName tells which program a command word starts (D36). Trusted system
// folders are dropped; any other path is a program that nobody knows.
func (r *resolver) programName(cmd *shell.Command, word string) (name string, trusted bool) {
	if !strings.Contains(word, "/") {
		return word, true
	}
	dir := cmd.Dir
	if !cmd.DirKnown && !path.IsAbs(word) {
		return word, false
	}
	lexical := word
	if !path.IsAbs(word) {
		lexical = dir + "/" + word
	}
	abs := path.Clean(procAlias(path.Clean(lexical), dir))
	switch path.Dir(abs) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin":
		return path.Base(abs), true
	}
	return word, false
}
