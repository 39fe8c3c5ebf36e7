package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/state"
	"car/internal/engine/tool"
)

// Backoff between attempts (E-FAIL-2).
const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// backoff is the wait before attempt n+1: doubling, capped, never overflowing.
func backoff(first time.Duration, n int) time.Duration {
	wait := first
	for range n - 1 {
		if wait >= maxBackoff {
			break
		}
		wait *= 2
	}
	return min(wait, maxBackoff)
}

// attemptAll gives an action its attempts and settles it.
func (r *run) attemptAll(ctx context.Context, i int) {
	if rejection := r.adm.Rejected(i); rejection != nil {
		r.reject(i, *rejection)
		return
	}
	again, known, err := r.recall(ctx, i)
	switch {
	case err != nil:
		r.settleAttempt(i, 0, dispatch.Attempt{Err: fmt.Errorf("canceled: %w", err), Class: ir.ClassCanceled}, "")
		return
	case known:
		return
	}
	if why := r.prove(ctx, i); why != nil {
		if again != nil {
			again.Drop()
		}
		r.reject(i, *why)
		return
	}
	r.remember(i, again, r.attempts(ctx, i))
}

// attempts tries an action as often as it may, settles it, and returns the last attempt.
func (r *run) attempts(ctx context.Context, i int) dispatch.Attempt {
	most, first := r.rt.harness.tries(r.adm.Attempts(i))
	for n := 1; ; n++ {
		last, allowedBy := r.attempt(ctx, i, n)
		again := last.Err != nil && last.Dispatched && !last.Terminal && !last.Integrity && !last.Broken && last.Class != ir.ClassCanceled && n < most
		if !again {
			r.settleAttempt(i, n, last, allowedBy)
			return last
		}
		r.log(eventlog.Event{Kind: eventlog.ActionRetrying, ActionID: r.p.Actions[i].ID, Data: map[string]any{"attempt": float64(n)}})
		if r.rt.cfg.Sleep(ctx, backoff(first, n)) != nil {
			r.settleAttempt(i, n, last, allowedBy)
			return last
		}
	}
}

// attempt draws a ticket and spends it. State it wrote lands only when it succeeded (E-EXEC-8).
func (r *run) attempt(ctx context.Context, i, n int) (dispatch.Attempt, string) {
	ticket, err := r.adm.Draw(i, n)
	if err != nil {
		return dispatch.Attempt{Err: err, Class: ir.ClassRejectedByPolicy, Refused: true}, ""
	}
	a := r.p.Actions[i]
	buffer := r.tx.Attempt(a.ID)
	start := r.rt.cfg.Now()
	var view tool.State = buffer
	if a.Type != ir.ToolCall {
		view = buffer.Of(r.opts.Scope.TenantID)
	}
	if r.shared {
		view = readOnly{view}
	}
	done := r.rt.dispatcher.Run(ctx, ticket, view, func(tail string) {
		r.opts.Observer.Progress(a.ID, tail, r.rt.cfg.Now().Sub(start))
	})
	if done.Err == nil && a.Type == ir.ToolCall && a.InvocationMode == ir.OneShot {
		if findings := r.adm.CheckOutput(i, done.Execution.Output); len(findings) > 0 {
			done.Err, done.Class = fmt.Errorf("output validation: %s", strings.Join(findings, "; ")), ir.ClassValidation
		}
	}
	if done.Err == nil {
		if done.Err = r.land(a, buffer, done); done.Err != nil {
			done.Class = dispatch.ClassOfText(done.Err.Error(), a.Type == ir.ToolCall)
		}
	}
	buffer.Discard()
	return done, ticket.AllowedBy()
}

// readOnly is state in a run that shares its turn: a tool that said it only reads
// and writes all the same fails (B-CONC-1).
type readOnly struct{ tool.State }

// Set refuses.
func (readOnly) Set(key string, _ any) error {
	return fmt.Errorf("state key '%s': a tool that is registered as read-only may not write", key)
}

// land applies the state changes that a tool returned and commits the attempt (E-EXEC-7).
func (r *run) land(a ir.Action, buffer *state.Attempt, done dispatch.Attempt) error {
	changes := done.Execution.StateChanges
	if r.shared && len(changes) > 0 {
		return fmt.Errorf("tool '%s' is registered as read-only and returned state changes", a.Tool)
	}
	if len(changes) > 0 {
		got, want := slices.Sorted(maps.Keys(changes)), slices.Sorted(maps.Keys(a.ExpectedEffects))
		if !slices.Equal(got, want) {
			return fmt.Errorf("tool '%s' callback state_changes keys do not match action '%s': expected %v, got %v", a.Tool, a.ID, want, got)
		}
		for _, key := range got {
			if err := applyChange(buffer.Of(r.opts.Scope.TenantID), key, changes[key]); err != nil {
				return err
			}
		}
	}
	transitions, err := buffer.Commit()
	if err != nil {
		return err
	}
	r.noteTransitions(a, transitions)
	return nil
}

func applyChange(buffer state.Scoped, key string, c ir.StateChange) error {
	switch c.Op {
	case "set":
		return buffer.Set(key, c.Value)
	case "delete":
		return buffer.Delete(key)
	default:
		return fmt.Errorf("state_changes['%s'] has op %q, neither set nor delete", key, c.Op)
	}
}

// settleAttempt turns the last attempt into the action's result and event.
func (r *run) settleAttempt(i, n int, last dispatch.Attempt, allowedBy string) {
	a := r.p.Actions[i]
	if last.Broken {
		r.breakWith(last.Err)
	}
	r.update(i, func(res *ir.ActionResult) {
		res.DurationMS = last.Duration.Milliseconds()
		if last.Dispatched {
			res.Attempts = n
		}
		res.FileChanges, res.AllowedBy, res.Tier = last.Changes, allowedBy, r.adm.Judgement(i).Tier.Needed()
		if last.Err == nil {
			res.Status, res.Output, res.Blocks = ir.Succeeded, last.Execution.Output, last.Execution.Blocks
			return
		}
		res.Status, res.Error, res.ErrorClass, res.Terminal = ir.Failed, last.Err.Error(), last.Class, last.Terminal
		res.Output = faultOutput(last.Err)
		switch {
		case last.Refused:
			res.Status = ir.Rejected
		case a.FailureBehavior == ir.Skip && !last.Terminal && !last.Integrity:
			res.Status = ir.Skipped
		}
	})
	r.logOutcome(i, n, last)
	r.tellEnded(i, last)
	res := r.results[i]
	if res.Status == ir.Failed && (a.FailureBehavior == ir.Abort || last.Terminal || last.Integrity) {
		r.abortBy(a.ID)
	}
	r.finish(i)
}

// faultOutput is what a failed tool wants the model to see beside its text.
func faultOutput(err error) any {
	var f *tool.Fault
	if errors.As(err, &f) {
		return f.Output
	}
	return nil
}

func (r *run) abortBy(id ir.ActionID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.abort == nil {
		r.abort = &abortion{by: id}
	}
}

func (r *run) update(i int, f func(*ir.ActionResult)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.results[i])
	r.results[i].Timestamp = r.rt.cfg.Now().UTC()
}

// finish makes a result final and tells who watches.
func (r *run) finish(i int) {
	r.mu.Lock()
	r.settled[i] = true
	r.completed = append(r.completed, i)
	r.cost.Add(r.p.Actions[i], r.results[i])
	res := r.results[i]
	r.mu.Unlock()
	r.endSpan(i, res.Status)
	r.opts.Observer.Finished(res)
}
