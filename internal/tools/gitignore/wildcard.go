package gitignore

import "strings"

// matchName matches one name against one pattern without slashes, by bytes, as
// git does. Only the last star ever needs to take more, so this is no worse than
// quadratic for whatever a cloned repository brings.
func matchName(pattern, name string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return pattern == name
	}
	p, n := 0, 0
	star, from := -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, from = p, n
			p++
			continue
		}
		if width, ok := matchByte(pattern[p:], name[n]); ok {
			p += width
			n++
			continue
		}
		if star < 0 {
			return false
		}
		from++
		p, n = star+1, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// point is where a star may take more of a path.
type point struct {
	set  bool
	p, n int
}

// matchPath matches a pattern with slashes against a path. A star stays within a
// name; two or more that fill a name go across. As in git, the literal beginning
// is compared first, so that `gen**` goes across too. Only the last star of each
// kind ever needs to take more.
func matchPath(pattern, path string) bool {
	literal := strings.IndexAny(pattern, `*?[\`)
	if literal < 0 {
		return pattern == path
	}
	if !strings.HasPrefix(path, pattern[:literal]) {
		return false
	}
	pattern, path = pattern[literal:], path[literal:]
	p, n := 0, 0
	var within, across point
	for {
		switch stars, spans := starsAt(pattern, p); {
		case stars > 0 && spans && p+stars == len(pattern):
			return true
		case stars > 0 && spans:
			p += stars + 1
			within, across = point{}, point{true, p, n}
			continue
		case stars > 0:
			p += stars
			within = point{true, p, n}
			continue
		}
		if p == len(pattern) && n == len(path) {
			return true
		}
		if n < len(path) {
			if width, ok := matchByte(pattern[p:], path[n]); ok && (path[n] != '/' || pattern[p] == '/' || pattern[p] == '\\') {
				p += width
				n++
				continue
			}
		}
		if within.more(path, false) {
			p, n = within.p, within.n
			continue
		}
		if !across.more(path, true) {
			return false
		}
		p, n, within = across.p, across.n, point{}
	}
}

// starsAt counts the stars at a place of a pattern and says whether they go
// across names: two or more from the beginning of a name to its end.
func starsAt(pattern string, p int) (stars int, spans bool) {
	for p+stars < len(pattern) && pattern[p+stars] == '*' {
		stars++
	}
	begins := p == 0 || pattern[p-1] == '/'
	ends := p+stars == len(pattern) || pattern[p+stars] == '/'
	return stars, stars > 1 && begins && ends
}

// more lets a star take one more byte, or one more name when it goes across.
func (s *point) more(path string, across bool) bool {
	switch {
	case !s.set:
		return false
	case across:
		i := strings.IndexByte(path[s.n:], '/')
		s.n += i + 1
		return i >= 0
	case s.n >= len(path) || path[s.n] == '/':
		return false
	}
	s.n++
	return true
}

// matchByte matches the first item of a pattern and says how long the item is.
func matchByte(pattern string, c byte) (width int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchSet(pattern, c)
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
		return 1, false
	}
	return 1, pattern[0] == c
}

// matchSet matches a bracket. One that is never closed matches nothing.
func matchSet(pattern string, c byte) (width int, ok bool) {
	i, negated, found := 1, false, false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, found != negated
		}
		if name, ok := className(pattern[i:]); ok {
			in, known := inClass(name, c)
			if !known {
				return 0, false
			}
			found = found || in
			i += len(name) + len("[::]")
			continue
		}
		low, next := setByte(pattern, i)
		high := low
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			high, next = setByte(pattern, next+1)
		}
		found = found || low <= c && c <= high
		i = next
	}
}

// setByte is one byte of a set, perhaps after a backslash.
func setByte(pattern string, i int) (c byte, next int) {
	if pattern[i] == '\\' && i+1 < len(pattern) {
		i++
	}
	return pattern[i], i + 1
}

// className reads [:name:] at the start of a text.
func className(s string) (string, bool) {
	rest, found := strings.CutPrefix(s, "[:")
	if !found {
		return "", false
	}
	name, _, found := strings.Cut(rest, ":]")
	return name, found && !strings.ContainsAny(name, "[]")
}

func inClass(name string, c byte) (in, known bool) {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	graph := c > 0x20 && c < 0x7f
	switch name {
	case "alpha":
		return lower || upper, true
	case "alnum":
		return lower || upper || digit, true
	case "digit":
		return digit, true
	case "lower":
		return lower, true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || c|0x20 >= 'a' && c|0x20 <= 'f', true
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r', true
	case "blank":
		return c == ' ' || c == '\t', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "graph":
		return graph, true
	case "print":
		return graph || c == ' ', true
	case "cntrl":
		return c < 0x20 || c == 0x7f, true
	}
	return false, false
}
