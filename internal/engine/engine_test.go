package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// E-PIPE-8, E-PIPE-10, law 5: what stands in the log and the rows, in order; the
// intent row and action_executing stand before the hand moves.
func TestTheLifeOfAnAction(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	var inFlight []approval.Effect
	var logged string
	h.tools["write"] = hand{effects: writes, run: func(ctx context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
		inFlight, _ = h.db.InState(ctx, "s", approval.Dispatched)
		logged = h.story()
		return tool.Execution{Output: map[string]any{"n": 1.0}}, nil
	}}
	r := h.execute(t, plan(t, call("write", ""), call("read", "")), engine.Options{})
	if !r.AllSucceeded() {
		t.Fatalf("results %+v", r.Results)
	}
	if len(inFlight) != 1 || inFlight[0].Action != "a1" || inFlight[0].CallID != "p1/a1" || inFlight[0].AllowedBy != "auto:sandbox_edit" {
		t.Errorf("while the hand moved the store had %+v", inFlight)
	}
	if !strings.HasSuffix(logged, "action_executing a1") {
		t.Errorf("while the hand moved the log said %s", logged)
	}
	want := "proposal_received, action_validated a1, action_executing a1, action_succeeded a1, " +
		"action_validated a2, action_executing a2, action_succeeded a2, state_committed"
	if got := h.story(); got != want {
		t.Errorf("log:\n got %s\nwant %s", got, want)
	}
	done, err := h.db.InState(t.Context(), "s", approval.Completed)
	if err != nil || len(done) != 1 || !strings.Contains(done[0].Receipt, `"ok":true`) {
		t.Errorf("outcome rows %+v, %v (a read leaves none)", done, err)
	}
	if r.Cost.ToolCalls != 2 || r.Cost.ActionsExecuted != 2 || r.Cost.ToolAttempts != 2 || r.ReplanLineage[0].ProposalDigest == "" {
		t.Errorf("cost %+v, lineage %+v", r.Cost, r.ReplanLineage)
	}
}

// E-PIPE-1: a proposal refused whole runs nothing, has all results, one boundary event, no cost.
func TestRefusedWhole(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	p := plan(t, call("write", `"dependencies":["a2"]`), call("write", `"dependencies":["a1"]`))
	r := h.execute(t, p, engine.Options{})
	if statuses(r) != "rejected rejected" || r.Results[0].Error != "dependency cycle: a1 -> a2 -> a1" || r.Cost != (ir.CostSummary{}) {
		t.Errorf("%+v", r)
	}
	if h.story() != "state_rollback" || r.ReplanLineage[0].Status != ir.LineageRejected || len(r.AcceptedPreimages) != 0 {
		t.Errorf("log %s, lineage %+v", h.story(), r.ReplanLineage)
	}
	many := h.execute(t, plan(t, call("read", ""), call("read", "")), engine.Options{Capabilities: admit.Capabilities{MaxActions: 1}})
	if many.Results[1].Error != "capability denied: proposal has 2 actions, max allowed is 1" {
		t.Errorf("over max_actions: %+v", many.Results)
	}
}

// E-FAIL-3, E-STATE-2, E-STATE-4: an abort takes state back and marks the
// successes; skip and retry let the rest go on.
func TestAbortRollsBack(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	if _, err := h.state.Set("k", "old", "before"); err != nil {
		t.Fatal(err)
	}
	r := h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":"new"}`, call("fail", ""), call("write", "")), engine.Options{})
	if statuses(r) != "succeeded failed skipped" || !r.Results[0].RolledBack || r.Results[2].Error != "skipped due to earlier abort" {
		t.Errorf("%+v", r.Results)
	}
	if v, _ := h.state.Get("k"); v != "old" || r.AllSucceeded() || r.Rollback.State != "durable" || len(r.Results[0].StateChanges) != 0 {
		t.Errorf("state %v, rollback %+v", v, r.Rollback)
	}
	if !strings.HasSuffix(h.story(), "state_snapshot, state_rollback") {
		t.Errorf("log %s", h.story())
	}
	for behaviour, want := range map[string]string{"skip": "skipped succeeded", "retry": "failed succeeded"} {
		p := plan(t, call("fail", `"failure_behavior":"`+behaviour+`","max_retries":0`), call("write", `"failure_behavior":"skip"`))
		p.ID = ir.ProposalID(behaviour)
		if r := h.execute(t, p, engine.Options{}); statuses(r) != want {
			t.Errorf("%s: %s", behaviour, statuses(r))
		}
	}
}

