package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
)

// PlanConfig weighs plan candidates (E-PLAN-1). The zero value is the default:
// cost weight 0.2 and targets of 5 tool calls, 10 actions and 5,000 ms. A plan's
// duration is what its actions may take by their own timeouts.
type PlanConfig struct {
	CostWeight       float64
	TargetToolCalls  float64
	TargetActions    float64
	TargetDurationMS float64
}

// Feedback is how often a tool succeeded, from 0 to 1; false where nothing is known.
type Feedback func(tool string) (rate float64, known bool)

// PlanAndExecute tries candidates from the best score down, ties in input order,
// until one succeeds altogether. One that falls short is taken back to the point
// before the plan. It returns the first success, else the first failure (E-PLAN-2).
func (r *Runtime) PlanAndExecute(ctx context.Context, candidates []ir.Proposal, cfg PlanConfig, feedback Feedback, o Options) (ir.ProposalResult, error) {
	if len(candidates) == 0 {
		return ir.ProposalResult{ProposalID: "empty", OriginalProposalID: "empty"}, errNoCandidate
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	ranked, invalid, err := r.rank(ctx, candidates, cfg, feedback, o)
	if err != nil {
		return ir.ProposalResult{}, err
	}
	if len(ranked) == 0 {
		return invalid.result(), nil
	}
	var first *run
	for _, c := range ranked {
		c.run.candidate = true
		if err := c.run.perform(ctx, nil); err != nil {
			return c.run.result(), err
		}
		result := c.run.result()
		if result.AllSucceeded() || c.run.endedTerminally() || c.run.undurable() || ctx.Err() != nil || closed(o.Cancel) {
			return result, nil
		}
		if first == nil {
			first = c.run
		}
	}
	return first.result(), nil
}

// ranked is a candidate that may run, with its score.
type ranked struct {
	run   *run
	score float64
}

// rank admits every candidate and orders those that hold, best first. Where none
// does, the first is returned with every action refused and why (F-2).
func (r *Runtime) rank(ctx context.Context, candidates []ir.Proposal, cfg PlanConfig, feedback Feedback, o Options) ([]ranked, *run, error) {
	var good []ranked
	var invalid *run
	for n, p := range candidates {
		options := o
		if n > 0 && options.CallPrefix != "" {
			options.CallPrefix += fmt.Sprintf("candidate%d/", n+1)
		}
		run := newRun(r, p, options)
		adm, whole, err := r.admitter.Admit(ctx, p, run.admission(0))
		if err != nil {
			return nil, nil, err
		}
		run.adm = adm
		if whole == nil && !run.hasInvalid() {
			good = append(good, ranked{run, score(p, cfg, feedback)})
			continue
		}
		if invalid == nil {
			if whole == nil {
				whole = &admit.Rejection{Stage: admit.StageAdmission, Reason: "the candidate holds calls that cannot run"}
			}
			run.refuseAll(*whole)
			invalid = run
		}
	}
	slices.SortStableFunc(good, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return good, invalid, nil
}

func (r *run) hasInvalid() bool {
	for i := range r.p.Actions {
		if r.adm.Rejected(i) != nil {
			return true
		}
	}
	return false
}

// score is success·(1−w)+efficiency·w (E-PLAN-1).
func score(p ir.Proposal, cfg PlanConfig, feedback Feedback) float64 {
	weight, calls, actions := cmp.Or(cfg.CostWeight, 0.2), cmp.Or(cfg.TargetToolCalls, 5), cmp.Or(cfg.TargetActions, 10)
	millis := cmp.Or(cfg.TargetDurationMS, 5000)
	rate, n, bound := 0.0, 0.0, 0.0
	writers := map[string]int{}
	for _, a := range p.Actions {
		for _, key := range a.WriteKeys() {
			writers[key]++
		}
		bound += float64(a.TimeoutMS)
		if a.Type != ir.ToolCall {
			continue
		}
		n++
		known := false
		one := 0.5
		if feedback != nil {
			if one, known = feedback(a.Tool); !known {
				one = 0.5
			}
		}
		rate += one
	}
	success := 0.5
	if n > 0 {
		success = rate / n
	}
	for _, w := range writers {
		success -= 0.1 * float64(w-1)
	}
	efficiency := (share(calls, n) + share(actions, float64(len(p.Actions))) + share(millis, bound)) / 3
	return max(success, 0)*(1-weight) + efficiency*weight
}

// share is min(1, target/actual).
func share(target, actual float64) float64 {
	if actual <= target {
		return 1
	}
	return target / actual
}

// endCandidate keeps a candidate that succeeded and takes back any other.
func (r *run) endCandidate(ctx context.Context) {
	r.candidate = false
	defer func() { r.candidate = true }()
	if r.abort == nil && r.result().AllSucceeded() {
		r.end(ctx)
		return
	}
	r.takeBack(ctx, planWords)
}
