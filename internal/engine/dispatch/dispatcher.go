package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/handle"
	"car/internal/engine/ir"
	"car/internal/engine/redact"
	"car/internal/engine/tool"
	"car/internal/engine/undo"
)

// Office redeems tickets; it is the Admitter that issued them.
type Office interface {
	Redeem(t admit.Ticket) (admit.Grant, error)
	// Enter is the last word before the hand moves; an error refuses it (G-TRACE-2).
	Enter(g admit.Grant) error
}

// Config makes a Dispatcher.
type Config struct {
	Office    Office
	Recorder  admit.Recorder
	Log       admit.Log
	Substrate tool.Substrate
	Previews  *Previews
	Redactor  *redact.Redactor
	// CarHome is the person's own folder, which no tool may read or write.
	CarHome string
	Now     func() time.Time
	// Sleep waits for a rate limit and ends with ctx.
	Sleep func(ctx context.Context, d time.Duration) error
	// Undo keeps what files were before they are changed; nil keeps nothing.
	Undo *undo.Journal
	// Web carries requests over HTTP; nil carries none.
	Web tool.Web
	// Patience is how long a command that may be detached is waited for before it goes on
	// as a job (T-SHELL-10); 0 waits to its end.
	Patience time.Duration
	// Warn is told what went wrong where no result can carry it; nil drops it.
	Warn func(error)
	// NewID mints handles of detached calls.
	NewID func() string
	// Grace is how long a tool may ignore its end before it is abandoned; 0 means 3 s, the time
	// in which every tool must end (T-SET-9, E-EXEC-6).
	Grace time.Duration
}

// Dispatcher runs tickets. Safe for concurrent use.
type Dispatcher struct {
	cfg     Config
	ledgers sync.Map // session → *Seen
	jobs    sync.Map // session → *jobs
	rates   *buckets
	streams *handle.Registry
	// abandoned are tools that ignored their end; Close waits for them.
	abandoned sync.WaitGroup
}

// New checks the configuration, or says which field is missing.
func New(c Config) (*Dispatcher, error) {
	switch {
	case c.Office == nil:
		return nil, errors.New("dispatch: Config.Office is nil")
	case c.Recorder == nil:
		return nil, errors.New("dispatch: Config.Recorder is nil")
	case c.Log == nil:
		return nil, errors.New("dispatch: Config.Log is nil")
	case c.Substrate == nil:
		return nil, errors.New("dispatch: Config.Substrate is nil")
	case c.Redactor == nil:
		return nil, errors.New("dispatch: Config.Redactor is nil")
	case c.Now == nil:
		return nil, errors.New("dispatch: Config.Now is nil")
	case c.Sleep == nil:
		return nil, errors.New("dispatch: Config.Sleep is nil")
	case c.NewID == nil:
		return nil, errors.New("dispatch: Config.NewID is nil")
	}
	if c.Warn == nil {
		c.Warn = func(error) {}
	}
	if c.Grace == 0 {
		c.Grace = 3 * time.Second
	}
	rates := &buckets{now: c.Now, sleep: c.Sleep, byTool: map[string]*bucket{}}
	d := &Dispatcher{cfg: c, rates: rates}
	d.streams = handle.New(c.NewID, c.Now, d.streamEnded)
	return d, nil
}

// Streams are the detached calls of this dispatcher.
func (d *Dispatcher) Streams() *handle.Registry { return d.streams }

// Close cancels detached calls and jobs and waits for them and for tools that were
// abandoned, until ctx ends.
func (d *Dispatcher) Close(ctx context.Context) error {
	d.jobs.Range(func(_, v any) bool { v.(*jobs).endAll(); return true })
	if err := d.streams.Close(ctx); err != nil {
		return errors.New("dispatch: a detached call that ignored its cancellation is still running")
	}
	done := make(chan struct{})
	go func() {
		d.jobs.Range(func(_, v any) bool { v.(*jobs).running.Wait(); return true })
		d.abandoned.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("dispatch: a tool that ignored its cancellation is still running")
	}
}

// Attempt is what one attempt came to.
type Attempt struct {
	Execution tool.Execution
	// Err is why it did not succeed; its text may go to the model.
	Err   error
	Class ir.ErrorClass
	// Refused says that the governor did not let it start; Dispatched that it did.
	Refused    bool
	Dispatched bool
	// Broken says that a durable row or the log could not be written: the run stops.
	Broken bool
	// Integrity says that an effect may have happened but its output is unusable (E-EXEC-9).
	Integrity bool
	Terminal  bool
	Changes   []ir.FileChange
	Duration  time.Duration
}

