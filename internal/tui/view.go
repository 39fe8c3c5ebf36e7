package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"car/internal/tui/block"
	"car/internal/tui/safe"
	"car/internal/tui/screen"
	"car/internal/tui/todo"
)

// Below this size nothing is printed: lines broken for it would stay broken. What is
// finished waits for a larger screen.
const (
	leastWidth  = 20
	leastHeight = 6
)

func (m *model) cramped() bool { return m.width < leastWidth || m.height < leastHeight }

// room is how many rows may be drawn: one is left free, so that the terminal never
// has to scroll what is redrawn.
func (m *model) room() int {
	if m.height > leastHeight {
		return m.height - 1
	}
	return max(m.height, 1)
}

// arrange gives panes that keep their size their place. It runs after every change
// of state, before anything is drawn.
func (m *model) arrange() {
	if !m.ask.Open() {
		return
	}
	left := m.room() - 1 // the status line
	if !m.ask.Armed() && !m.ask.Turning() {
		left -= 1 // the text that is being typed
	}
	if m.rows.Running() && left > 8 {
		left -= 2
	}
	m.ask = m.ask.Resize(m.width, max(left, 1), m.theme)
}

// picture collects rows from the top and knows how many may still come.
type picture struct {
	lines       []string
	left        int
	row, column int
}

func (p *picture) add(lines ...string) {
	lines = lines[:min(len(lines), max(p.left, 0))]
	p.lines = append(p.lines, lines...)
	p.left -= len(lines)
}

// View draws what is redrawn. The mark at its end tells the terminal's writer what
// it is.
func (m *model) View() string {
	switch {
	case m.phase == leaving || m.hidden:
		return m.finish(picture{lines: []string{""}, row: -1})
	case m.resize.pending:
		return m.resize.frozen
	}
	return m.finish(m.draw())
}

func (m *model) draw() picture {
	p := picture{left: m.room(), row: -1}
	foot := m.foot()
	p.left -= len(foot)
	asking := m.ask.Open()
	var ask []string
	askRow, askColumn := -1, 0
	if asking {
		lines, caret := m.ask.View()
		ask = lines
		if caret != nil {
			askRow, askColumn = caret.Row, caret.Column
		}
	}
	if m.pick.IsOpen() && !asking {
		p.add(m.pick.View(m.width, max(p.left, 1), m.theme)...)
		p.left += len(foot)
		p.add(foot...)
		return p
	}
	text, caretRow, caretColumn := m.input(&p, asking, len(ask))
	extra := m.extras(p.left - len(ask) - len(text))
	p.left -= len(text) + len(extra)

	m.body(&p, ask, func() {
		if askRow >= 0 {
			p.row, p.column = len(p.lines)+askRow, askColumn
		}
		p.add(ask...)
	})
	p.left += len(text) + len(extra)
	p.add(extra...)
	if caretRow >= 0 && p.row < 0 {
		p.row, p.column = len(p.lines)+caretRow, caretColumn
	}
	p.add(text...)
	p.left += len(foot)
	p.add(foot...)
	if len(p.lines) == 0 {
		p.lines = []string{""}
	}
	return p
}

// foot is the status line, where there is room for one.
func (m *model) foot() []string {
	if m.height < 3 {
		return nil
	}
	s := m.status
	switch {
	case m.quitArmed > 0:
		s.State = "ctrl+c again leaves"
	case m.rewindArmed > 0:
		s.State = "esc again goes back to an earlier message"
	case m.phase == stopping:
		s.State = "interrupting"
	case m.busy():
		s.State = "esc interrupts"
	}
	s.Goal = m.goal.Count()
	return []string{s.View(m.width, m.theme)}
}

