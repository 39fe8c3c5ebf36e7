package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash evaluates more than it shows. What stands where a number or a name of a
// variable is wanted is read again as an expression, names in it as the expressions
// that they hold, and the subscript of a[$(command)] runs its command. So text from
// outside in such a place is code: [[ $line -gt 3 ]] runs what a file says.

// maxHolds bounds how far a variable that names a variable is followed.
const maxHolds = 8

// evaluated follows a word that bash reads as an expression or as a name.
func (w *walker) evaluated(s *state, word Word, c ctx) { w.evaluatedAt(s, word, c, 0) }

func (w *walker) evaluatedAt(s *state, word Word, c ctx, depth int) {
	text, static := word.Static()
	if static {
		w.subscript(s, text, c)
	} else if outside(s, word) {
		w.foreign(word)
		return
	}
	if depth >= maxHolds {
		return
	}
	for _, name := range names(text) {
		v, ok := s.vars.get(name)
		if !ok { // of the environment, which no text of a file sets
			continue
		}
		if v.ref != "" {
			v = w.lookup(s, name)
		}
		for _, held := range v.words {
			w.evaluatedAt(s, held, c, depth+1)
		}
	}
}

// named follows a word that bash reads as the name of a variable, which only a
// subscript makes an expression.
func (w *walker) named(s *state, word Word, c ctx) {
	text, static := word.Static()
	if !static {
		if outside(s, word) {
			w.foreign(word)
		}
		return
	}
	if _, subscript, ok := strings.Cut(text, "["); ok {
		w.evaluated(s, Lit("["+subscript), c)
	}
}

func (w *walker) foreign(word Word) {
	w.problem(Opaque, 0, "a number or a name is wanted where %s stands, and bash would run commands inside it", word)
}

// outside reports a word that may hold text which stands in no part of what is
// read: the output of a command, input, an argument, one of several of these.
func outside(s *state, word Word) bool {
	for _, p := range word.Parts {
		switch {
		case p.Kind == Pattern:
			return true
		case p.Kind != Unknown || p.Number || p.Origin == FromArithmetic:
		case p.Origin == FromVariable && p.Var != AnyVariable:
			if v, ok := s.vars.get(p.Var); ok && !v.number() { // a piece of what the text gave it
				return true
			}
		default:
			return true
		}
	}
	return false
}

// names lists what could be variables in an expression.
func names(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// typed notes what a declaration says of a variable: every value of an integer is an
// expression, and a key of an associative array is none.
func (w *walker) typed(s *state, flags, name string, c ctx) {
	if !strings.Contains(flags, "-") {
		return
	}
	if strings.Contains(flags, "i") {
		w.integers = noted(w.integers, name)
		w.given(s, name, c)
	}
	if strings.Contains(flags, "A") {
		w.keyed = noted(w.keyed, name)
	}
}

func noted(m map[string]bool, name string) map[string]bool {
	if m == nil {
		m = map[string]bool{}
	}
	m[name] = true
	return m
}

// index follows the subscript of a variable.
func (w *walker) index(s *state, name string, x syntax.ArithmExpr, c ctx) {
	if word, ok := x.(*syntax.Word); ok && w.keyed[name] {
		w.value(s, word, c)
		return
	}
	w.arithm(s, x, c)
}

// given follows the value that a variable has now, if it is an integer.
func (w *walker) given(s *state, name string, c ctx) {
	if v, ok := s.vars.get(name); ok && w.integers[name] {
		for _, held := range v.words {
			w.evaluated(s, held, c)
		}
	}
}

// prints reports a statement whose output is a number, whatever it reads; from is
// the first command that it may have added.
func (w *walker) prints(st *syntax.Stmt, from int) bool {
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		for _, c := range w.out.Commands[from:] {
			if c.node == st {
				return !st.Negated && !st.Background && numeric(c)
			}
		}
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.Pipe:
			return w.prints(cmd.Y, from)
		case syntax.OrStmt, syntax.AndStmt:
			return w.prints(cmd.X, from) && w.prints(cmd.Y, from)
		}
	}
	return false
}

// numeric reports a program that prints numbers only, or nothing.
func numeric(cmd Command) bool {
	texts := make([]string, len(cmd.Words))
	for i, word := range cmd.Words {
		text, ok := word.Static()
		if !ok && i == 0 {
			return false
		}
		if !ok {
			text = "?" // neither a flag nor nothing
		}
		texts[i] = text
	}
	if len(texts) == 0 || cmd.Wraps || cmd.Opaque != "" {
		return false
	}
	args := texts[1:]
	switch strings.TrimPrefix(strings.TrimPrefix(texts[0], "/usr"), "/bin/") {
	case "wc":
		return all(args, func(a string) bool { return len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "lwcmL") == "" })
	case "grep", "egrep", "fgrep":
		return counts(cmd.Words[1:], args)
	case "tr":
		return len(args) == 2 && (args[0] == "-cd" || args[0] == "-dc") && (args[1] == "0-9" || args[1] == "[:digit:]" || args[1] == "[0-9]" || args[1] == "0123456789")
	case "date":
		return len(args) > 0 && strings.HasPrefix(args[len(args)-1], "+") && strings.Trim(args[len(args)-1][1:], "%sYmdHMSjuVN") == "" &&
			all(args[:len(args)-1], func(a string) bool { return a == "-u" })
	case "true", ":", "test", "[":
		return true
	case "echo":
		return len(args) == 1 && isNumber(args[0])
	case "id":
		return len(args) == 1 && (args[0] == "-u" || args[0] == "-g")
	case "stat":
		return len(args) == 3 && (args[0] == "-c" || args[0] == "-f") && len(args[1]) == 2 && args[1][0] == '%' && strings.Contains("sYXZhbuga", args[1][1:])
	case "seq", "nproc":
		return all(args, func(a string) bool { return isNumber(strings.TrimPrefix(a, "-")) })
	case "tput":
		return len(args) == 1 && (args[0] == "cols" || args[0] == "lines")
	case "git":
		return len(args) > 1 && args[0] == "rev-list" && args[1] == "--count" && !slices.Contains(args, "--left-right") && !slices.Contains(args, "--cherry-mark")
	}
	return false
}

// counts reports grep -c over its input or one file: over several it prints names.
func counts(words []Word, args []string) bool {
	count, operands := false, 0
	for i, a := range args {
		switch {
		case len(a) > 1 && a[0] == '-' && a[1] != '-':
			if strings.Trim(a[1:], "cEFGPivwxqsh") != "" {
				return false
			}
			count = count || strings.Contains(a, "c")
		case a == "--count":
			count = true
		case strings.HasPrefix(a, "--"):
			return false
		default:
			operands++
			for _, p := range words[i].Parts {
				if p.Split || p.Kind == Pattern && operands > 1 {
					return false
				}
			}
		}
	}
	return count && operands <= 2
}

func all(list []string, ok func(string) bool) bool {
	for _, a := range list {
		if !ok(a) {
			return false
		}
	}
	return true
}
