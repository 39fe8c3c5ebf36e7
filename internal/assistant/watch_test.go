package assistant

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// B047, A-LOOP-15, P-STREAM-6: the same failing call gets one hint and then a stop
// with the count.
func TestB047SameCallAgainAndAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"missing.txt"}`))
	h.model.forever = true
	h.hands.tools["read_file"] = func(context.Context, map[string]any) ir.ActionResult {
		return ir.ActionResult{Status: ir.Failed, Error: "missing.txt: no such file", ErrorClass: ir.ClassToolError}
	}
	end := mustEnd[Failure](t, h.say(Input{Text: "go"}))
	if end.Code != CodeNoProgress || !strings.Contains(end.Error, "read_file was called 5 times") || len(h.model.requests()) != 5 {
		t.Errorf("after %d requests the run ended with %+v", len(h.model.requests()), end)
	}
	hints := 0
	for _, text := range resultTexts(h) {
		hints += strings.Count(text, "[You have called read_file 3 times")
	}
	if hints != 1 {
		t.Errorf("the model got %d hints", hints)
	}
}

// A-LOOP-15: pairs that alternate are seen too; a changed result or other arguments
// are progress; the switch turns the watch off; times in a result do not count.
func TestWatchSeesRounds(t *testing.T) {
	t.Parallel()
	one := func(tool, args, output string) ([]*call, map[ir.ActionID]ir.ActionResult) {
		c := newCall(tool, args)
		return []*call{c}, map[ir.ActionID]ir.ActionResult{c.id: ok(output)}
	}
	cases := []struct {
		name      string
		off       bool
		calls     func(i int) (tool, args, output string)
		hint, end int // after how many calls; 0 is never
	}{
		{"one call", false, func(int) (string, string, string) { return "a", "1", "x" }, 3, 5},
		{"a pair", false, func(i int) (string, string, string) { return fmt.Sprint("t", i%2), "1", "x" }, 4, 6},
		{"a round of four", false, func(i int) (string, string, string) { return fmt.Sprint("t", i%4), "1", "x" }, 8, 12},
		{"a round of five", false, func(i int) (string, string, string) { return fmt.Sprint("t", i%5), "1", "x" }, 11, 0},
		{"other arguments", false, func(i int) (string, string, string) { return "a", fmt.Sprint(i), "x" }, 0, 0},
		{"another result", false, func(i int) (string, string, string) { return "a", "1", fmt.Sprint(i) }, 0, 0},
		{"another result now and then", false, func(i int) (string, string, string) { return "a", "1", fmt.Sprint(i % 3 / 2) }, 0, 0},
		{"switched off", true, func(int) (string, string, string) { return "a", "1", "x" }, 0, 0},
	}
	for _, tc := range cases {
		w := watch{off: tc.off}
		hintAt, endAt := 0, 0
		for i := range 30 {
			hint, stuck := w.after(one(tc.calls(i)))
			if hint != "" && hintAt == 0 {
				hintAt = i + 1
			}
			if stuck != "" {
				endAt = i + 1
				break
			}
		}
		if hintAt != tc.hint || endAt != tc.end {
			t.Errorf("%s: hint after %d, end after %d; want %d and %d", tc.name, hintAt, endAt, tc.hint, tc.end)
		}
	}
}

func newCall(tool, args string) *call {
	c := &call{ToolCall: callsTools(tool, `{"v":"`+args+`"}`).callAt(0), id: "c", params: map[string]any{"v": args}}
	c.ID = "c"
	return c
}

// A-LOOP-15: what differs between two runs of the same thing is not progress.
func TestWatchLooksPastDurations(t *testing.T) {
	t.Parallel()
	a, b := exits(1, "no"), exits(1, "no")
	b.Output.(map[string]any)["duration_ms"] = float64(99)
	if resultIdentity(a) != resultIdentity(b) {
		t.Error("a duration makes two results differ")
	}
	if resultIdentity(a) == resultIdentity(exits(2, "no")) {
		t.Error("another exit code makes no difference")
	}
}

// A-LOOP-16: each budget ends the run by its name, with a notice before.
func TestBudgets(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]Budget{
		"requests":   {Requests: 5},
		"tool calls": {ToolCalls: 5},
		"tokens":     {Tokens: 500},
		"USD":        {CostMicros: 50},
	} {
		h := newHouse(t, callsTools("read_file", `{"path":"a"}`))
		h.model.forever = true
		h.model.script[0].usage = &llm.Usage{Input: 90, Output: 10}
		n := 0
		h.hands.tools["read_file"] = func(context.Context, map[string]any) ir.ActionResult {
			n++
			return ok(strings.Repeat(fmt.Sprint(n), 2000))
		}
		h.opts.Budget = b
		h.config.Models.(menu).choices[0].Price = flatPrice(10)
		events := h.say(Input{Text: "go"})
		end := mustEnd[Failure](t, events)
		if end.Code != CodeBudget || !strings.Contains(end.Error, name) {
			t.Errorf("%s: ended with %+v", name, end)
		}
		if got := len(h.model.requests()); got != 5 {
			t.Errorf("%s: %d requests", name, got)
		}
		warned := 0
		for _, n := range bodies[Notice](events) {
			if n.Code == "budget" {
				warned++
			}
		}
		if warned != 1 {
			t.Errorf("%s: %d notices", name, warned)
		}
	}
}
