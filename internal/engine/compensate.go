package engine

import (
	"context"
	"slices"
	"time"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// compensationTime bounds a compensation whose action has no time of its own (B-COMP-2).
const compensationTime = 30 * time.Second

// compensate makes good what this aborted run did and can make good, newest
// first (B-COMP-1). Each compensation is a proposal of its own that passes every
// check and gate; nobody is asked, so one that would need a person is rejected.
// A failure stops no other.
func (r *run) compensate(ctx context.Context) {
	if !r.opts.Compensate {
		return
	}
	for _, i := range slices.Backward(slices.Clone(r.completed)) {
		a := r.p.Actions[i]
		if r.results[i].Status != ir.Succeeded || r.results[i].Attempts == 0 || a.Reversibility != ir.Compensable || a.Compensation == nil {
			continue
		}
		done := r.compensateOne(ctx, a)
		r.compensations = append(r.compensations, done)
		r.update(i, func(res *ir.ActionResult) { res.Compensated = done.Status == ir.Succeeded.String() })
		r.log(eventlog.Event{Kind: eventlog.CompensationRun, ActionID: a.ID, Data: map[string]any{
			"compensation_id": string(done.CompensationID), "status": done.Status, "error": done.Error,
		}})
	}
}

func (r *run) compensateOne(ctx context.Context, a ir.Action) ir.Compensated {
	done := ir.Compensated{ActionID: a.ID, CompensationID: a.ID + "~undo", Status: "not_run"}
	if r.endedTerminally() {
		done.Error = "the proposal ended by a terminal failure"
		return done
	}
	undo := r.compensationOf(a)
	if undo.TimeoutMS == 0 {
		undo.TimeoutMS = uint64(compensationTime / time.Millisecond)
	}
	p := ir.Proposal{ID: r.p.ID + "~undo", Source: r.p.Source, Timestamp: r.rt.cfg.Now(), Actions: []ir.Action{undo}, Context: map[string]any{}}
	inner := newRun(r.rt, p, Options{Session: r.opts.Session, PolicySession: r.opts.PolicySession, Scope: r.opts.Scope, CallPrefix: r.opts.CallPrefix, Observer: nobody{}})
	inner.nested, inner.quiet = true, true
	inner.traceBelow(r)
	// An abort by cancellation still makes good what was done.
	if err := inner.execute(context.WithoutCancel(ctx)); err != nil {
		done.Error = err.Error()
		return done
	}
	done.Status, done.Error = inner.results[0].Status.String(), inner.results[0].Error
	return done
}

// compensationOf is the action that makes another good.
func (r *run) compensationOf(a ir.Action) ir.Action {
	var undo ir.Action
	if a.Compensation.Type == "action_ref" {
		undo = r.p.Actions[r.byID[a.Compensation.ActionID]]
	} else {
		undo = ir.Action{Type: ir.ToolCall, Tool: a.Compensation.Tool, Parameters: a.Compensation.Parameters, TimeoutMS: a.TimeoutMS}
	}
	undo.ID = a.ID + "~undo"
	undo.Dependencies, undo.After, undo.Compensation = nil, nil, nil
	undo.FailureBehavior, undo.MaxRetries = ir.Skip, 0
	filled := ir.Proposal{ID: "x", Actions: []ir.Action{undo}}.Fill(ir.Defaults{NewID: func() string { return "x" }, Now: r.rt.cfg.Now})
	return filled.Actions[0]
}

func (r *run) endedTerminally() bool {
	return slices.ContainsFunc(r.results, func(res ir.ActionResult) bool { return res.Terminal })
}
