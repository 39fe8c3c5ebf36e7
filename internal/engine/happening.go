package engine

import (
	"maps"
	"slices"

	"car/internal/engine/admit"
	"car/internal/engine/dispatch"
	"car/internal/engine/ir"
	"car/internal/engine/state"
)

// tellEnded passes the end of an attempted action on to the gates that remember.
// What was refused did not happen.
func (r *run) tellEnded(i int, last dispatch.Attempt) {
	if !last.Dispatched || !r.rt.admitter.Remembers() {
		return
	}
	h := r.adm.Happening(i, admit.Ended)
	h.Status, h.Output = ir.Succeeded, last.Execution.Output
	if last.Err != nil {
		h.Status, h.Output = ir.Failed, faultOutput(last.Err)
	}
	h.Wrote = slices.Sorted(maps.Keys(r.results[i].StateChanges))
	r.rt.admitter.Tell(h)
}

// tellReused passes on a result that an earlier one answered.
func (r *run) tellReused(i int, output any) {
	if r.rt.admitter.Remembers() {
		h := r.adm.Happening(i, admit.Ended)
		h.Status, h.Output, h.Reused = ir.Succeeded, output, true
		r.rt.admitter.Tell(h)
	}
}

// tellKept passes on which state is there to stay, and whose it is.
func (r *run) tellKept(transitions []state.Transition) {
	if len(transitions) == 0 || !r.rt.admitter.Remembers() {
		return
	}
	wrote := map[ir.ActionID][]string{}
	for _, t := range transitions {
		wrote[t.ActionID] = append(wrote[t.ActionID], t.Key)
	}
	for i, a := range r.p.Actions {
		if keys := wrote[a.ID]; len(keys) > 0 {
			h := r.adm.Happening(i, admit.Kept)
			h.Status, h.Wrote = r.results[i].Status, keys
			r.rt.admitter.Tell(h)
		}
	}
}
