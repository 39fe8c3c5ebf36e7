package approval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/block"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// inset is the bar and the space before quoted text.
const inset = 2

// Caret is where the person types, in rows and cells of the pane from 0.
type Caret struct{ Row, Column int }

// View draws the pane at the size it was given, and says where the caret is if
// something is typed in it.
func (m Model) View() ([]string, *Caret) {
	if !m.Open() || m.width <= 0 || m.height <= 0 {
		return nil, nil
	}
	p := m.prompts[m.at]
	lines := []string{m.title(p)}
	if m.mode == edit {
		return m.viewEdit(lines)
	}
	rows := m.rows()
	top := min(p.top, len(m.text))
	lines = append(lines, m.text[top:min(top+rows, len(m.text))]...)
	if m.mode == words {
		return m.viewWords(lines)
	}
	lines = append(lines, m.footer(p)...)
	return lines[:min(len(lines), m.height)], nil
}

// rows is how many lines of text fit. The space of the footer does not depend on
// what it says at the moment: if it grew when the last line had been read, it would
// cover a line that was counted as read.
func (m Model) rows() int {
	return min(max(m.height-1-m.footerRows(), 0), len(m.text))
}

func (m Model) footerRows() int {
	all, unread := []string{m.theme.Glyphs.Up + m.theme.Glyphs.Down + " scroll"}, []string{m.unread(len(m.text))}
	for _, b := range bindings {
		all = append(all, b.key+" "+b.does)
		if !b.reads {
			unread = append(unread, b.key+" "+b.does)
		}
	}
	longest := max(len(flow(all, m.width)), len(flow(unread, m.width)))
	return min(longest, max(m.height-2, 1))
}

func (m Model) unread(lines int) string {
	return fmt.Sprintf("%s read %s more first", m.theme.Glyphs.Down, block.Count(lines, "line"))
}

func (m Model) title(p prompt) string {
	th := m.theme
	name := safe.Line(p.pending[0].Tool)
	if n := len(p.pending); n > 1 {
		name = block.Count(n, "call") + " of " + name
	}
	tier, back := worst(p.pending)
	line := "  " + th.Strong.Render("allow "+name+"?") + "  " + danger(tier, back, th)
	if len(m.prompts) > 1 {
		line += th.Dim.Render(fmt.Sprintf("  %d of %d, tab for the next", m.at+1, len(m.prompts)))
	}
	if left := p.pending[0].ExpiresAt.Sub(m.now); !p.pending[0].ExpiresAt.IsZero() && !m.now.IsZero() && left > 0 {
		line += th.Dim.Render("  no in " + block.Clock(left))
	}
	return ansi.Truncate(line, m.width, th.Glyphs.Ellipsis)
}

func worst(pending []assistant.ApprovalPending) (tier ir.Tier, back ir.Reversibility) {
	back = ir.Reversible
	for _, p := range pending {
		tier, back = tier.Higher(p.Tier.Needed()), back.Worse(p.Reversibility)
	}
	return tier, back
}

func danger(tier ir.Tier, back ir.Reversibility, th theme.Theme) string {
	text := fmt.Sprintf("%s %s %s", tier, th.Glyphs.Dot, back)
	if tier == ir.FullAccess || back == ir.Irreversible {
		return th.Warn.Render(text)
	}
	return th.Dim.Render(text)
}

// body is everything that a person has to be able to read before they allow it.
func (m Model) body(p prompt) []string {
	var lines []string
	for i, q := range p.pending {
		if len(p.pending) > 1 {
			lines = append(lines, m.theme.Strong.Render(fmt.Sprintf("%d. %s", i+1, safe.Line(q.Tool))))
		}
		lines = append(lines, Body(q, m.width, m.theme)...)
	}
	return lines
}

// Body renders the whole of one question: why it is asked, what would run, how it
// was read. Line mode prints the same.
func Body(q assistant.ApprovalPending, width int, th theme.Theme) []string {
	var lines []string
	if q.Reason != "" {
		for _, row := range block.Wrap(safe.Text(q.Reason), width-inset) {
			lines = append(lines, "  "+th.Dim.Render(row))
		}
	}
	if q.SessionRule != "" { // what a wider answer covers is part of what is read
		for _, row := range block.Wrap("for this session: "+safe.Line(q.SessionRule), width-inset) {
			lines = append(lines, "  "+th.Dim.Render(row))
		}
	}
	diff := false
	for _, b := range q.Preview {
		diff = diff || b.Kind == ir.BlockDiff
		if b.Title != "" {
			lines = append(lines, prefix(block.Fold(safe.Line(b.Title), width-inset), "  ")...)
		}
		lines = append(lines, prefix(block.Lines(b, width-inset, th), th.Dim.Render(th.Glyphs.Bar)+" ")...)
	}
	lines = append(lines, params(q.Params, diff, width, th)...)
	for _, c := range q.Commands {
		rows := block.CommandLines(c, width-2*inset, th)
		if len(q.Commands) == 1 && onlyText(q.Params) == c.Text {
			rows = rows[len(block.Fold(safe.Text(c.Text), width-2*inset)):] // it stands above
		} else {
			rows[0] = th.Glyphs.Bullet + " " + rows[0]
			for i := range rows[1:] {
				rows[i+1] = "  " + rows[i+1]
			}
		}
		lines = append(lines, prefix(rows, "  ")...)
	}
	return append(lines, circumstances(q.Scope, width, th)...)
}

