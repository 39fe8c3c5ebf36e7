package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// seeking is a house with a goal whose check exits as exit says; files is its workspace.
func seeking(t *testing.T, exit func(n int) ir.ActionResult, script ...said) (*house, fstest.MapFS) {
	h := newHouse(t, script...)
	files := fstest.MapFS{"check.sh": {Data: []byte("#!/bin/sh\ngo test ./...\n")}, "a_test.go": {Data: []byte("package a\n")}}
	h.files = files
	n := 0
	h.hands.tools["shell"] = func(_ context.Context, p map[string]any) ir.ActionResult {
		if p["command"] != "./check.sh" {
			return exits(0, "")
		}
		n++
		return exit(n - 1)
	}
	h.hands.tools["write_file"] = func(_ context.Context, p map[string]any) ir.ActionResult {
		path := p["path"].(string)
		if content, ok := p["content"].(string); ok {
			files[path] = &fstest.MapFile{Data: []byte(content)}
		} else {
			delete(files, path)
		}
		return wrote(path)
	}
	return h, files
}

func goalOf(most int) Input {
	return Input{Text: "make it pass", Goal: &Goal{Check: " ./check.sh ", MaxIterations: most, Typed: true}}
}

// passesAt is a check that exits 1 until its n-th run, the baseline being 0.
func passesAt(n int) func(int) ir.ActionResult {
	return func(run int) ir.ActionResult {
		if run >= n {
			return exits(0, "ok")
		}
		return exits(1, fmt.Sprintf("run %d failed", run))
	}
}

// writes is a step that changes a source file, then a closing word.
func writes(i int) []said {
	return []said{callsTools("write_file", fmt.Sprintf(`{"path":"src%d.go","content":"x"}`, i)), says(fmt.Sprintf("Reply %d.", i))}
}

// A-GOAL-2, A-GOAL-6: one verdict an iteration, one terminal; a goal that is
// reached ends done with the reply and no marker.
func TestGoalIsReached(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(2), append(writes(1), writes(2)...)...)
	events := h.say(goalOf(0))
	if done := mustEnd[Done](t, events); done.Text != "Reply 2." || done.GoalUnevaluated || done.FinishReason != "" {
		t.Errorf("done is %+v", done)
	}
	verdicts := bodies[GoalEvaluated](events)
	want := []GoalEvaluated{{Iteration: 1, Grounded: true, Reason: "command 'goal_check' exited 1", Output: "run 1 failed"}, {Iteration: 2, Met: true, Grounded: true, Reason: "command 'goal_check' exited 0"}}
	if !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %+v", verdicts)
	}
	terminals := 0
	for _, e := range events {
		if e.Body.Kind().Terminal() {
			terminals++
		}
	}
	if terminals != 1 {
		t.Errorf("%d terminals", terminals)
	}
	goal, found, err := h.db.Goal(t.Context(), "s1")
	if err != nil || !found || goal.Status != "met" || goal.LastIteration != 2 || goal.TerminalKind != "done" || goal.Check != "./check.sh" {
		t.Errorf("the row is %+v %v %v", goal, found, err)
	}
}

// A-GOAL-2: every iteration has its own steps.
func TestGoalIterationsHaveTheirOwnSteps(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(2), append(writes(1), writes(2)...)...)
	h.opts.MaxSteps = 2
	mustEnd[Done](t, h.say(goalOf(0)))
	for i, req := range h.model.requests() {
		if req.ToolChoice.Mode == llm.ToolNone {
			t.Errorf("request %d was made without tools", i+1)
		}
	}
}

