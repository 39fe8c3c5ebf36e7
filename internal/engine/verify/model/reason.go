package model

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// ConditionText words a precondition: key, operator, the value it wants where the
// operator takes one, and its author's description.
func ConditionText(c ir.Precondition) string {
	text := report.Clip(c.Key) + " " + report.Clip(c.Operator)
	if c.Operator != "exists" && c.Operator != "not_exists" {
		text += " " + report.ClipValue(c.Value)
	}
	if c.Description != "" {
		text += " (" + report.Clip(c.Description) + ")"
	}
	return text
}

// Because lists why an action does not start here, or why that is not decided; and,
// for an assertion, why it does not hold. The words are those of the engine's own
// refusals (E-EXEC-2, E-DAG-5).
func (s *State) Because(i int) []string {
	step := &s.plan.steps[i]
	var reasons []string
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if by, reserved := s.plan.ReservedBy(i); reserved {
		say("reserved as compensation for '%s'", report.Clip(s.plan.Actions[by].ID))
	}
	if step.broken != "" {
		say("%s", step.broken)
	}
	for _, j := range step.after {
		switch s.endings[j] {
		case Rejected, Failed:
			say("dependency '%s' did not succeed", report.Clip(s.plan.Actions[j].ID))
		case Clouded:
			say("whether dependency '%s' succeeds is not decided", report.Clip(s.plan.Actions[j].ID))
		}
	}
	for _, k := range step.needs {
		switch _, p, by := s.look(k); p {
		case Absent:
			say("missing state dependency '%s'", report.Clip(s.plan.Keys[k]))
		case Unknown:
			say("state dependency '%s' may be missing: action '%s' sets it at run time", report.Clip(s.plan.Keys[k]), report.Clip(s.plan.Actions[by].ID))
		}
	}
	for _, c := range step.conditions {
		switch v, p, by := s.look(c.key); {
		case p == Unknown:
			say("precondition not decided: %s: action '%s' sets it at run time", ConditionText(*c.Precondition), report.Clip(s.plan.Actions[by].ID))
		case !c.Holds(v, p == Present):
			say("precondition failed: %s", ConditionText(*c.Precondition))
		}
	}
	return append(reasons, s.AssertionBecause(i)...)
}

// AssertionBecause says why an assertion does not hold here, or is not decided.
func (s *State) AssertionBecause(i int) []string {
	step := &s.plan.steps[i]
	if step.asserts == none {
		return nil
	}
	v, p, by := s.look(step.asserts)
	key := report.Clip(s.plan.Keys[step.asserts])
	switch {
	case p == Unknown:
		return []string{fmt.Sprintf("assertion on '%s' not decided: action '%s' sets it at run time", key, report.Clip(s.plan.Actions[by].ID))}
	case !ir.Equal(v, step.want):
		return []string{fmt.Sprintf("assertion failed: '%s' does not equal what is expected", key)}
	default:
		return nil
	}
}

// Had words what a key holds and who gave it, for an explanation (V-BEYOND-5).
func (s *State) Had(key int) string {
	v, p, by := s.look(int32(key))
	name := report.Clip(s.plan.Keys[key])
	switch {
	case p == Absent:
		return fmt.Sprintf("'%s' is absent", name)
	case p == Unknown:
		return fmt.Sprintf("'%s' is written at run time by action '%s', its value undeclared", name, report.Clip(s.plan.Actions[by].ID))
	case by == none:
		return fmt.Sprintf("'%s' is %s in the initial state", name, report.ClipValue(v))
	default:
		return fmt.Sprintf("'%s' is %s, set by action '%s'", name, report.ClipValue(v), report.Clip(s.plan.Actions[by].ID))
	}
}
