package store

import (
	"context"
	"database/sql"
	"time"

	"car/internal/engine/ir"
)

// Grant is a standing yes of a session that a person can see and take back (A-APPR-12).
type Grant struct {
	ID      int64
	Session string
	// Rule is what is granted; an exact scope is "scope:" and its digest.
	Rule    string
	At      time.Time
	Revoked bool
}

// scopeRule is the rule of an exact scope.
func scopeRule(scope ir.Digest) string { return "scope:" + string(scope) }

// Granted reports whether the session holds a standing yes for the scope that nobody took back.
func (db *DB) Granted(ctx context.Context, session string, scope ir.Digest) (bool, error) {
	_, found, err := one(ctx, db, scanGrant,
		`SELECT id, session, rule, at, revoked FROM grants WHERE session = ? AND rule = ? AND revoked = 0`, session, scopeRule(scope))
	return found, err
}

// Rules lists what the session holds a standing yes for and nobody took back.
func (db *DB) Rules(ctx context.Context, session string) ([]string, error) {
	return list(ctx, db, func(s scanner) (rule string, err error) { return rule, s.Scan(&rule) },
		`SELECT rule FROM grants WHERE session = ? AND revoked = 0 ORDER BY id`, session)
}

// AddGrant records a rule of the conversation's own; one that stands already
// changes nothing. Exact scopes are granted by the move that approves them.
func (db *DB) AddGrant(ctx context.Context, session, rule string) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.fence(ctx, tx, session); err != nil {
			return err
		}
		return insertGrant(ctx, tx, session, rule, stamp(db.now()))
	})
}

func insertGrant(ctx context.Context, tx *sql.Tx, session, rule string, at int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO grants (session, rule, at) VALUES (?,?,?) ON CONFLICT DO NOTHING`, session, rule, at)
	return err
}

// Grants lists a session's rules, revoked ones too, oldest first.
func (db *DB) Grants(ctx context.Context, session string) ([]Grant, error) {
	return list(ctx, db, scanGrant, `SELECT id, session, rule, at, revoked FROM grants WHERE session = ? ORDER BY id`, session)
}

// RevokeGrant takes a rule back. It asks for no lease: taking back only tightens.
func (db *DB) RevokeGrant(ctx context.Context, id int64) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE grants SET revoked = 1 WHERE id = ?`, id)
		return err
	})
}

func scanGrant(s scanner) (g Grant, err error) {
	var at int64
	err = s.Scan(&g.ID, &g.Session, &g.Rule, &at, &g.Revoked)
	g.At = unstamp(at)
	return g, err
}
