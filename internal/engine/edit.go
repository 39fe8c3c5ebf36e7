package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"car/internal/engine/admit"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// maxEdits bounds how often a person may change the calls of one proposal (E-PIPE-7).
const maxEdits = 3

// ask puts the open questions of a group of actions. Where a person changed an
// action's parameters, the next generation is judged from the beginning and the
// changed action is asked about as it now stands; what ran stays.
func (r *run) ask(ctx context.Context, open []int) (admit.Asked, error) {
	for edits := 1; ; edits++ {
		asked, err := r.adm.Ask(ctx, open)
		if err != nil || len(asked.Edits) == 0 || asked.Stop {
			r.dropEdits(asked, "changed by the person, and not run")
			return asked, err
		}
		if edits > maxEdits {
			r.dropEdits(asked, fmt.Sprintf("changed more than %d times; propose it again as the person wants it", maxEdits))
			return asked, nil
		}
		r.edit(ctx, asked.Edits)
	}
}

// dropEdits refuses the actions whose edits will not be followed.
func (r *run) dropEdits(asked admit.Asked, reason string) {
	for i := range asked.Edits {
		r.adm.Reject(i, admit.Rejection{Stage: admit.StageApproval, Event: eventlog.ActionRejected, Reason: reason})
	}
}

// edit starts the generation in which the person's parameters stand in place of
// the model's. A generation that is refused leaves the one before in force,
// without the edited actions.
func (r *run) edit(ctx context.Context, edits map[int]map[string]any) {
	next := r.p
	next.Actions = slices.Clone(r.p.Actions)
	var changed []string
	for _, i := range slices.Sorted(maps.Keys(edits)) {
		next.Actions[i].Parameters = edits[i]
		changed = append(changed, string(next.Actions[i].ID))
	}
	next.ID = ir.ProposalID(fmt.Sprintf("%s~%d", r.original, len(r.lineage)+1))
	options := r.admission(len(r.lineage))
	options.Edited = slices.Collect(maps.Keys(edits))
	adm, whole, err := r.rt.admitter.Admit(ctx, next, options)
	if err != nil {
		r.breakWith(err)
	}
	if err != nil || whole != nil {
		reason := "the edited call was refused"
		if whole != nil {
			reason += ": " + whole.Reason
			r.lineage = append(r.lineage, ir.LineageEntry{Generation: len(r.lineage), ProposalID: next.ID, Status: ir.LineageRejected, RejectionReason: whole.Reason})
		}
		r.dropEdits(admit.Asked{Edits: edits}, reason)
		return
	}
	last := &r.lineage[len(r.lineage)-1]
	last.RejectionReason = "edited by the person: " + fmt.Sprint(changed)
	if !r.anyRan() {
		last.Status = ir.LineageRejected
	}
	r.p, r.adm = next, adm
	r.accept()
}

// anyRan reports whether an action of this proposal was attempted.
func (r *run) anyRan() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.results, func(res ir.ActionResult) bool { return res.Attempts > 0 })
}
