package toolrow

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const someDiff = "--- a/menu.txt\n+++ b/menu.txt\n@@ -1,2 +1,2 @@\n soup\n-price 12\n+price 14\n"

func call(id string, seq int, tool, key, value string) assistant.ToolCall {
	return assistant.ToolCall{CallID: id, Sequence: seq, Tool: tool, Params: map[string]any{key: value}}
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.Join(lines, "\n") + "\n"
	file := filepath.Join("testdata", name+".golden")
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

// scene has a running call, one that waits, one that ended and one that failed.
func scene() Model {
	var m Model
	m = m.Called(call("c2", 2, "shell", "command", "go test ./internal/tui/... -run 'Everything|AndMore' -count=1"), start)
	m = m.Called(call("c1", 1, "read_file", "path", "docs/menu.txt"), start)
	m = m.Called(call("c4", 4, "shell", "command", "exit 1"), start)
	m = m.Called(call("c3", 3, "edit_file", "path", "docs/menu.txt"), start)
	m = m.Progressed(assistant.ToolProgress{CallID: "c2", Tail: "ok a\nok  \tcar/internal/tui/safe\t0.01s\n"})
	m = m.Waits("c3", true)
	m = m.Ended(assistant.ToolResult{CallID: "c4", Sequence: 4, Tool: "shell", Status: ir.Failed, DurationMS: 20,
		Blocks: []ir.Block{{Kind: ir.BlockExit, Exit: &ir.ExitStatus{Code: 1, DurationMS: 20}}}}, start)
	return m.At(start.Add(3200 * time.Millisecond))
}

// U-TUI-3: rows in flight, at three sizes.
func TestViewGolden(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 80, 120} {
		golden(t, fmt.Sprintf("running-%d", width), scene().View(width, 12, theme.Plain()))
	}
}

// U-TUI-3: parallel calls keep their order by sequence, whatever ends first.
func TestOrderIsBySequence(t *testing.T) {
	t.Parallel()
	m := scene()
	m, taken := m.Take()
	if len(taken) != 0 {
		t.Fatalf("call 4 was printed before 1 to 3 ended: %v", taken)
	}
	m = m.Ended(assistant.ToolResult{CallID: "c2", Sequence: 2, OK: true, Status: ir.Succeeded}, start)
	if m, taken = m.Take(); len(taken) != 0 {
		t.Fatalf("call 2 was printed before 1 ended: %v", taken)
	}
	m = m.Ended(assistant.ToolResult{CallID: "c1", Sequence: 1, OK: true, Status: ir.Succeeded}, start)
	m, taken = m.Take()
	var ids []string
	for _, r := range taken {
		ids = append(ids, r.Call.CallID)
	}
	if diff := cmp.Diff([]string{"c1", "c2"}, ids); diff != "" {
		t.Error(diff)
	}
	if m, taken = m.Cut().Take(); len(taken) != 2 || m.Running() {
		t.Errorf("after the run ended %d rows were left to print", len(taken))
	}
}

// U-TUI-3, P-TRUE-1: a refusal shows its words, not JSON; a search shows what it looks
// for; a call that had begun is not said to be not run.
func TestRowsSayWhatHappened(t *testing.T) {
	t.Parallel()
	m := Model{}.Called(assistant.ToolCall{CallID: "a", Sequence: 1, Tool: "grep_files", Params: map[string]any{"pattern": "needle", "path": "src"}}, start)
	m = m.Called(call("b", 2, "shell", "command", "sleep 9"), start)
	m = m.Ended(assistant.ToolResult{CallID: "a", Sequence: 1, Status: ir.Rejected, Excerpt: `{"error":"declined by user"}`}, start)
	m = m.Ended(assistant.ToolResult{CallID: "b", Sequence: 2, Status: ir.Skipped, Ran: true, Excerpt: `{"error":"canceled: terminated"}`, DurationMS: 2000}, start)
	m = m.Called(call("c", 3, "shell", "command", "sleep 8"), start)
	m = m.Called(call("d", 4, "shell", "command", "sleep 7"), start).Waits("d", true).Cut()
	_, taken := m.Take()
	var text []string
	for _, r := range taken {
		text = append(text, r.Print(80, theme.Plain())...)
	}
	got := strings.Join(text, "\n")
	for _, want := range []string{"needle in src", "declined by user", "sleep 9  interrupted 2", "sleep 8  interrupted", "sleep 7  not run"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "{") {
		t.Errorf("JSON is shown:\n%s", got)
	}
}