// E-DAG-5: a dependent of what did not work is skipped, cascading, also behind a
// shell that exited 1 and itself succeeded; `after` only orders.
func TestDependents(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	r := h.execute(t, plan(t, call("exit1", ""), call("write", `"dependencies":["a1"]`), call("write", `"dependencies":["a2"]`), call("write", `"after":["a1"]`)), engine.Options{})
	if statuses(r) != "succeeded skipped skipped succeeded" || r.Results[1].Error != "dependency 'a1' did not succeed" {
		t.Errorf("%s %+v", statuses(r), r.Results)
	}
}

// D-2, E-FAIL-6: in a conversation's step a refusal refuses itself; later calls go
// on, but the irreversible and full_access ones are held back.
func TestAStepIsNotLostToOneCall(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	open := `"failure_behavior":"retry","max_retries":0`
	r := h.execute(t, plan(t, call("write", open+`,"parameters":{"policy":"deny"}`), call("write", open+`,"after":["a1"]`), call("write", open+`,"after":["a2"],"parameters":{"policy":"full"}`)),
		engine.Options{Refusal: engine.RefuseAction})
	if statuses(r) != "rejected succeeded skipped" || r.Results[2].Error != "an earlier call of this step did not succeed" {
		t.Errorf("%s %+v", statuses(r), r.Results)
	}
	if !strings.Contains(r.Results[0].Error, "denied by policy: policy 'deny_tool:x'") || !strings.Contains(h.story(), "policy_violation a1") {
		t.Errorf("%q, log %s", r.Results[0].Error, h.story())
	}
}

// E-EXEC-2: preconditions, dependencies and require_state are judged in the action's turn.
func TestStateChecks(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	r := h.execute(t, plan(t,
		call("write", `"preconditions":[{"key":"k","operator":"exists","description":"k first"}],"state_dependencies":["d"]`),
		call("write", `"parameters":{"needs":"ready"}`),
		`"type":"state_write","parameters":{"key":"ready","value":true}`,
		call("write", `"parameters":{"needs":"ready"},"preconditions":[{"key":"ready","value":true}]`)), engine.Options{})
	if statuses(r) != "rejected rejected succeeded succeeded" || r.Results[0].Error != "precondition failed: k exists (k first); missing state dependency 'd'" ||
		r.Results[1].Error != "denied by policy: policy 'require_state:ready': ready is not set" {
		t.Errorf("%s %+v", statuses(r), r.Results)
	}
}

// E-EXEC-5, E-EXEC-8: state actions, and writes that vanish with a failed attempt.
func TestState(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.tools["set"] = hand{effects: reads, run: func(_ context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
		if err := e.State.Set("t", float64(c.Attempt)); err != nil {
			return tool.Execution{}, err
		}
		if c.Attempt == 1 {
			return tool.Execution{}, errors.New("again")
		}
		return tool.Execution{Output: "ok"}, nil
	}}
	r := h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k"}`, `"type":"state_read","parameters":{"key":"k"}`,
		`"type":"assertion","parameters":{"key":"k","expected":null}`, call("set", `"failure_behavior":"retry","max_retries":1`),
		`"type":"assertion","failure_behavior":"skip","parameters":{"key":"k","expected":1}`), engine.Options{})
	if statuses(r) != "succeeded succeeded succeeded succeeded skipped" || r.Results[0].Output != "written: k" || r.Results[1].Output != nil ||
		r.Results[4].Error != "assertion failed: state['k'] = null, expected 1" {
		t.Errorf("%s %+v", statuses(r), r.Results)
	}
	if c := r.Results[3].StateChanges["t"]; c.Op != "set" || c.Value != 2.0 || len(r.Results[3].StateChanges) != 1 {
		t.Errorf("changes %+v", r.Results[3].StateChanges)
	}
}

