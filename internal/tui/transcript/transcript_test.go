package transcript

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"car/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// stream sends source in pieces of n bytes with a tick after every ticks pieces.
func stream(m *Model, source string, n, ticks int) []string {
	var out []string
	for i := 0; len(source) > 0; i++ {
		size := min(n, len(source))
		m.Feed(source[:size])
		source = source[size:]
		if i%ticks == 0 {
			out = append(out, m.Tick()...)
		}
	}
	return append(out, m.Flush()...)
}

// U-TUI-2: what Markdown looks like, with and without colour, narrow and wide.
func TestMarkdownGolden(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]termenv.Profile{"plain": termenv.Ascii, "ansi": termenv.ANSI, "256": termenv.ANSI256} {
		for _, width := range []int{20, 40, 120} {
			m := New(width, theme.New(theme.Options{Profile: p, Dark: true}))
			got := strings.Join(stream(m, string(source), 7, 3), "\n") + "\n"
			got = strings.ReplaceAll(got, "\x1b", "␛")
			file := filepath.Join("testdata", fmt.Sprintf("%s-%d.golden", name, width))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
		}
	}
}

// U-TUI-2: colour changes no word.
func TestColourChangesNoWord(t *testing.T) {
	t.Parallel()
	const source = "Words, ```x``` and\n\n```go\nvar x = 1\n```\n\n1. a\n2. b"
	a := stream(New(40, theme.New(theme.Options{Profile: termenv.TrueColor})), source, 1, 1)
	b := stream(New(40, theme.New(theme.Options{Profile: termenv.ANSI, Dark: true})), source, 9, 1)
	if diff := cmp.Diff(ansi.Strip(strings.Join(a, "\n")), ansi.Strip(strings.Join(b, "\n"))); diff != "" {
		t.Error(diff)
	}
}

// someBlocks draws Markdown of every kind, long blocks among it.
func someBlocks(t *rapid.T) string {
	kinds := []func(i int) string{
		func(i int) string { return fmt.Sprintf("## Heading %d\n\n", i) },
		func(i int) string { return strings.Repeat(fmt.Sprintf("word%d **bold** `code` ", i), 1+i%9) + "\n\n" },
		func(i int) string {
			return "```go\n" + strings.Repeat(fmt.Sprintf("line%d()\n\n\tif x {\n\t}\n", i), 1+i%30) + "```\n\n"
		},
		func(i int) string { return strings.Repeat(fmt.Sprintf("- item %d\n  goes on\n", i), 1+i%40) + "\n" },
		func(i int) string {
			var b strings.Builder
			for n := range 1 + i%60 {
				fmt.Fprintf(&b, "%d. numbered\n   - nested\n", n+1+i)
			}
			return b.String() + "\n"
		},
		func(i int) string { return "> quoted\n> lines\n\n" },
		func(i int) string { return "| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 1+i%9) + "\n" },
	}
	var b strings.Builder
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 6).Draw(t, "blocks") {
		b.WriteString(kinds[i%len(kinds)](i))
	}
	return b.String()
}

// U-TUI-2: the pieces in which an answer arrives change nothing that is read.
func TestPiecesChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := someBlocks(t)
		th := theme.Plain()
		whole := stream(New(60, th), source, len(source), 1)
		n, ticks := rapid.IntRange(1, 50).Draw(t, "size"), rapid.IntRange(1, 5).Draw(t, "ticks")
		pieces := stream(New(60, th), source, n, ticks)
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Fatalf("in pieces of %d: %s", n, diff)
		}
	})
}

// U-TUI-2: a number that is still being written does not end the list before it.
func TestHalfAMarkerEndsNoList(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"1. one\n\n516. two\n", "- one\n\n- two\n", "1) one\n\n2) two\n", "1. one\n\n516 is a number\n", "words\n-\n"} {
		whole := stream(New(60, theme.Plain()), source, len(source), 1)
		if diff := cmp.Diff(whole, stream(New(60, theme.Plain()), source, 1, 1)); diff != "" {
			t.Errorf("%q: %s", source, diff)
		}
	}
}

