package engine

import (
	"fmt"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/state"
)

// What a result reads whose state could not be taken back, or perhaps not for good
// (E-STATE-3). They are for people: what follows from them is ir.Rollback.State.
const (
	rollbackFailed  = "durable state rollback failed before publication; in-memory state and idempotency entries were preserved: %v"
	rollbackUnknown = "state rollback was published but parent-directory durability is unknown; idempotency entries were invalidated for exact retry: %v"
)

// undurable reports a rollback after which nothing else may be tried.
func (r *run) undurable() bool {
	return r.rollback != nil && r.rollback.State != state.NothingUndone.String() && r.rollback.State != state.Durable.String()
}

// noteRollbackFailed records that state stands as the aborted proposal left it: no
// result is marked, and what was kept for reuse stays good.
func (r *run) noteRollbackFailed(err error) {
	text := fmt.Sprintf(rollbackFailed, err)
	r.noteRollback(text)
	r.log(eventlog.Event{Kind: eventlog.ActionFailed, Data: map[string]any{
		"error": text, "attempted": true, "publication_succeeded": false, "in_memory_state_preserved": true,
		"idempotency_entries_preserved": true, "rollback_succeeded": false, "stage": proposalWords.stage,
	}})
}

// noteRollback adds a text to the first result that is no success, for whoever
// reads results alone.
func (r *run) noteRollback(text string) {
	r.rollback.Error = text
	for i := range r.results {
		if r.results[i].Status == ir.Succeeded {
			continue
		}
		r.update(i, func(res *ir.ActionResult) {
			if res.Error != "" {
				res.Error += "; "
			}
			res.Error += text
		})
		return
	}
}
