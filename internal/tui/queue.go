package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/assistant"
)

// steer sends what is typed into the running turn; without one it is sent as ever.
func (m *model) steer() tea.Cmd {
	text := m.composer.Text()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if !m.busy() || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		m.composer = m.composer.Clear()
		return m.submit(text)
	}
	in := assistant.Input{Text: text, Context: m.shared, Steer: true, Replaces: m.returned}
	m.returned, m.shared = nil, ""
	m.composer = m.composer.Clear()
	m.endText()
	m.say(text)
	return m.send(in)
}

// takeBack puts the newest message that waits back into the editor (U-TUI-6).
func (m *model) takeBack() tea.Cmd {
	queue, ok := m.cfg.Conversation.(Queue)
	if !ok {
		return nil
	}
	ctx := m.ctx
	return effect("queue", func() effectMsg {
		waiting := queue.Queued()
		if len(waiting) == 0 {
			return takenBack{}
		}
		w, err := queue.TakeBack(ctx, waiting[len(waiting)-1].ID)
		return takenBack{&w, err}
	})
}

// takenBack is a message that waits no more; nil where none did.
type takenBack struct {
	waiting *assistant.Waiting
	err     error
}

func (t takenBack) apply(m *model) tea.Cmd {
	switch {
	case t.err != nil:
		m.remark("it is delivered already: " + t.err.Error())
	case t.waiting == nil:
		m.remark("nothing waits any more")
	default:
		m.returned = append(m.returned, t.waiting.ID) // the store holds it until it is sent again
		m.composer = m.composer.Forget(t.waiting.Text).Restore([]string{t.waiting.Text})
	}
	return nil
}
