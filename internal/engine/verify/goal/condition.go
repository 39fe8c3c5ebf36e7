package goal

import (
	"encoding/json"
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify/input"
)

// Type is the kind of a condition: its wire label.
type Type string

// The conditions.
const (
	StatePredicate       Type = "state_predicate"
	AllOf                Type = "all_of"
	AnyOf                Type = "any_of"
	ToolReceiptsGrounded Type = "tool_receipts_grounded"
	PlanAchieved         Type = "plan_achieved"
	StateConsistent      Type = "state_consistent"
	Command              Type = "command"
	ModelJudge           Type = "model_judge"
)

// Condition is what has to be so for a goal to be met (V-GOAL-1). Which fields
// count depends on the type.
type Condition struct {
	Type Type `json:"type"`
	// Key, Operator and Value are a state_predicate's, as a precondition's are.
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    any    `json:"value,omitempty"`
	// Conditions are the parts of all_of and any_of.
	Conditions []Condition `json:"conditions,omitempty"`
	// ID names a command or a judgement whose outcome is supplied from outside.
	ID string `json:"id,omitempty"`
	// ExpectExit is the exit code that a command has to end with.
	ExpectExit int `json:"expect_exit,omitempty"`
	// Criteria is what a model_judge is asked.
	Criteria string `json:"criteria,omitempty"`
}

// maxDepth bounds the nesting of conditions.
const maxDepth = 32

// Decode reads a condition, or the condition of a whole goal, from JSON. Errors are
// *ir.PathError values or joined ones: text that is not I-JSON, an unknown type, a
// missing key, an empty list or id, nesting over 32.
func Decode(data []byte) (Condition, error) {
	var spec struct {
		Type      json.RawMessage `json:"type"`
		Condition json.RawMessage `json:"condition"`
	}
	if err := input.Decode(data, &spec); err != nil {
		return Condition{}, fmt.Errorf("decode goal: %w", err)
	}
	path := ""
	if spec.Type == nil && spec.Condition != nil {
		data, path = spec.Condition, "condition"
	}
	c, err := decode(data, path, 0)
	if err != nil {
		return Condition{}, fmt.Errorf("decode goal: %w", err)
	}
	return c, nil
}

func decode(data json.RawMessage, path string, depth int) (Condition, error) {
	var raw struct {
		Type       Type              `json:"type"`
		Key        string            `json:"key"`
		Operator   *string           `json:"operator"`
		Value      any               `json:"value"`
		Conditions []json.RawMessage `json:"conditions"`
		ID         string            `json:"id"`
		ExpectExit int               `json:"expect_exit"`
		Criteria   string            `json:"criteria"`
	}
	if depth > maxDepth {
		return Condition{}, &ir.PathError{Path: path, Problem: fmt.Sprintf("conditions are nested over %d deep", maxDepth)}
	}
	if err := input.Part(data, path, &raw); err != nil {
		return Condition{}, err
	}
	c := Condition{Type: raw.Type, Key: raw.Key, Value: raw.Value, ID: raw.ID, ExpectExit: raw.ExpectExit, Criteria: raw.Criteria}
	switch {
	case raw.Operator != nil:
		c.Operator = *raw.Operator
	case c.Type == StatePredicate:
		c.Operator = "eq"
	}
	for i, part := range raw.Conditions {
		child, err := decode(part, input.Join(path, fmt.Sprintf("conditions[%d]", i)), depth+1)
		if err != nil {
			return Condition{}, err
		}
		c.Conditions = append(c.Conditions, child)
	}
	return c, c.check(path)
}

// check holds a single condition, without its parts, to its type.
func (c Condition) check(path string) error {
	field, problem := "", ""
	switch c.Type {
	case StatePredicate:
		if c.Key == "" {
			field, problem = "key", "required"
		}
	case AllOf, AnyOf:
		if len(c.Conditions) == 0 {
			field, problem = "conditions", "at least one is needed"
		}
	case Command, ModelJudge:
		if c.ID == "" {
			field, problem = "id", "required"
		}
	case ToolReceiptsGrounded, PlanAchieved, StateConsistent:
	default:
		field, problem = "type", fmt.Sprintf("unknown condition %q (one of %s)", c.Type, typeNames())
	}
	if problem == "" {
		return nil
	}
	return &ir.PathError{Path: input.Join(path, field), Problem: problem}
}

func typeNames() string {
	return strings.Join([]string{string(StatePredicate), string(AllOf), string(AnyOf), string(ToolReceiptsGrounded), string(PlanAchieved),
		string(StateConsistent), string(Command), string(ModelJudge)}, ", ")
}
