package redact

import "strings"

// phrases masks secrets that stand behind words rather than signs: XML elements,
// login files, SQL, a bearer token without its header.
func phrases(spans []span, line, low string) []span {
	spans = elements(spans, line)
	for _, p := range []struct{ before, word string }{{"login ", " password "}, {"machine ", " password "}, {"", "identified by "}, {"", "bearer "}} {
		i := strings.Index(low, p.word)
		if i < 0 || p.before != "" && !strings.Contains(low[:i+1], p.before) {
			continue
		}
		v := valueAfter(line, i+len(p.word), false)
		if len(v.text) < 6 || placeholder(v.text) || code(v.text) || !hasDigit(v.text) {
			continue
		}
		if p.word == "bearer " && len(v.text) < 16 {
			continue
		}
		spans = append(spans, span{v.from, v.to})
	}
	return spans
}

// elements masks <name>value</name>.
func elements(spans []span, line string) []span {
	for at := 0; ; {
		i := strings.IndexByte(line[at:], '<')
		if i < 0 {
			return spans
		}
		from := at + i + 1
		at = from
		end := from
		for end < len(line) && (wordByte(line[end]) || line[end] == '-' || line[end] == '.') {
			end++
		}
		if end == from || end >= len(line) || line[end] != '>' || !SecretName(line[from:end]) {
			continue
		}
		stop := strings.IndexByte(line[end:], '<')
		if stop < 0 {
			continue
		}
		if text := line[end+1 : end+stop]; len(text) >= 4 && !placeholder(text) {
			spans = append(spans, span{end + 1, end + stop})
		}
	}
}
