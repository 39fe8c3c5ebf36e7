package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"car/internal/engine/approval"
)

// Question is an approval that a person is or was asked for (A-APPR-10, G-APPR-2).
type Question struct {
	// ID is random and good for one answer.
	ID            string
	Session       string
	Action        approval.EffectID
	Tier          string
	Reversibility string
	Asked         time.Time
	Expires       time.Time
	// Decided is zero while it is open.
	Decided  time.Time
	Decision string
	By       string
	Reason   string
}

// Ask records a question before it is shown. Its effect must be proposed already.
func (db *DB) Ask(ctx context.Context, q Question) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.fence(ctx, tx, q.Session); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO approvals (id, session, action_id, tier, reversibility, asked, expires) VALUES (?,?,?,?,?,?,?)`,
			q.ID, q.Session, q.Action, q.Tier, q.Reversibility, stamp(db.now()), stamp(q.Expires))
		return err
	})
}

// Answer records the answer to an open question and reports whether it was the
// first: late, second and unknown answers are false.
func (db *DB) Answer(ctx context.Context, id, decision, by, reason string) (first bool, err error) {
	ctx = context.WithoutCancel(ctx)
	err = db.update(ctx, func(tx *sql.Tx) error {
		var session string
		err := tx.QueryRowContext(ctx, `UPDATE approvals SET decided = ?, decision = ?, by = ?, reason = ? WHERE id = ? AND decided = 0 RETURNING session`,
			stamp(db.now()), decision, by, reason, id).Scan(&session)
		if first = err == nil; !first {
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			return err
		}
		return db.fence(ctx, tx, session)
	})
	return first && err == nil, err
}

// Questions lists a session's questions, oldest first.
func (db *DB) Questions(ctx context.Context, session string) ([]Question, error) {
	return list(ctx, db, scanQuestion, `SELECT id, session, action_id, tier, reversibility, asked, expires, decided, decision, by, reason
		FROM approvals WHERE session = ? ORDER BY rowid`, session)
}

func scanQuestion(s scanner) (q Question, err error) {
	var asked, expires, decided int64
	err = s.Scan(&q.ID, &q.Session, &q.Action, &q.Tier, &q.Reversibility, &asked, &expires, &decided, &q.Decision, &q.By, &q.Reason)
	q.Asked, q.Expires, q.Decided = unstamp(asked), unstamp(expires), unstamp(decided)
	return q, err
}
