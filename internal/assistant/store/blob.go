package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
)

// Blob is bytes that messages refer to by their SHA-256, such as an image.
type Blob struct {
	SHA256    string
	MediaType string
	Bytes     []byte
}

// PutBlob keeps bytes for a session and returns their SHA-256 in hex. The same
// bytes are kept once; they go when the last session that uses them is deleted.
func (db *DB) PutBlob(ctx context.Context, session, mediaType string, bytes []byte) (string, error) {
	sum := sha256.Sum256(bytes)
	id := hex.EncodeToString(sum[:])
	err := db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO blobs (sha256, bytes, media_type) VALUES (?,?,?) ON CONFLICT DO NOTHING`, id, bytes, mediaType); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO blob_uses (session, sha256) VALUES (?,?) ON CONFLICT DO NOTHING`, session, id)
		return err
	})
	return id, err
}

// Blob finds bytes by their SHA-256; unknown ones are a *NotFoundError.
func (db *DB) Blob(ctx context.Context, id string) (Blob, error) {
	b, found, err := one(ctx, db, scanBlob, `SELECT sha256, media_type, bytes FROM blobs WHERE sha256 = ?`, id)
	if err == nil && !found {
		err = &NotFoundError{Kind: "image", ID: id}
	}
	return b, err
}

func scanBlob(s scanner) (b Blob, err error) {
	err = s.Scan(&b.SHA256, &b.MediaType, &b.Bytes)
	return b, err
}
