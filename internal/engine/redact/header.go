package redact

import (
	"strings"
)

// headers masks the values of Authorization, API key and cookie headers.
func headers(spans []span, line, low string) []span {
	for _, h := range []string{"authorization", "x-api-key", "api-key", "x-auth-token", "x-auth-key", "x-access-token", "x-vault-token", "x-gitlab-token", "private-token", "x-amz-security-token", "x-csrf-token"} {
		for at := 0; ; {
			i := strings.Index(low[at:], h)
			if i < 0 {
				break
			}
			from := at + i
			at = from + len(h)
			if !strings.HasSuffix(line[:from], "://") {
				spans = headerValue(spans, line, at)
			}
		}
	}
	for at := 0; ; {
		i := strings.Index(low[at:], "cookie:")
		if i < 0 {
			return spans
		}
		from := at + i
		at = from + len("cookie:")
		spans = cookies(spans, line, at, strings.HasSuffix(low[:from], "set-"))
	}
}

// headerValue masks what follows a header's name and its colon, the scheme
// (Bearer, Basic, …) apart.
func headerValue(spans []span, line string, at int) []span {
	i := at
	for i < len(line) && strings.IndexByte("\"'\\ ", line[i]) >= 0 {
		i++
	}
	if i >= len(line) || line[i] != ':' && line[i] != '=' {
		return spans
	}
	i++
	for i < len(line) && strings.IndexByte("\"'\\ ", line[i]) >= 0 {
		i++
	}
	end := i
	for end < len(line) && strings.IndexByte("\"'\\\x1b", line[end]) < 0 {
		end++
	}
	text := strings.TrimRight(line[i:end], " \t,;")
	if scheme, rest, ok := strings.Cut(text, " "); ok && len(scheme) <= 20 && hasLetter(scheme) {
		i += len(scheme) + 1
		text = rest
	} else if strings.Contains(text, " ") {
		return spans
	}
	if len(text) < 6 || placeholder(text) || strings.ContainsAny(text, "(){}[]<>") || !hasDigit(text) && !hasUpperInside(text) && strings.Contains(text, " ") {
		return spans
	}
	return append(spans, span{i, i + len(text)})
}

func hasUpperInside(s string) bool {
	for i := 1; i < len(s); i++ {
		if upper(s[i]) {
			return true
		}
	}
	return false
}

// cookies masks the values of a Cookie header, or the one of Set-Cookie.
func cookies(spans []span, line string, at int, set bool) []span {
	for at < len(line) {
		end := len(line)
		if i := strings.IndexAny(line[at:], ";\"'"); i >= 0 {
			end = at + i
		}
		if eq := strings.IndexByte(line[at:end], '='); eq >= 0 {
			name, value := strings.TrimSpace(line[at:at+eq]), line[at+eq+1:end]
			if (len(value) >= 8 || SecretName(name) && len(value) >= 4) && !placeholder(value) {
				spans = append(spans, span{at + eq + 1, end})
			}
		}
		if set || end < len(line) && line[end] != ';' {
			return spans
		}
		at = end + 1
	}
	return spans
}
