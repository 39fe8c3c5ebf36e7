package engine

import (
	"context"
	"fmt"

	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/state"
	"car/internal/engine/undo"
)

// rolledBackError is what a success reads whose state went back (E-STATE-4).
const rolledBackError = "proposal aborted; state effects were rolled back; external effects may remain and were not undone"

// noteTransitions records what an attempt wrote, as its own and provisional.
func (r *run) noteTransitions(a ir.Action, transitions []state.Transition) {
	if len(transitions) == 0 && len(a.ExpectedEffects) == 0 {
		return
	}
	changes := state.Changes(transitions)
	i := r.byID[a.ID]
	r.update(i, func(res *ir.ActionResult) { res.StateChanges = changes })
	r.log(eventlog.Event{Kind: eventlog.StateChanged, ActionID: a.ID, Data: map[string]any{
		"declared_expected_effects": a.ExpectedEffects, "runtime_state_mutations": jsonValue(changes), "changes": jsonValue(changes),
		"changes_semantics": "provisional_state_mutations", "attempted": true, "stage": "state_effect",
	}})
}

// end commits the proposal's state or takes it back: the boundary that makes
// provisional changes final (E-STATE-2).
func (r *run) end(ctx context.Context) {
	if r.candidate {
		r.endCandidate(ctx)
		return
	}
	if r.abort == nil && !r.wantsReplan(ctx) {
		transitions, err := r.tx.Commit()
		if err != nil {
			r.breakWith(err)
			return
		}
		r.tellKept(transitions)
		r.log(eventlog.Event{Kind: eventlog.StateCommitted, Data: map[string]any{
			"affected_actions": r.affected(transitions), "committed_changes": jsonValue(state.Changes(transitions)),
			"changes_semantics": "committed_provisional_state_mutations", "proposal_digest": string(r.digest()),
			"attempted": true, "stage": "proposal_commit",
		}})
		return
	}
	r.takeBack(ctx, proposalWords)
}

// boundaryWords are what the record of a rollback says: of a proposal, or of a
// plan candidate that did not make it.
type boundaryWords struct{ to, semantics, stage, success string }

var (
	proposalWords = boundaryWords{"pre-proposal snapshot", "rolled_back_provisional_state_mutations", "proposal_rollback", rolledBackError}
	planWords     = boundaryWords{"pre-plan snapshot", "rolled_back_failed_planning_candidate", "plan_fallback_rollback",
		"planning candidate rejected; state effects were rolled back; external effects may remain and were not undone"}
)

// takeBack compensates, restores state and forgets what this run kept for reuse.
func (r *run) takeBack(ctx context.Context, words boundaryWords) {
	r.cancelDetached()
	r.compensate(ctx)
	files := r.takeFilesBack()
	undone := r.tx.Rollback()
	r.rollback = &ir.Rollback{State: undone.Durability.String(), Files: files.Restored, Conflicts: files.Conflicts}
	for _, key := range undone.Conflicts {
		r.rollback.Conflicts = append(r.rollback.Conflicts, fmt.Sprintf("state['%s']", key))
	}
	if undone.Durability == state.RollbackFailed {
		r.noteRollbackFailed(undone.Err)
		return
	}
	r.rt.cfg.Idem.Forget(r.reused...)
	r.rt.cache.Forget(r.reused...)
	restored := map[string]any{}
	for _, t := range undone.Restored {
		restored[t.Key] = t.Old
	}
	unknown := undone.Durability == state.DurabilityUnknown
	if unknown {
		r.noteRollback(fmt.Sprintf(rollbackUnknown, undone.Err))
	}
	if undone.Durability != state.NothingUndone {
		r.log(eventlog.Event{Kind: eventlog.StateSnapshot, Data: map[string]any{"state": restored}})
	}
	r.log(eventlog.Event{Kind: eventlog.StateRollback, Data: map[string]any{
		"rolled_back_to": words.to, "affected_actions": r.affected(undone.Restored),
		"rolled_back_changes": jsonValue(state.Changes(undone.Restored)), "changes_semantics": words.semantics,
		"proposal_digest": string(r.digest()), "attempted": true, "durability_unknown": unknown,
		"publication_succeeded": true, "rollback_succeeded": true, "stage": words.stage,
	}})
	for i := range r.results {
		if r.results[i].Status == ir.Succeeded && !r.deduplicated[i] {
			r.update(i, func(res *ir.ActionResult) {
				res.RolledBack, res.Error, res.StateChanges = true, words.success, map[string]ir.StateChange{}
			})
		}
	}
}

// takeFilesBack puts back the files that this run changed, and says what it
// cannot speak for: a shell's own writes (B-FILE-2).
func (r *run) takeFilesBack() dispatch.TakenBack {
	if r.opts.FileRollback == FilesStay || r.rt.cfg.Undo == nil {
		return dispatch.TakenBack{}
	}
	done, err := r.rt.dispatcher.TakeBack(undo.OfProposal(r.p.ID))
	data := map[string]any{"restored": done.Restored, "conflicts": done.Conflicts, "unavailable": done.Unavailable, "uncovered": r.ranAShell()}
	if err != nil {
		data["error"] = err.Error()
	}
	if err != nil || len(done.Restored)+len(done.Conflicts)+len(done.Unavailable) > 0 || r.ranAShell() {
		r.log(eventlog.Event{Kind: eventlog.FilesRolledBack, Data: data})
	}
	return done
}

// ranAShell reports that a command or a program ran, for whose writes nothing is claimed.
func (r *run) ranAShell() bool {
	for i, res := range r.results {
		if res.Attempts > 0 && r.adm.RunsProcess(i) {
			return true
		}
	}
	return false
}

// cancelDetached ends the calls of this run that still go on (E-DET-3).
func (r *run) cancelDetached() {
	for i, res := range r.results {
		if r.p.Actions[i].InvocationMode == ir.OneShot || res.Status != ir.Succeeded {
			continue
		}
		out, _ := res.Output.(map[string]any)
		if id, ok := out["tool_handle"].(string); ok && r.rt.Streams().Cancel(id) {
			r.log(eventlog.Event{Kind: eventlog.ToolHandleCancelled, ActionID: res.ActionID, Data: map[string]any{"handle": id}})
		}
	}
}

// affected are the actions that wrote, in the proposal's order: in a concurrent
// level it is chance whose writes land first.
func (r *run) affected(transitions []state.Transition) []any {
	wrote := map[ir.ActionID]bool{}
	for _, t := range transitions {
		wrote[t.ActionID] = true
	}
	out := []any{}
	for _, a := range r.p.Actions {
		if wrote[a.ID] {
			out = append(out, string(a.ID))
		}
	}
	return out
}
