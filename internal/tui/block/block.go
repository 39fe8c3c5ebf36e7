package block

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"car/internal/engine/ir"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Lines renders a whole block, without its title, at most width cells wide.
func Lines(b ir.Block, width int, th theme.Theme) []string {
	var lines []string
	switch b.Kind {
	case ir.BlockDiff:
		lines = diffLines(b.Text, width, th)
	case ir.BlockTable:
		lines = tableLines(b, width, th)
	case ir.BlockFiles:
		for _, row := range b.Rows {
			lines = append(lines, Fold(safe.Line(strings.Join(row, "  ")), width)...)
		}
	case ir.BlockExit:
		if b.Exit != nil {
			lines = append(lines, Fold(exitWords(*b.Exit), width)...)
		}
	case ir.BlockCommands:
		for _, c := range b.Commands {
			lines = append(lines, CommandLines(c, width, th)...)
		}
	default:
		lines = textLines(b.Text, width)
	}
	if b.Omitted > 0 {
		lines = append(lines, th.Dim.Render(fit(fmt.Sprintf("%s %s more not shown here", th.Glyphs.Ellipsis, omitted(b)), width)))
	}
	return lines
}

func omitted(b ir.Block) string {
	if b.Kind == ir.BlockTable || b.Kind == ir.BlockFiles {
		return Count(int(b.Omitted), "row")
	}
	return Bytes(b.Omitted)
}

func textLines(text string, width int) []string {
	text = strings.TrimRight(safe.Text(text), "\n")
	if text == "" {
		return nil
	}
	return Fold(text, width)
}

// Fold breaks text into rows of at most width cells and keeps every character, so
// that what is read is what was written.
func Fold(text string, width int) []string {
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		if ansi.StringWidth(line) <= width {
			rows = append(rows, line)
			continue
		}
		rows = append(rows, strings.Split(ansi.Hardwrap(line, max(width, 1), true), "\n")...)
	}
	return rows
}

// Wrap breaks prose into rows at its spaces.
func Wrap(text string, width int) []string {
	return strings.Split(ansi.Wrap(text, max(width, 1), ""), "\n")
}

// fit cuts a line that tells nothing vital to its width.
func fit(line string, width int) string { return ansi.Truncate(line, max(width, 0), "") }

// Bound keeps the head and the tail of lines that are more than limit, with the
// count between them (P-TERM-4).
func Bound(lines []string, limit int, th theme.Theme) []string {
	if len(lines) <= limit || limit < 3 {
		return lines
	}
	tail := (limit - 1) / 2
	head := limit - 1 - tail
	cut := th.Dim.Render(fmt.Sprintf("%s %s more", th.Glyphs.Ellipsis, Count(len(lines)-head-tail, "line")))
	bounded := append([]string{}, lines[:head]...)
	bounded = append(bounded, cut)
	return append(bounded, lines[len(lines)-tail:]...)
}

// CommandLines shows one simple command of a shell text as the governor read it:
// the whole command, then its tier, whether it can be undone, and why.
func CommandLines(c ir.CommandView, width int, th theme.Theme) []string {
	lines := Fold(safe.Text(c.Text), width)
	about := fmt.Sprintf("  %s %s %s", c.Tier, th.Glyphs.Dot, c.Reversibility)
	if c.Reason != "" {
		about += fmt.Sprintf(" %s %s", th.Glyphs.Dot, safe.Line(c.Reason))
	}
	style := th.Dim
	if c.Tier.Needed() == ir.FullAccess || c.Reversibility == ir.Irreversible {
		style = th.Warn
	}
	for _, row := range Wrap(about, width) {
		lines = append(lines, style.Render(row))
	}
	return lines
}

func tableLines(b ir.Block, width int, th theme.Theme) []string {
	var rows [][]string
	if len(b.Header) > 0 {
		rows = append(rows, b.Header)
	}
	rows = append(rows, b.Rows...)
	var columns []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			columns[i] = max(columns[i], ansi.StringWidth(safe.Line(cell)))
		}
	}
	var lines []string
	for i, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			cell = safe.Line(cell)
			line.WriteString(cell)
			if j < len(row)-1 {
				line.WriteString(strings.Repeat(" ", columns[j]-ansi.StringWidth(cell)+2))
			}
		}
		for _, folded := range Fold(strings.TrimRight(line.String(), " "), width) {
			if i == 0 && len(b.Header) > 0 {
				folded = th.Strong.Render(folded)
			}
			lines = append(lines, folded)
		}
	}
	return lines
}

func exitWords(e ir.ExitStatus) string {
	took := Duration(time.Duration(e.DurationMS) * time.Millisecond)
	switch {
	case e.TimedOut:
		return "timed out after " + took
	case e.Signal != "":
		return "ended by " + safe.Line(e.Signal) + " after " + took
	default:
		return "exit " + strconv.Itoa(e.Code) + " after " + took
	}
}
