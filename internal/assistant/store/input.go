package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// InputMode says when a waiting input is delivered (A-SVC-4). The zero value is
// unset and is refused.
type InputMode uint8

// A queued input opens the next turn; a steering one joins the running turn.
const (
	InputUnset InputMode = iota
	Queue
	Steer
)

var inputModeLabels = []string{"", "queue", "steer"}

// String returns the stored label.
func (m InputMode) String() string { return labelOf(inputModeLabels, m) }

// Input is text that a person typed and that no message carries yet. It is
// delivered once, or is back in the editor; a crash changes nothing of that (P-WORK-7).
type Input struct {
	ID      int64
	Session string
	Mode    InputMode
	Body    json.RawMessage
	// Returned says that it waits for the person, not for a turn: it was taken back
	// into the editor, by a cancel or a restart, and never runs by itself.
	Returned bool
	Created  time.Time
}

// QueueFullError is a session with MaxWaiting inputs waiting.
type QueueFullError struct{ Session string }

// Error says what to do.
func (e *QueueFullError) Error() string {
	return fmt.Sprintf("session %s has %d inputs waiting: let one be delivered, or take one back", e.Session, MaxWaiting)
}

// AddInput records an input before anybody is told that it was accepted. replaces
// are returned inputs that the person sent again with it, changed or joined: they
// are gone in the same transaction.
func (db *DB) AddInput(ctx context.Context, session string, mode InputMode, body json.RawMessage, replaces ...int64) (id int64, err error) {
	if !json.Valid(body) {
		return 0, fmt.Errorf("input of session %s: the body is not JSON", session)
	}
	err = db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		for _, old := range replaces {
			if err := moveInput(ctx, tx, session, old, "withdrawn"); err != nil {
				return err
			}
		}
		var waiting int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM inputs WHERE session = ? AND state = 'pending' AND mode = ?`,
			session, mode.String()).Scan(&waiting)
		if err != nil {
			return err
		}
		if waiting >= MaxWaiting {
			return &QueueFullError{Session: session}
		}
		return tx.QueryRowContext(ctx, `INSERT INTO inputs (session, mode, body, state, created) VALUES (?,?,?,'pending',?) RETURNING id`,
			session, mode.String(), string(body), stamp(db.now())).Scan(&id)
	})
	return id, err
}

// NextInput finds the input to deliver next, oldest first. Steer finds steering
// ones only; Queue finds any, since one that came too late to steer is queued. It
// changes nothing: an input is delivered by the message that carries it (Entry.Input),
// so no crash can fall between the two.
func (db *DB) NextInput(ctx context.Context, session string, mode InputMode) (Input, bool, error) {
	return one(ctx, db, scanInput, `SELECT `+inputColumns+` FROM inputs
		WHERE session = ?1 AND state = 'pending' AND (?2 = 'queue' OR mode = ?2) ORDER BY id LIMIT 1`, session, mode.String())
}

// WaitingInputs lists what is neither delivered nor withdrawn, oldest first.
func (db *DB) WaitingInputs(ctx context.Context, session string) ([]Input, error) {
	return list(ctx, db, scanInput, waitingInputs, session)
}

// ReturnInputs takes every waiting input out of the queue after a cancel and
// lists what belongs back in the editor, oldest first. They stay on disk until
// they are sent again (AddInput) or thrown away (WithdrawInput).
func (db *DB) ReturnInputs(ctx context.Context, session string) (waiting []Input, err error) {
	ctx = context.WithoutCancel(ctx)
	err = db.update(ctx, func(tx *sql.Tx) (err error) {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		waiting, err = returnInputs(ctx, tx, session)
		return err
	})
	return waiting, err
}

// ReturnInput takes one waiting input out of the queue, back into the editor.
func (db *DB) ReturnInput(ctx context.Context, session string, id int64) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		return moveInput(ctx, tx, session, id, "returned")
	})
}

func returnInputs(ctx context.Context, tx *sql.Tx, session string) ([]Input, error) {
	if _, err := tx.ExecContext(ctx, `UPDATE inputs SET state = 'returned' WHERE session = ? AND state = 'pending'`, session); err != nil {
		return nil, err
	}
	return rows(ctx, tx, scanInput, waitingInputs, session)
}

// WithdrawInput throws a waiting input away, as the person asked.
func (db *DB) WithdrawInput(ctx context.Context, session string, id int64) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		return moveInput(ctx, tx, session, id, "withdrawn")
	})
}

// moveInput holds that an input leaves its wait once (P-WORK-7).
func moveInput(ctx context.Context, tx *sql.Tx, session string, id int64, to string) error {
	r, err := tx.ExecContext(ctx, `UPDATE inputs SET state = ? WHERE id = ? AND session = ? AND state IN ('pending', 'returned')`, to, id, session)
	return changedOne(r, err)("waiting input of session "+session, fmt.Sprint(id))
}

const (
	inputColumns  = `id, session, mode, body, state = 'returned', created`
	waitingInputs = `SELECT ` + inputColumns + ` FROM inputs WHERE session = ? AND state IN ('pending', 'returned') ORDER BY id`
)

func scanInput(s scanner) (in Input, err error) {
	var mode, body string
	var created int64
	if err := s.Scan(&in.ID, &in.Session, &mode, &body, &in.Returned, &created); err != nil {
		return in, err
	}
	in.Body, in.Created = json.RawMessage(body), unstamp(created)
	in.Mode, err = parseLabel[InputMode]("input mode", inputModeLabels, mode)
	return in, err
}
