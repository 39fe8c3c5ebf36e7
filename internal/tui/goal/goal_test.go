package goal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"car/internal/assistant"
	"car/internal/tui/theme"
)

// U-TUI-9: iteration of max, the end of what the check said, no progress, the verdict.
func TestProgress(t *testing.T) {
	t.Parallel()
	th := theme.Plain()
	m := New(assistant.Goal{Check: "go test ./..."})
	if diff := cmp.Diff([]string{"goal 1/10  until go test ./..."}, m.View(60, 5, th)); diff != "" {
		t.Error(diff)
	}
	m, line := m.Evaluated(assistant.GoalEvaluated{Iteration: 1, Reason: "exit 1\n--- FAIL: TestPrice\n"}, 60, th)
	if diff := cmp.Diff("✗ goal 1/10 not met  --- FAIL: TestPrice", line); diff != "" {
		t.Error(diff)
	}
	m, _ = m.Evaluated(assistant.GoalEvaluated{Iteration: 2, Reason: "exit 1\n--- FAIL: TestPrice\n"}, 60, th)
	want := []string{"goal 3/10  until go test ./...", "  last check: --- FAIL: TestPrice", "  the check said the same 2 times"}
	if diff := cmp.Diff(want, m.View(60, 5, th)); diff != "" {
		t.Error(diff)
	}
	m, line = m.Evaluated(assistant.GoalEvaluated{Iteration: 3, Met: true, Grounded: true, Reason: "exit 0"}, 60, th)
	if diff := cmp.Diff("✓ goal 3/10 met  exit 0", line); diff != "" {
		t.Error(diff)
	}
	if got := m.View(60, 5, th); len(got) != 1 {
		t.Errorf("a met goal shows %q", got)
	}
	if _, line = m.Evaluated(assistant.GoalEvaluated{Iteration: 4, Unevaluated: true, Reason: "timed out"}, 60, th); !strings.Contains(line, "not verified") {
		t.Errorf("got %q", line)
	}
}

func TestFitsAndIsSafe(t *testing.T) {
	t.Parallel()
	m := New(assistant.Goal{Check: "x\x1b[2J" + strings.Repeat("界", 50), MaxIterations: 3})
	if _, line := m.Evaluated(assistant.GoalEvaluated{Iteration: 5, Grounded: true, Reason: "command 'goal_check' exited 1", Output: "…\nwant 3, got 4\n"}, 90, theme.Plain()); !strings.Contains(line, "exited 1: want 3, got 4") {
		t.Errorf("what the check printed is not shown: %q", line)
	}
	m, _ = m.Evaluated(assistant.GoalEvaluated{Iteration: 1, Reason: "\x1b]0;t\x07" + strings.Repeat("y", 90)}, 40, theme.Plain())
	for width := range 60 {
		for height := range 5 {
			lines := m.View(width, height, theme.Plain())
			for _, line := range lines {
				if ansi.StringWidth(line) > width || strings.ContainsAny(line, "\x1b\a") {
					t.Errorf("at %d: %q", width, line)
				}
			}
			if len(lines) > height {
				t.Errorf("%d lines, %d asked", len(lines), height)
			}
		}
	}
	if got := (Model{}).View(40, 5, theme.Plain()); got != nil {
		t.Errorf("without a goal: %q", got)
	}
}
