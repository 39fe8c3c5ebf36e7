package verify

import (
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/model"
	"car/internal/engine/verify/report"
)

// Simulation is the state that the engine would leave if every tool does exactly what
// it declares (V-VERIFY-10).
type Simulation struct {
	// State holds what is known. Values are shared with proposal and initial state.
	State map[string]any `json:"state"`
	// UnknownKeys are those that may be there or not: sorted.
	UnknownKeys []string `json:"unknown_keys"`
	// Blocked are the actions that leave nothing, in proposal order.
	Blocked []Blocked `json:"blocked"`
	// Undecided may or may not run, because of unknown keys; in proposal order.
	Undecided []Blocked `json:"undecided"`
	report.Scope
}

// Blocked is an action that does not run, or may not, and every reason for it.
type Blocked struct {
	ActionID ir.ActionID `json:"action_id"`
	Because  []string    `json:"because"`
}

// Simulate follows a proposal as the engine would run it. An action whose gate fails
// leaves nothing, and what depends on it drops out by data and by ids alone. Tools
// and schemas, where given, refuse calls as the engine's validator does; MaxActions
// and Goal are not looked at. failure_behavior is not modelled: independent actions
// still land.
func Simulate(p ir.Proposal, o Options) Simulation {
	r := newRun(p, o, newRegistry(o), nil)
	s := r.plan.Start(o.State)
	reasons := make([][]string, len(p.Actions))
	s.Walk(model.Rules{
		Refuse: func(i int) bool {
			reasons[i] = append(s.Because(i), r.refusals(i)...)
			return r.refuses(i)
		},
		// What starts has no reason any more, but an assertion may still fail.
		May: func(i int) bool {
			reasons[i] = s.AssertionBecause(i)
			return true
		},
	})
	sim := Simulation{State: s.Known(), UnknownKeys: append([]string{}, s.UnknownKeys()...), Blocked: []Blocked{}, Undecided: []Blocked{}, Scope: report.Scope{
		Tier: report.DecisionProcedure,
		CannotVerify: []string{"tools that do other than they declare, or fail", "failure_behavior: an abort would end the run and take state back",
			"which of several actions that run at the same time ends last"},
	}}
	slices.Sort(sim.UnknownKeys)
	for i := range p.Actions {
		if r.plan.Refused != "" {
			reasons[i] = []string{"the proposal is refused: " + r.plan.Refused}
		}
		switch s.Ending(i) {
		case model.Rejected, model.Failed:
			sim.Blocked = append(sim.Blocked, Blocked{p.Actions[i].ID, reasons[i]})
		case model.Clouded:
			sim.Undecided = append(sim.Undecided, Blocked{p.Actions[i].ID, reasons[i]})
		}
	}
	return sim
}
