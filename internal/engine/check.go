package engine

import (
	"context"
	"fmt"

	"car/internal/engine/admit"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// proof is one check that has to succeed before an action runs (E-PIPE-11), on its
// way as a proposal of its own.
type proof struct {
	check admit.Check
	run   *run
}

// admitChecks makes actions of the checks that guard some open actions and has them
// judged. What cannot prove anything refuses what it guards, before anybody is asked.
func (r *run) admitChecks(ctx context.Context, open []int) {
	r.proofs = map[int][]proof{}
	for _, i := range open {
		for n, c := range r.adm.Checks(i) {
			if r.adm.Rejected(i) != nil {
				break
			}
			one := proof{check: c, run: r.checkRun(i, n+1, c)}
			if why := one.admit(ctx, len(r.lineage)); why != "" {
				r.adm.Reject(i, unproved(why))
			}
			r.proofs[i] = append(r.proofs[i], one)
		}
	}
}

func unproved(why string) admit.Rejection {
	return admit.Rejection{Stage: admit.StageProjectGate, Reason: why, Event: eventlog.ActionRejected}
}

// checkRun is the proposal of one check: it has one attempt, no retries and its
// tool's own time.
func (r *run) checkRun(i, n int, c admit.Check) *run {
	a := ir.Action{ID: ir.ActionID(fmt.Sprintf("%s~check%d", r.p.Actions[i].ID, n)), Type: ir.ToolCall, Tool: c.Tool, Parameters: c.Parameters, FailureBehavior: ir.Skip}
	p := ir.Proposal{ID: r.p.ID + "~check", Source: r.p.Source, Timestamp: r.rt.cfg.Now(), Actions: []ir.Action{a}, Context: map[string]any{}}
	p = p.Fill(ir.Defaults{NewID: r.rt.cfg.NewID, Now: r.rt.cfg.Now})
	inner := newRun(r.rt, p, Options{Session: r.opts.Session, PolicySession: r.opts.PolicySession, Scope: r.opts.Scope, CallPrefix: r.opts.CallPrefix, Turn: r.opts.Turn, Observer: nobody{}})
	inner.nested, inner.quiet = true, r.quiet
	inner.traceBelow(r)
	return inner
}

// admit judges the check, and says why it cannot authorize anything.
func (p proof) admit(ctx context.Context, generation int) string {
	failed := fmt.Sprintf("mandatory gate '%s' failed: ", p.check.Name)
	adm, whole, err := p.run.rt.admitter.Admit(ctx, p.run.p, p.run.admission(generation))
	switch {
	case err != nil:
		return failed + err.Error()
	case whole != nil:
		return failed + whole.Reason
	}
	p.run.adm = adm
	rejected := adm.Rejected(0)
	switch {
	case rejected == nil && adm.Judgement(0).Tier.Needed() >= ir.FullAccess, rejected == nil && len(adm.Checks(0)) > 0:
		return fmt.Sprintf("mandatory gate '%s' is not read-only and cannot authorize an action", p.check.Name)
	case rejected != nil:
		return failed + rejected.Reason
	}
	return ""
}

// askChecks asks what the checks of some actions need a person for; the turn is
// given back meanwhile. A no refuses what the check guards.
func (r *run) askChecks(ctx context.Context, open []int) (admit.Asked, error) {
	for _, i := range open {
		for _, p := range r.proofs[i] {
			if r.adm.Rejected(i) != nil {
				break
			}
			asked, err := p.run.adm.Ask(ctx, []int{0})
			why := p.run.adm.Rejected(0)
			switch {
			case err != nil:
				return asked, err
			case len(asked.Edits) > 0:
				r.adm.Reject(i, unproved(fmt.Sprintf("mandatory gate '%s' failed: a check runs as it is written, and was changed", p.check.Name)))
			case why != nil:
				r.adm.Reject(i, unproved(fmt.Sprintf("mandatory gate '%s' failed: %s", p.check.Name, why.Reason)))
			}
			if asked.Stop {
				return asked, nil
			}
		}
	}
	return admit.Asked{}, nil
}

// checksAsk reports whether a check of some actions waits for a person.
func (r *run) checksAsk(open []int) bool {
	for _, i := range open {
		for _, p := range r.proofs[i] {
			if p.run.adm != nil && p.run.adm.HasQuestions([]int{0}) {
				return true
			}
		}
	}
	return false
}

// prove runs the checks of an action, in their order, until one fails. Their
// receipts ride in its result (G-PROD-2).
func (r *run) prove(ctx context.Context, i int) *admit.Rejection {
	var receipts []any
	var failed *admit.Rejection
	for _, p := range r.proofs[i] {
		err := p.run.perform(ctx, nil)
		res := p.run.results[0]
		passed := err == nil && p.run.worked(0)
		receipts = append(receipts, map[string]any{"name": p.check.Name, "check": p.check.Text, "passed": passed, "output": checkOutput(res)})
		r.mu.Lock()
		r.cost.Add(p.run.p.Actions[0], res)
		r.mu.Unlock()
		if err != nil {
			r.breakWith(err)
		}
		if !passed {
			why := unproved(fmt.Sprintf("mandatory gate '%s' failed: %s", p.check.Name, whyNot(res)))
			failed = &why
			break
		}
	}
	r.update(i, func(res *ir.ActionResult) {
		if len(receipts) == 1 {
			res.ProjectGate = receipts[0]
		} else if len(receipts) > 1 {
			res.ProjectGate = receipts
		}
	})
	return failed
}

func checkOutput(res ir.ActionResult) any {
	if res.Output == nil && res.Error != "" {
		return res.Error
	}
	return res.Output
}

// whyNot is what a person needs to see of a check that failed.
func whyNot(res ir.ActionResult) string {
	out, ok := res.Output.(map[string]any)
	if !ok || res.Error != "" {
		return res.Error
	}
	text, _ := out["output"].(string)
	if text == "" {
		return fmt.Sprintf("it ended with exit code %v", out["exit_code"])
	}
	return ir.TruncateKeepingEnds(text, 2048)
}
