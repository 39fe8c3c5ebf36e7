package policy

import (
	"strings"

	"car/internal/engine/shell"
)

func (j *judge) awk(c *call) bool {
	j.apply(c)
	operands := c.operands
	var programs []shell.Word
	for _, o := range c.options {
		if (o.name == "-e" || o.name == "--source") && o.value != nil {
			programs = append(programs, *o.value)
		}
	}
	file := c.value("-f", "--file", "-E", "--exec") != nil
	if len(programs) == 0 && !file && len(operands) > 0 {
		programs, operands = operands[:1], operands[1:]
	}
	if file {
		j.ask(c, ruleUnknown, "takes its program from a file", "")
	}
	for _, w := range programs {
		text, ok := w.Static()
		if !ok {
			j.undecided = true
			j.ask(c, ruleUnknown, "runs an awk program that is not known before it runs", "spell the program out")
			continue
		}
		if !c.has("-S", "--sandbox") {
			j.awkProgram(c, text)
		}
	}
	for _, w := range operands {
		if t, ok := w.Static(); ok && (t == "-" || strings.Contains(t, "=") && !strings.ContainsAny(t[:strings.IndexByte(t, '=')], "./")) {
			continue
		}
		j.read(c, w, false)
	}
	return true
}

// awkProgram judges what an awk program does: system, pipes, getline,
// redirections, the environment.
func (j *judge) awkProgram(c *call, text string) {
	for _, e := range awkEffects(text) {
		switch e.kind {
		case awkRuns:
			j.ask(c, ruleUnknown, "runs a command from within awk", "run the command by itself")
			if e.known {
				j.readText(e.arg, j.dir(c), false, c)
			} else {
				j.undecided = true
			}
		case awkReads:
			if !e.known {
				j.ask(c, ruleUnknown, "reads a file whose name awk makes up", "")
				continue
			}
			j.read(c, shell.Lit(e.arg), false)
		case awkWrites:
			if !e.known {
				j.ask(c, ruleUnknown, "writes a file whose name awk makes up", "")
				continue
			}
			j.write(c, shell.Lit(e.arg), creates)
		case awkEnviron:
			if e.known && !j.p.secretVariable(e.arg) {
				continue
			}
			j.deny(c, ruleEnvDump, "would print the environment", "name the one variable you need: printenv NAME")
		case awkLoads:
			j.ask(c, ruleHelper, "loads code into awk", "")
		}
	}
}

type awkKind uint8

const (
	awkRuns awkKind = iota
	awkReads
	awkWrites
	awkEnviron
	awkLoads
)

type awkEffect struct {
	kind  awkKind
	arg   string
	known bool
}

// awkToken is a string, a name or a sign; strings keep their value.
type awkToken struct {
	kind byte // 's' string, 'n' name, 'o' sign
	text string
}

// awkEffects reads an awk program far enough to see what reaches outside it.
func awkEffects(text string) []awkEffect {
	toks := awkTokens(text)
	var out []awkEffect
	arg := func(i int) (string, bool) {
		if i >= 0 && i < len(toks) && toks[i].kind == 's' {
			next := i+1 < len(toks) && (toks[i+1].kind != 'o' || toks[i+1].text == "(")
			return toks[i].text, !next
		}
		return "", false
	}
	printing, depth := false, 0
	for i, t := range toks {
		switch {
		case t.kind == 'n' && t.text == "system":
			a, ok := arg(i + 2)
			out = append(out, awkEffect{awkRuns, a, ok})
		case t.kind == 'n' && (t.text == "print" || t.text == "printf"):
			printing, depth = true, 0
		case t.kind == 'n' && t.text == "ENVIRON":
			a, ok := "", false
			if i+1 < len(toks) && toks[i+1].text == "[" {
				a, ok = arg(i + 2)
			}
			out = append(out, awkEffect{awkEnviron, a, ok})
		case t.kind == 'n' && (t.text == "@load" || t.text == "@include"):
			out = append(out, awkEffect{kind: awkLoads})
		case t.kind == 'n' && t.text == "getline":
			out = append(out, awkGetline(toks, i, arg)...)
		case t.kind != 'o':
		case t.text == "(":
			depth++
		case t.text == ")":
			depth--
		case t.text == ";" || t.text == "}" || t.text == "\n" || t.text == "{":
			printing = false
		case (t.text == "|" || t.text == "|&") && printing && depth <= 0:
			a, ok := arg(i + 1)
			out = append(out, awkEffect{awkRuns, a, ok})
		case (t.text == ">" || t.text == ">>") && printing && depth <= 0:
			a, ok := arg(i + 1)
			out = append(out, awkEffect{awkWrites, a, ok})
		}
	}
	return out
}

func awkGetline(toks []awkToken, i int, arg func(int) (string, bool)) []awkEffect {
	if i > 0 && (toks[i-1].text == "|" || toks[i-1].text == "|&") {
		if i > 1 && toks[i-2].kind == 's' && (i < 3 || toks[i-3].kind == 'o') {
			return []awkEffect{{awkRuns, toks[i-2].text, true}}
		}
		return []awkEffect{{kind: awkRuns}}
	}
	for k := i + 1; k < len(toks) && k < i+4; k++ {
		if toks[k].text == "<" && toks[k].kind == 'o' {
			a, ok := arg(k + 1)
			return []awkEffect{{awkReads, a, ok}}
		}
	}
	return nil
}

// awkTokens splits an awk program. A slash begins a regular expression where a
// value may begin.
func awkTokens(s string) []awkToken {
	var out []awkToken
	operand := func() bool {
		if len(out) == 0 {
			return false
		}
		last := out[len(out)-1]
		return last.kind != 'o' && last.text != "return" && last.text != "in" || last.text == ")" || last.text == "]"
	}
	for i := 0; i < len(s); {
		ch := s[i]
		switch {
		case ch == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case ch == ' ' || ch == '\t' || ch == '\\':
			i++
		case ch == '"':
			text, n := awkString(s[i:])
			out = append(out, awkToken{'s', text})
			i += n
		case ch == '/' && !operand():
			i += awkRegex(s[i:])
			out = append(out, awkToken{'n', "/"})
		case wordStart(ch) || ch == '@':
			k := i + 1
			for k < len(s) && (wordStart(s[k]) || s[k] >= '0' && s[k] <= '9') {
				k++
			}
			out = append(out, awkToken{'n', s[i:k]})
			i = k
		case ch >= '0' && ch <= '9':
			for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
				i++
			}
			out = append(out, awkToken{'n', "0"})
		default:
			n := 1
			for _, two := range []string{"||", "&&", ">>", ">=", "<=", "==", "!=", "|&", "++", "--", "+=", "-="} {
				if strings.HasPrefix(s[i:], two) {
					n = 2
				}
			}
			out = append(out, awkToken{'o', s[i : i+n]})
			i += n
		}
	}
	return out
}

func wordStart(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

func awkString(s string) (string, int) {
	var b strings.Builder
	i := 1
	for i < len(s) && s[i] != '"' {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
			i++
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String(), min(i+1, len(s))
}

func awkRegex(s string) int {
	i, bracket := 1, false
	for i < len(s) && (s[i] != '/' || bracket) {
		switch s[i] {
		case '\\':
			i++
		case '[':
			bracket = true
		case ']':
			bracket = false
		case '\n':
			return i
		}
		i++
	}
	return min(i+1, len(s))
}
