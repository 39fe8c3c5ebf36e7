package grepfiles

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

// matcher finds lines. A whole file is searched at once, for a text that every
// match holds where the pattern has one, and the line of a hit is tried alone,
// which gives what matching line by line gives at the speed of one long search.
// Safe for concurrent use.
type matcher struct {
	re *regexp.Regexp
	// plain says that needle is the whole pattern, which needs no automaton.
	plain bool
	// needle is in every line that matches, in small letters when fold is set.
	needle []byte
	fold   bool
	// ends says that the pattern looks at line ends, alone that it looks at the
	// borders of the text: without a needle such patterns see files with CRLF, or
	// all files, line by line.
	ends  bool
	alone bool
}

// leastNeedle is the shortest text that is worth looking for first.
const leastNeedle = 3

func compile(in input) (*matcher, error) {
	if in.Literal && strings.ContainsAny(in.Pattern, "\r\n") {
		return nil, wire.Bad("the pattern holds a line end; lines are searched one by one")
	}
	text := in.Pattern
	if in.Literal {
		text = regexp.QuoteMeta(in.Pattern)
	}
	flags := "(?m:"
	if in.IgnoreCase {
		flags = "(?mi:"
	}
	tree, err := syntax.Parse(flags+text+")", syntax.Perl)
	if err != nil {
		return nil, badPattern(in.Pattern, err)
	}
	m := &matcher{plain: in.Literal && !in.IgnoreCase}
	m.look(tree)
	if l := needed(tree.Simplify()); m.plain || len(l.text) >= leastNeedle {
		m.needle, m.fold = []byte(l.text), l.fold
	}
	m.re, err = regexp.Compile(flags + text + ")")
	if err != nil {
		return nil, badPattern(in.Pattern, err)
	}
	return m, nil
}

// literal is a text that a match holds, in small letters when fold is set.
type literal struct {
	text string
	fold bool
}

// needed is the longest text that every match of a pattern holds, empty for none.
func needed(re *syntax.Regexp) literal {
	switch re.Op {
	case syntax.OpLiteral:
		l := literal{string(re.Rune), re.Flags&syntax.FoldCase != 0}
		if strings.ContainsAny(l.text, "\r\n") || l.fold && !isASCII(l.text) {
			return literal{}
		}
		if l.fold {
			l.text = strings.ToLower(l.text)
		}
		return l
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		best := literal{}
		for _, sub := range re.Sub {
			if l := needed(sub); len(l.text) > len(best.text) {
				best = l
			}
		}
		return best
	}
	return literal{}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// look finds out which borders a pattern looks at.
func (m *matcher) look(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpEndLine:
		m.ends = true
	case syntax.OpBeginText, syntax.OpEndText:
		m.alone = true
	}
	for _, sub := range re.Sub {
		m.look(sub)
	}
}

// badPattern says where a pattern is wrong and what RE2 does not have.
func badPattern(pattern string, err error) error {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return wire.Bad("pattern %q: %v", pattern, err)
	}
	where := ""
	if i := strings.Index(pattern, se.Expr); i >= 0 && se.Expr != "" {
		where = fmt.Sprintf(" at character %d", utf8.RuneCountInString(pattern[:i])+1)
	}
	text := fmt.Sprintf("pattern %q: %s%s: %q", pattern, se.Code, where, se.Expr)
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(pattern, look) {
			text += "\nRE2 has no look-around; match more and filter, or use a simpler pattern."
			break
		}
	}
	if se.Code == syntax.ErrInvalidEscape && strings.ContainsAny(se.Expr, "123456789") {
		text += "\nRE2 has no back-references."
	}
	return &tool.Fault{Kind: tool.BadArgs, Text: text}
}

// lower writes text with small ASCII letters into buf. It returns nil where other
// characters count as letters of ASCII without their case (ſ and the Kelvin sign),
// so that only the automaton is right.
func lower(text, buf []byte) []byte {
	if bytes.Contains(text, []byte("ſ")) || bytes.Contains(text, []byte("\u212a")) {
		return nil
	}
	buf = append(buf[:0], text...)
	for i, c := range buf {
		if c >= 'A' && c <= 'Z' {
			buf[i] = c | 0x20
		}
	}
	return buf
}

// at returns where a line matches by itself, -1 when it does not.
func (m *matcher) at(line []byte) int {
	if m.plain {
		return bytes.Index(line, m.needle)
	}
	if loc := m.re.FindIndex(line); loc != nil {
		return loc[0]
	}
	return -1
}

// hits returns how to find the next place of a text at which a line may match,
// from a position on; -1 is none. buf is lent for a copy of text.
func (m *matcher) hits(text, buf []byte) (next func(pos int) int, lent []byte) {
	hay := text
	if m.fold {
		if hay = lower(text, buf); hay != nil {
			buf = hay
		}
	}
	switch {
	case m.needle != nil && hay != nil:
		return func(pos int) int { return plus(pos, bytes.Index(hay[pos:], m.needle)) }, buf
	case m.alone || m.ends && bytes.Contains(text, []byte("\r\n")):
		return func(pos int) int { return pos }, buf
	}
	return func(pos int) int {
		if loc := m.re.FindIndex(text[pos:]); loc != nil {
			return pos + loc[0]
		}
		return -1
	}, buf
}

func plus(pos, i int) int {
	if i < 0 {
		return -1
	}
	return pos + i
}

// lines calls found for each line of text that matches, with its borders, where
// in it the match begins, and its number. buf is lent for a copy of text and
// returned, to be lent again.
func (m *matcher) lines(text, buf []byte, found func(start, end, at, number int) bool) []byte {
	next, buf := m.hits(text, buf)
	number, counted := 1, 0
	for pos := 0; pos < len(text); {
		hit := next(pos)
		if hit < 0 || hit == len(text) && text[hit-1] == '\n' {
			return buf
		}
		start := bytes.LastIndexByte(text[:hit], '\n') + 1
		end := len(text)
		if i := bytes.IndexByte(text[hit:], '\n'); i >= 0 {
			end = hit + i
		}
		pos = end + 1
		line := bytes.TrimSuffix(text[start:end], []byte("\r"))
		at := m.at(line)
		if at < 0 {
			continue
		}
		number += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		if !found(start, start+len(line), at, number) {
			return buf
		}
	}
	return buf
}
