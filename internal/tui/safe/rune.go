package safe

import (
	"fmt"
	"unicode/utf8"
)

// Rune reports whether a terminal may be sent this character as it is. Line feed
// is not such a character: who wants lines keeps them.
func Rune(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return false
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional controls
		return false
	case r == 0x2028, r == 0x2029: // line and paragraph separators
		return false
	case r == 0x00ad, r == 0x180e, r == 0x200b, r >= 0x2060 && r <= 0x2065, r >= 0x206a && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb: // invisible
		return false
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // fillers that look like blanks
		return false
	case r >= 0xe0000 && r <= 0xe0fff: // tags: text that nobody sees
		return false
	}
	return utf8.ValidRune(r)
}

// escape is how a character that Rune refuses is shown.
func escape(r rune) string {
	switch r {
	case '\a':
		return `\a`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\v':
		return `\v`
	}
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}
