package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescapeQuoted resolves the backslashes of a double-quoted string or an
// unquoted here-document, where they only escape $ ` " \ and a newline.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		switch s[i+1] {
		case '$', '`', '"', '\\':
			i++
			b.WriteByte(s[i])
		case '\n':
			i++
		default:
			b.WriteByte('\\')
		}
	}
	return b.String()
}

// unescapeDollar decodes the text of $'…' as bash does; a NUL ends it.
func unescapeDollar(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		text, used := dollarEscape(s[i:])
		if text == "\x00" {
			break
		}
		b.WriteString(text)
		i += used - 1
	}
	return b.String()
}

// dollarEscape decodes one escape, s beginning after its backslash.
func dollarEscape(s string) (text string, used int) {
	if i := strings.IndexByte("abeEfnrtv", s[0]); i >= 0 {
		return string("\a\b\x1b\x1b\f\n\r\t\v"[i]), 1
	}
	switch s[0] {
	case '\\', '\'', '"', '?':
		return s[:1], 1
	case 'x':
		if n, v := digits(s[1:], 16, 2); n > 0 {
			return string([]byte{byte(v)}), 1 + n
		}
		return `\x`, 1
	case 'u':
		if n, v := digits(s[1:], 16, 4); n > 0 {
			return runeText(v), 1 + n
		}
		return `\u`, 1
	case 'U':
		if n, v := digits(s[1:], 16, 8); n > 0 {
			return runeText(v), 1 + n
		}
		return `\U`, 1
	case 'c':
		if len(s) > 1 {
			return string([]byte{s[1] & 0x1f}), 2
		}
		return `\c`, 1
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n, v := digits(s, 8, 3)
		return string([]byte{byte(v)}), n
	}
	return `\` + s[:1], 1
}

func runeText(v uint64) string {
	if v == 0 {
		return "\x00"
	}
	if v > utf8.MaxRune {
		return string(utf8.RuneError)
	}
	return string(rune(v))
}

func digits(s string, base, limit int) (n int, v uint64) {
	for n < limit && n < len(s) {
		if _, err := strconv.ParseUint(s[n:n+1], base, 64); err != nil {
			break
		}
		n++
	}
	v, _ = strconv.ParseUint(s[:n], base, 64)
	return n, v
}
