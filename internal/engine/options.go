package engine

import (
	"time"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
)

// Refusal says how far a gate's rejection reaches (D-2).
type Refusal uint8

// RefuseProposal is the default of `car run` and the wire; a conversation's step
// uses RefuseAction, so that a step is never lost to one call.
const (
	RefuseProposal Refusal = iota
	RefuseAction
)

// FileRollback says what an abort does with the files a run changed (B-FILE-2).
type FileRollback uint8

// A conversation uses FilesStay: one failed call must not revert its siblings.
const (
	FilesOnAbort FileRollback = iota
	FilesStay
)

// Scope says for whom a proposal runs (E-SESS-2).
type Scope struct {
	CallerID string
	TenantID string
	Claims   map[string]any
}

func (s Scope) empty() bool { return s.CallerID == "" && s.TenantID == "" && len(s.Claims) == 0 }

// Options say how one proposal runs.
type Options struct {
	// Session is the engine session whose read ledger and grants apply.
	Session string
	// PolicySession is a session of Runtime.OpenSession whose rules apply too; empty is none.
	PolicySession string
	Scope         Scope
	// Cancel, once closed, stops the run between levels; work in flight finishes (E-EXEC-11).
	Cancel  <-chan struct{}
	Refusal Refusal
	// AfterFailure is the first action that follows a call of the same step which was
	// refused before it came here; empty is none. It and what comes later follow a failure (E-FAIL-6).
	AfterFailure ir.ActionID
	// StableID refuses a replanned proposal that does not keep the id of the first.
	StableID bool
	// Turn numbers the conversation's turn, for the log; 0 is none.
	Turn int
	// CallPrefix makes call ids of action ids that are unique only in their proposal.
	CallPrefix   string
	Capabilities admit.Capabilities
	Budget       Budget
	// FileRollback says what an abort does with files; the zero value puts them back.
	FileRollback FileRollback
	// Compensate makes good, after an abort, what succeeded and says how (B-COMP).
	Compensate bool
	// Observer is told of actions as they start and end; nil is nobody.
	Observer Observer
}

// Budget bounds what a run may spend; 0 is no bound (E-EXEC-10). Attempts count,
// failed ones too; what ran when it is spent commits.
type Budget struct {
	MaxToolCalls int
	MaxDuration  time.Duration
	MaxActions   int
}

// Observer watches a run. Its methods may be called concurrently for different
// actions and must not block.
type Observer interface {
	// Started comes once an action, when its turn has come and before it is asked about.
	Started(a ir.Action, tier ir.Tier)
	// Progress passes on the last line of a running call.
	Progress(id ir.ActionID, tail string, elapsed time.Duration)
	// Finished comes once an action with its one result.
	Finished(r ir.ActionResult)
}

// nobody is the Observer of a run that no one watches.
type nobody struct{}

func (nobody) Started(ir.Action, ir.Tier)                  {}
func (nobody) Progress(ir.ActionID, string, time.Duration) {}
func (nobody) Finished(ir.ActionResult)                    {}
