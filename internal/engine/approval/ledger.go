package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"car/internal/engine/ir"
)

// Verdict is a decision about a proposed effect. The zero value denies.
type Verdict struct {
	Approved bool
	By       string
	Reason   string
	// ForSession also grants the same scope for the rest of the session.
	ForSession bool
	// Rule is what ForSession grants beside the identical scope; empty is nothing.
	Rule string
	// Preview is the digest of what was shown would change; empty where nothing was.
	// It is kept with the decision, so that a yes which outlives its process is still
	// held against it (P-GUARD-2).
	Preview ir.Digest
	// Gates are who had asked; a yes that outlives its process answers nobody else.
	Gates []string
}

// FreshFor is how long a yes lets its effect run in another process (A-DUR-4).
const FreshFor = 15 * time.Minute

// decided is what the move of a yes keeps beside it.
type decided struct {
	Preview ir.Digest `json:"preview,omitempty"`
	Gates   []string  `json:"gates"`
}

// Outcome is how a dispatched effect ended. The zero value failed.
type Outcome struct {
	Completed     bool
	Indeterminate bool
	// Receipt is redacted JSON; Reason says why it did not complete.
	Receipt string
	Reason  string
}

// Config makes a Ledger.
type Config struct {
	Store Store
	Now   func() time.Time
}

// Ledger drives the state machine over a Store. It holds no rows itself, so two
// processes may share a store. Safe for concurrent use.
type Ledger struct {
	store Store
	now   func() time.Time
}

// New makes a ledger, or says which field is missing.
func New(c Config) (*Ledger, error) {
	switch {
	case c.Store == nil:
		return nil, fmt.Errorf("approval ledger: Config.Store is nil")
	case c.Now == nil:
		return nil, fmt.Errorf("approval ledger: Config.Now is nil")
	}
	return &Ledger{store: c.Store, now: c.Now}, nil
}

// Propose writes the row of a question before it is asked (A-APPR-7).
func (l *Ledger) Propose(ctx context.Context, e Effect) error {
	e.State, e.Updated = Proposed, l.now()
	if err := l.store.Begin(ctx, e, []Move{l.move(e.ID, StateUnset, Proposed, e.AllowedBy, e.Reason)}); err != nil {
		return fmt.Errorf("cannot record action proposal: %w", err)
	}
	return nil
}

// Decide writes an answer before it is used (A-APPR-7). A decision that could
// not be written is not a decision (G-APPR-2).
func (l *Ledger) Decide(ctx context.Context, id EffectID, v Verdict) error {
	to := Denied
	if v.Approved {
		to = Approved
	}
	m := l.move(id, Proposed, to, v.By, v.Reason)
	if v.Approved && (v.Preview != "" || len(v.Gates) > 0) {
		kept, err := json.Marshal(decided{Preview: v.Preview, Gates: v.Gates})
		if err != nil {
			return fmt.Errorf("cannot durably record approval: %w", err)
		}
		m.Receipt = string(kept)
	}
	if v.Approved && v.ForSession {
		scope, err := l.scopeOf(ctx, id)
		if err != nil {
			return fmt.Errorf("cannot durably record session grant: %w", err)
		}
		m.Grant, m.Rule = scope, v.Rule
	}
	if err := l.store.Apply(ctx, m); err != nil {
		return fmt.Errorf("cannot durably record approval: %w", err)
	}
	return nil
}

// Standing finds the yes that an earlier process wrote for exactly this effect and
// did not use before it ended: it is not asked twice (A-APPR-8). One older than
// FreshFor, or of the future, is none.
func (l *Ledger) Standing(ctx context.Context, id EffectID) (Verdict, bool, error) {
	e, found, err := l.store.Effect(ctx, id)
	if err != nil || !found || e.State != Approved || !Fresh(e.Updated, l.now()) {
		return Verdict{}, false, err
	}
	moves, err := l.store.Moves(ctx, id)
	if err != nil {
		return Verdict{}, false, err
	}
	for _, m := range moves {
		if m.To != Approved {
			continue
		}
		var kept decided
		if m.Receipt != "" {
			if err := json.Unmarshal([]byte(m.Receipt), &kept); err != nil {
				return Verdict{}, false, fmt.Errorf("the approval of %s is damaged: %w", id, err)
			}
		}
		return Verdict{Approved: true, By: m.By, Reason: m.Reason, Preview: kept.Preview, Gates: kept.Gates}, true, nil
	}
	return Verdict{}, false, nil
}

// Fresh reports whether a yes of one time still counts at another.
func Fresh(given, now time.Time) bool {
	age := now.Sub(given)
	return age >= 0 && age <= FreshFor
}

