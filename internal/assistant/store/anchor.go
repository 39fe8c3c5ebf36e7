package store

import (
	"context"
	"database/sql"
)

// PutAnchor keeps the anchor of a session's event log in place of its last one
// (B-CHAIN-1). It asks for no lease: a proposal from a file has a log and no
// session, and the last anchor is written when the lease is given back.
func (db *DB) PutAnchor(ctx context.Context, session, anchor string) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO anchors (session, body, at) VALUES (?,?,?)
			ON CONFLICT(session) DO UPDATE SET body = excluded.body, at = excluded.at`, session, anchor, stamp(db.now()))
		return err
	})
}

// Anchor finds the anchor of a session's event log.
func (db *DB) Anchor(ctx context.Context, session string) (anchor string, found bool, err error) {
	return one(ctx, db, func(s scanner) (text string, err error) { return text, s.Scan(&text) },
		`SELECT body FROM anchors WHERE session = ?`, session)
}
