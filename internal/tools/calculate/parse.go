package calculate

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

const (
	maxChars = 1000
	maxDepth = 64
	// maxDigits bounds the decimal digits of an exact value.
	maxDigits = 10_000
)

// parser evaluates while it parses. Positions are 1-based characters.
type parser struct {
	text  string
	at    int
	depth int
}

// evaluate works out a whole text.
func evaluate(text string) (value, error) {
	p := &parser{text: text}
	v, err := p.expression(0)
	if err != nil {
		return value{}, err
	}
	if p.space(); p.at < len(p.text) {
		return value{}, p.fail("unexpected %q", p.peek())
	}
	return v, nil
}

func (p *parser) fail(format string, args ...any) error { return p.failAt(p.at, format, args...) }

func (p *parser) failAt(at int, format string, args ...any) error {
	return fmt.Errorf("position %d: %s", utf8.RuneCountInString(p.text[:at])+1, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek is the next character, for messages.
func (p *parser) peek() string {
	if p.at >= len(p.text) {
		return "end"
	}
	_, n := utf8.DecodeRuneInString(p.text[p.at:])
	return p.text[p.at : p.at+n]
}

// operator looks at the next operator and how strongly it binds.
func (p *parser) operator() (op string, binds int) {
	p.space()
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, "**"):
		return "**", 4
	case rest == "":
		return "", 0
	}
	switch rest[0] {
	case '+', '-':
		return rest[:1], 1
	case '*', '/', '%':
		return rest[:1], 2
	case '^':
		return "^", 4
	}
	return "", 0
}

// expression parses what binds more strongly than floor. Power is right-associative
// and binds before a unary minus at its left, after one at its right.
func (p *parser) expression(floor int) (value, error) {
	if p.depth++; p.depth > maxDepth {
		return value{}, p.fail("nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.operand()
	for err == nil {
		op, binds := p.operator()
		if op == "" || binds <= floor {
			return left, nil
		}
		at := p.at
		p.at += len(op)
		below := binds
		if binds == 4 {
			below = 3
		}
		var right value
		if right, err = p.expression(below); err != nil {
			return value{}, err
		}
		if left, err = combine(op, left, right); err != nil {
			return value{}, p.failAt(at, "%v", err)
		}
	}
	return value{}, err
}

func (p *parser) operand() (value, error) {
	p.space()
	if p.at >= len(p.text) {
		return value{}, p.fail("a value is missing")
	}
	at := p.at
	switch c := p.text[p.at]; {
	case c == '-' || c == '+':
		p.at++
		v, err := p.expression(2)
		if c == '-' && err == nil {
			v = v.negated()
		}
		return v, err
	case c == '(':
		p.at++
		v, err := p.expression(0)
		if err != nil {
			return value{}, err
		}
		return v, p.expect(')', at)
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case isLetter(c):
		return p.name()
	}
	return value{}, p.fail("a value is missing before %q", p.peek())
}

// expect takes a closing character whose opener stood at opened.
func (p *parser) expect(c byte, opened int) error {
	if p.space(); p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return nil
	}
	if p.at >= len(p.text) {
		return p.failAt(opened, "( is never closed")
	}
	return p.fail("unexpected %q, want %q", p.peek(), string(c))
}

// number parses decimal literals, exactly.
func (p *parser) number() (value, error) {
	start := p.at
	p.digits()
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		p.digits()
	}
	if text := p.text[start:p.at]; text == "." {
		return value{}, p.failAt(start, "a number needs digits")
	}
	if e := p.at; e < len(p.text) && p.text[e]|0x20 == 'e' {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if from := p.at; p.digits() == 0 {
			p.at = e
		} else if len(strings.TrimLeft(p.text[from:p.at], "0")) > 4 {
			return value{}, p.failAt(start, "the exponent is too large")
		}
	}
	r, ok := new(big.Rat).SetString(p.text[start:p.at])
	if !ok {
		return value{}, p.failAt(start, "%q is no number", p.text[start:p.at])
	}
	v, err := exactly(r)
	if err != nil {
		return value{}, p.failAt(start, "%v", err)
	}
	return v, nil
}

func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// name parses a constant or a call.
func (p *parser) name() (value, error) {
	start := p.at
	for p.at < len(p.text) && (isLetter(p.text[p.at]) || p.text[p.at] >= '0' && p.text[p.at] <= '9') {
		p.at++
	}
	name := strings.ToLower(p.text[start:p.at])
	if v, found := constant(name); found {
		return v, nil
	}
	f, found := functions[name]
	if !found {
		return value{}, p.failAt(start, "unknown name %q; known are pi, e, %s", p.text[start:p.at], functionNames)
	}
	p.space()
	opened := p.at
	if p.at >= len(p.text) || p.text[p.at] != '(' {
		return value{}, p.fail("%s needs its argument in parentheses", name)
	}
	p.at++
	args, err := p.arguments(opened)
	if err != nil {
		return value{}, err
	}
	if len(args) < f.least || len(args) > f.most {
		return value{}, p.failAt(start, "%s takes %s, not %d", name, f.takes(), len(args))
	}
	v, err := f.apply(args)
	if err != nil {
		return value{}, p.failAt(start, "%v", err)
	}
	return v, nil
}

func (p *parser) arguments(opened int) ([]value, error) {
	var args []value
	for {
		v, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
		if p.space(); p.at < len(p.text) && p.text[p.at] == ',' {
			p.at++
			continue
		}
		return args, p.expect(')', opened)
	}
}
