package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/ir"
)

// B043, A-CLAIM-5, P-TRUE-2: a claim without a receipt is re-driven once in the same
// turn, and then annotated, editing nothing; a true one passes.
func TestB043FalseClaims(t *testing.T) {
	t.Parallel()
	h := newHouse(t, says("I ran the suite: 41 passed."), says("I ran the suite: 41 passed."))
	events := h.say(Input{Text: "test it"})
	done := mustEnd[Done](t, events)
	if done.Text != "I ran the suite: 41 passed.\n\n[claim check] tests pass: no receipt of a test run." || len(h.model.requests()) != 2 {
		t.Errorf("%d requests, done says %q", len(h.model.requests()), done.Text)
	}
	if claims := bodies[ReceiptReport](events)[0].UngroundedClaims; !slices.Equal(claims, []string{"tests pass: no receipt of a test run"}) {
		t.Errorf("the report has %v", claims)
	}

	h = newHouse(t, says("All tests pass."), says("I did not run the tests."))
	events = h.say(Input{Text: "test it"})
	if done := mustEnd[Done](t, events); done.Text != "I did not run the tests." || len(bodies[ReceiptReport](events)[0].UngroundedClaims) != 0 {
		t.Errorf("corrected: done says %q", done.Text)
	}

	h = newHouse(t, callsTools("shell", `{"command":"go test ./..."}`), callsTools("edit_file", `{"path":"a.go"}`), says("All tests pass."), says("All tests pass."),
		callsTools("shell", `{"command":"go test ./..."}`), says("All tests pass."))
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return exits(0, "ok  car 0.1s") }
	h.hands.tools["edit_file"] = func(_ context.Context, p map[string]any) ir.ActionResult { return wrote(p["path"].(string)) }
	c, f := h.start()
	var ends []string
	for range 2 {
		if err := c.Send(t.Context(), Input{Text: "test it"}); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, mustEnd[Done](t, f.end()).Text)
	}
	if ends[0] != "All tests pass.\n\n[claim check] tests pass: `go test ./...` ran before a.go changed." || ends[1] != "All tests pass." {
		t.Errorf("ends %q", ends)
	}
}

// A-CLAIM-4: receipts of earlier turns count, also after the session was resumed.
func TestReceiptsOfEarlierTurnsCount(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("shell", `{"command":"go test ./..."}`), says("Ran them."), says("All tests pass."))
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return exits(0, "ok  car 0.1s") }
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "run the tests"}); err != nil {
		t.Fatal(err)
	}
	f.end()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	h.opts.Resume = "s1"
	c, f = h.start()
	if err := c.Send(t.Context(), Input{Text: "and?"}); err != nil {
		t.Fatal(err)
	}
	if done := mustEnd[Done](t, f.end()); done.Text != "All tests pass." {
		t.Errorf("done says %q", done.Text)
	}
}

// A-CLAIM-6: the modes.
func TestClaimModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[ClaimMode]string{ClaimOff: "All tests pass.", ClaimAnnotate: "All tests pass.\n\n[claim check] tests pass: no receipt of a test run."} {
		h := newHouse(t, says("All tests pass."))
		h.config.Claims = mode
		if done := mustEnd[Done](t, h.say(Input{Text: "go"})); done.Text != want {
			t.Errorf("mode %d: done says %q", mode, done.Text)
		}
	}
}

