package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Session is one durable conversation. ID is the host's stable id (A-SVC-3);
// System is frozen for the session's life (A-SVC-2).
type Session struct {
	ID        string
	Title     string
	Cwd       string
	Root      string
	Model     string
	System    string
	ToolsHash string
	// Parent and ParentSeq say where a fork left its origin.
	Parent    string
	ParentSeq int64
	Created   time.Time
	Updated   time.Time
}

// CreateSession writes a new session. Its times are the store's. An id that was
// ever used is refused.
func (db *DB) CreateSession(ctx context.Context, s Session) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		return db.insertSession(ctx, tx, s)
	})
}

func (db *DB) insertSession(ctx context.Context, tx *sql.Tx, s Session) error {
	if err := db.fence(ctx, tx, s.ID); err != nil {
		return err
	}
	now := stamp(db.now())
	r, err := tx.ExecContext(ctx, `INSERT INTO sessions
		(id, title, cwd, root, model, system, tools_hash, parent, parent_seq, created, updated)
		VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
		s.ID, s.Title, s.Cwd, s.Root, s.Model, s.System, s.ToolsHash, s.Parent, s.ParentSeq, now, now)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("session id %q is taken: use another id, or resume that session", s.ID)
}

const sessionColumns = `id, title, cwd, root, model, system, tools_hash, parent, parent_seq, created, updated`

func scanSession(s scanner) (out Session, err error) {
	var created, updated int64
	err = s.Scan(&out.ID, &out.Title, &out.Cwd, &out.Root, &out.Model, &out.System, &out.ToolsHash,
		&out.Parent, &out.ParentSeq, &created, &updated)
	out.Created, out.Updated = unstamp(created), unstamp(updated)
	return out, err
}

// Session finds a session; a missing or deleted one is a *NotFoundError.
func (db *DB) Session(ctx context.Context, id string) (Session, error) {
	s, found, err := one(ctx, db, scanSession, `SELECT `+sessionColumns+` FROM sessions WHERE id = ? AND deleted = 0`, id)
	if err == nil && !found {
		err = &NotFoundError{Kind: "session", ID: id}
	}
	return s, err
}

// Sessions lists the sessions of a root, the one last used first; an empty root is all.
func (db *DB) Sessions(ctx context.Context, root string) ([]Session, error) {
	return list(ctx, db, scanSession, `SELECT `+sessionColumns+` FROM sessions
		WHERE deleted = 0 AND (?1 = '' OR root = ?1) ORDER BY updated DESC, rowid DESC`, root)
}

// FindSessions lists the sessions whose id begins with prefix, for --resume (A-CLI-5).
func (db *DB) FindSessions(ctx context.Context, prefix string) ([]Session, error) {
	return list(ctx, db, scanSession, `SELECT `+sessionColumns+` FROM sessions
		WHERE deleted = 0 AND substr(id, 1, length(?1)) = ?1 ORDER BY updated DESC, rowid DESC`, prefix)
}

// Rename gives a session another title. It asks for no lease.
func (db *DB) Rename(ctx context.Context, id, title string) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		return changedOne(tx.ExecContext(ctx, `UPDATE sessions SET title = ? WHERE id = ? AND deleted = 0`, title, id))("session", id)
	})
}

// SetModel records the model that a session goes on with.
func (db *DB) SetModel(ctx context.Context, id, model string) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.fence(ctx, tx, id); err != nil {
			return err
		}
		return changedOne(tx.ExecContext(ctx, `UPDATE sessions SET model = ? WHERE id = ? AND deleted = 0`, model, id))("session", id)
	})
}

// touch marks a session as used now, and refuses one that is not there.
func (db *DB) touch(ctx context.Context, tx *sql.Tx, id string) error {
	if err := db.fence(ctx, tx, id); err != nil {
		return err
	}
	return changedOne(tx.ExecContext(ctx, `UPDATE sessions SET updated = ? WHERE id = ? AND deleted = 0`, stamp(db.now()), id))("session", id)
}

// changedOne turns a statement that changed no row into a *NotFoundError.
func changedOne(r sql.Result, err error) func(kind, id string) error {
	return func(kind, id string) error {
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return &NotFoundError{Kind: kind, ID: id}
	}
}

// DeleteSession removes what a session said and did. What stays is the audit
// line: the emptied session row, and of each effect its identity, tool, states and
// who decided, without parameters and receipts (A-DUR-7). The bytes are gone from
// the file too, unless another process reads an older picture just then. Other
// files are the caller's.
func (db *DB) DeleteSession(ctx context.Context, id string) error {
	if err := db.deleteRows(ctx, id); err != nil {
		return err
	}
	// The write-ahead log still holds the old pages until it is emptied.
	_, err := db.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return explain(db.path, err)
}

func (db *DB) deleteRows(ctx context.Context, id string) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.fence(ctx, tx, id); err != nil {
			return err
		}
		err := changedOne(tx.ExecContext(ctx, `UPDATE sessions SET deleted = ?, title = '', cwd = '', root = '', model = '', system = '', tools_hash = ''
			WHERE id = ? AND deleted = 0`, stamp(db.now()), id))("session", id)
		if err != nil {
			return err
		}
		for _, q := range []string{
			`DELETE FROM calls WHERE session = ?`,
			`DELETE FROM messages WHERE session = ?`,
			`DELETE FROM compactions WHERE session = ?`,
			`DELETE FROM turns WHERE session = ?`,
			`DELETE FROM inputs WHERE session = ?`,
			`DELETE FROM goals WHERE session = ?`,
			`DELETE FROM usage WHERE session = ?`,
			`DELETE FROM grants WHERE session = ?`,
			`DELETE FROM blob_uses WHERE session = ?`,
			`DELETE FROM blobs WHERE sha256 NOT IN (SELECT sha256 FROM blob_uses) AND ? <> ''`,
			`UPDATE actions SET scope = json_object('tool', scope ->> 'tool'), receipt = '' WHERE session = ?`,
			`UPDATE action_log SET receipt = '' WHERE receipt <> '' AND action_id IN (SELECT id FROM actions WHERE session = ?)`,
			`DELETE FROM anchors WHERE session = ?`,
			`DELETE FROM leases WHERE session = ?`,
		} {
			if _, err := tx.ExecContext(ctx, q, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Fork starts the session s as a copy of another up to and including seq, with
// its calls, compactions and images. Decisions, grants and inputs stay behind:
// they were given to the other session. The origin may be in use.
func (db *DB) Fork(ctx context.Context, from string, seq int64, s Session) error {
	s.Parent, s.ParentSeq = from, seq
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.insertSession(ctx, tx, s); err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, `INSERT INTO messages SELECT ?1, seq, turn, role, body, provider, model, last_resort, excluded, created
			FROM messages WHERE session = ?2 AND seq <= ?3 ORDER BY seq`, s.ID, from, seq)
		if err := changedOne(r, err)("session with messages", from); err != nil {
			return err
		}
		for _, q := range []string{
			`INSERT INTO calls SELECT ?1, call_id, seq, provider_id, tool, args, CASE WHEN result_seq <= ?3 THEN result_seq END
				FROM calls WHERE session = ?2 AND seq <= ?3`,
			`INSERT INTO compactions SELECT ?1, n, from_seq, to_seq, summary, created FROM compactions WHERE session = ?2 AND to_seq <= ?3`,
			`INSERT INTO turns SELECT ?1, turn, kind, CASE status WHEN 'in_progress' THEN 'incomplete' ELSE status END, started, ended, terminal
				FROM turns WHERE session = ?2 AND turn <= (SELECT max(turn) FROM messages WHERE session = ?2 AND seq <= ?3)`,
			`INSERT INTO blob_uses SELECT ?1, sha256 FROM blob_uses WHERE session = ?2 AND ?3 >= 0`,
		} {
			if _, err := tx.ExecContext(ctx, q, s.ID, from, seq); err != nil {
				return err
			}
		}
		return nil
	})
}
