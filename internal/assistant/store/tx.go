package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyRounds is how often a lock of another process is waited for, 5 s each
// time, before a person hears of it.
const busyRounds = 12

// update runs one writing transaction that is on disk when it returns. fn may run
// more than once and must not keep what it read of an attempt that did not commit.
func (db *DB) update(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return explain(db.path, patiently(ctx, func() error {
		tx, err := db.write.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return errors.Join(err, ignoreDone(tx.Rollback()))
		}
		return tx.Commit()
	}))
}

// view runs fn over one consistent picture.
func (db *DB) view(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return explain(db.path, patiently(ctx, func() error {
		tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		return errors.Join(fn(tx), ignoreDone(tx.Rollback()))
	}))
}

// patiently tries again while another process holds the lock.
func patiently(ctx context.Context, fn func() error) (err error) {
	for range busyRounds {
		if err = fn(); !isBusy(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// isBusy covers what the busy timeout of SQLite does not wait for, such as two
// processes that switch a new file to the write-ahead log.
func isBusy(err error) bool {
	code := codeOf(err) & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

func codeOf(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// rows scans every row of a query; it closes them whatever happens.
func rows[T any](ctx context.Context, tx *sql.Tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	r, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []T
	for r.Next() {
		v, err := scan(r)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, r.Err()
}

// scanner is a row or rows.
type scanner interface{ Scan(dest ...any) error }

// list reads every row of a query in a view of its own.
func list[T any](ctx context.Context, db *DB, scan func(scanner) (T, error), query string, args ...any) (all []T, err error) {
	err = db.view(ctx, func(tx *sql.Tx) error {
		all, err = rows(ctx, tx, scan, query, args...)
		return err
	})
	return all, err
}

// one reads at most one row.
func one[T any](ctx context.Context, db *DB, scan func(scanner) (T, error), query string, args ...any) (v T, found bool, err error) {
	all, err := list(ctx, db, scan, query, args...)
	if err != nil || len(all) == 0 {
		return v, false, err
	}
	return all[0], true, nil
}

// stamp and unstamp keep a time as nanoseconds since 1970; 0 is no time.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func unstamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
