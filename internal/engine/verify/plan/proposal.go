package plan

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// FromProposal makes a plan of a proposal: what its actions need and declare that
// they leave. In a total order the steps come in the order of the levels. Actions
// kept as compensations are no steps. What has no place in such a plan is named in
// the report's cannot_verify.
func FromProposal(p ir.Proposal, state map[string]any, goal []Condition, order Order) Request {
	r := Request{Initial: state, Goal: goal, Order: order}
	reserved := map[ir.ActionID]bool{}
	for _, a := range p.Actions {
		if a.Compensation != nil && a.Compensation.Type == ir.CompensateByAction {
			reserved[a.Compensation.ActionID] = true
		}
	}
	g, faults := dag.Of(p.Actions)
	for _, f := range faults {
		r.beyond = append(r.beyond, f.Text)
	}
	for _, level := range g.Levels() {
		for _, i := range level {
			if a := &p.Actions[i]; !reserved[a.ID] {
				r.Steps = append(r.Steps, r.step(a))
			}
		}
	}
	if order == Partial {
		for _, e := range g.Edges() {
			if from, to := p.Actions[e.From].ID, p.Actions[e.To].ID; !reserved[from] && !reserved[to] {
				r.Edges = append(r.Edges, [2]ir.ActionID{from, to})
			}
		}
	}
	return r
}

func (r *Request) step(a *ir.Action) Step {
	s := Step{ID: a.ID}
	for _, c := range a.Preconditions {
		s.Preconditions = append(s.Preconditions, Condition{Precondition: c})
	}
	for _, key := range a.StateDependencies {
		s.Preconditions = append(s.Preconditions, Fact(key))
	}
	key, _ := a.StateKey()
	switch a.Type {
	case ir.StateWrite:
		s.Adds = append(s.Adds, Effect{key, a.Parameters["value"]})
	case ir.Assertion:
		want := a.Parameters["expected"]
		s.Preconditions = append(s.Preconditions, Condition{Precondition: ir.Precondition{Key: key, Operator: "eq", Value: want}, absentHolds: want == nil})
	case ir.ToolCall:
		for _, key := range keysOf(a.ExpectedEffects) {
			s.Adds = append(s.Adds, Effect{key, a.ExpectedEffects[key]})
		}
		for _, key := range a.WriteSet {
			if _, declared := a.ExpectedEffects[key]; !declared {
				r.beyond = append(r.beyond, fmt.Sprintf("'%s', which action '%s' writes with no declared value: taken as left alone", report.Clip(key), report.Clip(a.ID)))
			}
		}
	}
	return s
}
