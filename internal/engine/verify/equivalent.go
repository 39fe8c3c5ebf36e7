package verify

import (
	"maps"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// Equivalence is whether two proposals leave the same over the states that were
// tried (V-VERIFY-11). False has a witness; true speaks of those states alone.
type Equivalence struct {
	Equivalent   bool `json:"equivalent"`
	StatesTested int  `json:"states_tested"`
	// Derived is how many of them were made from the plans' own conditions.
	Derived        int             `json:"derived"`
	Counterexample *Counterexample `json:"counterexample,omitempty"`
	report.Scope
}

// Counterexample is a state from which two proposals leave different things.
type Counterexample struct {
	State map[string]any `json:"state"`
	Left  Simulation     `json:"left"`
	Right Simulation     `json:"right"`
	// Keys are those that differ, sorted.
	Keys []string `json:"keys"`
}

// EquivalenceOptions say which states to try.
type EquivalenceOptions struct {
	// States to start from; none means the empty one and {x: 1, y: 2}.
	States []map[string]any
	// Derive adds, for each precondition and dependency of either plan, a state that
	// meets it and one that does not, the others met; 64 at most.
	Derive bool
}

// Equivalent compares what two proposals leave, by Simulate, from each state in turn
// until one tells them apart.
func Equivalent(left, right ir.Proposal, o EquivalenceOptions) Equivalence {
	states := o.States
	if len(states) == 0 {
		states = []map[string]any{{}, {"x": 1.0, "y": 2.0}}
	}
	e := Equivalence{Equivalent: true, Scope: report.Scope{Tier: report.Sampled,
		CannotVerify: []string{"states that were not tried", "tools that do other than they declare", "everything but the final state: order, cost, effects outside of state"}}}
	given := len(states)
	if o.Derive {
		states = append(slices.Clone(states), deriveStates(left, right)...)
	}
	for _, state := range states {
		e.StatesTested++
		l, r := Simulate(left, Options{State: state}), Simulate(right, Options{State: state})
		if keys := differing(l, r); len(keys) > 0 {
			e.Equivalent = false
			e.Counterexample = &Counterexample{State: state, Left: l, Right: r, Keys: keys}
			break
		}
	}
	e.Derived = max(0, e.StatesTested-given)
	return e
}

// differing are the keys on which two simulations do not agree, sorted.
func differing(l, r Simulation) []string {
	keys := map[string]bool{}
	compare := func(a, b Simulation) {
		for key, v := range a.State {
			if w, ok := b.State[key]; !ok || !ir.Equal(v, w) {
				keys[key] = true
			}
		}
		for _, key := range a.UnknownKeys {
			if _, found := slices.BinarySearch(b.UnknownKeys, key); !found {
				keys[key] = true
			}
		}
	}
	compare(l, r)
	compare(r, l)
	return slices.Sorted(maps.Keys(keys))
}
