package picker

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"car/internal/tui/theme"
)

func press(m Model, keys ...string) (Model, int, bool) {
	chosen, closed := -1, false
	for _, key := range keys {
		k := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
		switch key {
		case "enter":
			k = tea.KeyMsg{Type: tea.KeyEnter}
		case "esc":
			k = tea.KeyMsg{Type: tea.KeyEsc}
		case "up":
			k = tea.KeyMsg{Type: tea.KeyUp}
		case "down":
			k = tea.KeyMsg{Type: tea.KeyDown}
		case "backspace":
			k = tea.KeyMsg{Type: tea.KeyBackspace}
		}
		m, chosen, closed = m.Key(k)
	}
	return m, chosen, closed
}

func fruit() Model {
	return Open("fruit", []Item{{Text: "apple", Help: "red"}, {Text: "pear", Preview: "a green one\nwith a stem"}, {Text: "plum", Help: "blue"}})
}

// U-TUI-8: the cursor moves within the list, typing narrows it, enter takes what is
// under the cursor, and nothing is taken by accident.
func TestChoosing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys   string
		chosen int
		closed bool
	}{
		{"enter", 0, true},
		{"down enter", 1, true},
		{"down down down down enter", 2, true},
		{"up enter", 0, true},
		{"p l enter", 0, true}, // apple holds "pl" too
		{"b l u enter", 2, true},
		{"s t e m enter", 1, true},
		{"down down p e a enter", 1, true},
		{"x y enter", -1, false},
		{"x y backspace backspace enter", 0, true},
		{"down esc", -1, true},
	} {
		m, chosen, closed := press(fruit(), strings.Fields(c.keys)...)
		if chosen != c.chosen || closed != c.closed || m.IsOpen() == closed {
			t.Errorf("%s: chose %d, closed %v, open %v", c.keys, chosen, closed, m.IsOpen())
		}
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	m, _, _ := press(fruit(), "p", "down")
	got := strings.Join(m.View(40, 12, theme.Plain()), "\n")
	want := "fruit  p\n  apple  red\n❯ pear\n  plum  blue\n\n    a green one\n    with a stem\n  2 of 3 · enter takes it, esc leaves, …"
	if got != want {
		t.Errorf("drawn\n%s\nwant\n%s", got, want)
	}
}

// P-TERM-1, P-TERM-3: it fits every size and lets nothing raw through.
func TestFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := make([]Item, rapid.IntRange(1, 40).Draw(t, "n"))
		for i := range items {
			items[i] = Item{Text: fmt.Sprint(i, "\x1b[2J界 long enough to be cut somewhere"), Help: "h\x07", Preview: strings.Repeat("line\x1b]0;x\x07\n", i)}
		}
		m := Open("title\x1b[H", items)
		for range rapid.IntRange(0, 50).Draw(t, "down") {
			m, _, _ = press(m, "down")
		}
		width, height := rapid.IntRange(1, 120).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		lines := m.View(width, height, theme.Plain())
		if len(lines) > height {
			t.Fatalf("%d lines in %d", len(lines), height)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > width || strings.Contains(l, "\x1b]") || strings.ContainsAny(l, "\x07") || strings.Contains(l, "\x1b[2J") {
				t.Fatalf("line %q in %d cells", l, width)
			}
		}
	})
}
