package verify

import (
	"maps"
	"slices"

	"car/internal/engine/ir"
)

// maxDerived bounds the states that are made from conditions.
const maxDerived = 64

// deriveStates makes states on which the conditions of either plan turn: for each
// precondition and dependency one that meets it and one that does not, with all
// others met as far as they agree. Equal states come once.
func deriveStates(plans ...ir.Proposal) []map[string]any {
	conditions := conditionsOf(plans)
	wanted := map[string][]ir.Precondition{}
	for _, c := range conditions {
		wanted[c.Key] = append(wanted[c.Key], c)
	}
	met := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if v, present := meeting(wanted[key]); present {
			met[key] = v
		}
	}
	var states []map[string]any
	seen := map[string]bool{}
	add := func(key string, v any, present bool) {
		state := maps.Clone(met)
		delete(state, key)
		if present {
			state[key] = v
		}
		if text := canonical(state); len(states) < maxDerived && !seen[text] {
			seen[text] = true
			states = append(states, state)
		}
	}
	for _, c := range conditions {
		v, present := meeting([]ir.Precondition{c})
		add(c.Key, v, present)
		v, present = failing(c)
		add(c.Key, v, present)
	}
	return states
}

// conditionsOf lists preconditions, and dependencies as the condition that a key
// exists, in the order of the plans.
func conditionsOf(plans []ir.Proposal) []ir.Precondition {
	var conditions []ir.Precondition
	for _, p := range plans {
		for _, a := range p.Actions {
			conditions = append(conditions, a.Preconditions...)
			for _, key := range a.StateDependencies {
				conditions = append(conditions, ir.Precondition{Key: key, Operator: "exists"})
			}
		}
	}
	return conditions
}

// meeting is a value, or absence, that meets as many of the conditions of one key as
// any candidate does; the first of several.
func meeting(conditions []ir.Precondition) (v any, present bool) {
	best := -1
	for _, c := range conditions {
		for _, candidate := range candidates(c) {
			n := 0
			for _, other := range conditions {
				if other.Holds(candidate.value, candidate.present) {
					n++
				}
			}
			if n > best {
				best, v, present = n, candidate.value, candidate.present
			}
		}
	}
	return v, present
}

// failing is a value, or absence, that does not meet a condition.
func failing(c ir.Precondition) (v any, present bool) {
	for _, candidate := range candidates(c) {
		if !c.Holds(candidate.value, candidate.present) {
			return candidate.value, candidate.present
		}
	}
	return nil, false
}

type candidate struct {
	value   any
	present bool
}

// candidates are the values around a condition's own: it, its neighbours, another
// kind of value, and absence.
func candidates(c ir.Precondition) []candidate {
	list := []candidate{{c.Value, true}, {[]any{c.Value}, true}, {"other", true}, {nil, false}}
	switch v := c.Value.(type) {
	case float64:
		list = append(list, candidate{v + 1, true}, candidate{v - 1, true})
	case bool:
		list = append(list, candidate{!v, true})
	}
	return list
}
