package redact

import (
	"strings"
)

// hints reports whether a line in lower case speaks of a secret at all; most do
// not, and are spared a closer look.
func hints(low string) bool {
	for _, w := range []string{"key", "token", "secret", "pass", "pwd", "credential", "auth", "cookie", "bearer ", "identified by", "openai_", "azure_client_", "connection_string", "anthropic_"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// named masks the value of NAME=value, name: value, "name": "value" and their
// kin when the name says that it is a secret.
func named(spans []span, line string) []span {
	if strings.HasPrefix(strings.TrimLeft(line, " \t+-"), "ENV ") {
		spans = dockerEnv(spans, line)
	}
	for i := 0; i < len(line); i++ {
		if line[i] != '=' && line[i] != ':' {
			continue
		}
		sep, ok := separator(line, i)
		if !ok {
			continue
		}
		name, from, quoted := nameBefore(line, i)
		// "auth" alone is what container logins call theirs.
		login := quoted && name == "auth"
		if name == "" || strings.HasSuffix(line[:from], "://") || !login && !SecretName(name) {
			continue
		}
		v := valueAfter(line, sep.end, sep.equals && envLine(line, from, name))
		v.name, v.sep, v.quotedName = name, sep, quoted
		if login && !v.quoted {
			continue
		}
		if v.secret() {
			spans = append(spans, span{v.from, v.to})
			i = max(i, v.to-1)
		}
	}
	return spans
}

// mark is what stands between a name and its value.
type mark struct {
	end    int
	equals bool
	// spaced is true for "name = value".
	spaced bool
}

// separator reads =, :, := or => at i; comparisons and scopes are none.
func separator(line string, i int) (mark, bool) {
	at := func(k int) byte {
		if k < 0 || k >= len(line) {
			return 0
		}
		return line[k]
	}
	prev, next := at(i-1), at(i+1)
	m := mark{end: i + 1, equals: line[i] == '=', spaced: prev == ' '}
	if line[i] == '=' {
		if next == '=' || next == '~' || strings.IndexByte("=!<>~:", prev) >= 0 && prev != 0 {
			return m, false
		}
		if next == '>' {
			m.end++
		}
		return m, true
	}
	switch {
	case next == ':' || prev == ':' || next == '/' && at(i+2) == '/':
		return m, false
	case next == '=':
		m.end, m.equals = i+2, true
	}
	return m, true
}

// nameBefore reads the name that ends before i, through quotes, brackets and
// colour codes.
func nameBefore(line string, i int) (name string, from int, quoted bool) {
	j := i
	for j > 0 && (line[j-1] == ' ' || line[j-1] == '\t') {
		j--
	}
	j = skipColourBack(line, j)
	if j > 0 && line[j-1] == ']' {
		j--
	}
	for j > 0 && strings.IndexByte("\"'`", line[j-1]) >= 0 {
		quoted = true
		j--
	}
	if quoted && j > 0 && line[j-1] == '\\' {
		j--
	}
	k := j
	for k > 0 && (wordByte(line[k-1]) || line[k-1] == '-' || line[k-1] == '.') {
		k--
	}
	return strings.TrimLeft(line[k:j], "-."), k, quoted
}

func skipColourBack(line string, j int) int {
	if j == 0 || line[j-1] != 'm' {
		return j
	}
	k := j - 1
	for k > 0 && (digit(line[k-1]) || line[k-1] == ';') {
		k--
	}
	if k >= 2 && line[k-1] == '[' && line[k-2] == 0x1b {
		return skipColourBack(line, k-2)
	}
	return j
}

func skipColour(line string, i int) int {
	if i+1 >= len(line) || line[i] != 0x1b || line[i+1] != '[' {
		return i
	}
	k := i + 2
	for k < len(line) && (digit(line[k]) || line[k] == ';') {
		k++
	}
	if k < len(line) && line[k] == 'm' {
		return skipColour(line, k+1)
	}
	return i
}

// envLine reports an assignment as shells and env files write it: the name in
// capitals, alone on its line but for export and diff marks.
func envLine(line string, from int, name string) bool {
	if !isUpper(name) {
		return false
	}
	before := strings.TrimLeft(line[:from], " \t+->")
	switch before {
	case "", "export ", "declare -x ", "set ", "ENV ", "ARG ", "setenv ", "typeset -x ":
		return true
	}
	return false
}

// value is what stands behind a separator.
type value struct {
	name       string
	sep        mark
	quotedName bool
	text       string
	from, to   int
	quoted     bool
	// follows is the byte behind an unquoted value, 0 at the end.
	follows byte
}

func valueAfter(line string, i int, env bool) value {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	i = skipColour(line, i)
	escaped := strings.HasPrefix(line[i:], `\"`) || strings.HasPrefix(line[i:], `\'`)
	if escaped {
		i++
	}
	if i < len(line) && strings.IndexByte("\"'`", line[i]) >= 0 {
		q, from := line[i], i+1
		for j := from; j < len(line); j++ {
			if line[j] == '\\' && !escaped {
				j++
				continue
			}
			if line[j] == q {
				to := j
				if escaped && to > from && line[to-1] == '\\' {
					to--
				}
				return value{text: line[from:to], from: from, to: to, quoted: true}
			}
		}
		return value{text: line[from:], from: from, to: len(line), quoted: true}
	}
	stop := " \t\x1b\"'`,;&<>)}]|"
	if env {
		stop = " \t\x1b\"'`"
	}
	if i < len(line) && line[i] == '<' || env && i < len(line) && line[i] == '$' {
		stop = " \t\x1b"
	}
	j := i
	for j < len(line) && strings.IndexByte(stop, line[j]) < 0 {
		j++
	}
	v := value{text: line[i:j], from: i, to: j}
	if j < len(line) {
		v.follows = line[j]
	}
	return v
}

// secret decides whether the value of a secret's name is one.
func (v value) secret() bool {
	text := v.text
	if text == "" || placeholder(text) || strings.HasPrefix(text, Mask) {
		return false
	}
	words := nameWords(v.name)
	password := strings.HasSuffix(words[len(words)-1], "password") || strings.HasSuffix(words[len(words)-1], "passwd") || strings.HasSuffix(words[len(words)-1], "pwd")
	if v.quoted {
		return len(text) >= 4 && (password || len(text) >= 8 || hasDigit(text))
	}
	if code(text) || v.identifier() || v.follows == '(' || strings.HasPrefix(text, "/") && strings.Count(text, "/") > 1 || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "~/") {
		return false
	}
	if number(text) {
		return password && len(text) >= 4
	}
	if !ShapedLikeSecret(v.name) && strings.Contains(text, "://") {
		return false
	}
	if isUpper(v.name) && hasLetter(v.name) {
		return len(text) >= 4
	}
	if v.sep.equals && !v.sep.spaced {
		return len(text) >= 6
	}
	return len(text) >= 6 && (hasDigit(text) || strings.ContainsAny(text, "!@#$%^&*+/=~"))
}

// identifier reports a value that is a name of the program around it:
// f(password=pw), self.token = token.
func (v value) identifier() bool {
	if isUpper(v.name) || strings.Trim(strings.ToLower(v.text), "abcdefghijklmnopqrstuvwxyz_.") != "" {
		return false
	}
	return v.follows == ')' || v.follows == ',' || strings.ContainsAny(v.text, "_.") || strings.EqualFold(v.text, v.name)
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func number(s string) bool { return strings.Trim(s, "0123456789._-+") == "" }

// code reports text that is an expression of a program rather than a value.
func code(text string) bool {
	if strings.ContainsAny(text, "({[") {
		return true
	}
	// a.b.c: a member, not a value; digits tell a value from a member.
	if strings.Contains(text, ".") && !hasDigit(text) && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz._") == "" {
		return true
	}
	return false
}

// placeholder reports a value that stands for one: a reference, a mask, a hint,
// a type.
func placeholder(text string) bool {
	switch text[0] {
	case '$', '<', '{', '[', '(', '%', '@', '!', '*', '&':
		if text[0] != '!' && text[0] != '@' && text[0] != '&' && text[0] != '%' && text[0] != '*' || len(text) < 6 || strings.Trim(text, "*") == "" || strings.HasSuffix(text, "%") {
			return true
		}
	}
	if strings.Trim(text, "*.xX-_•") == "" || strings.Trim(text, "0") == "" {
		return true
	}
	low := strings.ToLower(strings.Trim(text, ";,"))
	switch low {
	case "null", "nil", "none", "true", "false", "undefined", "required", "optional", "string", "str", "bytes", "bool", "boolean", "int",
		"integer", "number", "any", "object", "text", "password", "token", "secret", "hidden", "redacted", "[redacted]", "masked", "inherit", "unset", "n/a", "empty", "todo", "tbd":
		return true
	}
	return strings.HasPrefix(low, "your-") || strings.HasPrefix(low, "your_") || strings.HasPrefix(low, "process.env") ||
		strings.HasPrefix(low, "os.environ") || strings.HasPrefix(low, "env.") || strings.HasPrefix(low, "secrets.") || strings.HasPrefix(low, "***") || strings.Contains(low, "...")
}

// dockerEnv masks ENV NAME value.
func dockerEnv(spans []span, line string) []span {
	i := strings.Index(line, "ENV ") + 4
	for i < len(line) && line[i] == ' ' {
		i++
	}
	j := i
	for j < len(line) && wordByte(line[j]) {
		j++
	}
	if j == i || j >= len(line) || line[j] != ' ' || !SecretName(line[i:j]) {
		return spans
	}
	v := valueAfter(line, j, true)
	v.name, v.sep = line[i:j], mark{equals: true}
	if v.secret() {
		spans = append(spans, span{v.from, v.to})
	}
	return spans
}
