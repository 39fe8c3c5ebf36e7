package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Call is a tool call of an assistant message. ID is unique in its session (A-LOOP-4).
type Call struct {
	ID         string
	ProviderID string
	Tool       string
	// Args is the text as the model sent it, valid or not.
	Args string
	// Seq is the message that made it; ResultSeq the one that answered it, 0 while none has.
	Seq       int64
	ResultSeq int64
}

// AnsweredError is a second result for a call. Nothing was written.
type AnsweredError struct {
	Session string
	CallID  string
}

// Error names the call.
func (e *AnsweredError) Error() string {
	return fmt.Sprintf("call %s of session %s has its result already", e.CallID, e.Session)
}

func insertCall(ctx context.Context, tx *sql.Tx, session string, seq int64, c Call) error {
	r, err := tx.ExecContext(ctx, `INSERT INTO calls (session, call_id, seq, provider_id, tool, args) VALUES (?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
		session, c.ID, seq, c.ProviderID, c.Tool, c.Args)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("call id %q is taken in session %s", c.ID, session)
}

// answerCall holds that every call has exactly one result (P-WORK-2).
func answerCall(ctx context.Context, tx *sql.Tx, session string, seq int64, id string) error {
	r, err := tx.ExecContext(ctx, `UPDATE calls SET result_seq = ? WHERE session = ? AND call_id = ? AND result_seq IS NULL`, seq, session, id)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 1 {
		return err
	}
	var answered int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM calls WHERE session = ? AND call_id = ?`, session, id).Scan(&answered)
	if err != nil {
		return err
	}
	if answered == 0 {
		return &NotFoundError{Kind: "call of session " + session, ID: id}
	}
	return &AnsweredError{Session: session, CallID: id}
}

const callColumns = `call_id, provider_id, tool, args, seq, coalesce(result_seq, 0)`

func scanCall(s scanner) (c Call, err error) {
	err = s.Scan(&c.ID, &c.ProviderID, &c.Tool, &c.Args, &c.Seq, &c.ResultSeq)
	return c, err
}

// Calls lists a session's calls in the order they were made.
func (db *DB) Calls(ctx context.Context, session string) ([]Call, error) {
	return list(ctx, db, scanCall, `SELECT `+callColumns+` FROM calls WHERE session = ? ORDER BY seq, rowid`, session)
}

// OpenCalls lists the calls that no result answers: what a resume has to
// reconcile before the next request (A-DUR-4, P-WORK-2).
func (db *DB) OpenCalls(ctx context.Context, session string) ([]Call, error) {
	return list(ctx, db, scanCall, `SELECT `+callColumns+` FROM calls WHERE session = ? AND result_seq IS NULL ORDER BY seq, rowid`, session)
}
