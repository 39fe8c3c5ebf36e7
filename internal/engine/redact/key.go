package redact

import "strings"

const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
)

// privateKey masks the lines of a private key block. all is true when the line
// belongs to a block and nothing else on it needs a look.
func privateKey(st *state, line string) (spans []span, all bool) {
	if st.key {
		if i := strings.Index(line, keyEnd); i >= 0 {
			st.key = false
			to := i + len(keyEnd)
			if j := strings.Index(line[to:], "-----"); j >= 0 {
				to += j + 5
			}
			return []span{{indent(line), to}}, true
		}
		if keyLine(line) {
			if from := indent(line); from < len(line) {
				return []span{{from, len(line)}}, true
			}
			return nil, true
		}
		st.key = false
	}
	for at := 0; ; {
		i := strings.Index(line[at:], keyBegin)
		if i < 0 {
			return spans, false
		}
		from := at + i
		at = from + len(keyBegin)
		j := strings.Index(line[at:], "-----")
		if j < 0 {
			return spans, false
		}
		if kind := line[at : at+j]; !strings.Contains(kind, "PRIVATE KEY") || len(kind) > 40 {
			continue
		}
		at += j + 5
		rest := line[at:]
		if strings.TrimRight(rest, " \t\"'") == "" {
			st.key = true
			return append(spans, span{from, at}), false
		}
		n := keyBody(rest)
		if n == 0 {
			continue
		}
		at += n
		spans = append(spans, span{from, at})
		if at == len(line) {
			st.key = true
		}
	}
}

// keyBody returns how much of a line after the first mark is key: encoded text
// with escaped or real spaces up to the last mark, or to where it stops.
func keyBody(rest string) int {
	run, best := 0, 0
	i := 0
	for i < len(rest) {
		switch ch := rest[i]; {
		case strings.HasPrefix(rest[i:], keyEnd):
			if j := strings.Index(rest[i+len(keyEnd):], "-----"); j >= 0 {
				return i + len(keyEnd) + j + 5
			}
			return i
		case ch == '\\' && i+1 < len(rest) && (rest[i+1] == 'n' || rest[i+1] == 'r'):
			run = 0
			i++
		case wordByte(ch) && ch != '_' || ch == '+' || ch == '/' || ch == '=':
			run++
			best = max(best, run)
		case ch == ' ':
			// Prose has spaces too; a key has long runs between them.
			if run > 0 && run < 16 && best < 16 {
				return 0
			}
			run = 0
		default:
			if best < 16 {
				return 0
			}
			return i
		}
		i++
	}
	if best < 16 {
		return 0
	}
	return i
}

// indent is the length of what a listing puts before a line: spaces, bars,
// diff marks, line numbers.
func indent(line string) int {
	i := 0
	for i < len(line) && strings.IndexByte(" \t|+->#", line[i]) >= 0 {
		i++
	}
	j := i
	for j < len(line) && digit(line[j]) {
		j++
	}
	if j > i && j < len(line) && strings.IndexByte(" \t:|", line[j]) >= 0 {
		for j < len(line) && strings.IndexByte(" \t:|", line[j]) >= 0 {
			j++
		}
		return j
	}
	return i
}

// keyLine reports a line that can stand in a key block.
func keyLine(line string) bool {
	body := strings.TrimRight(line[indent(line):], " \t\"',")
	if body == "" {
		return true
	}
	if name, _, ok := strings.Cut(body, ": "); ok {
		switch name {
		case "Proc-Type", "DEK-Info", "Version", "Comment", "Hash", "Charset":
			return true
		}
	}
	for i := 0; i < len(body); i++ {
		if ch := body[i]; !(wordByte(ch) && ch != '_') && ch != '+' && ch != '/' && ch != '=' {
			return false
		}
	}
	return true
}