// E-FAIL-2: attempts are counted from 1, the waits double; an approved action that is not idempotent is tried once.
func TestRetries(t *testing.T) {
	t.Parallel()
	h := build(t, func(c *engine.Config, _ *house) { c.Approver = yes{} })
	var attempts []int
	h.tools["flaky"] = hand{effects: writes, run: func(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
		attempts = append(attempts, c.Attempt)
		return tool.Execution{}, errors.New("no")
	}}
	r := h.execute(t, plan(t, call("flaky", `"failure_behavior":"retry","max_retries":3`), call("flaky", `"failure_behavior":"retry","max_retries":3,"after":["a1"],"parameters":{"policy":"ask"}`)), engine.Options{})
	if got := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}; len(h.waited) != 3 || h.waited[0] != got[0] || h.waited[2] != got[2] {
		t.Errorf("waits %v", h.waited)
	}
	if len(attempts) != 5 || attempts[3] != 4 || attempts[4] != 1 || r.Cost.Retries != 3 || r.Cost.ToolAttempts != 5 {
		t.Errorf("attempts %v, cost %+v", attempts, r.Cost)
	}
	failed, err := h.db.InState(t.Context(), "s", approval.Failed)
	if err != nil || len(failed) != 5 {
		t.Errorf("%d failed rows, %v: each attempt has its own", len(failed), err)
	}
}

type yes struct{}

func (yes) Approve(_ context.Context, r []admit.Request) ([]admit.Decision, error) {
	out := make([]admit.Decision, len(r))
	for i := range out {
		out[i] = admit.Decision{Kind: admit.AllowOnce, By: "user"}
	}
	return out, nil
}

// E-EXEC-6, E-EXEC-12: timeouts, panics and tools that ignore their end.
func TestWhatGoesWrongIsAResult(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	release := make(chan struct{})
	h.tools["deaf"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		<-release
		return tool.Execution{}, nil
	}}
	skip := `"failure_behavior":"skip"`
	start := time.Now()
	r := h.execute(t, plan(t, call("wait", skip+`,"timeout_ms":20`), call("panic", skip), call("deaf", skip+`,"timeout_ms":20`)), engine.Options{})
	if r.Results[0].Error != "action timed out after 20ms" || r.Results[0].ErrorClass != ir.ClassTimeout {
		t.Errorf("timeout: %+v", r.Results[0])
	}
	if r.Results[1].Error != "panic panicked: boom" {
		t.Errorf("panic: %+v", r.Results[1])
	}
	if took := time.Since(start); took > 5*time.Second || !strings.Contains(r.Results[2].Error, "abandoned") {
		t.Errorf("deaf tool after %s: %+v", took, r.Results[2])
	}
	lost, err := h.db.InState(t.Context(), "s", approval.Indeterminate)
	if err != nil || len(lost) != 1 || lost[0].Action != "a3" {
		t.Errorf("an abandoned effect is indeterminate: %+v %v", lost, err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if h.Close(soon) == nil {
		t.Error("Close did not say that a tool still runs")
	}
	close(release)
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// E-EXEC-9: output that is no I-JSON fails, is not retried, and rolls back whatever its failure_behavior.
func TestUnusableOutput(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	calls := 0
	h.tools["odd"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		calls++
		return tool.Execution{Output: map[string]any{"n": 1 << 60}}, nil
	}}
	r := h.execute(t, plan(t, call("write", ""), call("odd", `"failure_behavior":"retry"`)), engine.Options{})
	if calls != 1 || statuses(r) != "succeeded failed" || !r.Results[0].RolledBack || r.Results[1].Output != nil ||
		!strings.HasPrefix(r.Results[1].Error, "tool output failed JCS/I-JSON validation after dispatch; external effect may have occurred and was not undone") {
		t.Errorf("%d calls, %s, %+v", calls, statuses(r), r.Results[1])
	}
}

// E-EXEC-7: callback changes must be exactly the declared keys, and land as a batch or not at all.
func TestCallbackChanges(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.tools["two"] = hand{effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{Output: "ok", StateChanges: map[string]ir.StateChange{"a": {Op: "set", Value: nil}, "b": {Op: "delete"}}}, nil
	}}
	skip := `"failure_behavior":"skip","expected_effects":`
	r := h.execute(t, plan(t, call("two", skip+`{"a":1}`), call("two", skip+`{"a":1,"b":2}`)), engine.Options{})
	if r.Results[0].Error != "tool 'two' callback state_changes keys do not match action 'a1': expected [a], got [a b]" {
		t.Errorf("%q", r.Results[0].Error)
	}
	if v, present := h.state.Get("a"); v != nil || !present || r.Results[1].StateChanges["a"].Op != "set" {
		t.Errorf("null set is not a deletion: %v %v %+v", v, present, r.Results[1])
	}
}