// A-GOAL-4: the anchor opens every iteration: the objective word for word, the check,
// the last verdict with its output as data, which iteration of how many.
func TestAnchorOpensEveryIteration(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(2), append(writes(1), writes(2)...)...)
	in := goalOf(7)
	in.Context = "seen once"
	h.say(in)
	if n := strings.Count(jsonText(h.model.requests()[2].Messages), "seen once"); n != 1 {
		t.Errorf("the observations stand %d times", n)
	}
	requests := h.model.requests()
	first, second := requests[0].Messages, requests[2].Messages
	for i, text := range []string{first[0].Text(), second[len(second)-1].Text()} {
		for _, want := range []string{"Goal: make it pass\n", "./check.sh", fmt.Sprintf("Iteration %d of 7", i+1), "exited 1", fmt.Sprintf("run %d failed", i), "<check_output>"} {
			if !strings.Contains(text, want) {
				t.Errorf("anchor %d lacks %q:\n%s", i+1, want, text)
			}
		}
	}
	if requests[2].System != requests[0].System {
		t.Error("the system prompt changed")
	}
}

// P-TRUE-3: a check that passes before any work ends the goal at once; no model is asked.
func TestGoalThatIsGreenAlready(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(0))
	events := h.say(goalOf(0))
	if done := mustEnd[Done](t, events); !strings.Contains(done.Text, "passes already") || len(h.model.requests()) != 0 {
		t.Errorf("%d requests, done is %+v", len(h.model.requests()), done)
	}
	if len(bodies[GoalEvaluated](events)) != 0 {
		t.Error("the baseline was told as a verdict")
	}
	if left, err := h.db.WaitingInputs(t.Context(), "s1"); err != nil || len(left) != 0 {
		t.Errorf("the goal's words still wait: %+v, %v", left, err)
	}
}

// A-GOAL-3: the check runs through the engine as its own proposal; typed by the
// person it is not asked, else once for all its runs; denied it never runs and
// nothing is spent.
func TestGoalCheckIsGoverned(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(2), append(writes(1), writes(2)...)...)
	h.hands.asks["shell"] = true
	h.effect("act_1")
	in := goalOf(0)
	in.Goal.Typed = false
	c, f := h.start()
	if err := c.Send(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	p := f.of(KindApprovalPending).Body.(ApprovalPending)
	if p.Params["command"] != "./check.sh" || p.Params["purpose"] != "goal_check" || p.CallID != "t1g1.goal_check" || len(h.model.requests()) != 0 {
		t.Errorf("asked %+v after %d requests", p, len(h.model.requests()))
	}
	c.Resolve(p.ApprovalID, Answer{Kind: AnswerOnce})
	events := f.end()
	mustEnd[Done](t, events)
	if n := len(bodies[ApprovalPending](events)); n != 1 {
		t.Errorf("asked %d times", n)
	}
	checks := 0
	for _, proposal := range h.hands.proposals() {
		if proposal.Source == "chat-goal-check" && proposal.Actions[0].ID == "goal_check" && proposal.Actions[0].TimeoutMS == 120000 {
			checks++
		}
	}
	if checks != 3 {
		t.Errorf("%d checks", checks)
	}
}

// A-GOAL-3: denied, or nobody to ask, or refused by policy: the check never runs.
func TestDeniedGoalCheckSpendsNothing(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*house){
		"unattended": func(h *house) { h.hands.asks["shell"] = true; h.config.Answer = DenyUnattended("s1", ir.TierUnset) },
		"policy": func(h *house) {
			h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return denied("denied by policy: no") }
		},
	} {
		h, _ := seeking(t, func(int) ir.ActionResult { t.Errorf("%s: the check ran", name); return exits(0, "") })
		set(h)
		h.effect("act_1")
		in := goalOf(0)
		in.Goal.Typed = false
		if end := mustEnd[Failure](t, h.say(in)); end.Code != CodeCheckDenied || len(h.model.requests()) != 0 {
			t.Errorf("%s: ended with %+v", name, end)
		}
	}
}

