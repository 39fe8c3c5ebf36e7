package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"car/internal/engine/ir"
)

// Effect is one row: what was asked for, and where it stands.
type Effect struct {
	ID       EffectID
	Session  string
	CallID   string
	Proposal ir.ProposalID
	Action   ir.ActionID
	Attempt  int
	Scope    Scope
	State    State
	// AllowedBy says who allowed it: "auto:<tier>", "person", "grant:<digest>", "rule:<name>".
	AllowedBy string
	// Receipt is what is known of the outcome, redacted JSON.
	Receipt string
	Reason  string
	Updated time.Time
}

// Move is one step of an effect's state machine. By, Reason and Receipt are
// stored with it.
type Move struct {
	ID      EffectID
	From    State
	To      State
	By      string
	Reason  string
	Receipt string
	At      time.Time
	// Grant, where set, is a scope digest that the effect's session holds a
	// standing yes for from this move on. Both are written or neither: a yes whose
	// grant failed must not be found approved after a restart.
	Grant ir.Digest
	// Rule, where set, is granted beside it in the same way.
	Rule string
}

// Store keeps effects durably. Every method is one transaction that is on disk
// when it returns (D-36). Safe for concurrent use.
type Store interface {
	// Begin inserts the effect and applies the moves that lead from proposed to
	// e.State, each with its log row. An existing id is an *ExistsError.
	Begin(ctx context.Context, e Effect, moves []Move) error
	// Apply makes the moves in order, each only if the row is in Move.From, with
	// their grants, or changes nothing: else a *StateError.
	Apply(ctx context.Context, moves ...Move) error
	// Effect finds a row.
	Effect(ctx context.Context, id EffectID) (Effect, bool, error)
	// InState lists a session's effects in a state, oldest first.
	InState(ctx context.Context, session string, s State) ([]Effect, error)
	// Moves lists what happened to an effect, in order.
	Moves(ctx context.Context, id EffectID) ([]Move, error)
	// Rules lists what this session holds a standing yes for and nobody took back:
	// "scope:" and a digest, or another rule as Move.Rule gave it.
	Rules(ctx context.Context, session string) ([]string, error)
}

// StateError says that a move did not start where it should have. An effect that
// has no row is StateUnset.
type StateError struct {
	ID   EffectID
	Is   State
	Want State
}

// Error names the effect, its state and what was needed.
func (e *StateError) Error() string {
	if e.Is == StateUnset {
		return fmt.Sprintf("action %s has no record, it cannot be %s", e.ID, e.Want)
	}
	return fmt.Sprintf("action %s is %s, not %s", e.ID, e.Is, e.Want)
}

// ExistsError says that an effect was seen before.
type ExistsError struct {
	ID EffectID
	Is State
}

// Error says what may be done with an effect that was seen before (A-APPR-8).
func (e *ExistsError) Error() string {
	switch {
	case e.Is == Dispatched || e.Is == Indeterminate:
		return "action was dispatched before restart and is indeterminate; reconcile it before retrying"
	case e.Is.Terminal():
		return "this durable action identity is terminal and cannot be replayed"
	default:
		return fmt.Sprintf("action %s is already %s", e.ID, e.Is)
	}
}

// ErrNoDecision is a question that nobody answered.
var ErrNoDecision = errors.New("nobody answered")
