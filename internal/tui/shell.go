package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/tui/block"
)

// shell gives the terminal to a command of the person's own (U-TUI-5).
func (m *model) shell(command string) tea.Cmd {
	if m.cfg.Shell == nil || m.away == nil {
		m.warn("commands of your own can not be run here")
		return nil
	}
	m.hidden = true
	ctx, run := m.ctx, m.cfg.Shell
	var done Shelled
	return m.away(func() (err error) {
		done, err = run(ctx, command)
		return err
	}, func(err error) tea.Msg { return shelled{done, err} })
}

type shelled struct {
	Shelled
	err error
}

func (s shelled) apply(m *model) tea.Cmd {
	m.hidden = false
	if s.err != nil {
		m.failed("your command did not run: " + s.err.Error())
		return nil
	}
	m.shelled = &s.Shelled
	text := fmt.Sprintf("exit %d after %s", s.Code, block.Duration(s.Took))
	if s.Output != "" {
		text += "; /share tells the model what it said"
	}
	m.remark(text)
	return nil
}

// share puts what the last own command said into the next message, as evidence that
// commands nothing.
func (m *model) share() {
	s := m.shelled
	switch {
	case s == nil:
		m.warn("there is nothing to share: run a command of your own with ! first")
		return
	case m.phase == leaving:
		return
	}
	m.shelled = nil
	m.shared += fmt.Sprintf("The person ran a command of their own: %s\nIt exited with %d and wrote:\n%s\n", s.Command, s.Code, strings.TrimRight(s.Output, "\n"))
	m.remark("the model will read the output of " + s.Command + " with your next message")
}
