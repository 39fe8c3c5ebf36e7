package montecarlo

import (
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/model"
)

// dependents lists for every call the actions that rest on it, directly or through
// others: those that wait for its success, or look at a key that it writes and come
// later. It is what a failure can take along. Other actions have none.
func dependents(plan *model.Plan) []group {
	n := len(plan.Actions)
	d := collector{n: n, ofKey: make([]dag.Set, len(plan.Keys)), ofAction: make([]dag.Set, n)}
	for _, level := range slices.Backward(plan.Levels()) {
		// Actions that run at the same time do not see each other's effects.
		if !level.Sequential {
			for _, i := range level.Actions {
				d.gather(plan, i)
			}
		}
		for _, i := range slices.Backward(level.Actions) {
			if level.Sequential {
				d.gather(plan, i)
			}
			d.pass(plan, i)
		}
	}
	groups := make([]group, n)
	for i, set := range d.ofAction {
		if plan.Actions[i].Type == ir.ToolCall && set != nil {
			groups[i] = newGroup(set)
		}
	}
	return groups
}

// group is a set of actions, in the form that is quicker to count: a list of few, or
// bits of many. The zero value is empty.
type group struct {
	few  []int32
	many dag.Set
}

func newGroup(s dag.Set) group {
	if s.Common(s) > len(s) {
		return group{many: s}
	}
	return group{few: s.Members()}
}

// in counts the members that are in a set.
func (g group) in(s dag.Set) int {
	if g.many != nil {
		return g.many.Common(s)
	}
	n := 0
	for _, i := range g.few {
		if s.Has(int(i)) {
			n++
		}
	}
	return n
}

// collector goes backward through the walk. ofKey is what looks at a key from here on,
// with all that rests on it; ofAction likewise for an action.
type collector struct {
	n               int
	ofKey, ofAction []dag.Set
}

// gather completes what rests on an action by what looks at the keys it writes.
func (d *collector) gather(plan *model.Plan, i int) {
	for _, key := range plan.Writes(i) {
		d.ofAction[i] = d.join(d.ofAction[i], d.ofKey[key])
	}
}

// pass adds an action, and what rests on it, to all that it rests on itself.
func (d *collector) pass(plan *model.Plan, i int) {
	if _, reserved := plan.ReservedBy(i); reserved {
		return
	}
	self := d.join(dag.NewSet(d.n), d.ofAction[i])
	self.Add(i)
	for _, j := range plan.Requires(i) {
		d.ofAction[j] = d.join(d.ofAction[j], self)
	}
	for _, key := range plan.Needs(i) {
		d.ofKey[key] = d.join(d.ofKey[key], self)
	}
}

// join adds a set, which may be nil, to another, which is made when it is.
func (d *collector) join(to, more dag.Set) dag.Set {
	if more == nil {
		return to
	}
	if to == nil {
		to = dag.NewSet(d.n)
	}
	for w, bits := range more {
		to[w] |= bits
	}
	return to
}
