package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/handle"
	"car/internal/engine/idem"
	"car/internal/engine/ir"
	"car/internal/engine/redact"
	"car/internal/engine/span"
	"car/internal/engine/state"
	"car/internal/engine/tool"
	"car/internal/engine/trajectory"
	"car/internal/engine/undo"
)

// Config is everything a Runtime stands on. A runtime belongs to one session: its
// log, state and read ledger are the session's own; tools, policy and substrate
// may be shared.
type Config struct {
	Tools    admit.Tools
	Judge    admit.Judge
	Gates    []admit.Gate
	Approver admit.Approver // nil: every question is a refusal
	Recorder admit.Recorder
	// Book keeps standing decisions by fingerprint; nil keeps none.
	Book      approval.Book
	Log       admit.Log
	State     *state.Store
	Substrate tool.Substrate
	Redactor  *redact.Redactor
	// Web carries the requests of tools over HTTP; nil carries none.
	Web tool.Web
	// CarHome is the person's own folder, closed to every tool.
	CarHome string
	// EnvDigest stands for the environment of children in approvals.
	EnvDigest ir.Digest
	Now       func() time.Time
	// Idem remembers idempotent calls; nil remembers for this runtime only.
	Idem *idem.Store
	// Sleep waits between retries and for rate limits, and ends with ctx; nil uses a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Undo keeps what files were before they are changed; nil keeps nothing and takes nothing back.
	Undo *undo.Journal
	// Spans follows how long proposals and actions take; nil follows nothing (E-LOG-4).
	Spans *span.Recorder
	// Patience is how long a command that names no limit is waited for before it goes on as
	// a job, where somebody watches (T-SHELL-10); 0 waits to its end.
	Patience time.Duration
	// Transactions says what hazards between actions and shared state do (E-PIPE-2).
	Transactions TransactionMode
	// AfterExecute is told what every proposal came to, with the outputs' effects on
	// state; nil is nobody. It is the seam for learning and must not block.
	AfterExecute func(trajectory.Trajectory)
	// Warn is told what went wrong where no result can carry it; nil drops it.
	Warn func(error)
	// NewID mints session ids; nil mints UUIDs.
	NewID func() string
	// MaxParallel bounds a concurrent level; 0 means 16 (E-DAG-4).
	MaxParallel int
	// GateTimeout bounds one gate; 0 means 10 s.
	GateTimeout time.Duration
}

// Runtime executes proposals. Safe for concurrent use; proposals run one at a
// time, but none waits for another's questions.
type Runtime struct {
	cfg        Config
	admitter   *admit.Admitter
	dispatcher *dispatch.Dispatcher
	cache      *dispatch.Cache
	rules      *rules
	replanning replanning
	harness    harness
	// turns: whoever has one may check state, dispatch and record (B-CONC-2).
	turns turns
}

// New builds the rooms behind the door, or says which field is wrong.
func New(c Config) (*Runtime, error) {
	switch {
	case c.State == nil:
		return nil, errors.New("engine: Config.State is nil")
	case c.Substrate == nil:
		return nil, errors.New("engine: Config.Substrate is nil")
	case c.Now == nil:
		return nil, errors.New("engine: Config.Now is nil")
	}
	if c.MaxParallel == 0 {
		c.MaxParallel = 16
	}
	if c.NewID == nil {
		c.NewID = uuid.NewString
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Idem == nil {
		var err error
		if c.Idem, _, err = idem.Open("", func(error) {}); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
	}
	previews := &dispatch.Previews{Substrate: c.Substrate, CarHome: c.CarHome}
	tools := NewToolbox(c.Tools)
	admitter, err := admit.New(admit.Config{
		Tools: tools, Judge: c.Judge, Gates: c.Gates, Approver: c.Approver, Recorder: c.Recorder, Log: c.Log,
		Where: c.Substrate.Describe(), Substrate: c.Substrate.Name(), EnvDigest: c.EnvDigest,
		Previews: previews, GateTimeout: c.GateTimeout, Ledger: ledgerOf(c.Book),
	})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	dispatcher, err := dispatch.New(dispatch.Config{
		Office: admitter, Recorder: c.Recorder, Log: c.Log, Substrate: c.Substrate, Previews: previews,
		Redactor: c.Redactor, CarHome: c.CarHome, Now: c.Now, Sleep: c.Sleep, NewID: c.NewID, Warn: c.Warn, Undo: c.Undo, Web: c.Web,
		Patience: c.Patience,
	})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if c.Undo != nil {
		if err := tools.Register(restore{c.Undo}); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
	}
	return &Runtime{cfg: c, admitter: admitter, dispatcher: dispatcher, cache: dispatch.NewCache(c.Now),
		rules: &rules{newID: c.NewID, sessions: map[string][]Rule{}}}, nil
}

// Execute is the only door (E-PIPE-1). The proposal's defaults are filled; see
// ir.DecodeProposal and Proposal.Fill. It returns when all its goroutines have,
// abandoned tools excepted. Refusals and failures are results; an error means
// that a record could not be written, and then the results say how far it came.
func (r *Runtime) Execute(ctx context.Context, p ir.Proposal, o Options) (ir.ProposalResult, error) {
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	started := r.cfg.Now()
	run := newRun(r, p, o)
	err := run.execute(ctx)
	for err == nil && run.wantsReplan(ctx) {
		next, whole := run.replan(ctx)
		if next == nil {
			break
		}
		run = next
		err = run.perform(ctx, whole)
	}
	run.noteExhausted()
	if r.cfg.AfterExecute != nil {
		r.cfg.AfterExecute(run.trace(started))
	}
	return run.result(), err
}

// Schemas lists the tools a model may be told of.
func (r *Runtime) Schemas() []ir.ToolSchema { return r.cfg.Tools.Schemas() }

// Close waits, until ctx ends, for tools that ignored their cancellation.
func (r *Runtime) Close(ctx context.Context) error { return r.dispatcher.Close(ctx) }

// Decide records a person's standing word about a fingerprint, and then says so in
// the log. Without a book, or when it cannot be written, it is no decision (E-PIPE-6).
func (r *Runtime) Decide(ctx context.Context, fingerprint string, approved bool, reviewer, reason string) error {
	d := approval.Decision{Fingerprint: fingerprint, RequiredTier: ir.FullAccess, Approved: approved, Reviewer: reviewer, Reason: reason, DecidedAt: r.cfg.Now()}
	if err := approval.Record(ctx, r.cfg.Book, d); err != nil {
		return err
	}
	_, err := r.cfg.Log.Append(eventlog.Event{Kind: eventlog.ApprovalRecorded, Data: map[string]any{
		"fingerprint": fingerprint, "approval": d.Word(), "reviewer": reviewer, "reason": reason}})
	return err
}

// ledgerOf keeps a nil book a nil ledger.
func ledgerOf(b approval.Book) admit.Ledger {
	if b == nil {
		return nil
	}
	return b
}

// Streams are the detached calls: poll, watch, cancel (E-DET).
func (r *Runtime) Streams() *handle.Registry { return r.dispatcher.Streams() }

// Jobs are the background commands of a session (T-SHELL-10).
func (r *Runtime) Jobs(session string) tool.Jobs { return r.dispatcher.Jobs(session) }

// Gates is the registry of admission gates (E-PIPE-4).
func (r *Runtime) Gates() *admit.Admitter { return r.admitter }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
