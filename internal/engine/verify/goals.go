package verify

import (
	"fmt"
	"strings"

	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/model"
	"car/internal/engine/verify/report"
)

// findGoal is goal: whether the state that the engine would leave meets it. Other
// than the walk of Verify, this one is faithful: what is blocked leaves nothing.
func findGoal(r *run) []finding {
	if r.o.Goal == nil {
		return nil
	}
	s := r.plan.Start(r.o.State)
	s.Walk(model.Rules{Refuse: r.refuses})
	answer := goal.Decide(*r.o.Goal, s.Value)
	f := on(proposalWide, "goal not reached in the simulated state: "+answer.Reason, "add or repair the action that brings it about")
	switch answer.Answer {
	case goal.Met:
		return nil
	case goal.Undecided:
		f = on(proposalWide, "goal cannot be decided before execution: "+clipped(answer.Open), "check it after the run", answer.Reason).warn()
	}
	var writers []int
	for _, name := range answer.Keys {
		because, by := r.fate(s, name)
		f.because = append(f.because, because...)
		if by >= 0 {
			writers = append(writers, by)
		}
	}
	return []finding{f.shownBy(sorted(writers...)...)}
}

// fate says what became of a key that a goal asks for: what it holds, and
// which of its writers did not run.
func (r *run) fate(s *model.State, name string) (because []string, by int) {
	key, named := r.plan.Key(name)
	if !named {
		if v, ok := r.o.State[name]; ok {
			return []string{fmt.Sprintf("'%s' is %s in the initial state and no action writes it", report.Clip(name), report.ClipValue(v))}, none
		}
		return []string{fmt.Sprintf("'%s' is absent and no action writes it", report.Clip(name))}, none
	}
	_, _, by = s.Look(key)
	because = append(because, s.Had(key))
	for _, w := range r.writers[key] {
		if len(because) > maxListed {
			break
		}
		if s.Ending(w) == model.Rejected {
			because = append(because, fmt.Sprintf("action '%s' would write it and does not run", r.name(w)))
		}
	}
	return because, by
}

const none = -1

// clipped joins names for a message.
func clipped(names []string) string {
	const most = 16
	var words []string
	for _, name := range names[:min(len(names), most)] {
		words = append(words, report.Clip(name))
	}
	if more := len(names) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

func goalVerify(r *run) string {
	if r.o.Goal == nil {
		return "(skipped: no goal was supplied)"
	}
	return "the state that the engine would leave if tools do what they declare meets the goal"
}

// refuses reports a call that the engine's validator refuses: its tool is not
// registered, or its schema refuses the parameters. Without a registry nothing is.
func (r *run) refuses(i int) bool { return len(r.refusals(i)) > 0 }

func (r *run) refusals(i int) []string {
	a := &r.p.Actions[i]
	switch {
	case !isCall(a) || a.Tool == "" || !r.registry.given:
		return nil
	case r.registry.lacks(a.Tool):
		return []string{"unknown tool: " + report.Clip(a.Tool)}
	default:
		return r.o.Schemas.Check(a.Tool, a.Parameters)
	}
}
