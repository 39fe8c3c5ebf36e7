package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/engine/trajectory"
)

// candidates answers replan requests in turn and keeps what it was asked.
type candidates struct {
	t     *testing.T
	plans []any // ir.Proposal or error
	asked []engine.ReplanRequest
}

func (c *candidates) next(_ context.Context, q engine.ReplanRequest) (ir.Proposal, error) {
	c.asked = append(c.asked, q)
	switch p := c.plans[min(len(c.asked), len(c.plans))-1].(type) {
	case ir.Proposal:
		return p, nil
	case error:
		return ir.Proposal{}, p
	default:
		panic("boom")
	}
}

// E-REPLAN-1, E-REPLAN-2: the run is taken back first, whatever its failure
// behaviour; the callback sees that; the candidate is the next generation.
func TestReplan(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	good := plan(t, call("write", ""))
	good.ID = "second"
	c := &candidates{t: t, plans: []any{good}}
	h.SetReplan(engine.ReplanConfig{MaxReplans: 3, VerifyBeforeExecute: true}, c.next)
	r := h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":1}`, call("fail", `"failure_behavior":"retry","max_retries":0,"parameters":{"x":1}`)), engine.Options{})
	if !r.AllSucceeded() || r.ProposalID != "second" || r.OriginalProposalID != "p1" || len(r.ReplanLineage) != 2 || len(r.AcceptedPreimages) != 2 {
		t.Fatalf("%+v", r)
	}
	q := c.asked[0]
	if q.Attempt != 1 || q.ReplansRemaining != 2 || len(q.StateSnapshot) != 0 || len(q.FailedActions) != 1 || q.FailedActions[0].Error != "it broke" ||
		len(q.CompletedActionIDs) != 1 || q.CompletedActionIDs[0] != "a1" || q.OriginalActionCount != 2 {
		t.Errorf("%+v", q)
	}
	want := "state_rollback, replan_attempted, branch_decision, alternative_rejected, replan_proposal_received, proposal_received"
	if !strings.Contains(h.story(), want) {
		t.Errorf("log %s", h.story())
	}
}

// E-REPLAN-3, E-REPLAN-4: refused candidates run nothing and spend attempts; a
// callback error or panic ends it once; exhaustion is told.
func TestReplanRefusals(t *testing.T) {
	t.Parallel()
	broken := plan(t, call("nope", ""))
	cycle := plan(t, call("write", `"dependencies":["a1"]`))
	for name, c := range map[string]struct {
		plans  []any
		asked  int
		stable bool
		story  string
	}{
		"unknown tool":  {[]any{broken}, 2, false, "replan_attempted, replan_rejected, replan_attempted, replan_rejected, replan_exhausted"},
		"cycle":         {[]any{cycle}, 2, false, "replan_rejected, replan_exhausted"},
		"fails again":   {[]any{plan(t, call("fail", ""))}, 2, false, "replan_exhausted"},
		"callback errs": {[]any{errors.New("no idea")}, 1, false, "replan_attempted, replan_exhausted"},
		"panics":        {[]any{nil}, 1, false, "replan_attempted, replan_exhausted"},
		"other id":      {[]any{ir.Proposal{ID: "other"}}, 2, true, "replan_rejected, replan_exhausted"},
	} {
		h := build(t, nil)
		ask := &candidates{t: t, plans: c.plans}
		h.SetReplan(engine.ReplanConfig{MaxReplans: 2, VerifyBeforeExecute: true}, ask.next)
		r := h.execute(t, plan(t, call("fail", "")), engine.Options{StableID: c.stable})
		if len(ask.asked) != c.asked || r.AllSucceeded() || !strings.HasSuffix(h.story(), c.story) {
			t.Errorf("%s: asked %d, %s", name, len(ask.asked), h.story())
		}
		if c.stable && !strings.Contains(r.ReplanLineage[1].RejectionReason, "replan proposal id `other` does not retain authenticated proposal id `p1`") {
			t.Errorf("%+v", r.ReplanLineage)
		}
	}
	h := build(t, nil)
	ask := &candidates{t: t, plans: []any{broken}}
	h.SetReplan(engine.ReplanConfig{MaxReplans: 2}, ask.next)
	if h.execute(t, plan(t, call("write", `"parameters":{"policy":"deny"}`)), engine.Options{}); len(ask.asked) != 0 {
		t.Error("a refusal was replanned without replan_on_rejected")
	}
}

