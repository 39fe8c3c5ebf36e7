package verify

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// findBadCompensation is compensation_resolution: an undo that names nothing that
// is there, could not be kept, or is promised and not given (B-COMP-4).
func findBadCompensation(r *run, i int) []finding {
	var found []finding
	a := &r.p.Actions[i]
	if a.Compensation != nil {
		switch a.Compensation.Type {
		case ir.CompensateByTool:
			found = r.badUndoTool(i, a.Compensation)
		case ir.CompensateByAction:
			found = r.badUndoAction(i, a.Compensation.ActionID)
		}
	}
	if a.MissingRequiredCompensation() {
		found = append(found, on(i, "action declares reversibility 'compensable' but no compensation", "declare the compensation, or call the action irreversible"))
	}
	return append(found, r.waitsForReserved(i)...)
}

func (r *run) badUndoTool(i int, c *ir.Compensation) []finding {
	tool := report.Clip(c.Tool)
	if r.registry.lacks(c.Tool) {
		return []finding{on(i, fmt.Sprintf("compensation names tool '%s', which is not registered", tool), "name a registered tool as the compensation", r.registry.known(c.Tool))}
	}
	if !r.o.Schemas.Has(c.Tool) {
		return nil
	}
	var found []finding
	for _, text := range r.o.Schemas.Schema(c.Tool).Check(c.Parameters) {
		found = append(found, on(i, fmt.Sprintf("compensation tool '%s': %s", tool, text), "correct the parameters of the compensation"))
	}
	return found
}

func (r *run) badUndoAction(i int, id ir.ActionID) []finding {
	name := report.Clip(id)
	target, ok := r.byID(id)
	switch {
	case !ok:
		return []finding{on(i, fmt.Sprintf("compensation references action '%s', which is not in this proposal", name), "add the compensating action to the proposal, or name a tool")}
	case target == i:
		return []finding{on(i, fmt.Sprintf("compensation references action '%s', which is the action itself", name), "name another action of the proposal")}
	case r.p.Actions[target].Compensation != nil:
		return []finding{on(i, fmt.Sprintf("compensation references action '%s', which has a compensation of its own", name), "take the compensation off the compensating action").shownBy(min(i, target), max(i, target))}
	default:
		return nil
	}
}

// waitsForReserved finds order on an action that never runs forward.
func (r *run) waitsForReserved(i int) []finding {
	var found []finding
	said := map[int]bool{}
	for _, ids := range [2][]ir.ActionID{r.p.Actions[i].Dependencies, r.p.Actions[i].After} {
		for _, id := range ids {
			j, ok := r.byID(id)
			if !ok || said[j] {
				continue
			}
			by, reserved := r.plan.ReservedBy(j)
			if !reserved {
				continue
			}
			said[j] = true
			f := on(i, fmt.Sprintf("action waits for '%s', which is reserved as compensation for '%s' and never runs forward", report.Clip(id), r.name(by)), "wait for another action, or give the undo an action of its own")
			found = append(found, f.shownBy(sorted(i, j, by)...))
		}
	}
	return found
}

func compensationVerify(r *run) string {
	if !compensationRan(r) {
		return "(skipped: no tool registry was supplied, and no action names another as its compensation)"
	}
	return "every declared compensation names something that is there and can run, and a compensable action declares one"
}

func compensationRan(r *run) bool {
	if r.registry.given || r.counts["compensation_resolution"] > 0 {
		return true
	}
	for _, a := range r.p.Actions {
		if a.Compensation != nil && a.Compensation.Type == ir.CompensateByAction {
			return true
		}
	}
	return false
}
