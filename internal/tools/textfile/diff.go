package textfile

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff is the unified diff between two texts of a path, empty when they are the
// same. Line ends that both texts share are not shown.
func Diff(path, before, after string) string {
	if EOL(before) == EOL(after) || before == "" || after == "" {
		if b, a := ToLF(before), ToLF(after); b != a {
			before, after = b, a
		}
	}
	return udiff.Unified("a/"+path, "b/"+path, before, after)
}

// ShortDiff is a Diff of at most max bytes, cut between lines with a count.
func ShortDiff(path, before, after string, max int) string {
	kept, cut := CutLines(Diff(path, before, after), max)
	if cut == 0 {
		return kept
	}
	return kept + fmt.Sprintf("… %d more lines of diff\n", cut)
}

// Snippet shows the lines that changed with around lines on both sides, under
// their new numbers. Far apart changes are separated by a line of dots.
func Snippet(before, after string, around int) string {
	now := Lines(after)
	changed := changedLines(ToLF(before), ToLF(after), len(now))
	if len(changed) == 0 {
		return ""
	}
	var b strings.Builder
	last := 0
	for _, span := range changed {
		from, to := max(span[0]-around, last+1, 1), min(span[1]+around, len(now))
		if from > to {
			continue
		}
		if last > 0 && from > last+1 {
			b.WriteString("   ...\n")
		}
		b.WriteString(Numbered(now[from-1:to], from))
		last = to
	}
	return b.String()
}

// changedLines lists spans of 1-based line numbers of after that differ; a pure
// deletion is the span of its two neighbours.
func changedLines(before, after string, total int) [][2]int {
	var spans [][2]int
	shift := 0
	for _, e := range udiff.Lines(before, after) {
		start := e.Start + shift
		end := start + len(e.New)
		shift += len(e.New) - (e.End - e.Start)
		first := LineAt(after, min(start, len(after)))
		last := first
		if end > start {
			last = LineAt(after, end-1)
		} else {
			first = max(first-1, 1)
		}
		spans = append(spans, [2]int{min(first, total), min(last, total)})
	}
	return spans
}
