package composer

import (
	"strings"

	"car/internal/tui/editor"
)

// search is a look back through the history for a text.
type search struct {
	query  string
	found  int // counts back from the end of the history; 0 is nothing
	before editor.Buffer
}

// searchKey takes a key while the person searches.
func (m Model) searchKey(name, typed string) (Model, Act) {
	s := *m.search
	switch name {
	case "esc", "ctrl+g", "ctrl+c":
		m.text, m.search = s.before, nil
		return m, Act{}
	case "enter", "tab", "right", "left", "home", "end", "ctrl+a", "ctrl+e":
		m.search = nil
		return m, Act{}
	case "ctrl+r", "up":
		s = m.look(s, s.found+1)
	case "backspace", "ctrl+h":
		if r := []rune(s.query); len(r) > 0 {
			s.query = string(r[:len(r)-1])
		}
		s = m.look(s, 1)
	default:
		if typed == "" || name != typed {
			return m, Act{}
		}
		s.query += typed
		s = m.look(s, max(s.found, 1))
	}
	m.search = &s
	if s.found > 0 {
		m = m.fill(editor.Buffer{}, m.history[len(m.history)-s.found])
		m.search = &s
	}
	return m, Act{}
}

// look finds the newest text with the query in it, from so many back. Without one
// the search stays where it is.
func (m Model) look(s search, from int) search {
	if s.query == "" {
		s.found = 0
		return s
	}
	for back := from; back <= len(m.history); back++ {
		if strings.Contains(strings.ToLower(m.history[len(m.history)-back]), strings.ToLower(s.query)) {
			s.found = back
			return s
		}
	}
	return s
}
