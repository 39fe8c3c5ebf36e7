package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/input"
)

// Order says what the order of the steps is. The zero value is total.
type Order uint8

// The orders.
const (
	// Total takes the steps as they are listed.
	Total Order = iota
	// Partial allows every order that the edges allow.
	Partial
)

// Request is a plan with where it starts and what it is for (V-PLAN-1).
type Request struct {
	Initial map[string]any
	Steps   []Step
	Goal    []Condition
	Order   Order
	// Edges say that the first of two steps comes before the second.
	Edges [][2]ir.ActionID
	// beyond is what a translation into steps could not carry over.
	beyond []string
}

// Step is what one step needs, adds and deletes. Deletions come first, so what is
// deleted and added is there.
type Step struct {
	ID            ir.ActionID
	Preconditions []Condition
	Adds          []Effect
	Deletes       []string
}

// Effect gives a key a value.
type Effect struct {
	Key   string
	Value any
}

// Condition is a precondition. A fact, which is text alone, is the condition that
// its key is present.
type Condition struct {
	ir.Precondition
	// absentHolds lets an absent key satisfy it: an assertion that expects null.
	absentHolds bool
}

func (c Condition) holds(e entry) bool {
	return c.absentHolds && !e.present || c.Holds(e.value, e.present)
}

// Fact is the condition that a key is present.
func Fact(key string) Condition {
	return Condition{Precondition: ir.Precondition{Key: key, Operator: "exists"}}
}

// Decode reads a request from JSON (V-PLAN-1):
//
//	{"initial": […], "steps": [{"id", "preconditions": […], "add_effects": […], "del_effects": […]}], "goal": […],
//	 "order": "total" | "partial", "edges": [["before", "after"], …]}
//
// A fact is text; a condition may be a precondition object, an effect
// {"key", "value"}, a deletion {"key"}, and initial an object from key to value.
// Lists default to empty. Errors are *ir.PathError values, wrapped.
func Decode(data []byte) (Request, error) {
	r, err := decode(data)
	if err != nil {
		return Request{}, fmt.Errorf("decode plan: %w", err)
	}
	return r, nil
}

func decode(data []byte) (Request, error) {
	var raw struct {
		Initial json.RawMessage   `json:"initial"`
		Steps   []json.RawMessage `json:"steps"`
		Goal    []json.RawMessage `json:"goal"`
		Order   string            `json:"order"`
		Edges   [][]ir.ActionID   `json:"edges"`
	}
	if err := input.Decode(data, &raw); err != nil {
		return Request{}, err
	}
	var r Request
	switch raw.Order {
	case "", "total":
	case "partial":
		r.Order = Partial
	default:
		return r, &ir.PathError{Path: "order", Problem: fmt.Sprintf("unknown order %q (one of total, partial)", raw.Order)}
	}
	for i, pair := range raw.Edges {
		if len(pair) != 2 {
			return r, &ir.PathError{Path: fmt.Sprintf("edges[%d]", i), Problem: fmt.Sprintf("a pair of step ids is needed, not %d", len(pair))}
		}
		r.Edges = append(r.Edges, [2]ir.ActionID(pair))
	}
	var err error
	if r.Initial, err = decodeInitial(raw.Initial); err != nil {
		return r, err
	}
	if r.Goal, err = decodeEach(raw.Goal, "goal", decodeCondition); err != nil {
		return r, err
	}
	r.Steps, err = decodeEach(raw.Steps, "steps", decodeStep)
	return r, err
}

func decodeEach[T any](items []json.RawMessage, path string, one func([]byte, string) (T, error)) ([]T, error) {
	var list []T
	for i, item := range items {
		v, err := one(item, fmt.Sprintf("%s[%d]", path, i))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func decodeInitial(data json.RawMessage) (map[string]any, error) {
	state := map[string]any{}
	if len(data) == 0 || data[0] == '{' || string(data) == "null" {
		if len(data) > 0 {
			return state, input.Part(data, "initial", &state)
		}
		return state, nil
	}
	var items []json.RawMessage
	if err := input.Part(data, "initial", &items); err != nil {
		return nil, err
	}
	effects, err := decodeEach(items, "initial", decodeEffect)
	for _, e := range effects {
		state[e.Key] = e.Value
	}
	return state, err
}

func decodeStep(data []byte, path string) (Step, error) {
	var raw struct {
		ID            ir.ActionID       `json:"id"`
		Preconditions []json.RawMessage `json:"preconditions"`
		Adds          []json.RawMessage `json:"add_effects"`
		Deletes       []json.RawMessage `json:"del_effects"`
	}
	if err := input.Part(data, path, &raw); err != nil {
		return Step{}, err
	}
	if raw.ID == "" {
		return Step{}, &ir.PathError{Path: input.Join(path, "id"), Problem: "required"}
	}
	s := Step{ID: raw.ID}
	var err error
	if s.Preconditions, err = decodeEach(raw.Preconditions, input.Join(path, "preconditions"), decodeCondition); err != nil {
		return s, err
	}
	if s.Adds, err = decodeEach(raw.Adds, input.Join(path, "add_effects"), decodeEffect); err != nil {
		return s, err
	}
	deletes, err := decodeEach(raw.Deletes, input.Join(path, "del_effects"), decodeEffect)
	for _, e := range deletes {
		s.Deletes = append(s.Deletes, e.Key)
	}
	return s, err
}

// keyed is what an object of a plan may say; Value keeps null apart from absent.
type keyed struct {
	Key         *string          `json:"key"`
	Operator    *string          `json:"operator"`
	Value       *json.RawMessage `json:"value"`
	Description string           `json:"description"`
}

func decodeKeyed(data []byte, path string) (keyed, error) {
	var k keyed
	if data[0] == '"' {
		return k, input.Part(data, path, &k.Key)
	}
	if err := input.Part(data, path, &k); err != nil {
		return k, err
	}
	if k.Key == nil {
		return k, &ir.PathError{Path: input.Join(path, "key"), Problem: "required"}
	}
	return k, nil
}

func decodeCondition(data []byte, path string) (Condition, error) {
	k, err := decodeKeyed(data, path)
	if err != nil {
		return Condition{}, err
	}
	if data[0] == '"' {
		return Fact(*k.Key), nil
	}
	c := Condition{Precondition: ir.Precondition{Key: *k.Key, Operator: "eq", Description: k.Description}}
	if k.Operator != nil {
		c.Operator = *k.Operator
	}
	if k.Value != nil {
		err = input.Part(*k.Value, input.Join(path, "value"), &c.Value)
	}
	return c, err
}

// decodeEffect reads what makes a key present; a fact, or an object without a value,
// makes it true.
func decodeEffect(data []byte, path string) (Effect, error) {
	k, err := decodeKeyed(data, path)
	if err != nil {
		return Effect{}, err
	}
	e := Effect{Key: *k.Key, Value: true}
	if k.Value != nil {
		err = input.Part(*k.Value, input.Join(path, "value"), &e.Value)
	}
	return e, err
}

// keysOf are the keys of a map in order.
func keysOf(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
