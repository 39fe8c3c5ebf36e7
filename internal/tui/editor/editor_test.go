package editor

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// P-TERM-3: graphemes, not runes.
func TestOneStepIsOneCharacter(t *testing.T) {
	t.Parallel()
	for _, g := range []string{"a", "界", "e\u0301", "👩\u200d🚀", "🇩🇪", "❤\ufe0f", "\t", "\n", "한"} {
		b := New("x" + g)
		if got := b.Backspace().Text(); got != "x" {
			t.Errorf("backspace over %q left %q", g, got)
		}
		if got := b.Left().Insert("|").Text(); got != "x|"+g {
			t.Errorf("left over %q: %q", g, got)
		}
		if got := b.Left().Delete().Text(); got != "x" {
			t.Errorf("delete of %q left %q", g, got)
		}
	}
}

func TestMarksTypedLaterJoin(t *testing.T) {
	t.Parallel()
	b := New("caf").Insert("e").Insert("\u0301").Insert("🇩").Insert("🇪")
	if got := b.Backspace().Text(); got != "cafe\u0301" {
		t.Errorf("one backspace left %q", got)
	}
	if got := b.Backspace().Backspace().Text(); got != "caf" {
		t.Errorf("two backspaces left %q", got)
	}
}

// B071: control bytes are neutralised, line ends are line ends, tabs stay tabs.
func TestInsertNeutralises(t *testing.T) {
	t.Parallel()
	const in = "a\r\nb\rc\td\x1b[201~\x07\u202e"
	const want = "a\nb\nc\td\\x1b[201~\\a\\u202e"
	if got := New(in).Text(); got != want {
		t.Errorf("typed: %q, want %q", got, want)
	}
	b := Buffer{}.InsertChip(in)
	if got := b.Text(); got != want {
		t.Errorf("chip: %q, want %q", got, want)
	}
	for _, row := range New(in).Layout(10).Rows {
		if strings.ContainsAny(row, "\t\x1b\r") {
			t.Errorf("drawn: %q", row)
		}
	}
}

// U-TUI-5: a chip is shown by its size, is one step, and is sent whole.
func TestChip(t *testing.T) {
	t.Parallel()
	b := New("see ").InsertChip(strings.Repeat("line\n", 3000)).Insert(" ok")
	if got := b.Layout(60).Rows; len(got) != 1 || got[0] != "see [3000 lines, 15000 characters] ok" {
		t.Errorf("got %q", got)
	}
	if got := b.Text(); got != "see "+strings.Repeat("line\n", 3000)+" ok" {
		t.Errorf("%d bytes would be sent", len(got))
	}
	if got := b.Left().Left().Left().Backspace().Text(); got != "see  ok" {
		t.Errorf("backspace over the chip left %q", got)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	two := New("first line\nsecond line")
	for _, c := range []struct {
		name string
		got  Buffer
		want string
	}{
		{"start", two.Start().Insert("|"), "first line\n|second line"},
		{"end", two.Start().Left().Start().End().Insert("|"), "first line|\nsecond line"},
		{"word left", two.WordLeft().Insert("|"), "first line\nsecond |line"},
		{"word right", two.Start().WordRight().Insert("|"), "first line\nsecond| line"},
		{"kill word", two.KillWord(), "first line\nsecond "},
		{"kill word right", two.Start().KillWordRight(), "first line\n line"},
		{"kill to start", two.KillToStart(), "first line\n"},
		{"kill line", two.Start().KillLine(), "first line\n"},
		{"kill line end", two.Start().Left().KillLine(), "first linesecond line"},
		{"yank", two.KillWord().Start().Yank(), "first line\nlinesecond "},
		{"nothing to the left", New("").Backspace().Left().KillWord().Delete().Right(), ""},
	} {
		if got := c.got.Text(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		left  int
		width int
		want  Layout
	}{
		{"", 0, 10, Layout{Rows: []string{""}}},
		{"abc", 0, 10, Layout{Rows: []string{"abc"}, Column: 3}},
		{"a\n", 0, 10, Layout{Rows: []string{"a", ""}, Row: 1}},
		{"some words here", 0, 8, Layout{Rows: []string{"some ", "words ", "here"}, Row: 2, Column: 4}},
		{"some words here", 4, 8, Layout{Rows: []string{"some ", "words ", "here"}, Row: 2}},
		{"abcdef", 0, 3, Layout{Rows: []string{"abc", "def"}, Row: 1, Column: 3}},
		{"界界界", 1, 5, Layout{Rows: []string{"界界", "界"}, Row: 1}},
		{"界", 0, 1, Layout{Rows: []string{"界"}, Column: 2}},
	} {
		b := New(c.text)
		for range c.left {
			b = b.Left()
		}
		if diff := cmp.Diff(c.want, b.Layout(c.width)); diff != "" {
			t.Errorf("%q at %d: %s", c.text, c.width, diff)
		}
	}
}

func TestUpAndDownKeepTheColumn(t *testing.T) {
	t.Parallel()
	b := New("a long line\nab\nanother line").Start().Right().Right().Right().Right()
	up, _ := b.Up(40)
	upUp, _ := up.Up(40)
	if got := upUp.Insert("|").Text(); got != "a lo|ng line\nab\nanother line" {
		t.Errorf("got %q", got)
	}
	if _, ok := upUp.Up(40); ok {
		t.Error("there is a row above the first")
	}
	down, _ := up.Down(40)
	if got := down.Insert("|").Text(); got != "a long line\nab\nanot|her line" {
		t.Errorf("got %q", got)
	}
}

// Whatever keys come, the caret is in the text, rows fit, nothing is lost by
// folding, and an older buffer is as it was.
func TestAnyKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 20).Draw(t, "width")
		steps := map[string]func(Buffer) Buffer{
			"left": Buffer.Left, "right": Buffer.Right, "start": Buffer.Start, "end": Buffer.End, "wl": Buffer.WordLeft, "wr": Buffer.WordRight,
			"bs": Buffer.Backspace, "del": Buffer.Delete, "kl": Buffer.KillLine, "ks": Buffer.KillToStart, "kw": Buffer.KillWord, "y": Buffer.Yank,
			"up":   func(b Buffer) Buffer { b, _ = b.Up(width); return b },
			"down": func(b Buffer) Buffer { b, _ = b.Down(width); return b },
			"type": func(b Buffer) Buffer {
				return b.Insert(rapid.StringOf(rapid.RuneFrom([]rune("ab \n\t界e\u0301"))).Draw(t, "s"))
			},
			"paste": func(b Buffer) Buffer { return b.InsertChip("x\ny") },
		}
		names := []string{"left", "right", "start", "end", "wl", "wr", "bs", "del", "kl", "ks", "kw", "y", "up", "down", "type", "paste"}
		var b Buffer
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			before, text := b, b.Text()
			b = steps[rapid.SampledFrom(names).Draw(t, "key")](b)
			if before.Text() != text {
				t.Fatal("the older buffer changed")
			}
			l := b.Layout(width)
			if l.Row < 0 || l.Row >= len(l.Rows) || l.Column > ansi.StringWidth(l.Rows[l.Row]) {
				t.Fatalf("caret at %d,%d of %q", l.Row, l.Column, l.Rows)
			}
			if got, want := strings.Join(l.Rows, ""), b.show(0, len(b.units)); got != want {
				t.Fatalf("folded %q, want %q", got, want)
			}
		}
	})
}
