package policy

import (
	"strings"

	"car/internal/engine/shell"
)

func (j *judge) sed(c *call) bool {
	j.apply(c)
	operands := c.operands
	var scripts []shell.Word
	for _, o := range c.options {
		if (o.name == "-e" || o.name == "--expression") && o.value != nil {
			scripts = append(scripts, *o.value)
		}
	}
	file := c.value("-f", "--file") != nil
	if len(scripts) == 0 && !file && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	edits := c.has("-i", "--in-place")
	if !c.has("--sandbox") {
		for _, s := range scripts {
			j.sedScript(c, s)
		}
		if file {
			j.ask(c, ruleUnknown, "takes its program from a file", "")
		}
	}
	for _, w := range operands {
		j.read(c, w, false)
		if edits {
			j.write(c, w, creates)
		}
	}
	return true
}

// sedScript judges what a sed program does: e runs, r reads, w writes.
func (j *judge) sedScript(c *call, w shell.Word) {
	text, ok := j.tokenText(w)
	if !ok {
		j.undecided = true
		j.ask(c, ruleUnknown, "runs a sed program that is not known before it runs", "spell the program out")
		return
	}
	p := sedParser{text: text}
	for {
		cmd, ok := p.next()
		if !ok {
			break
		}
		switch cmd.verb {
		case 'e':
			j.ask(c, ruleUnknown, "runs a command from within sed", "run the command by itself")
			if cmd.arg != "" {
				j.readText(cmd.arg, j.dir(c), false, c)
			} else {
				j.undecided = true
			}
		case 'r', 'R':
			j.read(c, shell.Lit(cmd.arg), false)
		case 'w', 'W':
			j.write(c, shell.Lit(cmd.arg), creates)
		}
	}
	if p.bad {
		j.undecided = true
		j.ask(c, ruleUnknown, "runs a sed program that policy cannot read", "write it in smaller steps")
	}
}

// tokenText is a word with 0 for each part that is a number, a date or an
// object's name; ok is false when some part is not even that.
func (j *judge) tokenText(w shell.Word) (text string, ok bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind != shell.Unknown {
			b.WriteString(p.Text)
			continue
		}
		if kind, _ := j.shape(p); kind != shapeToken {
			return "", false
		}
		b.WriteByte('0')
	}
	return b.String(), true
}

// sedCommand is one command of a sed program that matters: e, r, R, w, W.
type sedCommand struct {
	verb byte
	arg  string
}

// sedParser reads a sed program, command by command.
type sedParser struct {
	text  string
	at    int
	bad   bool
	queue []sedCommand
}

func (p *sedParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *sedParser) next() (sedCommand, bool) {
	for {
		if len(p.queue) > 0 {
			cmd := p.queue[0]
			p.queue = p.queue[1:]
			return cmd, true
		}
		if p.bad || !p.command() {
			return sedCommand{}, false
		}
	}
}

// command reads one command and queues what matters of it.
func (p *sedParser) command() bool {
	for strings.IndexByte(" \t\n;", p.peek()) >= 0 && p.at < len(p.text) {
		p.at++
	}
	if p.at >= len(p.text) {
		return false
	}
	p.address()
	verb := p.peek()
	p.at++
	switch verb {
	case 0:
		p.bad = true
	case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
	case '#':
		p.line()
	case 'a', 'i', 'c':
		p.text2()
	case ':', 'b', 't', 'T':
		for p.at < len(p.text) && p.peek() != ';' && p.peek() != '\n' && p.peek() != '}' {
			p.at++
		}
	case 'l', 'L', 'q', 'Q', 'v':
		for strings.IndexByte(" 0123456789.", p.peek()) >= 0 && p.at < len(p.text) {
			p.at++
		}
	case 'r', 'R', 'w', 'W', 'e':
		p.queue = append(p.queue, sedCommand{verb, strings.TrimSpace(p.line())})
	case 's':
		p.substitute()
	case 'y':
		d := p.peek()
		p.at++
		if !p.twice(d) {
			p.bad = true
		}
	default:
		p.bad = true
	}
	return !p.bad
}

// line reads to the end of the line.
func (p *sedParser) line() string {
	end := strings.IndexByte(p.text[p.at:], '\n')
	if end < 0 {
		end = len(p.text) - p.at
	}
	s := p.text[p.at : p.at+end]
	p.at += end
	return s
}

// text2 skips the text of a, i and c, whose lines may go on behind a backslash.
func (p *sedParser) text2() {
	for {
		l := p.line()
		if !strings.HasSuffix(l, `\`) || p.at >= len(p.text) {
			return
		}
		p.at++
	}
}

// address skips what stands in front of a command.
func (p *sedParser) address() {
	for p.at < len(p.text) {
		switch ch := p.peek(); {
		case ch >= '0' && ch <= '9', strings.IndexByte("$,!+~ \t", ch) >= 0:
			p.at++
		case ch == '/':
			p.at++
			if !p.until('/', true) {
				p.bad = true
				return
			}
			p.flags("IM")
		case ch == '\\' && p.at+1 < len(p.text):
			d := p.text[p.at+1]
			p.at += 2
			if !p.until(d, true) {
				p.bad = true
				return
			}
			p.flags("IM")
		default:
			return
		}
	}
}

func (p *sedParser) flags(set string) {
	for p.at < len(p.text) && strings.IndexByte(set, p.peek()) >= 0 {
		p.at++
	}
}

// twice passes over the two texts between three delimiters.
func (p *sedParser) twice(d byte) bool {
	first := p.until(d, false)
	return first && p.until(d, false)
}

// until skips to behind the next d that is not escaped; in a regular
// expression, a bracket may hold it.
func (p *sedParser) until(d byte, regex bool) bool {
	bracket := false
	for p.at < len(p.text) {
		ch := p.text[p.at]
		p.at++
		switch {
		case ch == '\\':
			p.at++
		case bracket:
			bracket = ch != ']'
		case ch == d:
			return true
		case ch == '[' && regex:
			bracket = true
			if p.peek() == '^' {
				p.at++
			}
			if p.peek() == ']' {
				p.at++
			}
		}
	}
	return false
}

func (p *sedParser) substitute() {
	d := p.peek()
	p.at++
	from := p.at
	if d == 0 || d == '\n' || d == '\\' || !p.until(d, true) {
		p.bad = true
		return
	}
	if !p.until(d, false) {
		// A bracket that never closes is literal for some; read it without.
		p.at = from
		if !p.twice(d) {
			p.bad = true
			return
		}
	}
	for p.at < len(p.text) {
		switch ch := p.peek(); {
		case strings.IndexByte("gpiIMm0123456789", ch) >= 0:
			p.at++
		case ch == 'e':
			p.at++
			p.queue = append(p.queue, sedCommand{'e', ""})
		case ch == 'w':
			p.at++
			p.queue = append(p.queue, sedCommand{'w', strings.TrimSpace(p.line())})
			return
		case strings.IndexByte(" \t", ch) >= 0:
			p.at++
		case strings.IndexByte(";\n}#", ch) >= 0:
			return
		default:
			p.bad = true
			return
		}
	}
}
