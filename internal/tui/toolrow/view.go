package toolrow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/block"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Limits of what is printed of a call's output, in lines; the engine keeps the rest.
const (
	diffLimit   = 40
	outputLimit = 60
	liveLimit   = 8
)

// View draws the rows in flight, at most height lines.
func (m Model) View(width, height int, th theme.Theme) []string {
	var lines []string
	for i, r := range m.rows {
		left := height - len(lines)
		if left <= 0 {
			break
		}
		if rest := len(m.rows) - i; left == 1 && rest > 1 {
			lines = append(lines, th.Dim.Render(cut(fmt.Sprintf("%s %s more", th.Glyphs.Ellipsis, block.Count(rest, "call")), width, th)))
			break
		}
		lines = append(lines, r.head(width, th, m.now))
		// A second line only where every row below still gets its first.
		if below := r.below(width, th, m.expanded); left-1-len(below) >= len(m.rows)-i-1 {
			lines = append(lines, below...)
		}
	}
	return lines
}

// Print draws a row that has ended, as it stays in the scrollback.
func (r Row) Print(width int, th theme.Theme) []string {
	lines := append([]string{r.head(width, th, r.started)}, r.below(width, th, false)...)
	if r.Result == nil {
		return lines
	}
	for _, b := range r.Result.Blocks {
		if b.Kind == ir.BlockDiff {
			lines = append(lines, indent(block.Bound(block.Lines(b, width-4, th), diffLimit, th))...)
		}
	}
	return lines
}

// head is the first line: mark, name, essential argument, time.
func (r Row) head(width int, th theme.Theme, now time.Time) string {
	mark, word, took := r.state(th, now)
	name := safe.Line(r.Call.Tool)
	tail := took
	if word != "" {
		tail = strings.TrimSpace(word + " " + took)
	}
	fixed := ansi.StringWidth(mark) + 1 + ansi.StringWidth(name) + 2 + ansi.StringWidth(tail)
	line := mark + " " + th.Strong.Render(name)
	if arg := Essential(r.Call.Params); arg != "" && width-fixed-2 >= 8 {
		line += "  " + cut(arg, width-fixed-2, th)
	}
	if tail != "" {
		line += "  " + th.Dim.Render(tail)
	}
	return cut(line, width, th)
}

func (r Row) state(th theme.Theme, now time.Time) (mark, word, took string) {
	g := th.Glyphs
	if r.Result == nil {
		elapsed := max(now.Sub(r.started), 0)
		if r.waiting {
			return th.Warn.Render(g.Wait), "waits for you", ""
		}
		return th.Accent.Render(g.Spin(elapsed)), "", block.Duration(elapsed.Truncate(100 * time.Millisecond))
	}
	took = block.Duration(time.Duration(r.Result.DurationMS) * time.Millisecond)
	switch {
	case r.Result.OK:
		return th.Good.Render(g.Good), "", took
	case r.Result.Status == ir.Rejected:
		return th.Warn.Render(g.Bad), "refused", ""
	case r.Result.Status == ir.Skipped && r.Result.Ran:
		return th.Warn.Render(g.Bad), "interrupted", took
	case r.Result.Status == ir.Skipped:
		return th.Dim.Render(g.Bad), "not run", ""
	default:
		return th.Bad.Render(g.Bad), "failed", took
	}
}

// below is what stands under the head: the last line of a running call, or one line
// of a result.
func (r Row) below(width int, th theme.Theme, expanded bool) []string {
	if r.Result == nil {
		if expanded && r.tail != "" {
			return indent(block.Bound(block.Fold(safe.Text(r.tail), width-4), liveLimit, th))
		}
		return r.under(lastLine(r.tail), width, th)
	}
	return r.under(block.Summary(r.Result.Blocks, r.Result.Excerpt), width, th)
}

func (r Row) under(line string, width int, th theme.Theme) []string {
	if line == "" || width < 8 {
		return nil
	}
	style := th.Dim
	if r.Result != nil && !r.Result.OK && r.Result.Status == ir.Failed {
		style = th.Bad
	}
	return []string{th.Dim.Render("  "+th.Glyphs.Elbow) + " " + style.Render(cut(line, width-4, th))}
}

// output is everything the screen has of an ended call, bounded.
func (r Row) output(width, limit int, th theme.Theme) []string {
	if r.Result == nil {
		return nil
	}
	var lines []string
	for _, b := range r.Result.Blocks {
		if b.Title != "" {
			lines = append(lines, th.Dim.Render(cut(safe.Line(b.Title), width-4, th)))
		}
		lines = append(lines, block.Lines(b, width-4, th)...)
	}
	if len(lines) == 0 {
		lines = block.Lines(ir.Block{Text: block.Said(r.Result.Excerpt)}, width-4, th)
	}
	if len(lines) == 0 {
		lines = []string{th.Dim.Render("no output")}
	}
	return indent(block.Bound(lines, limit, th))
}

// Essential is the one argument worth a row's space, filtered and on one line.
func Essential(params map[string]any) string {
	if s := assistant.Essential(params); s != "" {
		return oneLine(s)
	}
	names := make([]string, 0, len(params))
	for name := range params {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if s, ok := params[name].(string); ok && s != "" {
			return oneLine(s)
		}
	}
	if len(params) == 0 {
		return ""
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return ""
	}
	return safe.Line(string(raw))
}

func oneLine(s string) string { return safe.Line(strings.TrimSpace(s)) }

func lastLine(text string) string {
	text = strings.TrimRight(safe.Text(text), "\n ")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func cut(line string, width int, th theme.Theme) string {
	return ansi.Truncate(line, max(width, 0), th.Glyphs.Ellipsis)
}

func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = "    " + line
	}
	return out
}
