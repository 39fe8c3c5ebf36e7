package textfile

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// EOL names the line ends of a text: lf, crlf, cr, mixed, or none.
func EOL(text string) string {
	crlf := strings.Count(text, "\r\n")
	lf := strings.Count(text, "\n") - crlf
	cr := strings.Count(text, "\r") - crlf
	switch {
	case crlf+lf+cr == 0:
		return "none"
	case lf+cr == 0:
		return "crlf"
	case crlf+cr == 0:
		return "lf"
	case crlf+lf == 0:
		return "cr"
	}
	return "mixed"
}

// ToLF is text with every CRLF as LF. A bare CR is data and stays.
func ToLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// Lines cuts a text into lines without their ends. A text that ends in a line
// end has no empty last line; an empty text has no line.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(ToLF(text), "\n"), "\n")
	return lines
}

// CountLines counts what Lines would return.
func CountLines(text string) int {
	if text == "" {
		return 0
	}
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// Numbered writes lines as `cat -n` does, the first one numbered start.
func Numbered(lines []string, start int) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "%6d\t%s\n", start+i, line)
	}
	return b.String()
}

// LineAt is the 1-based number of the line that holds byte i of text.
func LineAt(text string, i int) int { return strings.Count(text[:i], "\n") + 1 }

// Clip cuts a line after max characters; cut counts the characters left out.
func Clip(line string, max int) (head string, cut int) {
	if len(line) <= max {
		return line, 0
	}
	n := 0
	for i := range line {
		if n == max {
			return line[:i], utf8.RuneCountInString(line[i:])
		}
		n++
	}
	return line, 0
}

// CutLines keeps the whole lines of text that fit into max bytes, and counts
// the lines that do not.
func CutLines(text string, max int) (kept string, cut int) {
	if len(text) <= max {
		return text, 0
	}
	end := strings.LastIndexByte(text[:max], '\n') + 1
	return text[:end], CountLines(text[end:])
}
