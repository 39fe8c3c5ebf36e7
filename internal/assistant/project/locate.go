package project

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// locate finds the line of every key, table and list element of a valid TOML
// text, by its path: `tools.read_outside`, `command[1].run`, `deny_tool[0]`. The
// TOML library knows the places but does not tell them.
func locate(text string) map[string]int {
	l := locator{text: text, line: 1, lines: map[string]int{}, tables: map[string]int{}}
	table := ""
	for l.skipBlank(); l.at < len(l.text); l.skipBlank() {
		before := l.at
		if l.peek() == '[' {
			table = l.header()
		} else {
			l.pair(table)
		}
		if l.at == before {
			break
		}
	}
	return l.lines
}

type locator struct {
	text   string
	at     int
	line   int
	lines  map[string]int
	tables map[string]int // how many elements an array of tables has so far
}

func (l *locator) peek() byte {
	if l.at < len(l.text) {
		return l.text[l.at]
	}
	return 0
}

// next moves on by n bytes and counts lines.
func (l *locator) next(n int) {
	end := min(l.at+n, len(l.text))
	l.line += strings.Count(l.text[l.at:end], "\n")
	l.at = end
}

// skipBlank moves over blanks, line ends, comments and commas.
func (l *locator) skipBlank() {
	for l.at < len(l.text) {
		switch l.peek() {
		case ' ', '\t', '\r', '\n', ',':
			l.next(1)
		case '#':
			l.next(len(l.text[l.at:]) - len(strings.TrimLeftFunc(l.text[l.at:], func(r rune) bool { return r != '\n' })))
		default:
			return
		}
	}
}

func (l *locator) set(path string) {
	if _, known := l.lines[path]; !known {
		l.lines[path] = l.line
	}
}

// header reads [a.b] or [[a.b]] and returns the path that its pairs stand under.
func (l *locator) header() string {
	list := strings.HasPrefix(l.text[l.at:], "[[")
	l.next(1)
	if list {
		l.next(1)
	}
	keys := l.keys("]")
	l.next(1)
	if list {
		l.next(1)
	}
	path := ""
	for i, k := range keys {
		path = join(path, k)
		l.set(path)
		n := l.tables[path]
		if list && i == len(keys)-1 {
			l.tables[path] = n + 1
			path = fmt.Sprintf("%s[%d]", path, n)
			l.set(path)
		} else if n > 0 {
			path = fmt.Sprintf("%s[%d]", path, n-1)
		}
	}
	return path
}

// pair reads key = value.
func (l *locator) pair(table string) {
	path := table
	for _, k := range l.keys("=") {
		path = join(path, k)
		l.set(path)
	}
	l.next(1)
	l.value(path)
}

// keys reads a dotted key up to, not including, the byte that ends it.
func (l *locator) keys(end string) (keys []string) {
	for l.at < len(l.text) && !strings.ContainsRune(end+"\n", rune(l.peek())) {
		switch c := l.peek(); c {
		case ' ', '\t', '.':
			l.next(1)
		case '"', '\'':
			keys = append(keys, l.quoted())
		default:
			n := strings.IndexAny(l.text[l.at:], " \t.\n\"'"+end)
			if n < 0 {
				n = len(l.text) - l.at
			}
			keys = append(keys, l.text[l.at:l.at+n])
			l.next(n)
		}
	}
	return keys
}

// quoted reads a quoted key; the library undoes its escapes.
func (l *locator) quoted() string {
	from := l.at
	l.str()
	var v struct{ K string }
	if _, err := toml.Decode("K = "+l.text[from:l.at], &v); err != nil {
		return l.text[from:l.at]
	}
	return v.K
}

// value moves over a value and notes what it holds.
func (l *locator) value(path string) {
	for l.peek() == ' ' || l.peek() == '\t' {
		l.next(1)
	}
	switch l.peek() {
	case '"', '\'':
		l.str()
	case '[':
		l.next(1)
		l.items(']', func(n int) {
			element := fmt.Sprintf("%s[%d]", path, n)
			l.set(element)
			l.value(element)
		})
	case '{':
		l.next(1)
		l.items('}', func(int) { l.pair(path) })
	default:
		n := strings.IndexAny(l.text[l.at:], ",]}#\n")
		if n < 0 {
			n = len(l.text) - l.at
		}
		l.next(n)
	}
}

// items reads what stands between brackets.
func (l *locator) items(end byte, item func(n int)) {
	for n := 0; ; n++ {
		l.skipBlank()
		if l.at >= len(l.text) || l.peek() == end {
			l.next(1)
			return
		}
		before := l.at
		item(n)
		if l.at == before {
			return
		}
	}
}

// str moves over a string of any of the four kinds.
func (l *locator) str() {
	quote := l.text[l.at : l.at+1]
	end, escapes := quote, quote == `"`
	if strings.HasPrefix(l.text[l.at:], strings.Repeat(quote, 3)) {
		end = strings.Repeat(quote, 3)
	}
	l.next(len(end))
	for l.at < len(l.text) && !strings.HasPrefix(l.text[l.at:], end) {
		if escapes && l.peek() == '\\' {
			l.next(1)
		}
		l.next(1)
	}
	l.next(len(end))
	// Up to two quotes may stand before the three that end a long string.
	for i := 0; len(end) == 3 && i < 2 && l.at < len(l.text) && l.text[l.at:l.at+1] == quote; i++ {
		l.next(1)
	}
}

// join is a path and one more key, quoted where TOML quotes it.
func join(path, key string) string {
	k := toml.Key{key}.String()
	if path == "" {
		return k
	}
	return path + "." + k
}