// E-EXEC-11: Cancel stops between levels and commits; ctx ends work in flight, which says so.
func TestCancel(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	cancel := make(chan struct{})
	h.tools["stop"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		close(cancel)
		return tool.Execution{Output: "done"}, nil
	}}
	r := h.execute(t, plan(t, call("stop", ""), call("write", `"dependencies":["a1"]`)), engine.Options{Cancel: cancel})
	if statuses(r) != "succeeded skipped" || r.Results[1].Error != "canceled: cancellation requested by caller" || r.Results[0].RolledBack {
		t.Errorf("%+v", r.Results)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	h.tools["hang"] = hand{effects: writes, run: func(ctx context.Context, _ tool.Call, _ tool.Env) (tool.Execution, error) {
		stop(errors.New("interrupted"))
		<-ctx.Done()
		return tool.Execution{}, ctx.Err()
	}}
	p := plan(t, call("hang", `"failure_behavior":"retry"`), call("write", ""))
	p.ID = "p2"
	r, err := h.Execute(ctx, p, engine.Options{Session: "s", CallPrefix: "p2/"})
	if err != nil || statuses(r) != "failed skipped" || r.Results[0].ErrorClass != ir.ClassCanceled || r.Results[0].Attempts != 1 || r.Results[1].Error != "canceled: interrupted" {
		t.Errorf("%v %+v", err, r.Results)
	}
}

// E-DAG-4: actions that may run together do, at most MaxParallel at once.
func TestConcurrentLevel(t *testing.T) {
	t.Parallel()
	h := build(t, func(c *engine.Config, _ *house) { c.MaxParallel = 3 })
	var now, most atomic.Int32
	var gate sync.WaitGroup
	gate.Add(3)
	h.tools["meet"] = hand{effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		gate.Done()
		gate.Wait() // only three at once get past
		return tool.Execution{Output: float64(n)}, nil
	}}
	skip := `"failure_behavior":"skip"`
	r := h.execute(t, plan(t, call("meet", skip), call("meet", skip), call("meet", skip)), engine.Options{})
	if most.Load() != 3 || !r.AllSucceeded() || r.Results[2].ActionID != "a3" {
		t.Errorf("%d at once, %s", most.Load(), statuses(r))
	}
}

// broken is a log that takes n events and no more.
type broken struct {
	mu sync.Mutex
	n  int
}

func (b *broken) Append(e eventlog.Event) (eventlog.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n--; b.n < 0 {
		return e, errors.New("disk full")
	}
	return e, nil
}

// "If the journal cannot be written, nothing runs": a log that breaks at any
// point lets nothing start after it, and every action still has a result.
func TestBrokenLog(t *testing.T) {
	t.Parallel()
	for n := range 9 {
		b := &broken{n: n}
		ran := 0
		h := build(t, func(c *engine.Config, h *house) { c.Log = b })
		h.tools["count"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
			if b.mu.Lock(); b.n < 0 {
				t.Errorf("log of %d events: a tool ran without its record", n)
			}
			b.mu.Unlock()
			ran++
			return tool.Execution{}, nil
		}}
		p := plan(t, call("count", ""), call("count", ""))
		r, err := h.Execute(t.Context(), p, engine.Options{Session: "s"})
		if full := n >= 8; (err == nil) != full || len(r.Results) != 2 || full && ran != 2 {
			t.Errorf("log of %d events: err %v, %d ran, %s", n, err, ran, statuses(r))
		}
		if open, err := h.db.InState(t.Context(), "s", approval.Dispatched); err != nil || len(open) != 0 {
			t.Errorf("log of %d events: rows left in flight %+v", n, open)
		}
	}
}

// E-PIPE-7: while a question waits, another proposal of the runtime goes on.
func TestAQuestionHoldsUpNobody(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	h := build(t, func(c *engine.Config, _ *house) {
		c.Approver = approverFunc(func(ctx context.Context, r []admit.Request) ([]admit.Decision, error) {
			close(asked)
			<-answer
			return []admit.Decision{{Kind: admit.AllowOnce, By: "user"}}, nil
		})
	})
	done := make(chan ir.ProposalResult)
	p := plan(t, call("write", `"parameters":{"policy":"ask"}`))
	go func() {
		r, _ := h.Execute(t.Context(), p, engine.Options{Session: "s", CallPrefix: "q/"})
		done <- r
	}()
	<-asked
	if r := h.execute(t, plan(t, call("write", "")), engine.Options{}); !r.AllSucceeded() {
		t.Errorf("%+v", r.Results)
	}
	close(answer)
	if r := <-done; !r.AllSucceeded() || r.Results[0].AllowedBy != "person:user" {
		t.Errorf("%+v", r.Results)
	}
}