// params shows every parameter whole. What a diff shows already, the long texts, is
// not repeated beside it.
func params(values map[string]any, diff bool, width int, th theme.Theme) []string {
	if text := onlyText(values); text != "" && !diff {
		return quote(text, width, th)
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	var lines []string
	for _, name := range names {
		text, isText := values[name].(string)
		switch {
		case isText && strings.ContainsAny(text, "\n\r"):
			if !diff {
				lines = append(lines, "  "+th.Dim.Render(safe.Line(name)+":"))
				lines = append(lines, quote(text, width, th)...)
			}
		default:
			if !isText {
				raw, _ := json.Marshal(values[name]) // it was decoded from JSON
				text = string(raw)
			}
			rows := block.Fold(safe.Line(name)+": "+safe.Line(text), width-inset)
			lines = append(lines, prefix(rows, "  ")...)
		}
	}
	return lines
}

// onlyText is the value of a lone text parameter, such as a command.
func onlyText(values map[string]any) string {
	if len(values) != 1 {
		return ""
	}
	for _, v := range values {
		text, _ := v.(string)
		return text
	}
	return ""
}

// quote sets text beside a bar. A line that had to be folded goes on beside another
// mark, so that a fold can not pass for a line end.
func quote(text string, width int, th theme.Theme) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(safe.Text(text), "\n"), "\n") {
		for i, row := range block.Fold(line, width-inset) {
			mark := th.Glyphs.Bar
			if i > 0 {
				mark = th.Glyphs.Fold
			}
			lines = append(lines, th.Dim.Render(mark)+" "+row)
		}
	}
	return lines
}

// circumstances are the parts of the scope that a person decides by.
func circumstances(scope map[string]any, width int, th theme.Theme) []string {
	var lines []string
	for _, c := range []struct{ key, label, silent string }{
		{"target", "target", ""}, {"cwd", "in", ""}, {"environment", "environment", "unspecified"}, {"credential_capabilities", "with", ""},
	} {
		text := joined(scope[c.key])
		if text == "" || text == c.silent {
			continue
		}
		if c.key == "target" && scope["target_source"] == "model" {
			text += " (stated by the model)"
		}
		for _, row := range block.Fold(c.label+" "+safe.Line(text), width-inset) {
			lines = append(lines, "  "+th.Dim.Render(row))
		}
	}
	return lines
}

func joined(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ", ")
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, fmt.Sprint(x))
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

func prefix(lines []string, with string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = with + line
	}
	return out
}

// footer says which keys do what, or why they do not.
func (m Model) footer(p prompt) []string {
	th := m.theme
	if p.sent {
		return []string{th.Dim.Render(ansi.Truncate("  answered, waiting for it to be recorded", m.width, ""))}
	}
	if m.typing {
		return flow([]string{th.Key.Render("tab") + " to answer; you are typing"}, m.width)
	}
	key := th.Key
	if !m.Armed() {
		key = th.Off
	}
	var parts []string
	if more := len(m.text) - p.seen; more > 0 {
		parts = append(parts, key.Render(m.unread(more)))
	} else if len(m.text) > m.rows() {
		parts = append(parts, key.Render(th.Glyphs.Up+th.Glyphs.Down)+" scroll")
	}
	for _, b := range m.offered() {
		if !b.reads || m.complete() {
			parts = append(parts, key.Render(b.key)+" "+b.does)
		}
	}
	lines := flow(parts, m.width)
	return lines[:min(len(lines), m.footerRows())]
}

// flow lays parts out in lines.
func flow(parts []string, width int) []string {
	var lines []string
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = "  " + part
		case ansi.StringWidth(line)+2+ansi.StringWidth(part) <= width:
			line += "  " + part
		default:
			lines = append(lines, line)
			line = "  " + part
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], width, "")
	}
	return lines
}

func (m Model) viewWords(lines []string) ([]string, *Caret) {
	const label = "  why not: "
	lay := m.input.Layout(max(m.width-len(label), 1))
	lines = lines[:min(len(lines), max(m.height-len(lay.Rows)-1, 0))]
	caret := &Caret{Row: len(lines) + lay.Row, Column: len(label) + lay.Column}
	for i, row := range lay.Rows {
		lead := strings.Repeat(" ", len(label))
		if i == 0 {
			lead = label
		}
		lines = append(lines, ansi.Truncate(lead+row, m.width, ""))
	}
	lines = append(lines, flow([]string{m.theme.Key.Render("enter") + " send", m.theme.Key.Render("esc") + " back"}, m.width)[0])
	return m.clip(lines, caret)
}

func (m Model) viewEdit(lines []string) ([]string, *Caret) {
	lay := m.input.Layout(max(m.width-inset, 1))
	rows := max(m.height-3, 1)
	top := min(max(lay.Row-rows+1, 0), max(len(lay.Rows)-rows, 0))
	caret := &Caret{Row: len(lines) + lay.Row - top, Column: inset + lay.Column}
	for _, row := range lay.Rows[top:min(top+rows, len(lay.Rows))] {
		lines = append(lines, ansi.Truncate(m.theme.Dim.Render(m.theme.Glyphs.Bar)+" "+row, m.width, ""))
	}
	if m.problem != "" {
		lines = append(lines, m.theme.Bad.Render(ansi.Truncate("  "+safe.Line(m.problem), m.width, m.theme.Glyphs.Ellipsis)))
	}
	lines = append(lines, flow([]string{m.theme.Key.Render("ctrl+s") + " run this instead", m.theme.Key.Render("esc") + " back"}, m.width)[0])
	return m.clip(lines, caret)
}

func (m Model) clip(lines []string, caret *Caret) ([]string, *Caret) {
	lines = lines[:min(len(lines), m.height)]
	caret.Row = min(caret.Row, max(len(lines)-1, 0))
	caret.Column = min(caret.Column, max(m.width-1, 0))
	return lines, caret
}
