package block

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// DiffCount counts the added and removed lines of a unified diff.
func DiffCount(text string) (added, removed int) {
	inHunk := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case strings.HasPrefix(line, "diff "):
			inHunk = false
		case inHunk && strings.HasPrefix(line, "+"):
			added++
		case inHunk && strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// diffLines colours a unified diff. Lines that replace each other one for one have
// the words marked that differ (G-APPR-3).
func diffLines(text string, width int, th theme.Theme) []string {
	source := strings.Split(strings.TrimRight(safe.Text(text), "\n"), "\n")
	var out []string
	inHunk := false
	for i := 0; i < len(source); {
		line := source[i]
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
			out = append(out, paint(line, width, th.Hunk)...)
		case !inHunk || strings.HasPrefix(line, "diff "):
			inHunk = false
			out = append(out, paint(line, width, th.Dim)...)
		case strings.HasPrefix(line, "-"):
			removed := run(source[i:], '-')
			added := run(source[i+removed:], '+')
			out = append(out, changeLines(source[i:i+removed], source[i+removed:i+removed+added], width, th)...)
			i += removed + added
			continue
		case strings.HasPrefix(line, "+"):
			out = append(out, paint(line, width, th.Added)...)
		default:
			out = append(out, Fold(line, width)...)
		}
		i++
	}
	return out
}

func run(lines []string, mark byte) int {
	n := 0
	for n < len(lines) && strings.HasPrefix(lines[n], string(mark)) {
		n++
	}
	return n
}

func changeLines(removed, added []string, width int, th theme.Theme) []string {
	var out []string
	pairs := len(removed) == len(added)
	for i, line := range removed {
		if from, to, ok := changed(line, added, i, pairs); ok {
			out = append(out, paintWord(line, from, to, width, th.Removed, th.RemovedWord)...)
			continue
		}
		out = append(out, paint(line, width, th.Removed)...)
	}
	for i, line := range added {
		if from, to, ok := changed(line, removed, i, pairs); ok {
			out = append(out, paintWord(line, from, to, width, th.Added, th.AddedWord)...)
			continue
		}
		out = append(out, paint(line, width, th.Added)...)
	}
	return out
}

// changed returns the bytes of line that its partner does not share, widened to
// whole words. It says no where the two have little in common: marking nearly all
// of a line marks nothing.
func changed(line string, partners []string, i int, pairs bool) (from, to int, ok bool) {
	if !pairs {
		return 0, 0, false
	}
	a, b := line[1:], partners[i][1:]
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, to = head, len(a)-tail
	for from > 0 && (wordByte(a[from-1]) || !utf8.RuneStart(a[min(from, len(a)-1)])) {
		from--
	}
	for to < len(a) && (wordByte(a[to]) || !utf8.RuneStart(a[to])) {
		to++
	}
	if from >= to || to-from > len(a)*2/3 {
		return 0, 0, false
	}
	return from + 1, to + 1, true
}

func wordByte(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func paint(line string, width int, style lipgloss.Style) []string {
	rows := Fold(line, width)
	for i, row := range rows {
		rows[i] = style.Render(row)
	}
	return rows
}

// paintWord styles one stretch of a line otherwise than the rest, through folding.
func paintWord(line string, from, to, width int, rest, word lipgloss.Style) []string {
	rows := Fold(line, width)
	at := 0
	for i, row := range rows {
		f, t := clamp(from-at, len(row)), clamp(to-at, len(row))
		at += len(row)
		rows[i] = render(rest, row[:f]) + render(word, row[f:t]) + render(rest, row[t:])
	}
	return rows
}

func clamp(n, most int) int { return min(max(n, 0), most) }

func render(s lipgloss.Style, text string) string {
	if text == "" {
		return ""
	}
	return s.Render(text)
}