// input is the text that the person types, and where the caret is in it. While a
// question has the keys it gives its room to it.
func (m *model) input(p *picture, asking bool, taken int) (lines []string, row, column int) {
	if asking && (m.ask.Armed() || m.ask.Turning()) {
		return nil, -1, 0
	}
	height := max(p.left-taken, 1)
	if !asking {
		height = max(p.left*2/3, 1)
	}
	hint := ""
	if !m.busy() && !asking {
		hint = "ask, or / for commands"
	}
	lines, caret := m.composer.View(m.width, height, m.theme, hint)
	row, column = caret.Row, caret.Column
	if m.height >= 10 && !asking {
		lines, row = append([]string{""}, lines...), row+1
	}
	return lines, row, column
}

// extras are the goal's progress and the list of what is to do.
func (m *model) extras(left int) []string {
	if left < 6 {
		return nil
	}
	lines := m.goal.View(m.width, min(3, left/4), m.theme)
	lines = append(lines, todo.View(m.todos, m.width, min(6, left/4), m.theme)...)
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// body is what moves: the open end of the text, the calls, a question under its call.
func (m *model) body(p *picture, ask []string, question func()) {
	gap := func(s sort) {
		if len(p.lines) == 0 && m.print.last != nothing && m.print.last != s && p.left > 2 {
			p.add("")
		}
	}
	if m.rows.Running() {
		above, below := m.rows.Split(m.ask.CallID())
		gap(calls)
		most := max(p.left-len(ask), 1)
		p.add(above.View(m.width, most, m.theme)...)
		question()
		p.add(below.View(m.width, min(max(p.left, 0), most), m.theme)...)
		return
	}
	if len(ask) > 0 {
		gap(calls)
		question()
		return
	}
	if !m.text.Empty() && !m.cramped() {
		if lines := m.text.View(min(max(m.height/3, 3), p.left)); len(lines) > 0 {
			gap(words)
			p.add(lines...)
			return
		}
	}
	if line := m.doing(); line != "" && p.left > 0 {
		gap(nothing)
		p.add(line)
	}
}

// doing says what a run is at while it shows nothing.
func (m *model) doing() string {
	if !m.busy() {
		return ""
	}
	th := m.theme
	spin := th.Accent.Render(th.Glyphs.Spin(m.now.Sub(m.status.Since)))
	text := m.activity
	switch wait := m.retry.until.Sub(m.now); {
	case wait > 0:
		text = fmt.Sprintf("again in %s, try %d: %s", block.Clock(wait+time.Second-1), m.retry.tries+1, m.retry.reason)
	case m.phase == stopping:
		text = "interrupting"
	case m.thinking != "":
		text = "thinking  " + lastWords(m.thinking)
	}
	return ansi.Truncate(spin+" "+th.Dim.Render(text), m.width, th.Glyphs.Ellipsis)
}

// finish makes the picture fit, whatever the panes did, and marks it.
func (m *model) finish(p picture) string {
	f := screen.Frame{Width: m.width, Height: m.height, Row: p.row, Column: p.column, Generation: m.generation()}
	lines := p.lines
	if over := len(lines) - max(m.height, 1); over > 0 {
		lines = lines[over:]
		f.Row -= over
	}
	for i, line := range lines {
		w := ansi.StringWidth(line)
		if w > m.width {
			line = ansi.Truncate(line, m.width, "")
			w = ansi.StringWidth(line)
			lines[i] = line
		}
		f.Lines = append(f.Lines, w)
	}
	f.Column = min(f.Column, max(m.width-1, 0))
	return strings.Join(lines, "\n") + screen.Mark(f)
}

// generation numbers the picture for who waits for the question to be drawn.
func (m *model) generation() uint64 {
	if !m.ask.Open() || m.phase == leaving || m.hidden {
		return 0
	}
	return m.ask.Generation()
}

// lastWords is the end of a text that streams by, on one line.
func lastWords(text string) string {
	const most = 60
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	runes := []rune(text[strings.LastIndexByte(text, '\n')+1:])
	return safe.Line(string(runes[max(len(runes)-most, 0):]))
}
