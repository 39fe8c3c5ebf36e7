package toolrow

import (
	"slices"
	"time"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/theme"
)

// Model is the state of the pane. The zero value is empty and ready.
type Model struct {
	rows []Row
	now  time.Time
	// expanded shows the output of running calls and remembered ones whole, but bounded.
	expanded bool
	// recent are the last rows that were handed out, newest first, for Recall.
	recent []Row
	asked  int
}

// Row is one call.
type Row struct {
	Call assistant.ToolCall
	// Result is nil while the call runs.
	Result  *assistant.ToolResult
	started time.Time
	tail    string
	waiting bool
}

// keep is how many ended calls can be looked at again.
const keep = 20

// Called adds a row for a call that began at that time.
func (m Model) Called(c assistant.ToolCall, at time.Time) Model {
	m.rows = slices.Clone(m.rows)
	if m.now.Before(at) {
		m.now = at
	}
	i, found := slices.BinarySearchFunc(m.rows, c.Sequence, func(r Row, seq int) int { return r.Call.Sequence - seq })
	for found && i < len(m.rows) && m.rows[i].Call.Sequence == c.Sequence {
		i++ // an equal sequence is no order: the later call stands below
	}
	m.rows = slices.Insert(m.rows, i, Row{Call: c, started: at})
	return m
}

// Progressed shows the last line of a running call.
func (m Model) Progressed(p assistant.ToolProgress) Model {
	return m.change(p.CallID, func(r *Row) { r.tail = p.Tail })
}

// Waits marks a call as waiting for a person, or no longer so.
func (m Model) Waits(callID string, waits bool) Model {
	return m.change(callID, func(r *Row) { r.waiting = waits })
}

// Ended gives a call its result. A result without a call, as after a gap in the
// events, makes a row of its own.
func (m Model) Ended(res assistant.ToolResult, at time.Time) Model {
	if !slices.ContainsFunc(m.rows, func(r Row) bool { return r.Call.CallID == res.CallID }) {
		m = m.Called(assistant.ToolCall{CallID: res.CallID, Sequence: res.Sequence, Tool: res.Tool}, at)
	}
	return m.change(res.CallID, func(r *Row) { r.Result, r.waiting = &res, false })
}

// Cut ends every row that has no result: the run is over and none will come.
func (m Model) Cut() Model {
	m.rows = slices.Clone(m.rows)
	for i, r := range m.rows {
		if r.Result == nil {
			m.rows[i].Result = &assistant.ToolResult{CallID: r.Call.CallID, Sequence: r.Call.Sequence, Tool: r.Call.Tool, Excerpt: "interrupted", Ran: !r.waiting,
				DurationMS: m.now.Sub(r.started).Milliseconds(), Status: ir.Skipped}
		}
	}
	return m
}

// At moves the clock of the pane.
func (m Model) At(now time.Time) Model {
	m.now = now
	return m
}

// Running reports whether a row is in flight.
func (m Model) Running() bool { return len(m.rows) > 0 }

// Split parts the rows after the one of that call, so that what belongs under it can
// be drawn there. Without such a call everything is above.
func (m Model) Split(callID string) (above, below Model) {
	above, below = m, m
	i := slices.IndexFunc(m.rows, func(r Row) bool { return r.Call.CallID == callID })
	if i < 0 {
		i = len(m.rows) - 1
	}
	above.rows, below.rows = m.rows[:i+1], m.rows[i+1:]
	return above, below
}

// Take hands out the rows which have ended and have only ended ones before them.
func (m Model) Take() (Model, []Row) {
	n := 0
	for n < len(m.rows) && m.rows[n].Result != nil {
		n++
	}
	if n == 0 {
		return m, nil
	}
	taken := slices.Clone(m.rows[:n])
	m.rows = slices.Clone(m.rows[n:])
	recent := slices.Clone(taken)
	slices.Reverse(recent)
	m.recent = append(recent, m.recent...)
	m.recent, m.asked = m.recent[:min(len(m.recent), keep)], 0
	return m, taken
}

// Expand turns the output of running calls on or off.
func (m Model) Expand() Model {
	m.expanded = !m.expanded
	return m
}

// Recall returns the output of the last ended call that was not recalled yet, and
// nothing when there is none.
func (m Model) Recall(width int, th theme.Theme) (Model, []string) {
	if m.asked >= len(m.recent) {
		m.asked = 0
		return m, nil
	}
	r := m.recent[m.asked]
	m.asked++
	return m, append([]string{r.head(width, th, m.now)}, r.output(width, outputLimit, th)...)
}

func (m Model) change(callID string, f func(*Row)) Model {
	m.rows = slices.Clone(m.rows)
	for i := range m.rows {
		if m.rows[i].Call.CallID == callID {
			f(&m.rows[i])
		}
	}
	return m
}