// B041, D-22, P-TRUE-1: four of six writes refused is not done, whatever the model
// says, the counts are there, and the claim is shown as not supported.
func TestB041RefusedWritesAreNotDone(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 6 {
		pairs = append(pairs, "write_file", fmt.Sprintf(`{"path":"f%d"}`, i))
	}
	h := newHouse(t, callsTools(pairs...), says("All six written."), says("All six written."))
	h.hands.tools["write_file"] = func(_ context.Context, p map[string]any) ir.ActionResult {
		if p["path"].(string) >= "f2" {
			return denied("denied by policy: writes are closed")
		}
		return wrote(p["path"].(string))
	}
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "write six files"}); err != nil {
		t.Fatal(err)
	}
	events := f.end()
	done := mustEnd[Done](t, events)
	if !strings.Contains(done.Text, "[claim check] files changed: 6 claimed, receipts of 2") {
		t.Errorf("done says %q", done.Text)
	}
	o := c.Outcome()
	if ExitCode(o) != ExitRefused || len(o.Refused) != 4 || o.Effects != 6 || o.Achieved != 2 {
		t.Errorf("outcome %+v", o)
	}
	if o.Refused[0].CallID != "t1c3" || o.Refused[0].Reason != "denied by policy: writes are closed" {
		t.Errorf("refused %+v", o.Refused[0])
	}
	report := bodies[ReceiptReport](events)[0]
	if len(report.ToolReceipts) != 6 || len(report.DesktopActions) != 2 || report.Completion["files_changed"] != "2: f0, f1" {
		t.Errorf("the report is %+v", report)
	}
}

// D-22: a refused effect that a later allowed call achieved does not count: the same
// call again, or another tool on the same path.
func TestRefusedThenAchieved(t *testing.T) {
	t.Parallel()
	refuse := true
	h := newHouse(t, callsTools("shell", `{"command":"make x"}`, "write_file", `{"path":"a"}`, "read_file", `{"path":"secret"}`),
		callsTools("shell", `{"command":"make x"}`, "edit_file", `{"path":"a"}`), says("done"))
	refusing := func(then ir.ActionResult) hand {
		return func(context.Context, map[string]any) ir.ActionResult {
			if refuse {
				return denied("not yet")
			}
			return then
		}
	}
	h.hands.tools["shell"], h.hands.tools["write_file"] = refusing(exits(0, "")), refusing(wrote("a"))
	h.hands.tools["read_file"] = func(context.Context, map[string]any) ir.ActionResult { refuse = false; return denied("never") }
	h.hands.tools["edit_file"] = func(context.Context, map[string]any) ir.ActionResult { return wrote("a") }
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	if o := c.Outcome(); ExitCode(o) != ExitDone || len(o.Refused) != 0 {
		t.Errorf("outcome %+v", o)
	}
}

// U-CLI-3, A-CLI-2, P-TRUE-1: what each end is worth at the door.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	one := []Refusal{{CallID: "t1c1"}}
	for _, tc := range []struct {
		o    Outcome
		want int
	}{
		{Outcome{}, 1},
		{Outcome{Terminal: KindDone}, 0},
		{Outcome{Terminal: KindDone, Refused: one}, 3},
		{Outcome{Terminal: KindDone, Unevaluated: true}, 6},
		{Outcome{Terminal: KindDone, Unevaluated: true, Refused: one}, 6},
		{Outcome{Terminal: KindAuthRequired}, 4},
		{Outcome{Terminal: KindError, Code: CodeCanceled}, 130},
		{Outcome{Terminal: KindError, Code: CodeStopped}, 3},
		{Outcome{Terminal: KindError, Code: CodeCheckDenied}, 3},
		{Outcome{Terminal: KindError, Code: CodeMaxTurns}, 124},
		{Outcome{Terminal: KindError, Code: CodeBudget}, 124},
		{Outcome{Terminal: KindError, Code: CodeGoalNotReached}, 5},
		{Outcome{Terminal: KindError, Code: CodeCheckAltered}, 5},
		{Outcome{Terminal: KindError, Code: CodeEmpty}, 1},
		{Outcome{Terminal: KindError, Code: CodeTruncated}, 1},
		{Outcome{Terminal: KindError, Code: CodeRefused, Refused: one}, 1},
		{Outcome{Terminal: KindError, Code: CodeCut}, 1},
		{Outcome{Terminal: KindError, Code: CodeNoProgress}, 1},
		{Outcome{Terminal: KindError, Code: CodeProvider}, 1},
		{Outcome{Terminal: KindError, Code: CodeSessionBusy}, 1},
		{Outcome{Terminal: KindError, Code: CodeModelNotFound}, 2},
		{Outcome{Terminal: KindError, Code: "a word of tomorrow"}, 1},
	} {
		if got := ExitCode(tc.o); got != tc.want {
			t.Errorf("%+v is %d, want %d", tc.o, got, tc.want)
		}
	}
}