// E-PLAN-1, E-PLAN-2, F-2: the better candidate first; one that falls short leaves
// no state; none valid says why for each action; none given is said.
func TestPlanAndExecute(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	poor := plan(t, `"type":"state_write","parameters":{"key":"k","value":1}`, call("fail", `"failure_behavior":"skip"`))
	poor.ID = "poor"
	good := plan(t, call("write", ""), call("read", ""))
	good.ID = "good"
	options := engine.Options{Session: "s", CallPrefix: "plan/"}
	rates := func(tool string) (float64, bool) {
		return map[string]float64{"fail": 1, "write": 0.1, "read": 0.1}[tool], true
	}
	r, err := h.PlanAndExecute(t.Context(), []ir.Proposal{good, poor}, engine.PlanConfig{}, rates, options)
	if err != nil || r.ProposalID != "good" || !r.AllSucceeded() || len(h.state.Snapshot("")) != 0 {
		t.Errorf("%+v %v, state %v", r, err, h.state.Snapshot(""))
	}
	if !strings.Contains(h.story(), "state_rollback, proposal_received") {
		t.Errorf("the poor plan should have been tried first and taken back: %s", h.story())
	}
	bad := plan(t, call("nope", ""), call("write", ""))
	r, err = h.PlanAndExecute(t.Context(), []ir.Proposal{bad}, engine.PlanConfig{}, nil, options)
	if err != nil || statuses(r) != "rejected rejected" || r.Results[0].Error != "unknown tool: nope" {
		t.Errorf("%+v %v", r.Results, err)
	}
	if r, err = h.PlanAndExecute(t.Context(), nil, engine.PlanConfig{}, nil, options); err == nil || r.ProposalID != "empty" {
		t.Errorf("%+v %v", r, err)
	}
}

// E-TRAJ-1, F-14: every proposal is told of, refused ones as failed, with what each action saw and got.
func TestTraces(t *testing.T) {
	t.Parallel()
	var told []trajectory.Trajectory
	h := build(t, func(c *engine.Config, _ *house) {
		c.AfterExecute = func(t trajectory.Trajectory) { told = append(told, t) }
	})
	write := `"type":"state_write","parameters":{"key":"k","value":1}`
	h.execute(t, plan(t, write, call("read", `"state_dependencies":["k"]`), call("write", `"failure_behavior":"skip","parameters":{"policy":"deny"}`)), engine.Options{})
	h.execute(t, plan(t, call("fail", "")), engine.Options{})
	h.execute(t, plan(t, call("read", `"dependencies":["a1"]`)), engine.Options{})
	good := plan(t, call("read", ""))
	h.SetReplan(engine.ReplanConfig{MaxReplans: 1}, func(context.Context, engine.ReplanRequest) (ir.Proposal, error) { return good, nil })
	last := plan(t, call("fail", ""))
	last.ID = "p2"
	h.execute(t, last, engine.Options{})
	var outcomes []string
	for _, one := range told {
		outcomes = append(outcomes, string(one.Outcome))
	}
	if got := strings.Join(outcomes, " "); got != "success failed failed replan_success" {
		t.Errorf("outcomes %s", got)
	}
	first := told[0].Events
	if len(first[0].StateBefore) != 0 || first[0].StateAfter["k"] != 1.0 || first[1].StateBefore["k"] != 1.0 || !first[1].Data.Attempted ||
		*first[1].Reward != 1 || *first[2].Reward != 0 || first[2].Data.Attempted {
		t.Errorf("%+v", first)
	}
}
