package transcript

import (
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Model is one message of the model while it streams. The zero value is not usable;
// make one with New. It is a pane's state: it has one user and does no I/O.
type Model struct {
	render *renderer
	filter safe.Stream
	// tail is what was filtered and not handed out; fresh is what came since the last Tick.
	tail  string
	fresh []byte
	// open is the last block of tail, rendered; stale says that tail has grown since,
	// wait counts ticks until it may be rendered again.
	open  []string
	stale bool
	wait  int
	// printed says that something of this message was handed out; tight that what
	// comes next continues it and takes no blank line before it.
	printed, tight bool
}

// New returns an empty message for a screen of that width.
func New(width int, th theme.Theme) *Model {
	return &Model{render: newRenderer(width, th)}
}

// Resize changes the width of what is rendered from now on. What was handed out is
// the terminal's to reflow.
func (m *Model) Resize(width int) {
	if width == m.render.width {
		return
	}
	m.render = newRenderer(width, m.render.theme)
	m.open, m.stale, m.wait = m.render.lines(m.tail), false, 0
}

// Feed takes a piece of the answer as the model sent it.
func (m *Model) Feed(delta string) { m.fresh = append(m.fresh, m.filter.Add(delta)...) }

// Empty reports whether nothing is waiting to be shown.
func (m *Model) Empty() bool { return len(m.fresh) == 0 && m.tail == "" }

// Dirty reports whether Tick has something to do.
func (m *Model) Dirty() bool { return len(m.fresh) > 0 || m.stale }

// renderEvery is the length of an open block in bytes for which it is rendered at
// every tick; twice as long is every second tick. So the work for each second is
// bounded, whatever the length.
const renderEvery = 1024

// Tick looks at what came since the last one and returns the lines that are final.
func (m *Model) Tick() []string {
	if !m.Dirty() {
		return nil
	}
	var final []string
	if len(m.fresh) > 0 {
		m.tail += string(m.fresh)
		m.fresh, m.stale = m.fresh[:0], true
		for _, p := range split(&m.tail) {
			final = m.hand(final, p)
		}
	}
	if m.wait--; m.wait <= 0 || len(final) > 0 {
		m.open, m.stale = m.render.lines(m.tail), false
		m.wait = 1 + len(m.tail)/renderEvery
	}
	return final
}

// Flush ends the message and returns the lines that were not handed out yet.
func (m *Model) Flush() []string {
	m.fresh = append(m.fresh, m.filter.Flush()...)
	m.tail += string(m.fresh)
	m.fresh = m.fresh[:0]
	var final []string
	for _, p := range split(&m.tail) {
		final = m.hand(final, p)
	}
	final = m.hand(final, piece{text: m.tail})
	*m = Model{render: m.render}
	return final
}

func (m *Model) hand(final []string, p piece) []string {
	lines := m.render.lines(p.text)
	if len(lines) == 0 {
		return final
	}
	if m.printed && !m.tight {
		final = append(final, "")
	}
	m.printed, m.tight = true, p.goesOn
	return append(final, lines...)
}

// View returns the end of the open block, at most height lines.
func (m *Model) View(height int) []string {
	lines := m.open
	if m.printed && !m.tight && len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	lines = fold(lines, m.render.width)
	return lines[len(lines)-min(len(lines), max(height, 0)):]
}
