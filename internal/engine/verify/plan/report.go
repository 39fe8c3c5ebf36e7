package plan

import (
	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// Kind is what is wrong with a step or the plan: its wire label.
type Kind string

// The kinds; redundant_step is no error.
const (
	Unsatisfied    Kind = "unsatisfied_precondition"
	Clobbered      Kind = "clobbered_precondition"
	Threat         Kind = "unordered_threat"
	UnachievedGoal Kind = "unachieved_goal"
	DuplicateStep  Kind = "duplicate_step"
	UnknownStep    Kind = "unknown_step"
	CyclicOrder    Kind = "cyclic_order"
	RedundantStep  Kind = "redundant_step"
)

// Report is what a check of a plan found (V-PLAN-2). Lists are never null in JSON.
type Report struct {
	// Applicable says that every step can be taken: in the order, or in every order.
	Applicable bool `json:"applicable"`
	// AchievesGoal says that the plan is applicable and every goal holds at its end.
	AchievesGoal bool     `json:"achieves_goal"`
	Defects      []Defect `json:"defects"`
	// FinalState is what a total order leaves; steps that cannot be taken leave nothing.
	FinalState map[string]any `json:"final_state,omitempty"`
	Links      []Link         `json:"links"`
	report.Scope
}

// Defect is one thing that is wrong. StepID is empty for the goal.
type Defect struct {
	Kind     Kind            `json:"kind"`
	Severity report.Severity `json:"severity"`
	StepID   ir.ActionID     `json:"step_id"`
	Key      string          `json:"key"`
	Message  string          `json:"message"`
	// ClobberedBy is the step that undoes the condition, or can.
	ClobberedBy ir.ActionID `json:"clobbered_by,omitempty"`
	// CausedBy is an earlier step that cannot be taken and would have made it hold:
	// repairing that one removes this defect.
	CausedBy ir.ActionID `json:"caused_by,omitempty"`
}

// Link says which step makes a condition hold. Step is empty for the goal, From for
// the initial state.
type Link struct {
	Step ir.ActionID `json:"step"`
	Key  string      `json:"key"`
	From ir.ActionID `json:"from"`
}