// A-GOAL-6, A-GOAL-7: the limit of iterations, in the words that hosts read.
func TestGoalTurnBudget(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, func(n int) ir.ActionResult { return exits(1, fmt.Sprint("different ", strings.Repeat("x", n))) }, append(writes(1), writes(2)...)...)
	c, f := h.start()
	if err := c.Send(t.Context(), goalOf(2)); err != nil {
		t.Fatal(err)
	}
	end := mustEnd[Failure](t, f.end())
	if end.Error != "goal not reached: turn budget exhausted after 2 iteration(s); last check: command 'goal_check' exited 1" || end.Code != CodeGoalNotReached {
		t.Errorf("ended with %+v", end)
	}
	if ExitCode(c.Outcome()) != ExitNotReached {
		t.Errorf("outcome %+v", c.Outcome())
	}
}

// A-GOAL-1: iterations are clamped.
func TestGoalIterationsAreClamped(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]int{0: 10, -3: 1, 1: 1, 50: 50, 51: 50} {
		if got := (Goal{MaxIterations: most}).iterations(); got != want {
			t.Errorf("%d is %d, want %d", most, got, want)
		}
	}
}

// A-GOAL-5: a check that times out, is killed or cannot start gives no verdict: the
// reply is delivered and marked, and is never met.
func TestGoalCheckWithoutVerdictFailsOpen(t *testing.T) {
	t.Parallel()
	killed := exits(137, "")
	killed.Output.(map[string]any)["signal"] = "SIGKILL"
	late := exits(124, "")
	late.Output.(map[string]any)["timed_out"] = true
	for name, tc := range map[string]struct {
		result ir.ActionResult
		note   string
		finish string
	}{
		"engine timeout": {ir.ActionResult{Status: ir.Failed, Error: "action timed out after 120000ms", ErrorClass: ir.ClassTimeout},
			"goal check did not complete within 120s — treating this turn's reply as unevaluated rather than blocking on it",
			"goal check unevaluated (timed out) — reply delivered unverified"},
		"shell timeout": {late, "did not complete within 120s", "goal check unevaluated (timed out) — reply delivered unverified"},
		"killed":        {killed, "killed by SIGKILL", "goal check unevaluated (killed) — reply delivered unverified"},
		"no start":      {ir.ActionResult{Status: ir.Failed, Error: "no shell", ErrorClass: ir.ClassToolError}, "no shell", "goal check unevaluated (could not run) — reply delivered unverified"},
	} {
		h, _ := seeking(t, func(n int) ir.ActionResult {
			if n == 0 {
				return exits(1, "")
			}
			return tc.result
		}, writes(1)...)
		c, f := h.start()
		if err := c.Send(t.Context(), goalOf(0)); err != nil {
			t.Fatal(err)
		}
		events := f.end()
		done := mustEnd[Done](t, events)
		if !strings.HasPrefix(done.Text, "Reply 1.\n\n[goal check] not verified — ") || !strings.Contains(done.Text, tc.note) || done.FinishReason != tc.finish || !done.GoalUnevaluated {
			t.Errorf("%s: done is %+v", name, done)
		}
		if v := bodies[GoalEvaluated](events); len(v) != 1 || v[0].Met || v[0].Grounded || !v[0].Unevaluated {
			t.Errorf("%s: verdicts %+v", name, v)
		}
		if ExitCode(c.Outcome()) != ExitUnverified {
			t.Errorf("%s: outcome %+v", name, c.Outcome())
		}
		if goal, _, _ := h.db.Goal(t.Context(), "s1"); goal.Status != "unevaluated" || goal.LastMet {
			t.Errorf("%s: the row is %+v", name, goal)
		}
	}
}

