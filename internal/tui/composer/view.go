package composer

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// promptWidth is the prompt glyph and the space behind it.
const promptWidth = 2

// Caret is where the person types, in rows and cells of the pane from 0.
type Caret struct{ Row, Column int }

// At most so many lines of each part are drawn.
const (
	mostRows    = 10
	mostChoices = 6
	mostQueued  = 3
)

// View draws the pane in at most height lines. hint stands where nothing is typed.
func (m Model) View(width, height int, th theme.Theme, hint string) ([]string, Caret) {
	if height <= 0 || width <= 0 {
		return nil, Caret{}
	}
	lay := m.text.Layout(max(width-promptWidth, 1))
	rows := min(len(lay.Rows), max(min(mostRows, height-1), 1))
	top := min(max(lay.Row-rows+1, 0), len(lay.Rows)-rows)
	caret := Caret{Row: lay.Row - top, Column: min(promptWidth+lay.Column, width-1)}
	var lines []string
	for i, row := range lay.Rows[top : top+rows] {
		lead := "  "
		if i == 0 && top == 0 {
			lead = th.Accent.Render(th.Glyphs.Prompt) + " "
		} else if i == 0 {
			lead = th.Dim.Render(th.Glyphs.Fold) + " " // there is more above
		}
		lines = append(lines, ansi.Truncate(lead+row, width, ""))
	}
	if m.text.Empty() && m.search == nil && hint != "" {
		lines[0] = ansi.Truncate(lines[0]+th.Dim.Render(hint), width, "")
	}
	lines = append(lines, m.below(width, height-len(lines), th)...)
	return lines, caret
}

// below is what belongs to the text: the search, completions, waiting messages.
func (m Model) below(width, height int, th theme.Theme) []string {
	var lines []string
	add := func(line string) {
		if len(lines) < height {
			lines = append(lines, ansi.Truncate(line, width, th.Glyphs.Ellipsis))
		}
	}
	if s := m.search; s != nil {
		state := "history: "
		if s.query != "" && s.found == 0 {
			state = "not in the history: "
		}
		add(th.Dim.Render("  " + state + safe.Line(s.query)))
	}
	first := max(min(m.popup.at-mostChoices/2, len(m.popup.choices)-mostChoices), 0)
	for i := first; i < min(first+mostChoices, len(m.popup.choices)); i++ {
		c := m.popup.choices[i]
		name := fmt.Sprintf("%-12s", safe.Line(c.Text))
		if i == m.popup.at {
			add("  " + th.Accent.Render(name) + "  " + th.Dim.Render(safe.Line(c.Help)))
			continue
		}
		add("  " + th.Dim.Render(strings.TrimRight(name+"  "+safe.Line(c.Help), " ")))
	}
	for i, text := range m.queue {
		if rest := len(m.queue) - i; i == mostQueued-1 && rest > 1 {
			add(th.Dim.Render(fmt.Sprintf("  waiting: %d more", rest)))
			break
		}
		add(th.Dim.Render("  waiting: " + firstLine(text)))
	}
	return lines
}

func firstLine(text string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more && rest != "" {
		return fmt.Sprintf("%s (+%d lines)", safe.Line(line), strings.Count(rest, "\n")+1)
	}
	return safe.Line(line)
}