// U-TUI-2: the work for a token does not grow with the answer, because what is
// rendered again, the tail, stays small.
func TestTailStaysSmall(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"code": "fmt.Println(42)\n", "items": "- an item of the list\n", "paragraphs": "Some words here.\n\n", "endless": "word ",
		"one word": "abcdefgh", "numbered": "1. item\n",
	} {
		m := New(80, theme.Plain())
		if name == "code" {
			m.Feed("```go\n")
		}
		most := 0
		for range 60 {
			m.Feed(strings.Repeat(line, 60))
			m.Tick()
			most = max(most, len(m.tail))
		}
		if most > 3*paragraphPiece {
			t.Errorf("%s: the tail grew to %d bytes", name, most)
		}
	}
}

// U-TUI-2: a block that can not be cut is rendered less often the longer it is.
func TestLongTableIsRenderedLessOften(t *testing.T) {
	t.Parallel()
	m := New(80, theme.Plain())
	m.Feed("| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 1000))
	m.Tick()
	renders := 0
	for range 60 {
		m.Feed("| 3 | 4 |\n")
		before := len(m.open)
		m.Tick()
		if len(m.open) != before {
			renders++
		}
	}
	if renders < 1 || renders > 8 {
		t.Errorf("a table of 10 KB was rendered %d times in 60 ticks", renders)
	}
	for i := 0; m.Dirty() && i < 100; i++ {
		m.Tick()
	}
	if got := strings.Count(strings.Join(m.open, "\n"), "3"); m.Dirty() || got != 60 {
		t.Errorf("after the stream came to rest %d of 60 new rows are shown", got)
	}
}

// B069: neither the text nor what the Markdown renderer decodes reaches the terminal.
func TestHostileMarkdown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\x1b[2Jb":                  `a\x1b[2Jb`,
		"&#27;[2J &#x1b;]0;t&#7;":    `\x1b[2J \x1b]0;t\a`,
		"&#27[2J":                    `\x1b[2J`,
		"&#x202e;x &rlm; &shy":       `\u202ex \u200f \u00ad`,
		"&#0000000000000000000027;":  `\x1b`,
		"`&#27;[2J`":                 "`" + `\x1b[2J` + "`",
		"&lt;b&gt; &amp;#27;":        "<b> &#27;",
		"[x](&#27;]0;t)":             `x`,
		"split &#":                   "split &#",
		"<b>\x1b]52;c;aa\x07</b>":    `\x1b]52;c;aa\a`,
		"    code \x9b2J\rover":      `  code \x9b2J\rover`,
		"| a |\n|---|\n| \x1b[31m |": `\x1b[31m`,
	} {
		for _, n := range []int{1, 2, 3, 1000} {
			got := strings.Join(stream(New(60, theme.Plain()), in, n, 1), "\n")
			if !strings.Contains(got, want) || strings.ContainsRune(got, 0x1b) {
				t.Errorf("%q in pieces of %d: got %q, want %q in it", in, n, got, want)
			}
		}
	}
}

func FuzzHostileMarkdown(f *testing.F) {
	f.Add("&#27;[2J\n\n- a\n\n```\n\x1b]0;", 3)
	f.Add("1. [x](&#x1b;c 'y')\n   > | a |\n   > |---|\n", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if len(s) > 4096 {
			return
		}
		for _, line := range stream(New(30, theme.Plain()), s, max(n%64, 1), 1) {
			for _, r := range line {
				if unicode.IsControl(r) || r == 0x202e {
					t.Fatalf("%q in %q", r, line)
				}
			}
		}
	})
}

// P-TERM-3: the live part is never wider or higher than asked.
func TestViewFits(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	for width := 1; width < 60; width += 3 {
		m := New(width, theme.New(theme.Options{Profile: termenv.ANSI256}))
		m.Feed(string(source[:len(source)/2]))
		m.Tick()
		for height := range 6 {
			lines := m.View(height)
			if len(lines) > height {
				t.Errorf("%d lines where %d were asked", len(lines), height)
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w > max(width, 2) {
					t.Errorf("a line of %d cells at width %d: %q", w, width, line)
				}
			}
		}
	}
}

func BenchmarkStream(b *testing.B) {
	source, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(source), 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		stream(New(100, theme.New(theme.Options{Profile: termenv.ANSI256, Dark: true})), text, 5, 12)
	}
}
