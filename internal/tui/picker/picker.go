// Package picker is the pane in which a person chooses one of a list: a session to go
// on with, a message to go back to. What is typed narrows the list; the entry under
// the cursor is shown with more of itself below (U-TUI-8).
//
// The pane is a value and decides nothing: Key says what was chosen. Its texts are
// filtered, since they come from sessions. It imports block, safe and theme.
package picker

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"car/internal/tui/block"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Item is an entry. Help stands beside its text, Preview below the list while the
// cursor is on it.
type Item struct {
	Text, Help, Preview string
}

// Model is the state of the pane; the zero value is closed.
type Model struct {
	title string
	items []Item
	query string
	at    int // in what fits the query
}

// Open shows a list with the cursor on its first entry. An empty list stays closed.
func Open(title string, items []Item) Model { return Model{title: title, items: items} }

// IsOpen reports whether there is something to choose from.
func (m Model) IsOpen() bool { return len(m.items) > 0 }

// Key takes a key. chosen is the index of an entry in the list that was opened, or -1;
// closed says that the pane is gone, with or without a choice.
func (m Model) Key(k tea.KeyMsg) (next Model, chosen int, closed bool) {
	fit := m.fit()
	switch k.String() {
	case "esc", "ctrl+c":
		return Model{}, -1, true
	case "enter":
		if len(fit) == 0 {
			return m, -1, false
		}
		return Model{}, fit[m.at], true
	case "up", "ctrl+p":
		m.at = max(m.at-1, 0)
	case "down", "ctrl+n":
		m.at = max(min(m.at+1, len(fit)-1), 0)
	case "pgup":
		m.at = max(m.at-mostRows, 0)
	case "pgdown":
		m.at = max(min(m.at+mostRows, len(fit)-1), 0)
	case "backspace":
		if runes := []rune(m.query); len(runes) > 0 {
			m.query, m.at = string(runes[:len(runes)-1]), 0
		}
	default:
		if k.Type == tea.KeyRunes || k.Type == tea.KeySpace {
			m.query, m.at = m.query+string(k.Runes), 0
		}
	}
	return m, -1, false
}

// fit lists the entries in which every word of the query occurs.
func (m Model) fit() []int {
	var fit []int
	words := strings.Fields(strings.ToLower(m.query))
	for i, it := range m.items {
		text := strings.ToLower(it.Text + " " + it.Help + " " + it.Preview)
		all := true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			fit = append(fit, i)
		}
	}
	return fit
}

// At most so many lines of each part are drawn.
const (
	mostRows    = 10
	mostPreview = 8
)

// View draws the pane in at most height lines.
func (m Model) View(width, height int, th theme.Theme) []string {
	if !m.IsOpen() || width <= 0 || height <= 0 {
		return nil
	}
	cut := func(line string) string { return ansi.Truncate(line, width, th.Glyphs.Ellipsis) }
	fit := m.fit()
	head := th.Strong.Render(safe.Line(m.title))
	if m.query != "" {
		head += "  " + safe.Line(m.query)
	}
	lines := []string{cut(head)}
	if len(fit) == 0 {
		lines = append(lines, cut(th.Dim.Render("  nothing fits; backspace widens")))
	}
	rows := min(len(fit), mostRows, max(height-3, 1))
	first := max(min(m.at-rows/2, len(fit)-rows), 0)
	for i := first; i < first+rows; i++ {
		it := m.items[fit[i]]
		text := safe.Line(it.Text)
		if it.Help != "" {
			text += "  " + th.Dim.Render(safe.Line(it.Help))
		}
		lead := "  "
		if i == m.at {
			lead = th.Accent.Render(th.Glyphs.Prompt) + " "
		}
		lines = append(lines, cut(lead+text))
	}
	foot := cut(th.Dim.Render(fmt.Sprintf("  %d of %d %s enter takes it, esc leaves, letters narrow", min(m.at+1, len(fit)), len(fit), th.Glyphs.Dot)))
	lines = append(lines, m.preview(fit, width, height-len(lines)-1, th)...)
	if len(lines) < height {
		lines = append(lines, foot)
	}
	return lines[:min(len(lines), height)]
}

func (m Model) preview(fit []int, width, height int, th theme.Theme) []string {
	if len(fit) == 0 || height < 2 {
		return nil
	}
	text := strings.TrimSpace(safe.Text(m.items[fit[m.at]].Preview))
	if text == "" {
		return nil
	}
	lines := block.Bound(block.Wrap(text, max(width-4, 1)), min(mostPreview, height-1), th)
	for i, l := range lines {
		lines[i] = ansi.Truncate("    "+th.Dim.Render(l), width, th.Glyphs.Ellipsis)
	}
	return append([]string{""}, lines...)
}
