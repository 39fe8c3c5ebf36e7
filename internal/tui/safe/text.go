package safe

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// tabStop is the distance of tab stops in cells.
const tabStop = 4

// Text filters a whole text of lines. Its result holds printable characters and
// line feeds only.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var f Stream
	return f.Add(s) + f.Flush()
}

// Line filters a text that has to stay on one line, such as a file name or an
// argument: its line ends are shown as `\n`.
func Line(s string) string {
	if plain(s) && !strings.Contains(s, "\n") {
		return s
	}
	var f Stream
	return strings.ReplaceAll(f.Add(s)+f.Flush(), "\n", `\n`)
}

// plain reports whether the filter would change nothing, which is most text.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 && c != '\n') || c >= 0x7f {
			return false
		}
	}
	return true
}

// Stream filters a text that arrives in pieces. The zero value is ready; it has
// one user. Nothing that two pieces spell together gets past it.
type Stream struct {
	partial []byte // the head of a UTF-8 sequence
	cr      bool   // a carriage return that a line feed may still follow
	column  int    // cells since the last line end, for tab stops
}

// Add returns what can be shown now.
func (f *Stream) Add(piece string) string {
	if len(f.partial) > 0 {
		piece = string(f.partial) + piece
		f.partial = nil
	}
	var out strings.Builder
	out.Grow(len(piece) + 16)
	for i := 0; i < len(piece); {
		if !utf8.FullRuneInString(piece[i:]) {
			f.partial = append(f.partial, piece[i:]...)
			break
		}
		r, n := utf8.DecodeRuneInString(piece[i:])
		f.put(&out, r, piece[i:i+n])
		i += n
	}
	return out.String()
}

// Flush ends the text and returns what was still open.
func (f *Stream) Flush() string {
	var out strings.Builder
	for _, b := range f.partial {
		f.put(&out, utf8.RuneError, string([]byte{b}))
	}
	if f.cr {
		f.hidden(&out, '\r')
	}
	*f = Stream{}
	return out.String()
}

func (f *Stream) put(out *strings.Builder, r rune, raw string) {
	if f.cr {
		f.cr = false
		if r != '\n' {
			f.hidden(out, '\r')
		}
	}
	switch {
	case r == '\n':
		out.WriteByte('\n')
		f.column = 0
	case r == '\r':
		f.cr = true
	case r == '\t':
		n := tabStop - f.column%tabStop
		out.WriteString("    "[:n])
		f.column += n
	case r == utf8.RuneError && len(raw) == 1: // a byte that is no UTF-8
		shown := byteEscape(raw[0])
		out.WriteString(shown)
		f.column += len(shown)
	case !Rune(r):
		f.hidden(out, r)
	default:
		out.WriteString(raw)
		f.column += ansi.StringWidth(raw)
	}
}

func (f *Stream) hidden(out *strings.Builder, r rune) {
	shown := escape(r)
	out.WriteString(shown)
	f.column += len(shown)
}

func byteEscape(b byte) string {
	const hex = "0123456789abcdef"
	return `\x` + string([]byte{hex[b>>4], hex[b&15]})
}
