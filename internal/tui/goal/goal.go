// Package goal is the pane of a goal's progress: which iteration of how many, what
// the check said last, whether nothing moves any more; and the verdicts, which stay
// in the scrollback (U-TUI-9).
//
// The pane is a value; it imports the conversation's events, safe and theme.
package goal

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"car/internal/assistant"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Model is the state of the pane; without a check it is empty and draws nothing.
type Model struct {
	// Check is the command that decides, Max the most iterations.
	Check string
	Max   int

	last   *assistant.GoalEvaluated
	unmet  int // the same reason again, in a row
	reason string
}

// DefaultMax is how many iterations a goal has that names no number (A-GOAL-1).
const DefaultMax = 10

// New starts a goal's progress.
func New(g assistant.Goal) Model {
	m := Model{Check: g.Check, Max: g.MaxIterations}
	if m.Max <= 0 {
		m.Max = DefaultMax
	}
	return m
}

// Evaluated takes a verdict and returns the line that stays.
func (m Model) Evaluated(e assistant.GoalEvaluated, width int, th theme.Theme) (Model, string) {
	m.unmet++
	if e.Met || e.Reason != m.reason {
		m.unmet = 1
	}
	m.last, m.reason = &e, e.Reason
	mark, verdict := th.Bad.Render(th.Glyphs.Bad), "not met"
	switch {
	case e.Unevaluated:
		mark, verdict = th.Warn.Render(th.Glyphs.Wait), "not verified"
	case e.Met:
		mark, verdict = th.Good.Render(th.Glyphs.Good), "met"
	}
	line := fmt.Sprintf("%s %s %s", mark, th.Strong.Render("goal "+m.count(e.Iteration)), verdict)
	r := lastLine(e.Reason)
	if said := lastLine(e.Output); said != "" {
		r += ": " + said
	}
	if r != "" {
		line += th.Dim.Render("  " + r)
	}
	return m, ansi.Truncate(line, width, th.Glyphs.Ellipsis)
}

// Count is "2/10", empty outside of a goal.
func (m Model) Count() string {
	switch {
	case m.Check == "":
		return ""
	case m.last == nil:
		return m.count(1)
	default:
		return m.count(min(m.last.Iteration+1, m.Max))
	}
}

func (m Model) count(n int) string {
	if m.Max == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, m.Max)
}

// View draws the progress in at most height lines.
func (m Model) View(width, height int, th theme.Theme) []string {
	if m.Check == "" || height <= 0 {
		return nil
	}
	line := "goal " + m.Count() + "  until " + safe.Line(m.Check)
	lines := []string{th.Dim.Render(ansi.Truncate(line, width, th.Glyphs.Ellipsis))}
	if m.last != nil && !m.last.Met && height > 1 {
		said := "  last check: " + lastLine(m.last.Reason)
		lines = append(lines, th.Dim.Render(ansi.Truncate(said, width, th.Glyphs.Ellipsis)))
	}
	if m.unmet > 1 && height > 2 {
		lines = append(lines, th.Warn.Render(ansi.Truncate(fmt.Sprintf("  the check said the same %d times", m.unmet), width, th.Glyphs.Ellipsis)))
	}
	return lines
}

// lastLine is the end of what a check said, which is where checks say it.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return safe.Line(text[strings.LastIndexByte(text, '\n')+1:])
}
