package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"car/internal/engine/approval"
)

var _ approval.Store = (*DB)(nil)

// Begin inserts the effect with the log rows of the moves that lead to e.State.
// An id seen before is an *approval.ExistsError. Nothing begins under an ended ctx.
func (db *DB) Begin(ctx context.Context, e approval.Effect, moves []approval.Move) error {
	if err := checkPath(e, moves); err != nil {
		return err
	}
	scope, err := json.Marshal(e.Scope)
	if err != nil {
		return fmt.Errorf("action %s: scope: %w", e.ID, err)
	}
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.fence(ctx, tx, e.Session); err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, `INSERT INTO actions
			(id, session, call_id, proposal, action, attempt, scope, state, allowed_by, receipt, reason, updated)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO NOTHING`,
			e.ID, e.Session, e.CallID, e.Proposal, e.Action, e.Attempt, string(scope),
			e.State.String(), e.AllowedBy, e.Receipt, e.Reason, stamp(e.Updated))
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return existing(ctx, tx, e.ID, err)
		}
		return logMoves(ctx, tx, moves...)
	})
}

// checkPath refuses moves that are not a way of the machine to e.State.
func checkPath(e approval.Effect, moves []approval.Move) error {
	at := approval.StateUnset
	for _, m := range moves {
		if m.ID != e.ID || m.From != at || !m.From.MayBecome(m.To) {
			return fmt.Errorf("action %s cannot begin with %s to %s of %s", e.ID, m.From, m.To, m.ID)
		}
		at = m.To
	}
	if at == approval.StateUnset || at != e.State {
		return fmt.Errorf("action %s cannot begin as %q by moves that end in %q", e.ID, e.State, at)
	}
	return nil
}

func existing(ctx context.Context, tx *sql.Tx, id approval.EffectID, err error) error {
	if err != nil {
		return err
	}
	state, err := stateOf(ctx, tx, id)
	if err != nil {
		return err
	}
	return &approval.ExistsError{ID: id, Is: state}
}

func stateOf(ctx context.Context, tx *sql.Tx, id approval.EffectID) (approval.State, error) {
	var label string
	err := tx.QueryRowContext(ctx, `SELECT state FROM actions WHERE id = ?`, id).Scan(&label)
	switch {
	case err == nil:
		return approval.ParseState(label)
	case errors.Is(err, sql.ErrNoRows):
		return approval.StateUnset, nil
	default:
		return approval.StateUnset, err
	}
}

