package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Compaction says what prompts show instead of a range of messages. Without a
// summary the range is hidden. The messages themselves stay (A-DUR-2, P-STREAM-7).
type Compaction struct {
	N       int
	FromSeq int64
	ToSeq   int64
	// Summary is JSON; empty hides.
	Summary json.RawMessage
	Created time.Time
}

// AddCompaction replaces the messages from..to in prompts by a summary, or hides
// them where it is empty.
func (db *DB) AddCompaction(ctx context.Context, session string, from, to int64, summary json.RawMessage) error {
	if len(summary) > 0 && !json.Valid(summary) {
		return fmt.Errorf("compaction of session %s: the summary is not JSON", session)
	}
	return db.update(ctx, func(tx *sql.Tx) error {
		return db.compact(ctx, tx, session, from, to, summary)
	})
}

func (db *DB) compact(ctx context.Context, tx *sql.Tx, session string, from, to int64, summary json.RawMessage) error {
	if err := db.touch(ctx, tx, session); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO compactions (session, n, from_seq, to_seq, summary, created)
		SELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3, ?4, ?5 FROM compactions WHERE session = ?1`,
		session, from, to, string(summary), stamp(db.now()))
	return err
}

// Rewind hides every message above seq from prompts (A-DUR-7).
func (db *DB) Rewind(ctx context.Context, session string, seq int64) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		var last int64
		err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM messages WHERE session = ?`, session).Scan(&last)
		if err != nil || last <= seq {
			return err
		}
		return db.compact(ctx, tx, session, seq+1, last, nil)
	})
}

// Compactions lists a session's compactions in the order they were made.
func (db *DB) Compactions(ctx context.Context, session string) ([]Compaction, error) {
	return list(ctx, db, scanCompaction, `SELECT n, from_seq, to_seq, summary, created FROM compactions WHERE session = ? ORDER BY n`, session)
}

func scanCompaction(s scanner) (c Compaction, err error) {
	var summary string
	var created int64
	err = s.Scan(&c.N, &c.FromSeq, &c.ToSeq, &summary, &created)
	if summary != "" {
		c.Summary = json.RawMessage(summary)
	}
	c.Created = unstamp(created)
	return c, err
}

// Item is one piece of a prompt: a message, or the summary of a range.
type Item struct {
	// Message is nil for a summary.
	Message *Message
	// Summary is nil for a message; FromSeq and ToSeq are the range it stands for.
	Summary        json.RawMessage
	FromSeq, ToSeq int64
}

// Visible is what prompts are built from: the messages in order, without excluded
// ones, with each range that is in force replaced. The newest compaction wins: one
// that reaches into an older range makes the older one void, so that a rewind
// into a summarised range shows the true messages again.
func Visible(messages []Message, compactions []Compaction) []Item {
	inForce := inForce(compactions)
	var items []Item
	shown := map[int]bool{}
	for i := range messages {
		m := &messages[i]
		c, covered := coveredBy(inForce, m.Seq)
		switch {
		case covered && !shown[c.N] && len(c.Summary) > 0:
			shown[c.N] = true
			items = append(items, Item{Summary: c.Summary, FromSeq: c.FromSeq, ToSeq: c.ToSeq})
		case !covered && !m.Excluded:
			items = append(items, Item{Message: m, FromSeq: m.Seq, ToSeq: m.Seq})
		}
	}
	return items
}

// inForce keeps, from the newest, every range that meets none already kept.
func inForce(compactions []Compaction) []Compaction {
	var kept []Compaction
next:
	for i := len(compactions) - 1; i >= 0; i-- {
		c := compactions[i]
		for _, k := range kept {
			if c.FromSeq <= k.ToSeq && k.FromSeq <= c.ToSeq {
				continue next
			}
		}
		kept = append(kept, c)
	}
	return kept
}

func coveredBy(ranges []Compaction, seq int64) (Compaction, bool) {
	for _, c := range ranges {
		if c.FromSeq <= seq && seq <= c.ToSeq {
			return c, true
		}
	}
	return Compaction{}, false
}
