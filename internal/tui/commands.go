package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/tui/block"
	"car/internal/tui/composer"
	"car/internal/tui/safe"
	"car/internal/tui/transcript"
)

// builtin are the commands that the screen answers itself.
var builtin = []Command{
	{Name: "help", Help: "keys and commands"},
	{Name: "share", Help: "tell the model, with your next message, what your last ! command said"},
	{Name: "quit", Help: "leave; the session can be resumed"},
}

func (m *model) commands() []Command {
	all := append(slices.Clone(builtin), m.cfg.Commands...)
	slices.SortStableFunc(all, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (m *model) choices() []composer.Choice {
	var choices []composer.Choice
	for _, c := range m.commands() {
		choices = append(choices, composer.Choice{Text: "/" + c.Name, Help: strings.TrimSpace(c.Args + " " + c.Help)})
	}
	return choices
}

// command does what a slash command says.
func (m *model) command(name, args string) tea.Cmd {
	switch name {
	case "quit", "exit":
		return m.quit(Quit)
	case "help":
		m.help()
		return nil
	case "share":
		m.share()
		return nil
	}
	for _, c := range m.cfg.Commands {
		if c.Name == name {
			m.say("/" + strings.TrimSpace(name+" "+args))
			return m.do("/"+name, func(ctx context.Context) (Result, error) { return c.Run(ctx, args) })
		}
	}
	hint := "/help lists them"
	for _, c := range m.commands() {
		if strings.HasPrefix(c.Name, name) || strings.HasPrefix(name, c.Name) {
			hint = "did you mean /" + c.Name + "?"
		}
	}
	m.warn(fmt.Sprintf("there is no command /%s; %s", name, hint))
	return nil
}

// offers reports whether the caller has a command of that name.
func (m *model) offers(name string) bool {
	return slices.ContainsFunc(m.cfg.Commands, func(c Command) bool { return c.Name == name })
}

// do runs what a command or a choice is for, outside of the loop.
func (m *model) do(where string, work func(context.Context) (Result, error)) tea.Cmd {
	ctx := m.ctx
	return effect(where, func() effectMsg {
		result, err := work(ctx)
		return commanded{result, err}
	})
}

// commanded is the outcome of a command.
type commanded struct {
	Result
	err error
}

func (c commanded) apply(m *model) tea.Cmd {
	if c.Header != nil {
		m.headed(*c.Header)
	}
	if c.Draft != "" {
		m.composer = m.composer.Set(c.Draft)
	}
	if c.Text != "" {
		m.emit(remarks, m.markdown(c.Text)...)
	}
	if c.Model != nil {
		m.wanted = *c.Model
	}
	if c.Pick != nil {
		m.pick = pickFrom(*c.Pick)
	}
	if c.err != nil {
		m.failed(c.err.Error())
		return nil
	}
	switch {
	case (c.Leave || c.Send != nil) && m.busy():
		m.warn("a turn is running: interrupt it with esc first")
	case c.Leave:
		return m.quit(Switched)
	case c.Send != nil:
		return m.begin(*c.Send)
	case c.Shell != "":
		return m.shell(c.Shell)
	}
	return nil
}

func (m *model) markdown(text string) []string {
	t := transcript.New(m.width, m.theme)
	t.Feed(text)
	return t.Flush()
}

func (m *model) help() {
	var lines []string
	table := func(rows [][2]string) {
		width := 0
		for _, r := range rows {
			width = max(width, len(r[0]))
		}
		if m.width < width+24 {
			width = 0 // too narrow for two columns: each key stands above what it does
		}
		for _, r := range rows {
			lines = append(lines, m.entry(r[0], r[1], width)...)
		}
	}
	var rows [][2]string
	for _, b := range bindings {
		rows = append(rows, [2]string{b.keys, b.does})
	}
	table(rows)
	lines = append(lines, "")
	rows = nil
	for _, c := range m.commands() {
		rows = append(rows, [2]string{strings.TrimSpace("/" + c.Name + " " + c.Args), c.Help})
	}
	table(rows)
	m.emit(remarks, lines...)
}

// entry is a key or command and what it does, the first in a column of that width,
// or on a line of its own.
func (m *model) entry(name, does string, width int) []string {
	indent := strings.Repeat(" ", 2+width+2)
	lines := block.Wrap(safe.Line(does), max(m.width-len(indent), 1))
	for i, l := range lines {
		lines[i] = indent + m.theme.Dim.Render(l)
	}
	if width == 0 {
		return append(m.prose(name, m.theme.Key.Render), lines...)
	}
	lines[0] = "  " + m.theme.Key.Render(safe.Line(name)) + strings.Repeat(" ", max(width-len(name), 0)+2) + strings.TrimLeft(lines[0], " ")
	return lines
}

// edit gives the terminal to the person's editor.
func (m *model) edit() tea.Cmd {
	if m.cfg.Edit == nil || m.away == nil {
		m.warn("no editor: set VISUAL or EDITOR")
		return nil
	}
	m.hidden = true
	ctx, open, text := m.ctx, m.cfg.Edit, m.composer.Text()
	var changed string
	return m.away(func() (err error) {
		changed, err = open(ctx, text)
		return err
	}, func(err error) tea.Msg { return edited{strings.TrimRight(changed, "\n"), err} })
}

type edited struct {
	text string
	err  error
}

func (e edited) apply(m *model) tea.Cmd {
	m.hidden = false
	if e.err != nil {
		m.failed("the editor: " + e.err.Error())
		return nil
	}
	m.composer = m.composer.Set(e.text)
	return nil
}

// suspend gives the terminal to the shell until it brings us back.
func (m *model) suspend() tea.Cmd {
	if m.away == nil {
		return nil
	}
	m.hidden = true
	return m.away(stopSelf, func(err error) tea.Msg { return back{err} })
}

// suspendMsg asks to suspend, from outside.
type suspendMsg struct{}

func (suspendMsg) apply(m *model) tea.Cmd { return m.suspend() }

// back is the return from the shell.
type back struct{ err error }

func (b back) apply(m *model) tea.Cmd {
	m.hidden = false
	if b.err != nil {
		m.failed("suspend: " + b.err.Error())
	}
	return nil
}
