package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Transcript is what a session said, as an import brings it. Entries hold their
// turn and time; seq is counted anew, and so must the ranges of compactions be.
type Transcript struct {
	Turns       []Turn
	Entries     []Entry
	Compactions []Compaction
}

// ImportSession makes the session s of a transcript, all of it or nothing. No
// effect, grant or approval comes with it: those were given elsewhere (A-DUR-7).
func (db *DB) ImportSession(ctx context.Context, s Session, t Transcript) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.insertSession(ctx, tx, s); err != nil {
			return err
		}
		for _, turn := range t.Turns {
			if turn.Status == TurnInProgress || turn.Status == TurnUnset {
				turn.Status = TurnIncomplete
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO turns (session, turn, kind, status, started, ended, terminal) VALUES (?,?,?,?,?,?,?)`,
				s.ID, turn.N, turn.Kind, turn.Status.String(), stamp(turn.Started), stamp(turn.Ended), string(turn.Terminal))
			if err != nil {
				return fmt.Errorf("turn %d: %w", turn.N, err)
			}
		}
		for i, e := range t.Entries {
			e.Message.Seq, e.Input = int64(i+1), 0
			if err := appendEntry(ctx, tx, s.ID, e); err != nil {
				return fmt.Errorf("message %d: %w", i+1, err)
			}
		}
		for _, c := range t.Compactions {
			if err := db.compact(ctx, tx, s.ID, c.FromSeq, c.ToSeq, c.Summary); err != nil {
				return err
			}
		}
		return nil
	})
}

// CutPoint is the last message up to seq behind which a session can be cut: between
// a call and its result is no such place (P-WORK-2). 0 cuts before everything, and
// a seq of 0 asks for the whole session.
func (db *DB) CutPoint(ctx context.Context, session string, seq int64) (at int64, err error) {
	err = db.view(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM messages WHERE session = ?1 AND (?2 <= 0 OR seq <= ?2)`, session, seq).Scan(&at)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT coalesce(min(seq) - 1, ?2) FROM calls
			WHERE session = ?1 AND seq <= ?2 AND coalesce(result_seq, ?2 + 1) > ?2`, session, at).Scan(&at)
	})
	return at, err
}
