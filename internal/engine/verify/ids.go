package verify

import (
	"slices"

	"car/internal/engine/ir"
)

// findBadIDs is action_ids: what makes the engine refuse a proposal for its ids
// alone (E-DAG-3).
func findBadIDs(r *run) []finding {
	var found []finding
	for _, fault := range r.plan.Faults {
		f := on(fault.Index, fault.Text, "rename one of the two")
		switch {
		case fault.Cycle != nil:
			f.fix, f.witness = "take one of these dependencies away", sorted(fault.Cycle...)
		case fault.Doubles != nil:
			f.witness = fault.Doubles
		default:
			f.fix = "name an action of this proposal, or take the dependency away"
		}
		found = append(found, f)
	}
	return found
}

// byID finds an action; the first of a doubled id.
func (r *run) byID(id ir.ActionID) (int, bool) { return r.plan.ByID(id) }

// sorted is indices ascending, each once.
func sorted(indices ...int) []int {
	s := slices.Clone(indices)
	slices.Sort(s)
	return slices.Compact(s)
}
