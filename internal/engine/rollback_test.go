package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/state"
	"car/internal/engine/tool"
)

// durable is a house whose state is in a file, and whose tool "breaks" fails at the
// moment at which the file, or its folder, cannot be written any more.
func durable(t *testing.T, folderOnly bool) (h *house, path string, replans *int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.jsonl")
	var folder error
	replans = new(int)
	h = build(t, func(c *engine.Config, h *house) {
		store, err := state.Open(state.Config{Path: path, SyncFolder: func(string) error { return folder }})
		must(t, err)
		t.Cleanup(func() { store.Close() })
		h.state, c.State = store, store
		ran := 0
		h.tools["once"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
			ran++
			return tool.Execution{Output: float64(ran)}, nil
		}}
		h.tools["breaks"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
			if folder = errors.New("the folder is gone"); !folderOnly {
				store.Close()
			}
			return tool.Execution{}, errors.New("it broke")
		}}
	})
	h.SetReplan(engine.ReplanConfig{MaxReplans: 1}, func(context.Context, engine.ReplanRequest) (ir.Proposal, error) {
		*replans++
		return ir.Proposal{}, errors.New("none")
	})
	_, err := h.state.Set("k", "old", "seed")
	must(t, err)
	return h, path, replans
}

// breaking writes state, keeps a result for reuse, and then aborts.
func breaking(t *testing.T) ir.Proposal {
	return plan(t, `"type":"state_write","parameters":{"key":"k","value":"new"}`, call("once", `"idempotent":true,"dependencies":["a1"]`), call("breaks", `"dependencies":["a2"]`))
}

// E-STATE-3, named behaviour "restore failure keeps memory and cache": nothing is
// taken back, nothing marked, no other plan is asked for, and both the result and
// the record say so.
func TestRollbackThatFails(t *testing.T) {
	t.Parallel()
	h, path, replans := durable(t, false)
	r := h.execute(t, breaking(t), engine.Options{})
	const prefix = "durable state rollback failed before publication; in-memory state and idempotency entries were preserved: "
	last := r.Results[2]
	if statuses(r) != "succeeded succeeded failed" || !strings.HasPrefix(last.Error, "it broke; "+prefix) || r.Rollback.State != "failed" ||
		!strings.HasPrefix(r.Rollback.Error, prefix) {
		t.Errorf("%s, %q, rollback %+v", statuses(r), last.Error, r.Rollback)
	}
	for _, res := range r.Results[:2] {
		if res.RolledBack || res.Error != "" {
			t.Errorf("marked: %+v", res)
		}
	}
	if v, _ := h.state.Get("k"); v != "new" || r.Results[0].StateChanges["k"].Value != "new" {
		t.Errorf("k is %v, changes %v", v, r.Results[0].StateChanges)
	}
	if *replans > 0 {
		t.Errorf("%d other plans were asked for", *replans)
	}
	events := h.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionFailed}, Limit: 1})
	for name, want := range map[string]any{"attempted": true, "publication_succeeded": false, "in_memory_state_preserved": true,
		"idempotency_entries_preserved": true, "rollback_succeeded": false, "stage": "proposal_rollback", "error": r.Rollback.Error} {
		if got := events[0].Data[name]; got != want || events[0].ActionID != "" {
			t.Errorf("%s is %v of action %q, want %v", name, got, events[0].ActionID, want)
		}
	}
	if s := h.story(); strings.Contains(s, "state_snapshot") || strings.Contains(s, "state_rollback") {
		t.Errorf("a boundary was recorded: %s", s)
	}
	if m := h.log.Metrics(); m.ActionsFailed != 1 {
		t.Errorf("%d failed actions", m.ActionsFailed)
	}
	again := h.execute(t, plan(t, call("once", `"idempotent":true`)), engine.Options{})
	if again.Results[0].Output != 1.0 || again.Results[0].Attempts != 0 {
		t.Errorf("the kept result was lost: %+v", again.Results[0])
	}
	reopened, err := state.Open(state.Config{Path: path})
	must(t, err)
	defer reopened.Close()
	if v, _ := reopened.Get("k"); v != "old" {
		t.Errorf("after a restart k is %v", v)
	}
}

