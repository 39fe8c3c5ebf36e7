package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/engine"
	"car/internal/engine/ir"
)

// step runs the calls of one reply as one proposal and gives the model their
// results (A-LOOP-1). nil means that the model is asked again.
func (r *run) step(ctx context.Context, reply llm.Reply) Body {
	calls := r.nameCalls(reply.Message.Calls())
	r.reply(reply, "")
	plan := r.plan(calls)
	if end := r.keep(ctx); end != nil {
		r.answer(plan, notRun(plan, "not run: the session could not be written"), nil)
		return end
	}
	end := r.overBudget()
	var results map[ir.ActionID]ir.ActionResult
	if end == nil {
		results, end = r.dispatch(ctx, plan)
	} else {
		results = notRun(plan, "not run: a budget of this run is used up")
	}
	hint, stuck := r.watch.after(plan, results)
	r.answer(plan, results, append(r.asides(ctx, plan), bracketed(hint)...))
	switch {
	case ctx.Err() != nil:
		return canceled(ctx)
	case end != nil:
		return end
	case r.stoppedBy() != "":
		return Failure{Code: CodeStopped, Error: "stopped by " + r.stoppedBy()}
	case stuck != "":
		return Failure{Code: CodeNoProgress, Error: stuck}
	}
	r.steer()
	return nil
}

// nameCalls gives the calls their ids, unique in the session (A-LOOP-4).
func (r *run) nameCalls(calls []*llm.ToolCall) []*call {
	all := make([]*call, len(calls))
	for i, c := range calls {
		r.calls++
		c.ID = fmt.Sprintf("t%dc%d", r.number, r.calls)
		all[i] = &call{ToolCall: c, id: ir.ActionID(c.ID), sequence: r.calls}
	}
	return all
}

// dispatch tells of the calls, runs those that may run, and returns one result for
// every call.
func (r *run) dispatch(ctx context.Context, plan []*call) (map[ir.ActionID]ir.ActionResult, Body) {
	w := newWatcher(r, plan)
	for _, c := range plan {
		if c.refusal != nil {
			w.Started(ir.Action{ID: c.id}, ir.TierUnset)
			w.Finished(*c.refusal)
		}
	}
	p := r.proposal(plan)
	if len(p.Actions) == 0 {
		return w.results, nil
	}
	out, err := r.c.runtime.Engine.Execute(ctx, p, engine.Options{Session: r.c.id, Turn: r.number, Refusal: engine.RefuseAction, FileRollback: engine.FilesStay,
		AfterFailure: afterRefusal(plan), Observer: w})
	for _, res := range out.Results {
		if res.Status >= ir.Rejected { // the engine may have been stopped before it settled all
			w.Finished(res)
		}
	}
	w.complete(ctx, plan)
	if err != nil {
		return w.results, r.failure(ctx, CodeEngine, "the engine stopped, because a record could not be written: "+err.Error())
	}
	return w.results, nil
}

// afterRefusal is the first call that reaches the engine after one that did not:
// what cannot be taken back does not run behind a call that was lost (D-2).
func afterRefusal(plan []*call) ir.ActionID {
	lost := false
	for _, c := range plan {
		switch {
		case c.refusal != nil:
			lost = true
		case lost:
			return c.id
		}
	}
	return ""
}

// proposal makes one action of each call that may run (A-LOOP-2). Read-only calls
// wait for the last writer before them, writers for everything before them; order
// is by after, so that no call is lost to another (D-2).
func (r *run) proposal(plan []*call) ir.Proposal {
	p := ir.Proposal{ID: ir.ProposalID(fmt.Sprintf("t%ds%d", r.number, r.inferences)), Source: r.choices[0].Model, Timestamp: r.c.svc.cfg.Now().UTC(),
		Context: map[string]any{}}
	var all, lastWriter []ir.ActionID
	for _, c := range plan {
		if c.refusal != nil {
			continue
		}
		a := toolAction(c.id, c.Name, c.params)
		if c.tool.ReadOnly {
			a.After = slices.Clone(lastWriter)
		} else {
			a.After = slices.Clone(all)
			lastWriter = []ir.ActionID{c.id}
		}
		all = append(all, c.id)
		p.Actions = append(p.Actions, a)
	}
	return p
}

// toolAction is a call as the engine takes it, with every default filled.
func toolAction(id ir.ActionID, tool string, params map[string]any) ir.Action {
	return ir.Action{ID: id, Type: ir.ToolCall, Tool: tool, Parameters: params, FailureBehavior: ir.Retry,
		Preconditions: []ir.Precondition{}, ExpectedEffects: map[string]any{}, StateDependencies: []string{}, Metadata: map[string]any{}}
}

// notRun answers every call with the same refusal.
func notRun(plan []*call, why string) map[ir.ActionID]ir.ActionResult {
	results := map[ir.ActionID]ir.ActionResult{}
	for _, c := range plan {
		results[c.id] = ir.ActionResult{ActionID: c.id, Status: ir.Skipped, Error: why}
	}
	return results
}

// steer puts what a person typed meanwhile after the results (A-SVC-4).
func (r *run) steer() {
	for _, in := range r.c.takeSteers() {
		r.say(entrySteer, llm.Message{Role: llm.User, Parts: append(pictures(in.Images), texts(observations(in.Input), in.Text)...)}, in.id)
	}
}

// stoppedBy says who ended the turn by an answer, empty if nobody did.
func (r *run) stoppedBy() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// stop ends the turn after the calls in hand: a person said "deny and stop".
func (r *run) stop(by, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped == "" {
		r.stopped = strings.TrimSuffix(by+": "+reason, ": ")
	}
}