// B037, P-TRUE-4: an interrupt in a goal ends it as interrupted, a provider failure
// as a failure; neither is "not met yet", and the check is not run again.
func TestB037InterruptAndProviderFailureEndAGoal(t *testing.T) {
	t.Parallel()
	held := said{text: "working ", hold: true}
	h, _ := seeking(t, passesAt(9), append(writes(1), held)...)
	c, f := h.start()
	if err := c.Send(t.Context(), goalOf(0)); err != nil {
		t.Fatal(err)
	}
	f.of(KindGoalEvaluated)
	f.of(KindToken)
	c.Cancel()
	if end := mustEnd[Failure](t, f.end()); end.Code != CodeCanceled || ExitCode(c.Outcome()) != ExitCanceled {
		t.Errorf("interrupted: %+v, outcome %+v", end, c.Outcome())
	}

	h, _ = seeking(t, passesAt(9), fails(llm.KindServer, func(e *llm.Error) { e.Advice = llm.AdviceNever; e.Status = 500 }))
	c, f = h.start()
	if err := c.Send(t.Context(), goalOf(0)); err != nil {
		t.Fatal(err)
	}
	events := f.end()
	end := mustEnd[Failure](t, events)
	if end.Code != CodeProvider || ExitCode(c.Outcome()) != ExitFailed || len(bodies[GoalEvaluated](events)) != 0 {
		t.Errorf("provider failure: %+v, outcome %+v", end, c.Outcome())
	}
	if n := len(h.hands.proposals()); n != 1 { // the baseline
		t.Errorf("%d checks", n)
	}
}

// A-AUTH-2, A-GOAL-6: a goal of somebody who is signed out runs no check at all.
func TestSignedOutGoalRunsNoCheck(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(9))
	h.config.Models = menu{err: &llm.Error{Kind: llm.KindAuth, Reason: llm.AuthSignedOut, Provider: "fake"}}
	c, f := h.start()
	if err := c.Send(t.Context(), goalOf(0)); err != nil {
		t.Fatal(err)
	}
	end := mustEnd[AuthRequired](t, f.end())
	if end.Message != authTexts[llm.AuthSignedOut].message || len(h.hands.proposals()) != 0 || ExitCode(c.Outcome()) != ExitAuth {
		t.Errorf("ended with %+v after %d proposals", end, len(h.hands.proposals()))
	}
}

// B045, A-GOAL-10, D-29: a check that the run changed is not met; the goal ends with
// the difference.
func TestB045CheckAltered(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(1), callsTools("write_file", `{"path":"check.sh","content":"#!/bin/sh\nexit 0\n"}`), says("It passes now."))
	c, f := h.start()
	if err := c.Send(t.Context(), goalOf(0)); err != nil {
		t.Fatal(err)
	}
	events := f.end()
	end := mustEnd[Failure](t, events)
	if end.Code != CodeCheckAltered || !strings.HasPrefix(end.Error, "goal not reached: check altered after 1 iteration(s)") || !strings.Contains(end.Text, "-go test ./...\n+exit 0\n") {
		t.Errorf("ended with %+v", end)
	}
	if v := bodies[GoalEvaluated](events); len(v) != 1 || v[0].Met {
		t.Errorf("verdicts %+v", v)
	}
	if ExitCode(c.Outcome()) != ExitNotReached {
		t.Errorf("outcome %+v", c.Outcome())
	}
}

// B045, D-29: a test file that is gone makes a passing check unverified, with the
// list; an edited one is named.
func TestB045TestsGone(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(1), callsTools("write_file", `{"path":"a_test.go"}`), says("Green."))
	done := mustEnd[Done](t, h.say(goalOf(0)))
	if !done.GoalUnevaluated || !strings.Contains(done.Text, "a_test.go") {
		t.Errorf("done is %+v", done)
	}
	h, _ = seeking(t, passesAt(1), callsTools("write_file", `{"path":"a_test.go","content":"package a // weaker"}`), says("Green."))
	events := h.say(goalOf(0))
	if v := bodies[GoalEvaluated](events); !v[0].Met || !strings.Contains(v[0].Reason, "test files edited: a_test.go") {
		t.Errorf("verdicts %+v", v)
	}
	mustEnd[Done](t, events)
}