// Apply makes all moves or none. A move whose row is elsewhere is an
// *approval.StateError. Moves that only say how something ended are written even
// when ctx has ended: it happened, and the row must say so.
func (db *DB) Apply(ctx context.Context, moves ...approval.Move) error {
	outcomes := true
	for _, m := range moves {
		if m.From == approval.StateUnset || !m.From.MayBecome(m.To) {
			return fmt.Errorf("action %s cannot go from %q to %q", m.ID, m.From, m.To)
		}
		outcomes = outcomes && m.To.Terminal()
	}
	if outcomes {
		ctx = context.WithoutCancel(ctx)
	}
	return db.update(ctx, func(tx *sql.Tx) error {
		for _, m := range moves {
			if err := db.apply(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
}

func (db *DB) apply(ctx context.Context, tx *sql.Tx, m approval.Move) error {
	allowedBy, outcome := m.By, ""
	if m.To.Terminal() { // what stands beside a decision is in the log alone
		allowedBy, outcome = "", m.Receipt
	}
	var session string
	err := tx.QueryRowContext(ctx, `UPDATE actions SET state = ?, updated = ?,
		allowed_by = coalesce(nullif(?, ''), allowed_by),
		receipt = coalesce(nullif(?, ''), receipt),
		reason = coalesce(nullif(?, ''), reason)
		WHERE id = ? AND state = ? RETURNING session`,
		m.To.String(), stamp(m.At), allowedBy, outcome, m.Reason, m.ID, m.From.String()).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		state, err := stateOf(ctx, tx, m.ID)
		if err != nil {
			return err
		}
		return &approval.StateError{ID: m.ID, Is: state, Want: m.From}
	}
	if err != nil {
		return err
	}
	if err := db.fence(ctx, tx, session); err != nil {
		return err
	}
	if m.Grant != "" {
		if err := insertGrant(ctx, tx, session, scopeRule(m.Grant), stamp(db.now())); err != nil {
			return err
		}
	}
	if m.Rule != "" {
		if err := insertGrant(ctx, tx, session, m.Rule, stamp(db.now())); err != nil {
			return err
		}
	}
	return logMoves(ctx, tx, m)
}

// logMoves is one statement however many moves there are: SQLite reads the text of
// each anew, and every effect passes here.
func logMoves(ctx context.Context, tx *sql.Tx, moves ...approval.Move) error {
	values := make([]string, 0, len(moves))
	var args []any
	for _, m := range moves {
		values = append(values, "(?,?,?,?,?,?,?)")
		args = append(args, m.ID, m.From.String(), m.To.String(), m.By, m.Reason, m.Receipt, stamp(m.At))
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO action_log (action_id, old, new, by, reason, receipt, at) VALUES `+strings.Join(values, ","), args...)
	return err
}

const effectColumns = `id, session, call_id, proposal, action, attempt, scope, state, allowed_by, receipt, reason, updated`

func scanEffect(s scanner) (e approval.Effect, err error) {
	var scope, state string
	var updated int64
	if err := s.Scan(&e.ID, &e.Session, &e.CallID, &e.Proposal, &e.Action, &e.Attempt, &scope,
		&state, &e.AllowedBy, &e.Receipt, &e.Reason, &updated); err != nil {
		return e, err
	}
	if err := json.Unmarshal([]byte(scope), &e.Scope); err != nil {
		return e, fmt.Errorf("action %s: scope: %w", e.ID, err)
	}
	e.Updated = unstamp(updated)
	e.State, err = approval.ParseState(state)
	return e, err
}

// Effect finds an effect by its id.
func (db *DB) Effect(ctx context.Context, id approval.EffectID) (approval.Effect, bool, error) {
	return one(ctx, db, scanEffect, `SELECT `+effectColumns+` FROM actions WHERE id = ?`, id)
}

// InState lists a session's effects that are in a state, oldest first.
func (db *DB) InState(ctx context.Context, session string, s approval.State) ([]approval.Effect, error) {
	return list(ctx, db, scanEffect,
		`SELECT `+effectColumns+` FROM actions WHERE session = ? AND state = ? ORDER BY n`, session, s.String())
}

// EffectsOf lists a session's effects, oldest first; with a call id, of that call only.
func (db *DB) EffectsOf(ctx context.Context, session, callID string) ([]approval.Effect, error) {
	return list(ctx, db, scanEffect,
		`SELECT `+effectColumns+` FROM actions WHERE session = ?1 AND (?2 = '' OR call_id = ?2) ORDER BY n`, session, callID)
}

// Moves lists what happened to an effect, in order.
func (db *DB) Moves(ctx context.Context, id approval.EffectID) ([]approval.Move, error) {
	return list(ctx, db, scanMove,
		`SELECT action_id, old, new, by, reason, receipt, at FROM action_log WHERE action_id = ? ORDER BY n`, id)
}

func scanMove(s scanner) (m approval.Move, err error) {
	var from, to string
	var at int64
	if err := s.Scan(&m.ID, &from, &to, &m.By, &m.Reason, &m.Receipt, &at); err != nil {
		return m, err
	}
	m.At = unstamp(at)
	if from != "" {
		if m.From, err = approval.ParseState(from); err != nil {
			return m, err
		}
	}
	m.To, err = approval.ParseState(to)
	return m, err
}