// E-STATE-3, named behaviour "unknown restores, invalidates, forbids replan".
func TestRollbackOfUnknownDurability(t *testing.T) {
	t.Parallel()
	h, _, replans := durable(t, true)
	r := h.execute(t, breaking(t), engine.Options{})
	const want = "state rollback was published but parent-directory durability is unknown; idempotency entries were invalidated for exact retry: the folder is gone"
	if r.Results[2].Error != "it broke; "+want || r.Rollback.State != "durability_unknown" || r.Rollback.Error != want {
		t.Errorf("%q, rollback %+v", r.Results[2].Error, r.Rollback)
	}
	if v, _ := h.state.Get("k"); v != "old" || !r.Results[0].RolledBack || !r.Results[1].RolledBack {
		t.Errorf("k is %v, results %+v", v, r.Results[:2])
	}
	if *replans > 0 {
		t.Errorf("%d other plans were asked for", *replans)
	}
	events := h.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.StateRollback}, Limit: 1})
	if len(events) != 1 || events[0].Data["durability_unknown"] != true || events[0].Data["publication_succeeded"] != true {
		t.Errorf("%+v", events)
	}
	if again := h.execute(t, plan(t, call("once", `"idempotent":true`)), engine.Options{}); again.Results[0].Output != 2.0 {
		t.Errorf("the result of a run that was taken back is given again: %+v", again.Results[0])
	}
}

// E-PLAN-2: a candidate whose rollback is not known to hold is the last one tried.
func TestUndurableCandidate(t *testing.T) {
	t.Parallel()
	h, _, _ := durable(t, true)
	second := plan(t, call("once", ""))
	second.ID = "p2"
	r, err := h.PlanAndExecute(t.Context(), []ir.Proposal{breaking(t), second}, engine.PlanConfig{CostWeight: 1e-9}, func(name string) (float64, bool) {
		return map[string]float64{"breaks": 1, "once": 0}[name], true
	}, engine.Options{Session: "s"})
	must(t, err)
	if r.ProposalID != "p1" || r.Rollback == nil || r.Rollback.State != "durability_unknown" {
		t.Errorf("%s, %s, rollback %+v", r.ProposalID, statuses(r), r.Rollback)
	}
}

// E-STATE-2: state whose end cannot be written is not called committed.
func TestCommitThatFails(t *testing.T) {
	t.Parallel()
	h, _, _ := durable(t, false)
	h.tools["closes"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{Output: "ok"}, h.state.Close()
	}}
	p := plan(t, `"type":"state_write","parameters":{"key":"k","value":"new"}`, call("closes", `"dependencies":["a1"]`))
	if _, err := h.Execute(t.Context(), p, engine.Options{Session: "s"}); err == nil || !strings.Contains(err.Error(), "state.jsonl") {
		t.Errorf("error %v", err)
	}
	if s := h.story(); strings.Contains(s, "state_committed") {
		t.Errorf("recorded as committed: %s", s)
	}
}

// asksOnce runs something while the first question stands, and says no.
type asksOnce struct{ meanwhile func() }

func (a *asksOnce) Approve(_ context.Context, requests []admit.Request) ([]admit.Decision, error) {
	if f := a.meanwhile; f != nil {
		a.meanwhile = nil
		f()
	}
	return make([]admit.Decision, len(requests)), nil
}

// E-STATE-1: a key that another proposal wrote since stays as it is, and the
// rollback names it among what it could not put back.
func TestRollbackConflictOfState(t *testing.T) {
	t.Parallel()
	asks := &asksOnce{}
	h := build(t, func(c *engine.Config, _ *house) { c.Approver = asks })
	asks.meanwhile = func() {
		other := plan(t, `"type":"state_write","parameters":{"key":"k","value":"theirs"}`)
		other.ID = "p2"
		h.execute(t, other, engine.Options{})
	}
	r := h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":"ours"}`, `"type":"state_write","parameters":{"key":"l","value":"ours"}`,
		call("write", `"parameters":{"policy":"ask"},"failure_behavior":"skip"`), call("fail", `"after":["a3"]`)), engine.Options{})
	if r.Rollback == nil || r.Rollback.State != "durable" || len(r.Rollback.Conflicts) != 1 || r.Rollback.Conflicts[0] != "state['k']" {
		t.Errorf("%s, rollback %+v", statuses(r), r.Rollback)
	}
	if v, _ := h.state.Get("k"); v != "theirs" {
		t.Errorf("k is %v", v)
	}
	if _, found := h.state.Get("l"); found {
		t.Error("l stayed")
	}
}
