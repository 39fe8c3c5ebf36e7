package store

import (
	"context"
	"database/sql"
	"time"

	"car/internal/engine/ir"
)

// TrustedFile is a file of a project that a person trusts as it is (G-TRUST-2).
type TrustedFile struct {
	// Root is the project's real path: a copy elsewhere is another project (D-31).
	Root string
	// Path names the file within the project.
	Path   string
	Digest ir.Digest
	At     time.Time
}

// TrustDigests records that a person trusts these files of a project with exactly
// these contents, all or none. An older digest of a file is forgotten.
func (db *DB) TrustDigests(ctx context.Context, root string, digests map[string]ir.Digest) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		for path, digest := range digests {
			_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO trust (root, path, digest, at) VALUES (?,?,?,?)`, root, path, digest, stamp(db.now()))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Trusted reports whether a person trusts this content of a project's file. A
// changed file is not trusted.
func (db *DB) Trusted(ctx context.Context, root, path string, digest ir.Digest) (bool, error) {
	_, found, err := one(ctx, db, scanTrust, `SELECT root, path, digest, at FROM trust WHERE root = ? AND path = ? AND digest = ? AND digest <> ''`,
		root, path, digest)
	return found, err
}

// TrustedFiles lists what is trusted in a project, or everywhere for an empty root.
func (db *DB) TrustedFiles(ctx context.Context, root string) ([]TrustedFile, error) {
	return list(ctx, db, scanTrust, `SELECT root, path, digest, at FROM trust WHERE ?1 = '' OR root = ?1 ORDER BY root, path`, root)
}

// RevokeTrust takes trust back from a file, or from all of a project for an empty
// path, and says from how many.
func (db *DB) RevokeTrust(ctx context.Context, root, path string) (n int64, err error) {
	err = db.update(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `DELETE FROM trust WHERE root = ?1 AND (?2 = '' OR path = ?2)`, root, path)
		if err != nil {
			return err
		}
		n, err = r.RowsAffected()
		return err
	})
	return n, err
}

func scanTrust(s scanner) (f TrustedFile, err error) {
	var at int64
	err = s.Scan(&f.Root, &f.Path, &f.Digest, &at)
	f.At = unstamp(at)
	return f, err
}
