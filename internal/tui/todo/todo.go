// Package todo is the pane of the agent's list: what is open, what is done. It shows
// the entries that are open and only as many as there is room for, with the count of
// the rest.
//
// The pane is pure; it imports safe and theme.
package todo

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Item is an entry of the list.
type Item struct {
	Text string
	// Done and Dropped entries are no longer open.
	Done, Dropped bool
}

// View draws the list in at most height lines; a list with nothing open draws nothing.
func View(items []Item, width, height int, th theme.Theme) []string {
	var open []Item
	done := 0
	for _, it := range items {
		switch {
		case it.Done:
			done++
		case !it.Dropped:
			open = append(open, it)
		}
	}
	if len(open) == 0 || height <= 0 {
		return nil
	}
	lines := []string{th.Dim.Render(cut(fmt.Sprintf("todo  %d of %d done", done, done+len(open)), width, th))}
	for i, it := range open {
		left := height - len(lines)
		if left <= 0 {
			break
		}
		if rest := len(open) - i; left == 1 && rest > 1 {
			lines = append(lines, th.Dim.Render(cut(fmt.Sprintf("  %s %d more", th.Glyphs.Ellipsis, rest), width, th)))
			break
		}
		lines = append(lines, cut("  "+th.Glyphs.Open+" "+safe.Line(it.Text), width, th))
	}
	return lines
}

func cut(line string, width int, th theme.Theme) string {
	return ansi.Truncate(line, max(width, 0), th.Glyphs.Ellipsis)
}
