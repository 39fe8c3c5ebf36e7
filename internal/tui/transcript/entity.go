package transcript

import (
	"html"
	"strings"

	"car/internal/tui/safe"
)

// neutral shows character references that spell what a terminal would obey.
// glamour decodes `&#27;` after our filter saw it, so they are decoded here first.
// References to harmless characters stay as they are.
func neutral(source string) string {
	if !strings.Contains(source, "&") {
		return source
	}
	var out strings.Builder
	for {
		at := strings.IndexByte(source, '&')
		if at < 0 {
			out.WriteString(source)
			return out.String()
		}
		out.WriteString(source[:at])
		n := referenceLen(source[at:])
		out.WriteString(shown(source[at : at+n]))
		source = source[at+n:]
	}
}

// shown returns a reference as it is, or what it stands for where that has to be shown.
func shown(reference string) string {
	plain := html.UnescapeString(reference)
	if plain == reference {
		return reference
	}
	for _, r := range plain {
		if !safe.Rune(r) {
			return safe.Line(plain)
		}
	}
	return reference
}

// referenceLen is the length of the character reference that s begins with, at
// least 1. A final semicolon belongs to it but need not be there.
func referenceLen(s string) int {
	const most = 40
	n := 1
	for n < len(s) && n < most && (s[n] == '#' && n == 1 || isAlnum(s[n])) {
		n++
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	return n
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
