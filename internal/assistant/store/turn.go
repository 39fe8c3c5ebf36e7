package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// TurnStatus is where a turn stands. The zero value is unset and is refused.
type TurnStatus uint8

// The states. An incomplete turn is one whose process ended before it did.
const (
	TurnUnset TurnStatus = iota
	TurnInProgress
	TurnCompleted
	TurnIncomplete
	TurnCanceled
	TurnFailed
)

var turnStatusLabels = []string{"", "in_progress", "completed", "incomplete", "canceled", "failed"}

// String returns the stored label.
func (s TurnStatus) String() string { return labelOf(turnStatusLabels, s) }

// Turn is one input to one terminal event.
type Turn struct {
	Session string
	N       int
	// Kind is "chat" or "goal", or another word of the conversation's.
	Kind    string
	Status  TurnStatus
	Started time.Time
	Ended   time.Time
	// Terminal is the terminal event with which it ended; it is shown from here
	// when the process ended before it was shown (A-DUR-5).
	Terminal json.RawMessage
}

// TurnError is a turn that does not stand where it should.
type TurnError struct {
	Session string
	N       int
	Is      TurnStatus
}

// Error names the turn and where it stands.
func (e *TurnError) Error() string {
	return fmt.Sprintf("turn %d of session %s is %s", e.N, e.Session, e.Is)
}

// StartTurn opens the next turn and returns its number. While one is in progress
// there is no other: a *TurnError names it (A-SVC-4).
func (db *DB) StartTurn(ctx context.Context, session, kind string) (n int, err error) {
	err = db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		last, err := lastTurn(ctx, tx, session)
		if err != nil {
			return err
		}
		if last.Status == TurnInProgress {
			return &TurnError{Session: session, N: last.N, Is: last.Status}
		}
		n = last.N + 1
		_, err = tx.ExecContext(ctx, `INSERT INTO turns (session, turn, kind, status, started) VALUES (?,?,?,?,?)`,
			session, n, kind, TurnInProgress.String(), stamp(db.now()))
		return err
	})
	return n, err
}

// EndTurn records how a turn ended, with its terminal event. A turn ends once: a
// second end is a *TurnError. It is written even when ctx has ended.
func (db *DB) EndTurn(ctx context.Context, session string, n int, status TurnStatus, terminal json.RawMessage) error {
	if status < TurnCompleted || status > TurnFailed {
		return fmt.Errorf("turn %d of session %s cannot end as %s", n, session, status)
	}
	if len(terminal) > 0 && !json.Valid(terminal) {
		return fmt.Errorf("turn %d of session %s: the terminal event is not JSON", n, session)
	}
	ctx = context.WithoutCancel(ctx)
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, `UPDATE turns SET status = ?, ended = ?, terminal = ? WHERE session = ? AND turn = ? AND status = ?`,
			status.String(), stamp(db.now()), string(terminal), session, n, TurnInProgress.String())
		if err != nil {
			return err
		}
		if changed, err := r.RowsAffected(); err != nil || changed == 1 {
			return err
		}
		return notInProgress(ctx, tx, session, n)
	})
}

func notInProgress(ctx context.Context, tx *sql.Tx, session string, n int) error {
	found, err := rows(ctx, tx, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE session = ? AND turn = ?`, session, n)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return &NotFoundError{Kind: "turn of session " + session, ID: fmt.Sprint(n)}
	}
	return &TurnError{Session: session, N: n, Is: found[0].Status}
}

func lastTurn(ctx context.Context, tx *sql.Tx, session string) (Turn, error) {
	found, err := rows(ctx, tx, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE session = ? ORDER BY turn DESC LIMIT 1`, session)
	if err != nil || len(found) == 0 {
		return Turn{}, err
	}
	return found[0], nil
}

// Turns lists a session's turns in order.
func (db *DB) Turns(ctx context.Context, session string) ([]Turn, error) {
	return list(ctx, db, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE session = ? ORDER BY turn`, session)
}

const turnColumns = `session, turn, kind, status, started, ended, terminal`

func scanTurn(s scanner) (t Turn, err error) {
	var status, terminal string
	var started, ended int64
	if err := s.Scan(&t.Session, &t.N, &t.Kind, &status, &started, &ended, &terminal); err != nil {
		return t, err
	}
	t.Started, t.Ended = unstamp(started), unstamp(ended)
	if terminal != "" {
		t.Terminal = json.RawMessage(terminal)
	}
	t.Status, err = parseLabel[TurnStatus]("turn status", turnStatusLabels, status)
	return t, err
}

// UnmarshalText reads the stored label.
func (s *TurnStatus) UnmarshalText(text []byte) (err error) {
	*s, err = parseLabel[TurnStatus]("turn status", turnStatusLabels, string(text))
	return err
}
