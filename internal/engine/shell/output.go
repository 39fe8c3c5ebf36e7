package shell

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxOutput bounds text that is worked out without running anything.
const maxOutput = MaxBytes

// output works out what a statement writes, when that needs nothing but text
// which is in front of us: echo, printf, here-documents and plain filters.
func (w *walker) output(st *syntax.Stmt, from int) (string, bool) {
	if st.Negated || st.Background {
		return "", false
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		n := len(w.out.Commands)
		if n == 0 || n <= from {
			return "", false
		}
		// The call's own command is the last, unless a function or wrapper stood for it.
		if w.out.Commands[n-1].node != st {
			return "", false
		}
		return w.written(n - 1)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe && len(st.Redirs) == 0 {
			return w.output(cmd.Y, from)
		}
	case *syntax.Block:
		if len(cmd.Stmts) == 1 && len(st.Redirs) == 0 {
			return w.output(cmd.Stmts[0], from)
		}
	}
	return "", false
}

// written works out what a recorded command writes to its standard output.
func (w *walker) written(i int) (string, bool) {
	c := w.out.Commands[i]
	if c.Remote || c.Opaque != "" || c.Wraps || len(c.Words) == 0 {
		return "", false
	}
	for _, r := range c.Redirs {
		if r.Op != RedirRead && (r.FD == "" || r.FD == "1") {
			return "", false
		}
		if r.Op == RedirRead {
			return "", false
		}
	}
	args := make([]string, len(c.Words))
	for i, word := range c.Words {
		text, ok := word.Static()
		if !ok {
			return "", false
		}
		args[i] = text
	}
	if len(args) == 1 && args[0] == "pwd" {
		return c.Dir + "\n", c.DirKnown
	}
	text, ok := textOf(args, c.Input)
	return text, ok && len(text) <= maxOutput
}

func textOf(args []string, in Input) (string, bool) {
	switch baseName(args[0]) {
	case "echo":
		return echo(args[1:])
	case "printf":
		if len(args) < 2 || strings.HasPrefix(args[1], "-") || wideFormat(args[1]) {
			return "", false
		}
		return printf(args[1], args[2:])
	case "cat", "tac":
		if len(args) == 1 || len(args) == 2 && args[1] == "-" {
			return in.Text, in.Known && baseName(args[0]) == "cat"
		}
	case "dirname":
		if len(args) == 2 && !strings.HasPrefix(args[1], "-") && args[1] != "" {
			return path.Dir(strings.TrimRight(args[1], "/")) + "\n", strings.Trim(args[1], "/") != ""
		}
	case "basename":
		if len(args) == 2 && !strings.HasPrefix(args[1], "-") && args[1] != "" {
			return path.Base(args[1]) + "\n", true
		}
	case "rev":
		if len(args) == 1 && in.Known {
			return reverseLines(in.Text), true
		}
	case "tr":
		if in.Known {
			return translate(args[1:], in.Text)
		}
	case "base64":
		if in.Known && len(args) == 2 && slices.Contains([]string{"-d", "-D", "--decode"}, args[1]) {
			b, err := base64.StdEncoding.DecodeString(strings.Map(dropSpace, in.Text))
			return string(b), err == nil
		}
	case "xxd":
		if in.Known && len(args) == 3 && args[1] == "-r" && args[2] == "-p" || in.Known && len(args) == 2 && args[1] == "-rp" {
			b, err := hex.DecodeString(strings.Map(dropSpace, in.Text))
			return string(b), err == nil
		}
	}
	return "", false
}

func dropSpace(r rune) rune {
	if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
		return -1
	}
	return r
}

func echo(args []string) (string, bool) {
	end, escapes := "\n", false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		if strings.Contains(args[0], "n") {
			end = ""
		}
		if strings.Contains(args[0], "e") {
			escapes = true
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		if strings.Contains(text, `\c`) || wideFormat(text) {
			return "", false
		}
		text = unescapeDollar(strings.ReplaceAll(text, `\0`, `\`))
	}
	return text + end, true
}

// wideFormat reports a format whose widths could make much out of little.
func wideFormat(format string) bool {
	digits := 0
	for i := 0; i < len(format); i++ {
		switch {
		case format[i] >= '0' && format[i] <= '9':
			if digits++; digits > 3 {
				return true
			}
		case format[i] == '*':
			return true
		default:
			digits = 0
		}
	}
	return false
}

func printf(format string, args []string) (text string, ok bool) {
	var b strings.Builder
	for round := 0; round < 256; round++ {
		text, n, err := expand.Format(&expand.Config{}, format, args)
		if err != nil {
			return "", false
		}
		b.WriteString(text)
		if n >= len(args) || n == 0 {
			return b.String(), n > 0 || len(args) == 0
		}
		args = args[n:]
	}
	return "", false
}

func reverseLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		r := []rune(l)
		slices.Reverse(r)
		lines[i] = string(r)
	}
	return strings.Join(lines, "\n")
}

// translate is tr with two plain sets or -d with one.
func translate(args []string, text string) (string, bool) {
	del := len(args) > 0 && args[0] == "-d"
	if del {
		args = args[1:]
	}
	sets := make([][]rune, len(args))
	for i, a := range args {
		set, ok := trSet(a)
		if !ok {
			return "", false
		}
		sets[i] = set
	}
	switch {
	case del && len(sets) == 1:
		return strings.Map(func(r rune) rune {
			if slices.Contains(sets[0], r) {
				return -1
			}
			return r
		}, text), true
	case !del && len(sets) == 2 && len(sets[1]) > 0:
		return strings.Map(func(r rune) rune {
			if i := slices.Index(sets[0], r); i >= 0 {
				return sets[1][min(i, len(sets[1])-1)]
			}
			return r
		}, text), true
	}
	return "", false
}

func trSet(s string) ([]rune, bool) {
	if strings.HasPrefix(s, "-") || strings.Contains(s, "[:") || strings.Contains(s, "[=") {
		return nil, false
	}
	s = unescapeDollar(s)
	rs := []rune(s)
	var out []rune
	for i := 0; i < len(rs); i++ {
		if i+2 < len(rs) && rs[i+1] == '-' {
			if rs[i+2] < rs[i] || rs[i+2]-rs[i] > 512 {
				return nil, false
			}
			for r := rs[i]; r <= rs[i+2]; r++ {
				out = append(out, r)
			}
			i += 2
			continue
		}
		out = append(out, rs[i])
	}
	return out, true
}