type approverFunc func(context.Context, []admit.Request) ([]admit.Decision, error)

func (f approverFunc) Approve(ctx context.Context, r []admit.Request) ([]admit.Decision, error) {
	return f(ctx, r)
}

// E-IDEM-1, E-IDEM-2: an idempotent call runs once, is answered after, is waited
// for by its twin; an abort forgets what its run made and nothing older.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	var ran atomic.Int32
	h.tools["once"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{Output: float64(ran.Add(1))}, nil
	}}
	once := func(n string, more string) string {
		return call("once", `"idempotent":true,"failure_behavior":"skip","parameters":{"n":`+n+`}`+more)
	}
	p := plan(t, once("1", ""), once("1", ""))
	r := h.execute(t, p, engine.Options{})
	if ran.Load() != 1 || !r.AllSucceeded() || r.Results[0].Output != 1.0 || r.Results[1].Output != 1.0 || r.Cost.ToolAttempts != 1 {
		t.Errorf("%d ran, %+v", ran.Load(), r)
	}
	p = plan(t, once("1", ""), once("2", ""), call("fail", `"after":["a1","a2"]`))
	p.ID = "p2"
	r = h.execute(t, p, engine.Options{})
	if ran.Load() != 2 || r.Results[0].RolledBack || !r.Results[1].RolledBack || !strings.Contains(h.story(), "action_deduplicated a1") {
		t.Errorf("%d ran, %+v, %s", ran.Load(), r.Results, h.story())
	}
	p = plan(t, once("1", ""), once("2", ""))
	p.ID = "p3"
	if h.execute(t, p, engine.Options{}); ran.Load() != 3 {
		t.Errorf("%d ran: the rolled-back one again, the older one not", ran.Load())
	}
}

// E-CACHE-1, F-24: a cached answer is logged as such, takes no dispatch, and policy is asked first.
func TestResultCache(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	ran := 0
	h.tools["look"] = hand{spec: tool.Spec{CacheTTL: time.Hour}, effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		ran++
		return tool.Execution{Output: float64(ran)}, nil
	}}
	r := h.execute(t, plan(t, call("look", ""), call("look", ""), call("look", `"failure_behavior":"skip","parameters":{"policy":"deny"}`)), engine.Options{})
	if ran != 1 || r.Results[1].Output != 1.0 || r.Results[1].Attempts != 0 || r.Results[2].Status != ir.Rejected {
		t.Errorf("%d ran, %+v", ran, r.Results)
	}
	hit := h.log.Query(eventlog.Query{ActionID: "a2", Kinds: []eventlog.Kind{eventlog.ActionSucceeded}})
	if len(hit) != 1 || hit[0].Data["stage"] != "result_cache" || hit[0].Data["attempted"] != false {
		t.Errorf("%+v", hit)
	}
}

// E-EXEC-6, E-RATE-1: the wait for a rate limit is inside the action's time.
func TestTimeoutWhileRateLimited(t *testing.T) {
	t.Parallel()
	h := build(t, func(c *engine.Config, _ *house) { c.Sleep = nil })
	h.tools["slow"] = hand{spec: tool.Spec{RateLimit: &ir.RateLimit{MaxCalls: 1, IntervalSecs: 3600}}, effects: reads,
		run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) { return tool.Execution{}, nil }}
	skip := `"failure_behavior":"skip","timeout_ms":20`
	r := h.execute(t, plan(t, call("slow", skip), call("slow", skip+`,"after":["a1"]`)), engine.Options{})
	if r.Results[1].Error != "action timed out after 20ms" || r.Results[1].ErrorClass != ir.ClassTimeout || r.Results[1].Attempts != 0 {
		t.Errorf("%+v", r.Results[1])
	}
}