// Run spends a ticket. state is the attempt's own view of the store; progress
// may be nil. It returns when the tool has, or was abandoned.
func (d *Dispatcher) Run(ctx context.Context, t admit.Ticket, state tool.State, progress func(tail string)) Attempt {
	g, err := d.cfg.Office.Redeem(t)
	if err != nil {
		return refused(err, ir.ClassRejectedByPolicy)
	}
	if err := d.stillAsApproved(ctx, g); err != nil {
		return refused(err, ir.ClassRejectedByPolicy)
	}
	limited, cancel := context.WithCancel(ctx)
	if g.Call.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, g.Call.Timeout)
	}
	defer cancel()
	if err := d.rates.take(limited, g.Action.Tool, g.Spec.RateLimit); err != nil {
		a := Attempt{}
		a.Class, _, a.Err = classify(ctx, limited, g, err)
		return a
	}
	if err := d.begin(ctx, g); err != nil {
		return refused(err, ir.ClassRejectedByPolicy)
	}
	a := d.perform(ctx, limited, g, state, progress)
	if err := d.finish(ctx, g, &a); err != nil {
		a.Broken = true
		a.Err = errors.Join(a.Err, err)
	}
	return a
}

func refused(err error, class ir.ErrorClass) Attempt {
	return Attempt{Err: err, Class: class, Refused: true}
}

// stillAsApproved makes the preview again and compares it with the one a person said yes to (P-GUARD-2).
func (d *Dispatcher) stillAsApproved(ctx context.Context, g admit.Grant) error {
	if g.PreviewDigest == "" || d.cfg.Previews == nil {
		return nil
	}
	blocks, err := d.cfg.Previews.Preview(ctx, g.Tool, g.Call, g.Effects, g.Judgement)
	if err != nil {
		return fmt.Errorf("what was approved can no longer be shown: %w", err)
	}
	now, err := admit.PreviewDigest(blocks)
	if err != nil {
		return err
	}
	if now != g.PreviewDigest {
		return errors.New("what this call would change is no longer what was approved; read the file again and propose it anew")
	}
	return nil
}

// begin writes what must stand before the hand moves: the intent row, then the log.
// Between the two the gates that judge by what has happened have the last word.
func (d *Dispatcher) begin(ctx context.Context, g admit.Grant) error {
	if g.Row != nil {
		if err := d.cfg.Recorder.BeforeDispatch(ctx, *g.Row); err != nil {
			return err
		}
	}
	err := d.cfg.Office.Enter(g)
	if err == nil {
		err = d.logIntent(g)
	}
	if err != nil && g.Row != nil {
		gone := approval.Outcome{Reason: "never started: " + err.Error()}
		err = errors.Join(err, d.cfg.Recorder.AfterDispatch(context.WithoutCancel(ctx), g.Row.ID, gone))
	}
	return err
}

func (d *Dispatcher) logIntent(g admit.Grant) error {
	data := map[string]any{"attempt": float64(g.Attempt), "tier": g.Judgement.Tier.Needed().String(),
		"reversibility": g.Judgement.Reversibility.String(), "allowed_by": g.AllowedBy}
	if g.Tool != nil {
		data["tool"], data["tool_source"] = g.Action.Tool, g.Source.String()
	}
	if g.Row != nil {
		data["effect_id"] = string(g.Row.ID)
	}
	if g.Call.Turn != 0 {
		data["turn"] = float64(g.Call.Turn)
	}
	if g.Effects.Shell.Text != "" {
		data["shell"] = true
	}
	if g.Effects.Program != nil {
		data["program"] = true
	}
	if facts := g.Judgement.Record(); facts != nil {
		data["facts"] = facts
	}
	if _, err := d.cfg.Log.Append(eventlog.Event{Kind: eventlog.ActionExecuting, ProposalID: g.Proposal, ActionID: g.Action.ID, Data: data}); err != nil {
		return fmt.Errorf("log the intent: %w", err)
	}
	return nil
}

// finish writes the outcome row; also after ctx has ended, since it happened.
func (d *Dispatcher) finish(ctx context.Context, g admit.Grant, a *Attempt) error {
	if a.Err == nil && g.Call.Mode != ir.OneShot {
		d.detach(g, a)
		return nil // the row closes with the stream
	}
	if g.Row == nil {
		return nil
	}
	o := approval.Outcome{Completed: a.Err == nil, Receipt: d.receipt(g, a)}
	if a.Err != nil {
		o.Reason, _ = d.cfg.Redactor.String(a.Err.Error())
		o.Indeterminate = errors.Is(a.Err, errAbandoned) || a.Integrity
	}
	return d.cfg.Recorder.AfterDispatch(context.WithoutCancel(ctx), g.Row.ID, o)
}