// A-GOAL-10: what the check itself writes is not the run's doing, and files that a
// goal is about are its work.
func TestSealKnowsWhatIsTheCheck(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"check.sh": {Data: []byte("a")}, "out.log": {Data: []byte("1")}, "README.md": {Data: []byte("r")}, "tests/x.py": {Data: []byte("x")}}
	const check = "bash ./check.sh out.log && grep -q done README.md && pytest tests/x.py"
	at := reader{files: files, root: "/srv", dialect: "bash"}
	before := takeSeal(at, check)
	files["out.log"] = &fstest.MapFile{Data: []byte("2")}
	s := before.stable(takeSeal(at, check))
	if len(s.files) != 2 || s.files["check.sh"].digest == "" || s.files["tests/x.py"].digest == "" {
		t.Errorf("sealed %v", s.files)
	}
	if s := takeSeal(at, "test -f new.txt"); len(s.files) != 0 {
		t.Errorf("sealed %v", s.files)
	}
	if s := takeSeal(at, "../outside.sh; /etc/passwd"); len(s.files) != 0 {
		t.Errorf("sealed %v", s.files)
	}
}

// A-GOAL-8: three iterations with the same output and nothing done, or two outputs
// that alternate thrice, are no progress; times in the output do not count.
func TestGoalWithoutProgress(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, func(n int) ir.ActionResult { return exits(1, fmt.Sprintf("FAIL in %d.%ds at 0x%x", n, n, n)) }, says("I think it is fine."))
	h.model.forever = true
	end := mustEnd[Failure](t, h.say(goalOf(0)))
	if !strings.HasPrefix(end.Error, "goal not reached: no progress after 3 iteration(s)") {
		t.Errorf("ended with %+v", end)
	}
	for name, tc := range map[string]struct {
		digests string
		worked  bool
		stuckAt int
	}{
		"same, idle":       {"aaaa", false, 3},
		"same, working":    {"aaaaaaaa", true, 0},
		"changing, idle":   {"abcdefgh", false, 0},
		"alternating":      {"ababab", true, 6},
		"almost":           {"ababac", true, 0},
		"idle after a new": {"abbb", false, 4},
	} {
		var tr trail
		at := 0
		for i, d := range tc.digests {
			if tr.stuck(string(d), tc.worked) && at == 0 {
				at = i + 1
			}
		}
		if at != tc.stuckAt {
			t.Errorf("%s: stuck at %d, want %d", name, at, tc.stuckAt)
		}
	}
}

// A-GOAL-9, A-CLAIM-5: a met goal with an unsupported claim is annotated, not reopened.
func TestMetGoalIsAnnotated(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(1), callsTools("write_file", `{"path":"x.go","content":"x"}`), says("I committed the change. All tests pass."))
	events := h.say(goalOf(0))
	done := mustEnd[Done](t, events)
	if !strings.HasSuffix(done.Text, "\n\n[claim check] changes committed: no receipt of a commit.") || len(h.model.requests()) != 2 {
		t.Errorf("%d requests, done says %q", len(h.model.requests()), done.Text)
	}
	if claims := bodies[ReceiptReport](events)[0].UngroundedClaims; len(claims) != 1 {
		t.Errorf("the report has %v", claims)
	}
}

// A-GOAL-7, A-LOOP-16: a run's budget ends a goal too.
func TestGoalWallClock(t *testing.T) {
	t.Parallel()
	h, _ := seeking(t, passesAt(99), says("one more"))
	h.model.forever = true
	var seconds atomic.Int64
	h.config.Now = func() time.Time { return time.Unix(seconds.Add(1), 0) }
	h.opts.Budget.Wall = time.Minute
	end := mustEnd[Failure](t, h.say(goalOf(50)))
	if end.Code != CodeBudget || !strings.HasPrefix(end.Error, "goal not reached: the budget of 60 wall-clock seconds is used up after ") {
		t.Errorf("ended with %+v", end)
	}
}

// A-SVC-4: a goal needs words and a check, and is not steered.
func TestGoalInputsAreChecked(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c, _ := h.start()
	for _, in := range []Input{{Text: "x", Goal: &Goal{Check: " "}}, {Text: "", Goal: &Goal{Check: "true"}}, {Text: "x", Steer: true, Goal: &Goal{Check: "true"}}} {
		if err := c.Send(t.Context(), in); err == nil || errors.Is(err, errClosed) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}
