package goal

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/model"
	"car/internal/engine/verify/report"
)

// Answer is what a state tells of a condition. The zero value is unmet.
type Answer uint8

// The answers.
const (
	Unmet Answer = iota
	// Undecided needs what no state tells.
	Undecided
	Met
)

// Finding is an answer with its grounds.
type Finding struct {
	Answer Answer
	// Reason words the first part that decided against; empty when met.
	Reason string
	// Open names the parts that state cannot decide and that matter to the answer.
	Open []string
	// Keys are the state keys of the parts that decided: the unmet ones, or where
	// none is, the undecided ones.
	Keys []string
}

// Look reads a state key for Decide.
type Look func(key string) (value any, p model.Presence)

// Decide answers a condition from a state alone. What it cannot decide is never
// met: all_of is unmet where a part is, any_of is met where a part is, else they are
// as undecided as their parts. Nesting over what Decode allows is unmet.
func Decide(c Condition, look Look) Finding { return decide(c, look, 0) }

func decide(c Condition, look Look, depth int) Finding {
	if depth > maxDepth {
		return Finding{Reason: "the condition is nested too deep"}
	}
	switch c.Type {
	case StatePredicate:
		return decideState(c, look)
	case AllOf:
		return decideAll(c, look, depth)
	case AnyOf:
		return decideAny(c, look, depth)
	default:
		name := string(c.Type)
		if c.ID != "" {
			name = c.ID
		}
		return Finding{Answer: Undecided, Open: []string{name}, Reason: fmt.Sprintf("%s '%s' cannot be decided from state", c.Type, report.Clip(name))}
	}
}

func decideState(c Condition, look Look) Finding {
	p := ir.Precondition{Key: c.Key, Operator: c.Operator, Value: c.Value}
	value, presence := look(c.Key)
	switch {
	case presence == model.Unknown:
		return Finding{Answer: Undecided, Open: []string{c.Key}, Keys: []string{c.Key}, Reason: fmt.Sprintf("state key '%s' is set at run time", report.Clip(c.Key))}
	case p.Holds(value, presence == model.Present):
		return Finding{Answer: Met}
	default:
		return Finding{Reason: model.ConditionText(p) + " does not hold", Keys: []string{c.Key}}
	}
}

func decideAll(c Condition, look Look, depth int) Finding {
	if len(c.Conditions) == 0 {
		return Finding{Reason: "all_of names no condition"}
	}
	all := Finding{Answer: Met}
	for _, part := range c.Conditions {
		f := decide(part, look, depth+1)
		switch {
		case f.Answer < all.Answer: // unmet before undecided before met
			all.Answer, all.Reason, all.Keys = f.Answer, f.Reason, f.Keys
		case f.Answer == all.Answer:
			all.Keys = append(all.Keys, f.Keys...)
		}
		if f.Answer == Undecided {
			all.Open = append(all.Open, f.Open...)
		}
	}
	return all
}

func decideAny(c Condition, look Look, depth int) Finding {
	var best Finding
	if len(c.Conditions) == 0 {
		return Finding{Reason: "any_of names no condition"}
	}
	for i, part := range c.Conditions {
		f := decide(part, look, depth+1)
		if f.Answer == Met {
			return f
		}
		switch {
		case i == 0 || f.Answer > best.Answer:
			best.Answer, best.Reason, best.Keys = f.Answer, f.Reason, f.Keys
		case f.Answer == best.Answer:
			best.Keys = append(best.Keys, f.Keys...)
		}
		best.Open = append(best.Open, f.Open...)
	}
	return best
}

// Underivable names the parts of a condition that no state can decide, in order,
// each once (V-MC-5).
func Underivable(c Condition) []string {
	names := []string{}
	seen := map[string]bool{}
	var visit func(c Condition, depth int)
	visit = func(c Condition, depth int) {
		for _, part := range c.Conditions {
			if depth < maxDepth {
				visit(part, depth+1)
			}
		}
		if c.Type == StatePredicate || c.Type == AllOf || c.Type == AnyOf {
			return
		}
		name := string(c.Type)
		if c.ID != "" {
			name = c.ID
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	visit(c, 0)
	return names
}
