package safe

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Styled filters text which our own renderer has coloured: select-graphic-rendition
// sequences stay, everything else a terminal would obey is shown. It is the last
// net behind renderers that unescape what they are given (a Markdown entity can
// spell a control character after the text was filtered).
func Styled(s string) string {
	if plain(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	var f Stream
	for len(s) > 0 {
		n := styleSequence(s)
		if n > 0 {
			out.WriteString(s[:n])
		} else {
			_, n = utf8.DecodeRuneInString(s)
			out.WriteString(f.Add(s[:n]))
		}
		s = s[n:]
	}
	out.WriteString(f.Flush())
	return out.String()
}

// styleSequence returns the length of the colour sequence that s begins with.
func styleSequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c >= '0' && c <= '9', c == ';', c == ':':
		default:
			return 0
		}
	}
	return 0
}

// Width is the number of cells a line takes, colours not counted.
func Width(line string) int { return ansi.StringWidth(line) }
