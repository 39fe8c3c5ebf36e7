package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/tui/picker"
	"car/internal/tui/safe"
)

// picking is an open list and what follows a choice.
type picking struct {
	picker.Model
	chosen func(ctx context.Context, index int) (Result, error)
}

func pickFrom(p Pick) picking { return picking{picker.Open(p.Title, p.Items), p.Chosen} }

// pickKey gives a key to the list, which has all of them while it is open.
func (m *model) pickKey(k tea.KeyMsg) tea.Cmd {
	chosen := m.pick.chosen
	next, index, closed := m.pick.Key(k)
	m.pick.Model = next
	if !closed || index < 0 {
		return nil
	}
	return m.do("choice", func(ctx context.Context) (Result, error) { return chosen(ctx, index) })
}

// printPast prints the end of what was said before the screen was opened.
func (m *model) printPast() {
	for _, s := range m.cfg.Past {
		if s.Mine {
			m.say(s.Text)
			continue
		}
		m.emit(words, m.markdown(safe.Text(s.Text))...)
	}
}
