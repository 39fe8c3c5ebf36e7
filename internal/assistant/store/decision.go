package store

import (
	"context"
	"database/sql"

	"car/internal/engine/approval"
	"car/internal/engine/ir"
)

var _ approval.Book = (*DB)(nil)

// PutDecision keeps a person's word about a fingerprint, in place of an older one.
func (db *DB) PutDecision(ctx context.Context, d approval.Decision) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO decisions (fingerprint, tier, approved, reviewer, reason, at) VALUES (?,?,?,?,?,?)
			ON CONFLICT(fingerprint) DO UPDATE SET tier = excluded.tier, approved = excluded.approved, reviewer = excluded.reviewer,
			reason = excluded.reason, at = excluded.at`,
			d.Fingerprint, d.RequiredTier.String(), d.Approved, d.Reviewer, d.Reason, stamp(d.DecidedAt))
		return err
	})
}

// Decision finds the word about a fingerprint.
func (db *DB) Decision(ctx context.Context, fingerprint string) (approval.Decision, bool, error) {
	return one(ctx, db, scanDecision, `SELECT fingerprint, tier, approved, reviewer, reason, at FROM decisions WHERE fingerprint = ?`, fingerprint)
}

// Decisions lists all of them, newest first.
func (db *DB) Decisions(ctx context.Context) ([]approval.Decision, error) {
	return list(ctx, db, scanDecision, `SELECT fingerprint, tier, approved, reviewer, reason, at FROM decisions ORDER BY at DESC, fingerprint`)
}

// DropDecision forgets a word; what it allowed is asked again. False when there was none.
func (db *DB) DropDecision(ctx context.Context, fingerprint string) (found bool, err error) {
	err = db.update(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `DELETE FROM decisions WHERE fingerprint = ?`, fingerprint)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		found = n > 0
		return err
	})
	return found, err
}

func scanDecision(s scanner) (d approval.Decision, err error) {
	var tier string
	var at int64
	if err := s.Scan(&d.Fingerprint, &tier, &d.Approved, &d.Reviewer, &d.Reason, &at); err != nil {
		return d, err
	}
	d.DecidedAt = unstamp(at)
	var known ir.Tier
	if err := known.UnmarshalText([]byte(tier)); err != nil {
		return d, err
	}
	d.RequiredTier = known
	return d, nil
}
