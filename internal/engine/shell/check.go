package shell

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// checkBytes looks at the bytes before any parser does, because shell and
// parser must see the same ones (D18, D19, D30). It returns the text with
// foreign line endings made plain; fatal means that nothing can be parsed.
func (w *walker) checkBytes(text string) (clean string, fatal bool) {
	if strings.IndexByte(text, 0) >= 0 {
		w.problem(NUL, 0, "the text holds a NUL byte")
		return text, true
	}
	if len(text) > MaxBytes {
		w.problem(TooLong, 0, "the text is longer than %d bytes", MaxBytes)
		return text, true
	}
	if !utf8.ValidString(text) {
		w.problem(Control, 0, "the text is not UTF-8")
	}
	for i, r := range text {
		switch {
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n' && !(i > 0 && text[i-1] == '\\'):
		case r == '\r':
			w.problem(Control, 0, "a carriage return inside a line")
		case r == '\t' || r == '\n':
		case r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0):
			w.problem(Control, 0, "a control character (U+%04X)", r)
		case isBidi(r):
			w.problem(Bidi, 0, "a direction control (U+%04X)", r)
		}
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), false
}

func isBidi(r rune) bool {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return true
	}
	return false
}

// parse returns nil and records a problem when the text is not shell.
func (w *walker) parse(text string, base uint, posix bool) *source {
	if w.parser == nil {
		w.parser = syntax.NewParser(syntax.Variant(syntax.LangBash))
	}
	file, err := w.parser.Parse(strings.NewReader(text), "")
	if err != nil {
		w.problem(Unparsed, 0, "the text is not valid shell: %s", parseReason(err))
		return w.salvage(text, base)
	}
	if tooDeep(file) {
		w.problem(TooDeep, 0, "the text is nested deeper than %d levels", MaxDepth)
		return nil
	}
	if posix {
		w.checkPOSIX(file, text)
	}
	return &source{text: text, file: file, base: base}
}

// salvage returns what of a broken text the shell may run all the same: the
// statements before the error, and the substitutions behind it.
func (w *walker) salvage(text string, base uint) *source {
	if w.salvaging {
		return nil
	}
	w.salvaging = true
	defer func() { w.salvaging = false }()
	file := &syntax.File{}
	end := 0
	for st, err := range w.parser.StmtsSeq(strings.NewReader(text)) {
		// The sequence may not be left early: it goes on after a break and panics.
		if err != nil || st == nil {
			continue
		}
		file.Stmts = append(file.Stmts, st)
		end = int(st.End().Offset())
	}
	for _, inner := range substitutions(text[min(end, len(text)):]) {
		if f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(inner), ""); err == nil {
			file.Stmts = append(file.Stmts, f.Stmts...)
		}
	}
	if len(file.Stmts) == 0 || tooDeep(file) {
		return nil
	}
	return &source{text: text, file: file, base: base}
}

// substitutions finds $(…) in text by its parentheses, at most a few.
func substitutions(text string) []string {
	var out []string
	for len(out) < 16 {
		i := strings.Index(text, "$(")
		if i < 0 {
			return out
		}
		text = text[i+2:]
		depth := 1
		for k := 0; k < len(text); k++ {
			if text[k] == '(' {
				depth++
			} else if text[k] == ')' {
				depth--
			}
			if depth == 0 {
				out = append(out, text[:k])
				break
			}
		}
	}
	return out
}

// parseReason keeps the position and the kind of a syntax error, not the text.
func parseReason(err error) string {
	if syntax.IsIncomplete(err) {
		return "it is not finished"
	}
	if pe, ok := err.(syntax.ParseError); ok {
		return fmt.Sprintf("line %d, column %d", pe.Pos.Line(), pe.Pos.Col())
	}
	return "it does not parse"
}

func tooDeep(file *syntax.File) bool {
	depth, deepest := 0, 0
	var stack []bool
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			if stack[len(stack)-1] {
				depth--
			}
			stack = stack[:len(stack)-1]
			return true
		}
		counts := false
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause,
			*syntax.ForClause, *syntax.CaseClause, *syntax.ParamExp, *syntax.ParenArithm, *syntax.ArithmExp, *syntax.ParenTest:
			counts = true
			depth++
			deepest = max(deepest, depth)
		}
		stack = append(stack, counts)
		return true
	})
	return deepest > MaxDepth
}

// checkPOSIX reports text that a POSIX shell reads otherwise than bash does
// (law 2): quoting, tests and lists that are something else there.
func (w *walker) checkPOSIX(file *syntax.File, text string) {
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), ""); err != nil {
		w.problem(Ambiguous, 0, "the text is not valid for sh: %s", parseReason(err))
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if what := bashOnly(n); what != "" {
			w.problem(Ambiguous, 0, "%s means something else in sh", what)
		}
		return true
	})
}

// bashOnly names what a POSIX shell would read otherwise.
func bashOnly(n syntax.Node) string {
	if what := bashOnlyWord(n); what != "" {
		return what
	}
	switch n := n.(type) {
	case *syntax.ArithmCmd:
		return "((…))"
	case *syntax.TestClause:
		return "[[…]]"
	case *syntax.CoprocClause:
		return "coproc"
	case *syntax.LetClause:
		return "let"
	case *syntax.FuncDecl:
		if n.RsrvWord {
			return "function"
		}
	case *syntax.ForClause:
		if n.Select {
			return "select"
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.PipeAll {
			return "|&"
		}
	case *syntax.Redirect:
		return bashOnlyRedirect(n)
	}
	return ""
}

func bashOnlyWord(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		if n.Dollar {
			return "$'…'"
		}
	case *syntax.DblQuoted:
		if n.Dollar {
			return `$"…"`
		}
	case *syntax.ProcSubst:
		return "process substitution"
	case *syntax.ArrayExpr:
		return "an array"
	case *syntax.ExtGlob:
		return "an extended glob"
	case *syntax.Word:
		if w := *n; syntax.SplitBraces(&w) {
			return "{a,b}"
		}
	}
	return ""
}

func bashOnlyRedirect(n *syntax.Redirect) string {
	switch n.Op {
	case syntax.RdrAll, syntax.AppAll, syntax.WordHdoc:
		return n.Op.String()
	case syntax.DplOut:
		if lit := n.Word.Lit(); lit != "-" && strings.Trim(lit, "0123456789") != "" {
			return ">&"
		}
	}
	return ""
}
