package engine

import (
	"time"

	"car/internal/engine/ir"
)

// reservation is what actions that are about to run take from the budget at least.
type reservation struct{ calls, actions int }

// reserve counts an action of the current level before any of it runs, so that a
// concurrent level cannot overrun the budget (F-6).
func (r *run) reserve(i int) {
	r.reserved.actions++
	if r.p.Actions[i].Type == ir.ToolCall {
		r.reserved.calls++
	}
}

// overBudget reports that the action at index i may not run any more.
func (r *run) overBudget(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent {
		return true
	}
	b, c := r.opts.Budget, r.cost
	ran := c.ActionsExecuted + c.ActionsRejected
	switch {
	case b.MaxActions > 0 && ran+r.reserved.actions >= b.MaxActions,
		b.MaxToolCalls > 0 && r.p.Actions[i].Type == ir.ToolCall && c.ToolAttempts+r.reserved.calls >= b.MaxToolCalls,
		b.MaxDuration > 0 && time.Duration(c.TotalDurationMS)*time.Millisecond >= b.MaxDuration:
		r.spent = true
	}
	return r.spent
}
