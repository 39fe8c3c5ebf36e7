package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// The screen's pace: text is redrawn thirty times a second at most (U-TUI-2), what
// only counts or turns ten times.
const (
	fastTick = 33 * time.Millisecond
	slowTick = 100 * time.Millisecond
	// calm is how long the size has to stay the same before anything is drawn for it.
	// A multiplexer moves what is on the screen at once, but lets at least 250 ms pass
	// between two changes it tells of; to draw in between is to draw at a wrong size.
	calm            = 60 * time.Millisecond
	calmMultiplexed = 300 * time.Millisecond
	// again is how long a first ctrl+c is remembered.
	again = 2 * time.Second
)

type tickMsg struct {
	number int
	at     time.Time
}

// tick asks for the next tick if something moves. A slow one that is awaited gives
// way to a fast one.
func (m *model) tick() tea.Cmd {
	fast := m.text.Dirty() && !m.rows.Running()
	moves := fast || m.busy() || m.rows.Running() || m.ask.Open()
	if !moves || m.phase == leaving || m.ticks.pending && (m.ticks.fast || !fast) {
		return nil
	}
	m.ticks.number++
	m.ticks.pending, m.ticks.fast = true, fast
	every, number, now := slowTick, m.ticks.number, m.cfg.Now
	if fast {
		every = fastTick
	}
	return m.after(every, func() tea.Msg { return tickMsg{number, now()} })
}

func (m *model) ticked(t tickMsg) tea.Cmd {
	if t.number != m.ticks.number {
		return nil // a faster one was asked for since
	}
	m.ticks.pending = false
	m.clock(t.at)
	if !m.rows.Running() {
		m.emit(words, m.text.Tick()...)
	}
	return nil
}

// sizeMsg is a new size of the terminal as it is reported; settleMsg is one that has
// been the same for a moment. Filter turns settleMsg into Bubble Tea's own message, so
// that its renderer hears of sizes that last, only.
type (
	sizeMsg   tea.WindowSizeMsg
	settleMsg struct {
		size   tea.WindowSizeMsg
		number int
	}
)

// sized freezes the picture while the size changes: the terminal is moving what is
// on it, and a picture drawn in the midst of that leaves pieces behind (B065).
func (m *model) sized(msg tea.Msg) tea.Cmd {
	switch s := msg.(type) {
	case sizeMsg:
		if !m.resize.told && s.Width == m.width && s.Height == m.height {
			m.resize.told = true
			return func() tea.Msg { return lasting(s) }
		}
		m.resize.told = true
		if !m.resize.pending {
			m.resize.frozen = m.View()
			m.resize.pending = true
		}
		m.resize.number++
		settled := settleMsg{tea.WindowSizeMsg(s), m.resize.number}
		return m.after(m.calm, func() tea.Msg { return settled })
	case settleMsg:
		if s.number == m.resize.number {
			return func() tea.Msg { return lasting(s.size) }
		}
	case tea.WindowSizeMsg:
		m.resize.pending, m.resize.frozen = false, ""
		m.width, m.height = s.Width, s.Height
		m.text.Resize(m.width)
		m.composer = m.composer.Resize(m.width)
	}
	return nil
}

// lasting is a size on its way past the filter.
type lasting tea.WindowSizeMsg

// filter keeps sizes back until they last, and gives pastes their text.
func filter(paste func(string) (string, bool)) func(tea.Model, tea.Msg) tea.Msg {
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg := msg.(type) {
		case tea.WindowSizeMsg:
			return sizeMsg(msg)
		case lasting:
			return tea.WindowSizeMsg(msg)
		case tea.KeyMsg:
			if text, ok := paste(string(msg.Runes)); ok && msg.Paste {
				return pasteMsg{text}
			}
		}
		return msg
	}
}

// pasteMsg is a whole paste.
type pasteMsg struct{ text string }
