package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Style says how text may look where it goes. The zero value is plain text of 80
// columns that any file or terminal can take.
type Style struct {
	// Columns is the width to fill; 0 is 80, below 20 counts as 20.
	Columns int
	// Color allows SGR sequences, Boxes characters beyond ASCII for lines and bars.
	Color, Boxes bool
	// Width measures text in columns; nil counts runes.
	Width func(string) int
	// Escape makes foreign text harmless on one line; nil escapes whatever does not print.
	Escape func(string) string
}

// page is a text being written.
type page struct {
	style Style
	b     strings.Builder
}

func newPage(s Style) *page {
	if s.Columns == 0 {
		s.Columns = 80
	}
	s.Columns = max(s.Columns, 20)
	if s.Width == nil {
		s.Width = utf8.RuneCountInString
	}
	if s.Escape == nil {
		s.Escape = escape
	}
	return &page{style: s}
}

func (p *page) String() string { return p.b.String() }

// escape writes what does not print as Go would.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// tone is a colour that means something.
type tone string

// The tones.
const (
	bad   tone = "31"
	warns tone = "33"
	good  tone = "32"
	faint tone = "2"
	head  tone = "1"
)

// paint colours text that is already escaped and measured.
func (p *page) paint(t tone, text string) string {
	if !p.style.Color || text == "" {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[0m"
}

// esc makes foreign text harmless.
func (p *page) esc(text string) string { return p.style.Escape(text) }

// line writes text that is ready, without trailing blanks.
func (p *page) line(text string) {
	p.b.WriteString(strings.TrimRight(text, " ") + "\n")
}

// gap writes an empty line.
func (p *page) gap() { p.b.WriteByte('\n') }

// title begins a section. It is short and ours.
func (p *page) title(text string) {
	p.gap()
	p.line(p.paint(head, text))
}

// lead writes a first word that may be painted, and text, wrapped.
func (p *page) lead(first, text string) { p.para(first, "  ", text) }

// para writes text, wrapped, behind a first and under a further indent.
func (p *page) para(first, further, text string) {
	for at, part := range p.wrap(p.esc(text), p.style.Columns-p.visible(first), p.style.Columns-p.visible(further)) {
		if at == 0 {
			p.line(first + part)
		} else {
			p.line(further + part)
		}
	}
}

// visible measures text that may be painted.
func (p *page) visible(text string) int {
	for {
		start := strings.Index(text, "\x1b[")
		if start < 0 {
			return p.style.Width(text)
		}
		end := strings.IndexByte(text[start:], 'm')
		text = text[:start] + text[start+end+1:]
	}
}

// item writes a list item.
func (p *page) item(text string) { p.para("  - ", "    ", text) }

// wrap breaks escaped text into lines, the first of one width and the others of
// another, at blanks where it can.
func (p *page) wrap(text string, first, further int) []string {
	const least = 8
	width := max(first, least)
	var lines []string
	line := ""
	end := func(text string) {
		lines, line, width = append(lines, text), "", max(further, least)
	}
	for _, word := range strings.Fields(text) {
		if line != "" && p.style.Width(line)+1+p.style.Width(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			end(line)
		}
		for p.style.Width(word) > width {
			part := p.cut(word, width)
			word = word[len(part):]
			end(part)
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		end(line)
	}
	return lines
}

// cut is the longest beginning of a word that fits a width, one rune at least.
func (p *page) cut(word string, width int) string {
	end := 0
	for i, r := range word {
		if next := i + utf8.RuneLen(r); i == 0 || p.style.Width(word[:next]) <= width {
			end = next
			continue
		}
		break
	}
	return word[:end]
}

// pad fills text to a width.
func (p *page) pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-p.visible(text)))
}

// fit shortens text to a width, with a mark where it was cut.
func (p *page) fit(text string, width int) string {
	if p.style.Width(text) <= width {
		return text
	}
	mark := "~"
	if p.style.Boxes {
		mark = "…"
	}
	return p.cut(text, max(1, width-p.style.Width(mark))) + mark
}

// bar draws a share of 1.
func (p *page) bar(share float64, width int) string {
	full, empty := "#", "."
	if p.style.Boxes {
		full, empty = "█", "░"
	}
	n := int(share*float64(width) + 0.5)
	return strings.Repeat(full, n) + strings.Repeat(empty, width-n)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// some lists a few of many, one a line, and says how many are left out.
func some[T any](p *page, list []T, most int, one func(T)) {
	for _, v := range list[:min(len(list), most)] {
		one(v)
	}
	if more := len(list) - most; more > 0 {
		p.line(fmt.Sprintf("  - and %d more", more))
	}
}
