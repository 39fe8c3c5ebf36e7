package assistant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"car/internal/assistant/store"
)

// work takes the inputs of a session one after the other until its life ends.
func (c *Conversation) work(life context.Context) {
	defer c.leave(life)
	for life.Err() == nil {
		if ctx, r := c.next(life); r != nil {
			end := r.execute(ctx)
			c.conclude(ctx, r, end)
			r.cancel(nil)
			continue
		}
		select {
		case <-c.wake:
		case <-life.Done():
		}
	}
}

// next takes the oldest input and makes its run the current one, in one step, so
// that a cancel finds either no run or this one.
func (c *Conversation) next(life context.Context) (context.Context, *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 || c.closed || c.lost != nil {
		c.rest()
		return nil, nil
	}
	in := c.queue[0]
	c.queue = c.queue[1:]
	c.number.Add(1)
	ctx, cancel := context.WithCancelCause(life)
	c.current = newRun(c, in, cancel)
	return ctx, c.current
}

// rest says that nothing runs. c.mu is held.
func (c *Conversation) rest() {
	select {
	case <-c.idle:
	default:
		close(c.idle)
	}
}

// conclude tells how a run ended, exactly once: the row of the turn is written, what
// waits goes back or on, then come the receipts, then the terminal event (A-EVT-1).
// A run whose input no message carries gives it back, and what waits behind it too:
// neither was delivered (P-WORK-7).
func (c *Conversation) conclude(ctx context.Context, r *run, end Body) {
	canceled := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	report := r.report()
	end = c.svc.lens.body(end)
	r.saveEnd(ctx, end)
	r.recordEnd(end)
	undelivered := !c.delivered[r.input.id]
	clear(c.delivered)
	outcome := r.outcome(end)
	if done, ok := end.(Done); ok { // the event says itself what its exit code will (P-TRUE-1)
		done.Refused = outcome.Refused
		end = done
	}
	c.release(ctx, outcome, canceled || undelivered)
	c.emit(report)
	c.emit(end)
}

// release lets go of the run: what was typed into it too late is queued, or
// everything that waits goes back to the person.
func (c *Conversation) release(ctx context.Context, o Outcome, giveBack bool) {
	c.accept.Lock()
	defer c.accept.Unlock()
	c.mu.Lock()
	c.queue = append(c.steers, c.queue...)
	if giveBack {
		c.queue = nil
	}
	c.steers, c.current, c.outcome = nil, nil, o
	c.mu.Unlock()
	if giveBack {
		c.giveBack(ctx)
	}
}

// giveBack returns what was queued to the person (P-WORK-7).
func (c *Conversation) giveBack(ctx context.Context) {
	rows, err := c.svc.cfg.Store.ReturnInputs(ctx, c.id)
	switch {
	case err != nil:
		c.emit(Notice{Code: "store", Text: "queued inputs could not be given back: " + err.Error()})
	case len(rows) > 0:
		c.emit(Notice{Code: "inputs_returned", Text: fmt.Sprintf("%d queued input(s) were not delivered and wait for you", len(rows))})
	}
}

// takeSteers hands the inputs that a person typed into the running turn to it.
func (c *Conversation) takeSteers() []waitingInput {
	c.mu.Lock()
	defer c.mu.Unlock()
	steers := c.steers
	c.steers = nil
	return steers
}

// beat shows other processes that this one lives, and stops the conversation when
// another took the session over (A-SVC-11).
func (c *Conversation) beat(life context.Context) {
	t := time.NewTicker(store.LeaseBeat)
	defer t.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-t.C:
		}
		err := c.svc.cfg.Store.BeatLease(life, c.id)
		var lost *store.LeaseLostError
		if errors.As(err, &lost) {
			c.mu.Lock()
			c.lost = err
			c.mu.Unlock()
			c.hub.publish(0, Notice{Code: CodeSessionBusy, Text: err.Error()})
			c.Cancel()
			return
		}
	}
}

// leave gives back what the conversation holds, when its worker ends.
func (c *Conversation) leave(life context.Context) {
	ctx := context.WithoutCancel(life)
	c.number.Store(0) // what is told from here on belongs to no run
	c.accept.Lock()
	c.mu.Lock()
	c.closed = true
	c.rest()
	c.mu.Unlock()
	c.giveBack(ctx)
	c.accept.Unlock()
	if c.runtime != nil && c.runtime.Close != nil {
		bounded, cancel := context.WithTimeout(ctx, closeWait)
		defer cancel()
		if err := c.runtime.Close(bounded); err != nil {
			c.emit(Notice{Code: CodeEngine, Text: err.Error()})
		}
	}
	if err := c.svc.cfg.Store.ReleaseLease(ctx, c.id); err != nil {
		c.emit(Notice{Code: CodeStore, Text: err.Error()})
	}
}
