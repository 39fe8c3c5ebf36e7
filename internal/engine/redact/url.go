package redact

import "strings"

// urls masks passwords in the authority part of URLs and secrets in their
// queries and fragments.
func urls(spans []span, line string) []span {
	for at := 0; ; {
		i := strings.Index(line[at:], "://")
		if i < 0 {
			return spans
		}
		from := at + i + 3
		end := from
		for end < len(line) && strings.IndexByte(" \t\"'<>`\x1b", line[end]) < 0 {
			end++
		}
		spans = userinfo(spans, line, from, end)
		spans = query(spans, line, from, end)
		at = from
	}
}

func userinfo(spans []span, line string, from, end int) []span {
	host := end
	if i := strings.IndexAny(line[from:end], "/?#"); i >= 0 {
		host = from + i
	}
	// A password may hold an @ or, unescaped, a slash before the last @ of the
	// authority; the last @ before the path is the one that counts.
	sign := strings.LastIndexByte(line[from:host], '@')
	if sign < 0 {
		return spans
	}
	sign += from
	colon := strings.IndexByte(line[from:sign], ':')
	if colon < 0 {
		if user := line[from:sign]; len(user) >= 20 && hasDigit(user) && !placeholder(user) {
			spans = append(spans, span{from, sign})
		}
		return spans
	}
	password := line[from+colon+1 : sign]
	if password == "" || placeholder(password) {
		return spans
	}
	return append(spans, span{from + colon + 1, sign})
}

func query(spans []span, line string, from, end int) []span {
	i := strings.IndexAny(line[from:end], "?#")
	if i < 0 {
		return spans
	}
	at := from + i + 1
	for at < end {
		stop := end
		if j := strings.IndexAny(line[at:end], "&#;"); j >= 0 {
			stop = at + j
		}
		if eq := strings.IndexByte(line[at:stop], '='); eq > 0 {
			name, value := line[at:at+eq], line[at+eq+1:stop]
			if queryName(name) && len(value) >= 6 && !placeholder(value) && !number(value) {
				spans = append(spans, span{at + eq + 1, stop})
			}
		}
		at = stop + 1
	}
	return spans
}

func queryName(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "sig", "signature", "token", "secret", "password", "passwd", "pwd", "code", "key", "auth", "apikey", "jwt", "assertion":
		return true
	}
	return ShapedLikeSecret(name)
}