// E-EXEC-10, F-6: a spent budget skips the rest, also within a concurrent level, and what ran commits.
func TestBudget(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	skip := `"failure_behavior":"skip"`
	for i, c := range []struct {
		budget engine.Budget
		want   string
	}{
		{engine.Budget{MaxToolCalls: 2}, "succeeded succeeded skipped"},
		{engine.Budget{MaxActions: 1}, "succeeded skipped skipped"},
		{engine.Budget{}, "succeeded succeeded succeeded"},
	} {
		p := plan(t, call("read", skip), call("read", skip), call("read", skip))
		p.ID = ir.ProposalID(strings.Repeat("b", i+1))
		r := h.execute(t, p, engine.Options{Budget: c.budget})
		if statuses(r) != c.want || r.Results[0].RolledBack {
			t.Errorf("%+v: %s", c.budget, statuses(r))
		}
		if last := r.Results[2]; last.Status == ir.Skipped && last.Error != "cost budget exceeded" {
			t.Errorf("%+v: %q", c.budget, last.Error)
		}
	}
	p := plan(t, call("fail", `"failure_behavior":"retry","max_retries":2`), call("read", `"after":["a1"]`))
	p.ID = "attempts"
	if r := h.execute(t, p, engine.Options{Budget: engine.Budget{MaxToolCalls: 3}}); statuses(r) != "failed skipped" {
		t.Errorf("failed attempts are not free: %s", statuses(r))
	}
}

// E-PIPE-7, A-APPR-13: an edit is judged again from the beginning, asked as it now stands,
// and the result says what really ran; what ran before stays.
func TestEdit(t *testing.T) {
	t.Parallel()
	var asked []admit.Request
	answers := []admit.Decision{
		{Kind: admit.Edit, By: "user", Parameters: map[string]any{"policy": "ask", "n": 2.0}},
		{Kind: admit.AllowOnce, By: "user"},
	}
	h := build(t, func(c *engine.Config, _ *house) {
		c.Approver = approverFunc(func(_ context.Context, r []admit.Request) ([]admit.Decision, error) {
			asked = append(asked, r...)
			return []admit.Decision{answers[min(len(asked), len(answers))-1]}, nil
		})
	})
	var ran map[string]any
	h.tools["act"] = hand{effects: writes, run: func(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
		ran = c.Params
		return tool.Execution{Output: "ok"}, nil
	}}
	r := h.execute(t, plan(t, call("write", ""), call("act", `"parameters":{"policy":"ask","n":1}`)), engine.Options{})
	if !r.AllSucceeded() || ran["n"] != 2.0 || len(asked) != 2 || asked[1].Parameters["n"] != 2.0 || asked[0].Effect == asked[1].Effect {
		t.Fatalf("%+v ran %v, asked %d", r.Results, ran, len(asked))
	}
	if r.ProposalID != "p1~2" || r.OriginalProposalID != "p1" || r.FinalProposal.Actions[1].Parameters["n"] != 2.0 || len(r.AcceptedPreimages) != 2 ||
		r.ReplanLineage[0].Status != ir.LineageAccepted || r.ReplanLineage[0].RejectionReason == "" {
		t.Errorf("lineage %+v, %d preimages", r.ReplanLineage, len(r.AcceptedPreimages))
	}
	// An edit into something policy denies is refused, and so is one edit too many.
	for want, params := range map[string]map[string]any{"denied by policy": {"policy": "deny"}, "changed more than 3 times": {"policy": "ask"}} {
		asked, answers = nil, []admit.Decision{{Kind: admit.Edit, By: "user", Parameters: params}}
		p := plan(t, call("act", `"failure_behavior":"skip","parameters":{"policy":"ask","n":1}`))
		p.ID = ir.ProposalID(want)
		r = h.execute(t, p, engine.Options{})
		if r.Results[0].Status != ir.Rejected || !strings.Contains(r.Results[0].Error, want) {
			t.Errorf("%s: %+v", want, r.Results[0])
		}
	}
}

// E-PIPE-7: an approval given beside an edit stays the approval of its own row.
func TestAnEditKeepsTheOtherApprovals(t *testing.T) {
	t.Parallel()
	first := true
	h := build(t, func(c *engine.Config, _ *house) {
		c.Approver = approverFunc(func(_ context.Context, r []admit.Request) ([]admit.Decision, error) {
			out := make([]admit.Decision, len(r))
			for i := range out {
				out[i] = admit.Decision{Kind: admit.AllowOnce, By: "user"}
			}
			if first {
				first = false
				out[1] = admit.Decision{Kind: admit.Edit, Parameters: map[string]any{"policy": "ask", "n": 2.0}}
			}
			return out, nil
		})
	})
	skip := `"failure_behavior":"skip","parameters":{"policy":"ask"}`
	r := h.execute(t, plan(t, call("write", skip), call("write", skip)), engine.Options{})
	approved, err := h.db.InState(t.Context(), "s", approval.Approved)
	if !r.AllSucceeded() || err != nil || len(approved) != 0 {
		t.Errorf("%+v; left approved: %+v %v", r.Results, approved, err)
	}
}
