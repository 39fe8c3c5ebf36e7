package montecarlo

import (
	"math"

	"car/internal/engine/ir"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/report"
)

// Result is what came of the trials (V-MC-4). Lists are never null in JSON.
type Result struct {
	// Trials is how many walks were sampled; of the exact method, 0.
	Trials int    `json:"trials"`
	Seed   uint64 `json:"seed"`
	// PGoalReached is null where no goal was asked for.
	PGoalReached *float64 `json:"p_goal_reached"`
	// PGoalCI95 is Wilson's interval for it; null for the exact method too.
	PGoalCI95 *[2]float64 `json:"p_goal_ci95"`
	// GoalUnderivableConditions are parts of the goal that no state decides. They count
	// as unmet, so beside a list a probability of 0 speaks of the list.
	GoalUnderivableConditions []string `json:"goal_underivable_conditions"`
	// PAllEffectsLanded is how often every action ran and succeeded.
	PAllEffectsLanded float64 `json:"p_all_effects_landed"`
	// ToolCalls counts attempts, ActionsExecuted actions that started.
	ToolCalls         Distribution    `json:"tool_calls"`
	ActionsExecuted   Distribution    `json:"actions_executed"`
	StateDistribution []KeyOutcome    `json:"state_distribution"`
	ActionOutcomes    []ActionOutcome `json:"action_outcomes"`
	RateProvenance    Provenance      `json:"rate_provenance"`
	// UndecidedActions read keys that only a run tells. They were taken as satisfied, so
	// what rests on them is an upper bound.
	UndecidedActions []ir.ActionID `json:"undecided_actions"`
	report.Scope
}

// KeyOutcome is what a key held at the end.
type KeyOutcome struct {
	Key      string  `json:"key"`
	PPresent float64 `json:"p_present"`
	// PUnknown is how often a tool had written it with no declared value.
	PUnknown float64          `json:"p_unknown,omitempty"`
	Values   []ValueFrequency `json:"values"`
}

// ValueFrequency is one value of a key and how often it held it.
type ValueFrequency struct {
	Value       any     `json:"value"`
	Probability float64 `json:"probability"`
}

// ActionOutcome is how an action ended over the trials.
type ActionOutcome struct {
	ActionID       ir.ActionID `json:"action_id"`
	PRejected      float64     `json:"p_rejected"`
	PFailed        float64     `json:"p_failed"`
	PEffectsLanded float64     `json:"p_effects_landed"`
	// MeanBlastRadius is how many actions that rest on it were rejected, on average over
	// the trials in which it failed; 0 where it never did.
	MeanBlastRadius float64 `json:"mean_blast_radius"`
}

func (r *run) result() Result {
	t := r.tally
	res := Result{Trials: r.cfg.Trials, Seed: r.cfg.Seed, GoalUnderivableConditions: []string{}, PAllEffectsLanded: t.allLand / t.total,
		ToolCalls: t.tried.distribution(t.total), ActionsExecuted: t.executed.distribution(t.total), StateDistribution: t.stateDistribution(),
		ActionOutcomes: []ActionOutcome{}, RateProvenance: r.provenance, UndecidedActions: []ir.ActionID{},
		Scope: report.Scope{Tier: report.Sampled, CannotVerify: []string{"failures that come together or in part", "failure_behavior: an abort would end the run", "that the rates are right"}}}
	if r.cfg.Method == Exact {
		res.Trials, res.Tier = 0, report.DecisionProcedure
	}
	if r.in.Goal != nil {
		p := t.goal / t.total
		res.PGoalReached = &p
		res.GoalUnderivableConditions = goal.Underivable(*r.in.Goal)
		if r.cfg.Method == Sample {
			ci := wilson(t.goal, t.total)
			res.PGoalCI95 = &ci
		}
	}
	for i, a := range t.actions {
		o := ActionOutcome{ActionID: r.p.Actions[i].ID, PRejected: a.rejected / t.total, PFailed: a.failed / t.total, PEffectsLanded: a.landed / t.total}
		if a.failed > 0 {
			o.MeanBlastRadius = a.blast / a.failed
		}
		res.ActionOutcomes = append(res.ActionOutcomes, o)
		if r.undecided[i] {
			res.UndecidedActions = append(res.UndecidedActions, r.p.Actions[i].ID)
		}
	}
	return res
}

// wilson is the score interval for k of n at 95 %: sound at the ends too, where the
// plain one has no width.
func wilson(k, n float64) [2]float64 {
	const z = 1.959963984540054
	p, zz := k/n, z*z
	centre := (p + zz/(2*n)) / (1 + zz/n)
	half := z / (1 + zz/n) * math.Sqrt(p*(1-p)/n+zz/(4*n*n))
	return [2]float64{max(0, centre-half), min(1, centre+half)}
}
