package tui

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/term"

	"car/internal/tui/line"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// lines is the conversation where the terminal or the person wants no redrawing
// (U-TUI-10, U-TUI-11).
func lines(ctx context.Context, c Config, f theme.Features) (Exit, error) {
	width, _, err := term.GetSize(int(c.Out.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	th := theme.New(theme.Options{Profile: f.Profile, Dark: true, ASCII: f.ASCII || f.Dumb})
	m := newModel(ctx, c, th, width, 24)
	m.printHeader()
	cfg := line.Config{Conversation: c.Conversation, In: c.In, Out: c.Out, Theme: th, Width: width, From: c.From,
		Header: m.print.waiting, First: c.First, Leave: c.Leave, Command: m.lineCommand, Sent: c.Remember, Returned: m.lineReturned}
	for _, k := range c.Commands {
		cfg.Help = append(cfg.Help, strings.TrimSpace("/"+k.Name+" "+k.Args)+"  "+k.Help)
	}
	res, err := line.Run(ctx, cfg)
	exit := Exit{Reason: Stopped, Last: res.Last, Running: res.Running, Resume: c.Resume}
	switch {
	case res.Quit:
		exit.Reason = Quit
	case res.Ended:
		exit.Reason = Finished
	case res.Closed:
		exit.Reason = Closed
	}
	if err != nil {
		return exit, fmt.Errorf("tui: %w", err)
	}
	return exit, nil
}

// lineCommand runs one of the caller's commands for line mode.
func (m *model) lineCommand(ctx context.Context, name, args string) (string, bool, error) {
	for _, k := range m.cfg.Commands {
		if k.Name == name {
			res, err := k.Run(ctx, args)
			return safe.Text(res.Text), true, err
		}
	}
	return "", false, nil
}

// lineReturned lists texts that were not delivered, for line mode; it has no editor
// to put them into.
func (m *model) lineReturned(ctx context.Context) []string {
	waiting, err := m.cfg.Conversation.Returned(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	var texts []string
	for _, w := range waiting {
		texts = append(texts, w.Text)
	}
	return texts
}
