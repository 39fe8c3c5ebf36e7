package todo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/tui/theme"
)

// U-TUI-1: the list is part of the redrawn region and keeps to its room.
func TestView(t *testing.T) {
	t.Parallel()
	items := []Item{{Text: "read the menu", Done: true}, {Text: "raise the \x1b[2Jprice"}, {Text: "never mind", Dropped: true}, {Text: "write a test"}, {Text: "run it"}}
	for height, want := range map[int][]string{
		0: nil,
		1: {"todo  1 of 4 done"},
		2: {"todo  1 of 4 done", "  … 3 more"},
		3: {"todo  1 of 4 done", `  ☐ raise the \x1b[2Jprice`, "  … 2 more"},
		9: {"todo  1 of 4 done", `  ☐ raise the \x1b[2Jprice`, "  ☐ write a test", "  ☐ run it"},
	} {
		if diff := cmp.Diff(want, View(items, 40, height, theme.Plain())); diff != "" {
			t.Errorf("in %d lines: %s", height, diff)
		}
	}
	if got := View([]Item{{Text: "x", Done: true}}, 40, 9, theme.Plain()); got != nil {
		t.Errorf("with nothing open: %q", got)
	}
}
