package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/tui/block"
	"car/internal/tui/safe"
)

// sort is what a printed thing is; things of different sorts have a line between them.
type sort uint8

const (
	nothing sort = iota
	words        // the model's text
	calls        // tool rows
	mine         // what the person said
	remarks      // what the program says
)

// printer keeps what is to be printed in order. Bubble Tea runs commands side by
// side, so only one print is under way at a time.
type printer struct {
	waiting []string
	busy    bool
	last    sort
}

// mostHeld is how many lines wait for a screen that is too small before they are
// printed all the same.
const mostHeld = 4000

// emit adds lines to be printed for good.
func (m *model) emit(s sort, lines ...string) {
	if len(lines) == 0 {
		return
	}
	if m.print.last != nothing && (m.print.last != s || s == mine) {
		m.print.waiting = append(m.print.waiting, "")
	}
	m.print.last = s
	m.print.waiting = append(m.print.waiting, lines...)
}

// flush prints what waits, unless a print is under way or the screen is in no state
// for it: at a size that is about to change, lines would be broken for good.
func (m *model) flush() tea.Cmd {
	p := &m.print
	held := m.resize.pending || m.hidden || m.cramped() && len(p.waiting) < mostHeld
	if p.busy || len(p.waiting) == 0 || held && m.phase != leaving {
		if m.phase == leaving && !p.busy && len(p.waiting) == 0 {
			return tea.Quit
		}
		return nil
	}
	text := strings.Join(p.waiting, "\n")
	p.waiting, p.busy = nil, true
	return tea.Sequence(tea.Println(text), effect("print", func() effectMsg { return printed{} }))
}

// printed says that a print has been taken.
type printed struct{}

func (printed) apply(m *model) tea.Cmd {
	m.print.busy = false
	return nil
}

// remark prints something the program has to say.
func (m *model) remark(text string) { m.emit(remarks, m.prose(text, m.theme.Dim.Render)...) }

// warn prints something the person should not overlook.
func (m *model) warn(text string) { m.emit(remarks, m.prose(text, m.theme.Warn.Render)...) }

// failed prints what went wrong.
func (m *model) failed(text string) {
	lines := m.prose(text, m.theme.Bad.Render)
	lines[0] = m.theme.Bad.Render(m.theme.Glyphs.Bad) + strings.TrimPrefix(lines[0], " ")
	m.emit(remarks, lines...)
}

func (m *model) prose(text string, style func(...string) string) []string {
	lines := block.Wrap(strings.TrimSpace(safe.Text(text)), max(m.width-2, 1))
	for i, line := range lines {
		lines[i] = "  " + style(line)
	}
	return lines
}

// say prints what the person sent.
func (m *model) say(text string) {
	const most = 20
	rows := block.Fold(strings.TrimRight(safe.Text(text), "\n"), max(m.width-2, 1))
	rows = block.Bound(rows, most, m.theme)
	for i, row := range rows {
		lead := "  "
		if i == 0 {
			lead = m.theme.Accent.Render(m.theme.Glyphs.Prompt) + " "
		}
		rows[i] = lead + m.theme.Strong.Render(row)
	}
	m.emit(mine, rows...)
}

func (m *model) printHeader() {
	h, th := m.cfg.Header, m.theme
	line := func(parts ...string) string {
		var full []string
		for _, p := range parts {
			if p != "" {
				full = append(full, safe.Line(p))
			}
		}
		return strings.Join(full, " "+th.Glyphs.Dot+" ")
	}
	model := h.Model
	if h.ModelWhy != "" {
		model += " (" + h.ModelWhy + ")"
	}
	tier := ""
	if h.Tier != 0 {
		tier = h.Tier.String()
	}
	gates := ""
	if len(h.Gates) > 0 {
		gates = "gates: " + strings.Join(h.Gates, ", ")
	}
	session := ""
	if h.Session != "" {
		session = "session " + h.Session
	}
	first := th.Strong.Render("car")
	if h.Version != "" {
		first += th.Dim.Render(" " + safe.Line(h.Version))
	}
	if model != "" {
		first += "  " + safe.Line(model)
	}
	lines := block.Fold(first, m.width)
	for _, text := range []string{line(h.Root, session), line(tier, h.Confinement, gates)} {
		if text != "" {
			lines = append(lines, m.prose(text, th.Dim.Render)...)
		}
	}
	for _, n := range h.Notices {
		lines = append(lines, m.prose(n, th.Warn.Render)...)
	}
	m.emit(remarks, lines...)
}
