package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/todo"
)

// tour is the page of screens, and where one begins in it.
const tourPage = "../../docs/tour.md"

var tourScreen = regexp.MustCompile("(?s)<!-- screen: ([a-z-]+) -->\n```text\n(.*?)```\n")

// U-TUI-1 to U-TUI-9: the screens of docs/tour.md are what the program draws; -update
// writes them anew.
func TestTour(t *testing.T) {
	t.Parallel()
	scenes := map[string]func(*desk){
		"streaming": tourStreaming, "calls": tourCalls, "edit": tourEdit, "parts": tourParts, "refused": tourRefused, "goal": tourGoal, "resume": nil,
	}
	page, err := os.ReadFile(tourPage)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	updated := tourScreen.ReplaceAllStringFunc(string(page), func(block string) string {
		parts := tourScreen.FindStringSubmatch(block)
		name, want := parts[1], parts[2]
		scene, known := scenes[name]
		if !known {
			t.Errorf("the page shows a screen %q that nobody draws", name)
			return block
		}
		seen[name] = true
		d := newDesk(t, 80, 24, func(c *Config) {
			if name == "resume" {
				c.Past = []Said{{Mine: true, Text: "raise the price of the soup"}, {Text: "The price is 14 now, and the tests pass."}}
			}
		})
		if scene != nil {
			scene(d)
		}
		got := strings.TrimRight(strings.Join(d.printed, "\n"), "\n") + "\n\n" + strings.TrimRight(plainScreen(d), "\n") + "\n"
		if diff := cmp.Diff(want, got); diff != "" && !*update {
			t.Errorf("%s: %s", name, diff)
		}
		return fmt.Sprintf("<!-- screen: %s -->\n```text\n%s```\n", name, got)
	})
	for name := range scenes {
		if !seen[name] {
			t.Errorf("the page lacks the screen %q", name)
		}
	}
	if *update {
		if err := os.WriteFile(filepath.Clean(tourPage), []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// plainScreen is the part that is redrawn.
func plainScreen(d *desk) string {
	_, redrawn, _ := strings.Cut(d.screen(), "-- redrawn:\n")
	return strings.TrimLeft(redrawn, "\n")
}

func tourAsks(d *desk) {
	d.types("raise the price of the soup", "enter")
	d.happens(1, assistant.InferenceStarted{Model: "model-1", Turn: 1})
}

func tourStreaming(d *desk) {
	tourAsks(d)
	d.happens(1, assistant.Token{Delta: "The price stands in two places:\n\n1. `menu.txt`, which the guests read\n2. `prices.go`, which the till"})
	d.passes(2 * time.Second)
}

func tourCalls(d *desk) {
	tourAsks(d)
	d.happens(1, assistant.Token{Delta: "I look at both."}, call(1, "read_file", "path", "menu.txt"), call(2, "shell", "command", "go test ./..."),
		assistant.ToolProgress{CallID: "c2", Tail: "ok  orchard/till\n"},
		assistant.ToolResult{CallID: "c1", Sequence: 1, Tool: "read_file", OK: true, Status: ir.Succeeded, DurationMS: 3, Blocks: []ir.Block{{Text: "soup 12\n"}}})
	d.passes(1500 * time.Millisecond)
	d.types("and the docs", "enter")
}

func tourEdit(d *desk) {
	tourAsks(d)
	ask := assistant.ApprovalPending{ApprovalID: "a1", CallID: "c1", Tool: "edit_file", Params: map[string]any{"path": "menu.txt", "old_text": "soup 12", "new_text": "soup 14"},
		Tier: ir.SandboxEdit, Reversibility: ir.Reversible, Reason: "nothing confines commands here, so changes are asked about", ExpiresAt: began.Add(5 * time.Minute),
		Preview: []ir.Block{{Kind: ir.BlockDiff, Title: "menu.txt", Text: "@@ -1,3 +1,3 @@\n bread 4\n-soup 12\n+soup 14\n cake 6\n"}}}
	d.happens(1, call(1, "edit_file", "path", "menu.txt"), ask)
	d.sees()
}

func tourParts(d *desk) {
	tourAsks(d)
	ask := pending("a1", 1)
	ask.Params = map[string]any{"command": "go test ./... && git push origin main"}
	ask.Commands = []ir.CommandView{
		{Text: "go test ./...", Tier: ir.SandboxEdit, Reversibility: ir.Reversible},
		{Text: "git push origin main", Tier: ir.FullAccess, Reversibility: ir.Compensable, Reason: "changes a remote"},
	}
	d.happens(1, call(1, "shell", "command", "go test ./... && git push origin main"), ask)
	d.sees()
}

func tourRefused(d *desk) {
	tourParts(d)
	d.types("n")
	d.happens(1, assistant.ApprovalResolved{ApprovalID: "a1", Decision: "denied", By: "user"},
		assistant.ToolResult{CallID: "c1", Sequence: 1, Tool: "shell", Status: ir.Rejected, Excerpt: "declined by user"},
		call(2, "shell", "command", "go test ./..."), assistant.ToolResult{CallID: "c2", Sequence: 2, Tool: "shell", OK: true, Status: ir.Succeeded, DurationMS: 2100,
			Blocks: []ir.Block{{Text: "ok  orchard/till\n"}, {Kind: ir.BlockExit, Exit: &ir.ExitStatus{DurationMS: 2100}}}},
		assistant.Token{Delta: "The tests pass. I did not push: you declined it."}, assistant.Done{Text: "The tests pass. I did not push: you declined it."})
}

func tourGoal(d *desk) {
	d.got(commanded{Result: Result{Send: &assistant.Input{Text: "make the tests pass", Goal: &assistant.Goal{Check: "go test ./...", MaxIterations: 3}}}})
	d.got(listed{[]todo.Item{{Text: "read the failing test", Done: true}, {Text: "mend the price"}, {Text: "run the tests"}}})
	d.happens(1, assistant.Notice{Code: "goal_baseline", Text: "the check does not pass yet: exit 1"}, assistant.InferenceStarted{Model: "model-1"},
		assistant.Token{Delta: "The test wants 14."}, assistant.GoalEvaluated{Iteration: 1, Reason: "exit 1\n--- FAIL: TestPrice"},
		assistant.InferenceStarted{Model: "model-1"}, call(1, "shell", "command", "go test ./..."))
	d.passes(time.Second)
}
