package block

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

const someDiff = "--- a/menu.txt\n+++ b/menu.txt\n@@ -1,3 +1,3 @@\n soup\n-price = 12 EUR\n+price = 14 EUR\n bread\n"

// U-TUI-3: each kind of block has its picture, and no tool is known.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		block ir.Block
		width int
		want  []string
	}{
		{"text", ir.Block{Text: "one\ttwo\nthree\n"}, 40, []string{"one two", "three"}},
		{"folded text", ir.Block{Text: "abcdefgh"}, 3, []string{"abc", "def", "gh"}},
		{"nothing", ir.Block{}, 40, nil},
		{"hostile text", ir.Block{Text: "a\x1b[2Jb"}, 40, []string{`a\x1b[2Jb`}},
		{"diff", ir.Block{Kind: ir.BlockDiff, Text: someDiff}, 40,
			[]string{"--- a/menu.txt", "+++ b/menu.txt", "@@ -1,3 +1,3 @@", " soup", "-price = 12 EUR", "+price = 14 EUR", " bread"}},
		{"table", ir.Block{Kind: ir.BlockTable, Header: []string{"name", "n"}, Rows: [][]string{{"界", "1"}, {"longer", "20"}}, Omitted: 3}, 40,
			[]string{"name    n", "界      1", "longer  20", "… 3 rows more not shown here"}},
		{"files", ir.Block{Kind: ir.BlockFiles, Rows: [][]string{{"a.go"}, {"b\u202e.go"}}}, 40, []string{"a.go", `b\u202e.go`}},
		{"exit", ir.Block{Kind: ir.BlockExit, Exit: &ir.ExitStatus{Code: 2, DurationMS: 1500}}, 40, []string{"exit 2 after 1.5s"}},
		{"signal", ir.Block{Kind: ir.BlockExit, Exit: &ir.ExitStatus{Signal: "SIGKILL", DurationMS: 15}}, 40, []string{"ended by SIGKILL after 15ms"}},
		{"limit", ir.Block{Kind: ir.BlockExit, Exit: &ir.ExitStatus{TimedOut: true, DurationMS: 120000}}, 40, []string{"timed out after 2m00s"}},
		{"commands", ir.Block{Kind: ir.BlockCommands, Commands: []ir.CommandView{{Text: "git push", Tier: ir.FullAccess, Reversibility: ir.Compensable, Reason: "leaves the machine"}}}, 60,
			[]string{"git push", "  full_access · compensable · leaves the machine"}},
	} {
		if diff := cmp.Diff(c.want, Lines(c.block, c.width, theme.Plain())); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// P-GUARD-2: folding loses no character, whatever the width.
func TestFoldKeepsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := safe.Text(rapid.StringOf(rapid.RuneFrom([]rune("ab  \n\t-界é\u0301👩🚀'\"/"))).Draw(t, "text"))
		width := rapid.IntRange(2, 30).Draw(t, "width")
		rows := Fold(text, width)
		if got := strings.Join(rows, ""); got != strings.ReplaceAll(text, "\n", "") {
			t.Fatalf("%q folded at %d reads %q", text, width, rows)
		}
		for _, row := range rows {
			if ansi.StringWidth(row) > width {
				t.Fatalf("row %q is wider than %d", row, width)
			}
		}
	})
}

// G-APPR-3: what changed within a line is marked, and colour changes no word.
func TestDiffMarksTheWordsThatChanged(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{Profile: termenv.ANSI, Dark: true})
	b := ir.Block{Kind: ir.BlockDiff, Text: someDiff}
	lines := Lines(b, 40, th)
	if want := th.Removed.Render("-price = ") + th.RemovedWord.Render("12") + th.Removed.Render(" EUR"); lines[4] != want {
		t.Errorf("got %q, want %q", lines[4], want)
	}
	if want := th.AddedWord.Render("14"); !strings.Contains(lines[5], want) {
		t.Errorf("%q does not mark 14", lines[5])
	}
	for width := 4; width < 40; width++ {
		plain, coloured := Lines(b, width, theme.Plain()), Lines(b, width, th)
		for i := range plain {
			if ansi.Strip(coloured[i]) != plain[i] {
				t.Fatalf("width %d, line %d: %q reads otherwise than %q", width, i, coloured[i], plain[i])
			}
		}
	}
}

func TestDiffOfALineThatIsAllNewMarksNothing(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{Profile: termenv.ANSI})
	lines := Lines(ir.Block{Kind: ir.BlockDiff, Text: "@@ -1 +1 @@\n-alpha\n+omega\n"}, 40, th)
	if want := th.Removed.Render("-alpha"); lines[1] != want {
		t.Errorf("got %q, want %q", lines[1], want)
	}
}

// P-TERM-4: head and tail with the count.
func TestBound(t *testing.T) {
	t.Parallel()
	lines := strings.Fields("1 2 3 4 5 6 7 8 9")
	want := []string{"1", "2", "… 6 lines more", "9"}
	if diff := cmp.Diff(want, Bound(lines, 4, theme.Plain())); diff != "" {
		t.Error(diff)
	}
	if got := Bound(lines, 9, theme.Plain()); len(got) != 9 {
		t.Errorf("lines that fit were cut: %q", got)
	}
	if lines[2] != "3" {
		t.Errorf("the input was changed: %q", lines)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		blocks  []ir.Block
		excerpt string
		want    string
	}{
		{nil, "\n  first\x07\nsecond", `first\a`},
		{nil, "", ""},
		{[]ir.Block{{Text: "ok\nmore\nand more\n"}}, "x", "ok (+2 lines)"},
		{[]ir.Block{{Kind: ir.BlockExit, Exit: &ir.ExitStatus{Code: 1}}, {Text: "boom"}}, "", "exit 1 after 0ms, boom"},
		{[]ir.Block{{Kind: ir.BlockDiff, Title: "menu.txt", Text: someDiff}}, "", "menu.txt +1 -1"},
		{[]ir.Block{{Kind: ir.BlockDiff, Text: "@@ -1 +1 @@\n--- x\n+++ y\n"}}, "", "+1 -1"},
		{[]ir.Block{{Kind: ir.BlockFiles, Rows: [][]string{{"a"}}, Omitted: 4}}, "", "5 files"},
	} {
		if got := Summary(c.blocks, c.excerpt); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 20 * time.Millisecond: "20ms", 3200 * time.Millisecond: "3.2s", 42 * time.Second: "42s",
		61 * time.Second: "1m01s", 3*time.Hour + 5*time.Minute: "3h05m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
