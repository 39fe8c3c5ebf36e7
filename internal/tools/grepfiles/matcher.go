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

// matcher finds lines. A whole file is searched at once and the line of a hit is
// tried again alone, which gives what matching line by line gives, at the speed
// of one long search. Safe for concurrent use.
type matcher struct {
	re *regexp.Regexp
	// plain is set for a literal with its case, which needs no automaton, folded for
	// one of small ASCII letters without it.
	plain  []byte
	folded []byte
	// ends says that the pattern looks at line ends, alone that it looks at the
	// borders of the text: such patterns see files with CRLF, or all files, line by line.
	ends  bool
	alone bool
}

func compile(in input) (*matcher, error) {
	if in.Literal && strings.ContainsAny(in.Pattern, "\r\n") {
		return nil, wire.Bad("the pattern holds a line end; lines are searched one by one")
	}
	m := &matcher{}
	text := in.Pattern
	if in.Literal {
		text = regexp.QuoteMeta(in.Pattern)
		if !in.IgnoreCase {
			m.plain = []byte(in.Pattern)
		}
	}
	flags := "(?m:"
	if in.IgnoreCase {
		flags = "(?mi:"
	}
	tree, err := syntax.Parse(flags+text+")", syntax.Perl)
	if err != nil {
		return nil, badPattern(in.Pattern, err)
	}
	m.look(tree)
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase != 0 {
		if text := string(tree.Rune); isASCII(text) {
			m.folded = lower([]byte(text), nil)
		}
	}
	m.re, err = regexp.Compile(flags + text + ")")
	if err != nil {
		return nil, badPattern(in.Pattern, err)
	}
	return m, nil
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

// next returns the place from pos on at which a match may begin, -1 for none.
// small is text in small letters, nil when it is not needed.
func (m *matcher) next(text, small []byte, pos int) int {
	needle := m.plain
	if small != nil {
		needle, text = m.folded, small
	}
	if needle != nil {
		if i := bytes.Index(text[pos:], needle); i >= 0 {
			return pos + i
		}
		return -1
	}
	if loc := m.re.FindIndex(text[pos:]); loc != nil {
		return pos + loc[0]
	}
	return -1
}

// at returns where a line matches by itself, -1 when it does not.
func (m *matcher) at(line []byte) int {
	if m.plain != nil {
		return bytes.Index(line, m.plain)
	}
	if loc := m.re.FindIndex(line); loc != nil {
		return loc[0]
	}
	return -1
}

// lines calls found for each line of text that matches, with its borders, where
// in it the match begins, and its number.
// buf is lent for a copy of text and returned, to be lent again.
func (m *matcher) lines(text, buf []byte, found func(start, end, at, number int) bool) []byte {
	var small []byte
	if m.folded != nil {
		if small = lower(text, buf); small != nil {
			buf = small
		}
	}
	oneByOne := m.alone || m.ends && bytes.Contains(text, []byte("\r\n"))
	number, counted := 1, 0
	for pos := 0; pos < len(text); {
		hit := pos
		if !oneByOne {
			hit = m.next(text, small, pos)
			if hit < 0 || hit == len(text) && text[hit-1] == '\n' {
				return buf
			}
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
