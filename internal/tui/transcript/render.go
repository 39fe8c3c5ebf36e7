package transcript

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/glamour"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"

	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// measure is the widest that prose gets; longer lines are hard to read.
const measure = 100

// renderer renders Markdown for one width.
type renderer struct {
	width int
	theme theme.Theme
	// byWidth holds glamour's renderers, made when first used.
	byWidth map[int]*glamour.TermRenderer
}

func newRenderer(width int, th theme.Theme) *renderer {
	return &renderer{width: max(width, 1), theme: th, byWidth: map[int]*glamour.TermRenderer{}}
}

// lines renders a text block by block, so that it looks the same in whatever pieces
// it arrived.
func (r *renderer) lines(source string) []string {
	return r.blocks(source, min(r.width, measure), 0)
}

func (r *renderer) blocks(source string, width, depth int) []string {
	var out []string
	blocks := topBlocks(source)
	for i, b := range blocks {
		end := len(source)
		if i+1 < len(blocks) {
			end = blocks[i+1].from
		}
		lines := r.block(b.node, source[b.from:end], b.from, width, depth)
		_, list := b.node.(*ast.List)
		if len(out) > 0 && len(lines) > 0 && !(list && depth > 0) {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// maxDepth bounds nested lists; deeper ones are left to glamour.
const maxDepth = 6

func (r *renderer) block(n ast.Node, source string, from, width, depth int) []string {
	switch n := n.(type) {
	case *ast.List:
		if depth < maxDepth && width > 10 {
			return r.list(n, source, from, width, depth)
		}
	case *ast.FencedCodeBlock:
		return indent(r.code(source), "  ")
	case *ast.CodeBlock:
		return indent(r.glamour(source, 0), "  ")
	}
	return r.glamour(source, width)
}

// code renders a fenced block with the empty lines at its ends, which matter where
// a long block was cut.
func (r *renderer) code(source string) []string {
	out := r.glamour(source, 0)
	body := strings.Split(strings.TrimRight(source, "\n"), "\n")
	if fence := fenceOf(body[0]); len(body) > 1 && fence != "" && closes(body[len(body)-1], fence) {
		body = body[:len(body)-1]
	}
	body = body[1:]
	if len(out) == 0 {
		return make([]string, len(body))
	}
	for i := 0; i < len(body) && strings.TrimSpace(body[i]) == ""; i++ {
		out = append([]string{""}, out...)
	}
	for i := len(body) - 1; i >= 0 && strings.TrimSpace(body[i]) == ""; i-- {
		out = append(out, "")
	}
	return out
}

// list lays items out itself, since glamour lets their second lines fall back to
// the margin.
func (r *renderer) list(list *ast.List, source string, from, width, depth int) []string {
	var out []string
	number := list.Start
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		item, ok := n.(*ast.ListItem)
		start := n.Pos() - from
		if !ok || start < 0 || start > len(source) {
			return r.glamour(source, width)
		}
		end := len(source)
		if next := n.NextSibling(); next != nil {
			end = strings.LastIndexByte(source[:min(max(next.Pos()-from, 0), len(source))], '\n') + 1
		}
		if end < start {
			return r.glamour(source, width)
		}
		column := start - (strings.LastIndexByte(source[:start], '\n') + 1)
		body := dedent(source[start:end], column, item.Offset-column)
		mark := r.theme.Glyphs.Bullet + " "
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		mark, body = r.task(mark, body)
		lines := r.blocks(body, max(width-ansi.StringWidth(mark), 1), depth+1)
		if len(lines) == 0 {
			lines = []string{""}
		}
		rest := indent(lines[1:], strings.Repeat(" ", ansi.StringWidth(mark)))
		out = append(append(out, strings.TrimRight(mark+lines[0], " ")), rest...)
	}
	return out
}

// task gives a task item its box.
func (r *renderer) task(mark, body string) (string, string) {
	for prefix, box := range map[string]string{"[ ] ": r.theme.Glyphs.Open, "[x] ": r.theme.Glyphs.Done, "[X] ": r.theme.Glyphs.Done} {
		if rest, ok := strings.CutPrefix(body, prefix); ok {
			return box + " ", rest
		}
	}
	return mark, body
}

// dedent takes an item's marker and indentation off its source. column is where the
// marker stands, width how far the text is from it.
func dedent(source string, column, width int) string {
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		if i == 0 {
			lines[i] = strings.TrimLeft(line[min(max(width, 0), len(line)):], " ")
			continue
		}
		blank := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = line[min(blank, column+width):]
	}
	return strings.Join(lines, "\n")
}

// glamour renders one block; a width of 0 does not wrap it, because code is
// wrapped by the terminal, which then copies it as it was.
func (r *renderer) glamour(source string, width int) []string {
	md := r.renderer(width)
	if md == nil {
		return strings.Split(strings.Trim(source, "\n"), "\n")
	}
	out, err := md.Render(neutral(source))
	if err != nil {
		out = source
	}
	var lines []string
	for line := range strings.SplitSeq(safe.Styled(out), "\n") {
		lines = append(lines, compact(line))
	}
	for len(lines) > 0 && ansi.Strip(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && ansi.Strip(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func (r *renderer) renderer(width int) *glamour.TermRenderer {
	if md := r.byWidth[width]; md != nil {
		return md
	}
	md, err := glamour.NewTermRenderer(glamour.WithWordWrap(width), glamour.WithStyles(style(r.theme)),
		glamour.WithColorProfile(r.theme.Profile), glamour.WithChromaFormatter(formatter(r.theme.Profile)))
	if err != nil {
		return nil
	}
	r.byWidth[width] = md
	return md
}

func indent(lines []string, by string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			out[i] = by + line
		}
	}
	return out
}

// fold breaks lines that are wider than the screen, for the part of it that we draw.
func fold(lines []string, width int) []string {
	var out []string
	for _, line := range lines {
		if ansi.StringWidth(line) <= width {
			out = append(out, line)
			continue
		}
		out = append(out, strings.Split(ansi.Hardwrap(line, width, true), "\n")...)
	}
	return out
}
