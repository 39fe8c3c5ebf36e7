package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/assistant"
	"car/internal/tui/goal"
	"car/internal/tui/safe"
)

// binding is a key as data; the help is printed from it.
type binding struct{ keys, does string }

var bindings = []binding{
	{"enter", "send; while a turn runs the message waits for its end"},
	{"ctrl+s", "send into the running turn"},
	{"up, while one waits", "take the newest waiting message back to change it"},
	{`ctrl+j, alt+enter, \ enter`, "a new line"},
	{"esc", "interrupt the turn"},
	{"esc esc", "go back to an earlier message"},
	{"ctrl+c twice", "leave; the session can be resumed"},
	{"ctrl+o", "show the output of the last call, then of the one before; of running calls, more"},
	{"up, down, ctrl+r", "what was sent before"},
	{"tab", "complete a /command or an @path; turn to a question"},
	{"! command", "run a command of your own here; /share tells the model what it said"},
	{"ctrl+g", "write in your editor"},
	{"ctrl+z", "suspend"},
}

// key gives a key to whom it belongs: what works everywhere, then the question, if it
// listens, then the text.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	if m.phase == leaving || m.hidden {
		return nil
	}
	name := k.String()
	if name != "ctrl+c" {
		m.quitArmed = 0
	}
	if name != "esc" {
		m.rewindArmed = 0
	}
	if m.pick.IsOpen() && !m.ask.Open() {
		return m.pickKey(k)
	}
	switch name {
	case "ctrl+c":
		return m.ctrlC()
	case "ctrl+z":
		return m.suspend()
	case "ctrl+l":
		return tea.WindowSize()
	case "ctrl+o":
		return m.expand()
	case "esc":
		if !m.composer.Escapes() && (!m.ask.Armed() || m.ask.Choosing()) {
			return m.escape()
		}
	case "ctrl+d":
		if m.composer.Empty() && !m.ask.Open() {
			return m.quit(Quit)
		}
	}
	if m.ask.Open() {
		if cmd, taken := m.askKey(k); taken {
			return cmd
		}
	}
	switch {
	case name == "ctrl+s":
		return m.steer()
	case name == "up" && m.composer.Empty() && len(m.composer.Waiting()) > 0:
		return m.takeBack()
	}
	next, act := m.composer.Key(k)
	m.composer = next
	switch {
	case act.Send != "":
		return m.submit(act.Send)
	case act.Ask != "":
		return m.complete(act.Ask)
	case act.Edit:
		return m.edit()
	}
	return nil
}

// askKey gives a key to the question. Keys pressed before it was drawn go on to the
// text, and from then on the person is typing.
func (m *model) askKey(k tea.KeyMsg) (cmd tea.Cmd, taken bool) {
	switch {
	case m.ask.Armed():
		next, d := m.ask.Key(k)
		m.ask = next
		if d != nil {
			return m.resolve(d.IDs, d.Answer), true
		}
		return nil, true
	case m.ask.Turning():
		return nil, true
	case k.Type == tea.KeyTab && m.ask.Visible():
		m.ask = m.ask.Typing(false)
		return nil, true
	}
	m.ask = m.ask.Typing(true)
	return nil, false
}

// paste puts a paste where text is being typed. It answers nothing.
func (m *model) paste(text string) tea.Cmd {
	m.quitArmed, m.rewindArmed = 0, 0
	switch {
	case m.pick.IsOpen():
	case m.ask.Armed() && !m.ask.Choosing():
		m.ask, _ = m.ask.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	case m.phase != leaving:
		if m.ask.Open() {
			m.ask = m.ask.Typing(true)
		}
		m.composer = m.composer.Paste(text)
	}
	return nil
}

// ctrlC ends the turn at the first press and leaves at the second.
func (m *model) ctrlC() tea.Cmd {
	if m.quitArmed > 0 {
		return m.quit(Quit)
	}
	m.presses++
	m.quitArmed = m.presses
	armed := disarm{m.presses}
	cmds := []tea.Cmd{m.after(again, func() tea.Msg { return armed })}
	if m.busy() {
		cmds = append(cmds, m.interrupt())
	}
	return tea.Batch(cmds...)
}

// disarm forgets a first ctrl+c.
type disarm struct{ number int }

func (d disarm) apply(m *model) tea.Cmd {
	if m.quitArmed == d.number {
		m.quitArmed = 0
	}
	return nil
}

// escape ends the turn; where there is none and nothing is typed, two of them go back
// to an earlier message.
func (m *model) escape() tea.Cmd {
	switch {
	case m.busy():
		return m.interrupt()
	case !m.composer.Empty() || m.ask.Open() || !m.offers("rewind"):
		return nil
	case m.rewindArmed > 0:
		m.rewindArmed = 0
		return m.command("rewind", "")
	}
	m.escapes++
	m.rewindArmed = m.escapes
	armed := unescaped{m.escapes}
	return m.after(again, func() tea.Msg { return armed })
}

// unescaped forgets a first esc.
type unescaped struct{ number int }

func (u unescaped) apply(m *model) tea.Cmd {
	if m.rewindArmed == u.number {
		m.rewindArmed = 0
	}
	return nil
}

func (m *model) interrupt() tea.Cmd {
	if !m.busy() {
		return nil
	}
	m.phase = stopping
	return m.cancel()
}

func (m *model) expand() tea.Cmd {
	if m.rows.Running() {
		m.rows = m.rows.Expand()
		return nil
	}
	next, lines := m.rows.Recall(m.width, m.theme)
	m.rows = next
	if lines == nil {
		m.remark("no further output to show")
		return nil
	}
	m.emit(calls, lines...)
	return nil
}

// submit sends a text or does what a slash command says.
func (m *model) submit(text string) tea.Cmd {
	if name, args, ok := slash(text); ok {
		return m.command(name, args)
	}
	if command, own := strings.CutPrefix(text, "!"); own && strings.TrimSpace(command) != "" {
		return m.shell(strings.TrimSpace(command))
	}
	in := assistant.Input{Text: text, Context: m.shared, Model: m.wanted, Replaces: m.returned}
	m.returned, m.shared = nil, ""
	if m.busy() {
		m.composer = m.composer.Enqueue(text)
		return m.send(in)
	}
	return m.begin(in)
}

// begin sends an input for which a run starts now.
func (m *model) begin(in assistant.Input) tea.Cmd {
	m.say(in.Text)
	if in.Goal != nil {
		m.goal = goal.New(*in.Goal)
		m.remark("until " + safe.Line(in.Goal.Check))
	}
	m.own, m.phase = true, running
	m.activity = "starting"
	return m.send(in)
}

// slash takes a command apart. A path is no command.
func slash(text string) (name, args string, ok bool) {
	word, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, ok = strings.CutPrefix(word, "/")
	if !ok || name == "" || strings.ContainsAny(name, "/.\n") {
		return "", "", false
	}
	return name, strings.TrimSpace(args), true
}
