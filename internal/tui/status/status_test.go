package status

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/theme"
)

func full() Model {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cost := 0.0123
	m := Model{Model: "claude-x", Session: "s-12ab", Tier: ir.SandboxEdit, Confinement: "bubblewrap, no network", Gates: 4, Window: 200_000,
		Goal: "2/10", State: "working", Since: start, Now: start.Add(65*time.Second + 400*time.Millisecond)}
	return m.Used(assistant.Usage{Input: 1000, CacheRead: 9000, Output: 500, CostUSD: &cost}).Used(assistant.Usage{Input: 2000, CacheRead: 9000, Output: 345, CostUSD: &cost})
}

// U-TUI-7: what the line tells, and what goes first where it is narrow.
func TestView(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		140: "  working · 1m05s · goal 2/10 · claude-x · sandbox_edit · 11.3k (5%) · $0.02 · bubblewrap, no network · 4 gates · s-12ab",
		80:  "  working · 1m05s · goal 2/10 · claude-x · sandbox_edit · 11.3k (5%) · $0.02",
		40:  "  working · goal 2/10 · claude-x",
		20:  "  working · claude-x",
		12:  "  working",
		4:   "",
	} {
		if diff := cmp.Diff(want, full().View(width, theme.Plain())); diff != "" {
			t.Errorf("at %d: %s", width, diff)
		}
	}
}

func TestUnknownIsNotInvented(t *testing.T) {
	t.Parallel()
	m := Model{Model: "local\x1b[2J"}.Used(assistant.Usage{Input: 900, Estimated: true})
	if diff := cmp.Diff(`  local\x1b[2J · ~900 tokens`, m.View(80, theme.Plain())); diff != "" {
		t.Error(diff)
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	for width := range 200 {
		if line := full().View(width, theme.Plain()); ansi.StringWidth(line) > width || strings.Contains(line, "\n") {
			t.Errorf("at %d: %q", width, line)
		}
	}
}