// U-TUI-3: what stays in the scrollback: mark, time, one line, and the diff of an edit.
func TestPrintGolden(t *testing.T) {
	t.Parallel()
	var m Model
	results := []assistant.ToolResult{
		{CallID: "c1", Sequence: 1, OK: true, Status: ir.Succeeded, DurationMS: 3, Blocks: []ir.Block{{Text: "soup\nbread\n"}}},
		{CallID: "c2", Sequence: 2, OK: true, Status: ir.Succeeded, DurationMS: 12, Blocks: []ir.Block{{Kind: ir.BlockDiff, Title: "menu.txt", Text: someDiff}}},
		{CallID: "c3", Sequence: 3, Status: ir.Rejected, Excerpt: "policy \"no-push\" denies git push\nsecond line"},
		{CallID: "c4", Sequence: 4, Status: ir.Skipped, Excerpt: "an earlier call of this step did not succeed"},
		{CallID: "c5", Sequence: 5, Status: ir.Failed, DurationMS: 61000, Blocks: []ir.Block{{Kind: ir.BlockExit, Exit: &ir.ExitStatus{TimedOut: true, DurationMS: 61000}}}},
		{CallID: "c6", Sequence: 6, Tool: "odd\x1b[2Jtool", OK: true, Status: ir.Succeeded, Excerpt: ""},
	}
	m = m.Called(call("c1", 1, "read_file", "path", "menu.txt"), start)
	m = m.Called(call("c2", 2, "edit_file", "path", "menu.txt"), start)
	m = m.Called(call("c3", 3, "shell", "command", "git push\n"), start)
	m = m.Called(call("c4", 4, "shell", "command", "echo one\necho two"), start)
	m = m.Called(assistant.ToolCall{CallID: "c5", Sequence: 5, Tool: "mystery", Params: map[string]any{"n": 1, "deep": map[string]any{"x": true}}}, start)
	for _, r := range results {
		m = m.Ended(r, start)
	}
	_, taken := m.Take()
	for _, width := range []int{40, 80, 120} {
		var lines []string
		for _, r := range taken {
			lines = append(lines, r.Print(width, theme.Plain())...)
		}
		golden(t, fmt.Sprintf("printed-%d", width), lines)
	}
}

// U-TUI-3, P-TERM-4: ctrl+o shows the output, bounded, newest call first.
func TestRecallIsBoundedAndGoesBack(t *testing.T) {
	t.Parallel()
	var m Model
	for i := range 3 {
		id := fmt.Sprint("c", i)
		m = m.Called(call(id, i, "shell", "command", id), start)
		m = m.Ended(assistant.ToolResult{CallID: id, OK: true, Blocks: []ir.Block{{Text: strings.Repeat("line of "+id+"\n", 500)}}}, start)
	}
	m, _ = m.Take()
	for _, id := range []string{"c2", "c1", "c0"} {
		var lines []string
		m, lines = m.Recall(80, theme.Plain())
		text := strings.Join(lines, "\n")
		if len(lines) > outputLimit+1 || !strings.Contains(text, "line of "+id) || !strings.Contains(text, "441 lines more") {
			t.Errorf("%s: %d lines: %s", id, len(lines), lines[:2])
		}
	}
	if _, lines := m.Recall(80, theme.Plain()); lines != nil {
		t.Errorf("there was a fourth call: %q", lines)
	}
}

// P-TERM-1, P-TERM-3: no row is wider than the screen, none lets a control byte through.
func TestRowsFitAndAreSafe(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{Profile: termenv.ANSI256})
	m := scene()
	m = m.Called(call("c9", 9, "sh\x1b]0;x\aell", "command", "a\x1b[2J\u202e界界界\r\n"), start)
	m = m.Progressed(assistant.ToolProgress{CallID: "c9", Tail: "x\x1b[1A\ry"})
	for width := 1; width < 100; width += 7 {
		for height := range 8 {
			lines := m.View(width, height, th)
			if len(lines) > height {
				t.Fatalf("%d lines, %d asked", len(lines), height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width {
					t.Errorf("%d cells at width %d: %q", ansi.StringWidth(line), width, line)
				}
				if strings.ContainsAny(ansi.Strip(line), "\x1b\r\a\u202e\t") {
					t.Errorf("not filtered: %q", line)
				}
			}
		}
	}
}

// The pane's state is a value: what was drawn before does not change by what happens after.
func TestModelIsAValue(t *testing.T) {
	t.Parallel()
	m := scene()
	before := m.View(80, 9, theme.Plain())
	m.Ended(assistant.ToolResult{CallID: "c1", OK: true}, start)
	m.Waits("c3", false)
	m.Cut()
	m.Called(call("c0", 0, "x", "path", "y"), start)
	if diff := cmp.Diff(before, m.View(80, 9, theme.Plain())); diff != "" {
		t.Error(diff)
	}
}
