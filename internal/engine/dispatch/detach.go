package dispatch

import (
	"context"

	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/handle"
	"car/internal/engine/ir"
)

// detach lets the rest of a call go on beside the DAG; its handle is the result (E-DET-1).
func (d *Dispatcher) detach(g admit.Grant, a *Attempt) {
	owner := handle.Owner{Session: g.Call.Session, Proposal: g.Proposal}
	if g.Row != nil {
		owner.Effect = string(g.Row.ID)
	}
	stream := a.Execution.Stream
	id := d.streams.Start(g.Action.Tool, g.Action.ID, owner, func(ctx context.Context, emit func(ir.Chunk)) {
		stream(ctx, func(c ir.Chunk) { emit(d.masked(c)) })
	})
	a.Execution.Output = map[string]any{"tool_handle": id, "status": ir.StreamRunning.String()}
}

// masked is a chunk with the secrets of its texts gone (D-38).
func (d *Dispatcher) masked(c ir.Chunk) ir.Chunk {
	c.Text, _ = d.cfg.Redactor.String(c.Text)
	c.Message, _ = d.cfg.Redactor.String(c.Message)
	if text, ok := c.Result.(string); ok {
		c.Result, _ = d.cfg.Redactor.String(text)
	}
	return c
}

// streamEnded writes the outcome row of a detached call. A row that cannot be
// written stays dispatched, and the next start calls it indeterminate.
func (d *Dispatcher) streamEnded(p handle.Poll, o handle.Owner) {
	if o.Effect == "" {
		return
	}
	out := approval.Outcome{Completed: p.Status == ir.StreamSucceeded, Reason: p.Error}
	if p.Status == ir.StreamCancelled {
		out.Reason = "cancelled"
	}
	if err := d.cfg.Recorder.AfterDispatch(context.Background(), approval.EffectID(o.Effect), out); err != nil {
		d.cfg.Warn(err)
	}
}
