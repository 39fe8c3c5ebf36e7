package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Message is one row of a transcript. Seq counts from 1 within its session.
type Message struct {
	Seq  int64
	Turn int
	Role string
	// Body is the message as it was or will be sent, byte for byte (D-23).
	Body json.RawMessage
	// Provider and Model are who served it, else who was asked.
	Provider   string
	Model      string
	LastResort bool
	// Excluded keeps a message out of prompts from its birth.
	Excluded bool
	Created  time.Time
}

// Entry is a message to append, with the rows that stand or fall with it.
type Entry struct {
	// Message is stored as it is, but for Seq, Turn and Created.
	Message Message
	// Calls are the calls that an assistant message makes.
	Calls []Call
	// Answers are the call ids whose results the message carries.
	Answers []string
	// Input is the waiting input that the message delivers; 0 is none.
	Input int64
}

// AppendMessages writes a checkpoint: all entries, with their calls, results and
// deliveries, or nothing. It returns the seq of the first. Its cost is that of
// the new rows (A-DUR-2, A-DUR-3).
func (db *DB) AppendMessages(ctx context.Context, session string, turn int, entries ...Entry) (first int64, err error) {
	for i, e := range entries {
		if !json.Valid(e.Message.Body) {
			return 0, fmt.Errorf("message %d of the checkpoint of session %s: the body is not JSON", i+1, session)
		}
	}
	err = db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session = ?`, session).Scan(&first); err != nil {
			return err
		}
		for i, e := range entries {
			e.Message.Seq, e.Message.Turn, e.Message.Created = first+int64(i), turn, db.now()
			if err := appendEntry(ctx, tx, session, e); err != nil {
				return err
			}
		}
		return nil
	})
	return first, err
}

func appendEntry(ctx context.Context, tx *sql.Tx, session string, e Entry) error {
	m := e.Message
	_, err := tx.ExecContext(ctx, `INSERT INTO messages
		(session, seq, turn, role, body, provider, model, last_resort, excluded, created) VALUES (?,?,?,?,?,?,?,?,?,?)`,
		session, m.Seq, m.Turn, m.Role, string(m.Body), m.Provider, m.Model, m.LastResort, m.Excluded, stamp(m.Created))
	if err != nil {
		return err
	}
	for _, c := range e.Calls {
		if err := insertCall(ctx, tx, session, m.Seq, c); err != nil {
			return err
		}
	}
	for _, id := range e.Answers {
		if err := answerCall(ctx, tx, session, m.Seq, id); err != nil {
			return err
		}
	}
	if e.Input != 0 {
		return moveInput(ctx, tx, session, e.Input, "delivered")
	}
	return nil
}

// Messages lists a session's whole transcript in order; see Visible for what a
// prompt is built from.
func (db *DB) Messages(ctx context.Context, session string) ([]Message, error) {
	return db.MessagesAfter(ctx, session, 0)
}

// MessagesAfter lists the messages whose seq is above after, in order.
func (db *DB) MessagesAfter(ctx context.Context, session string, after int64) ([]Message, error) {
	return list(ctx, db, scanMessage, `SELECT seq, turn, role, body, provider, model, last_resort, excluded, created
		FROM messages WHERE session = ? AND seq > ? ORDER BY seq`, session, after)
}

// LastMessages are a session's newest messages, at most n, in their order.
func (db *DB) LastMessages(ctx context.Context, session string, n int) ([]Message, error) {
	newest, err := list(ctx, db, scanMessage, `SELECT seq, turn, role, body, provider, model, last_resort, excluded, created
		FROM messages WHERE session = ? ORDER BY seq DESC LIMIT ?`, session, n)
	slices.Reverse(newest)
	return newest, err
}

// FirstMessages are a session's oldest messages, at most n, in their order.
func (db *DB) FirstMessages(ctx context.Context, session string, n int) ([]Message, error) {
	return list(ctx, db, scanMessage, `SELECT seq, turn, role, body, provider, model, last_resort, excluded, created
		FROM messages WHERE session = ? ORDER BY seq LIMIT ?`, session, n)
}

func scanMessage(s scanner) (m Message, err error) {
	var body string
	var created int64
	err = s.Scan(&m.Seq, &m.Turn, &m.Role, &body, &m.Provider, &m.Model, &m.LastResort, &m.Excluded, &created)
	m.Body, m.Created = json.RawMessage(body), unstamp(created)
	return m, err
}