// scopeOf is the digest of what was proposed, which is what a yes speaks of.
func (l *Ledger) scopeOf(ctx context.Context, id EffectID) (ir.Digest, error) {
	e, found, err := l.store.Effect(ctx, id)
	if err != nil {
		return "", err
	}
	if !found {
		return "", &StateError{ID: id, Want: Proposed}
	}
	return e.Scope.Digest()
}

// BeforeDispatch writes the intent row (E-PIPE-10). An effect that a person
// approved must be approved with the identical scope; one that a tier, grant or
// rule allows goes from nothing to dispatched in one transaction.
func (l *Ledger) BeforeDispatch(ctx context.Context, e Effect) error {
	known, found, err := l.store.Effect(ctx, e.ID)
	if err != nil {
		return fmt.Errorf("cannot persist approval scope: %w", err)
	}
	if !found {
		return l.beginDispatched(ctx, e)
	}
	if known.State != Approved {
		if known.State.Terminal() || known.State == Dispatched {
			return &ExistsError{ID: e.ID, Is: known.State}
		}
		return &StateError{ID: e.ID, Is: known.State, Want: Approved}
	}
	if err := sameScope(known.Scope, e.Scope); err != nil {
		return fmt.Errorf("action %s: %w", e.ID, err)
	}
	if err := l.store.Apply(ctx, l.move(e.ID, Approved, Dispatched, e.AllowedBy, "")); err != nil {
		return fmt.Errorf("cannot persist approval scope: %w", err)
	}
	return nil
}

func (l *Ledger) beginDispatched(ctx context.Context, e Effect) error {
	e.State, e.Updated = Dispatched, l.now()
	moves := []Move{
		l.move(e.ID, StateUnset, Proposed, e.AllowedBy, ""),
		l.move(e.ID, Proposed, Approved, e.AllowedBy, ""),
		l.move(e.ID, Approved, Dispatched, e.AllowedBy, ""),
	}
	if err := l.store.Begin(ctx, e, moves); err != nil {
		return fmt.Errorf("cannot persist approval scope: %w", err)
	}
	return nil
}

func sameScope(approved, now Scope) error {
	a, err := approved.Digest()
	if err != nil {
		return err
	}
	b, err := now.Digest()
	if err != nil {
		return err
	}
	if a != b {
		return fmt.Errorf("the approved scope %s is not the scope %s that would run", a[:12], b[:12])
	}
	return nil
}

// AfterDispatch writes the outcome row before the result leaves the engine.
func (l *Ledger) AfterDispatch(ctx context.Context, id EffectID, o Outcome) error {
	to := Failed
	switch {
	case o.Indeterminate:
		to = Indeterminate
	case o.Completed:
		to = Completed
	}
	m := l.move(id, Dispatched, to, "", o.Reason)
	m.Receipt = o.Receipt
	if err := l.store.Apply(ctx, m); err != nil {
		return fmt.Errorf("cannot record the outcome of %s: %w", id, err)
	}
	return nil
}

// Granted reports whether the session holds a standing yes for this scope.
func (l *Ledger) Granted(ctx context.Context, session string, scope ir.Digest) (bool, error) {
	rules, err := l.store.Rules(ctx, session)
	return slices.Contains(rules, "scope:"+string(scope)), err
}

// Grants lists what the session holds a standing yes for.
func (l *Ledger) Grants(ctx context.Context, session string) ([]string, error) {
	return l.store.Rules(ctx, session)
}

// RestartReason is what an effect found in flight at start is marked with (A-DUR-4).
const RestartReason = "process restarted after dispatch without a terminal receipt"

// Recover marks every effect of the session that was in flight when its process
// ended as indeterminate and returns them. It never runs one again (P-WORK-6).
// Only the holder of the session's lease may call it.
func (l *Ledger) Recover(ctx context.Context, session string) ([]Effect, error) {
	stuck, err := l.store.InState(ctx, session, Dispatched)
	if err != nil {
		return nil, fmt.Errorf("durable action reconciliation failed: %w", err)
	}
	moves := make([]Move, len(stuck))
	for i, e := range stuck {
		moves[i] = l.move(e.ID, Dispatched, Indeterminate, "restart", RestartReason)
		stuck[i].State, stuck[i].Reason, stuck[i].Updated = Indeterminate, RestartReason, moves[i].At
	}
	if len(moves) == 0 {
		return nil, nil
	}
	if err := l.store.Apply(ctx, moves...); err != nil {
		return nil, fmt.Errorf("durable action reconciliation failed: %w", err)
	}
	return stuck, nil
}

func (l *Ledger) move(id EffectID, from, to State, by, reason string) Move {
	return Move{ID: id, From: from, To: to, By: by, Reason: reason, At: l.now()}
}
