package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// Config makes a DB.
type Config struct {
	// Path is the absolute path of the database file. A missing file and folder
	// are made, readable by their owner only.
	Path string
	// Now is the clock.
	Now func() time.Time
	// Holder is this process, as it signs its leases; see Self.
	Holder Holder
	// Alive says whether a process of this boot lives; nil asks the system.
	Alive func(pid int) bool
}

func (c Config) check() error {
	switch {
	case !filepath.IsAbs(c.Path):
		return fmt.Errorf("store: Config.Path %q is not an absolute path", c.Path)
	case c.Now == nil:
		return errors.New("store: Config.Now is nil")
	}
	return nil
}

// DB is an open database. It is safe for concurrent use, and any number of
// processes may open one file.
type DB struct {
	write   *sql.DB // one connection, immediate transactions, synchronous=FULL, freed pages zeroed
	read    *sql.DB // connections that cannot write
	path    string
	now     func() time.Time
	holder  Holder
	alive   func(pid int) bool
	token   string // signs this DB's leases
	held    sessions
	journal string
}

// readers bounds the reading connections: a screen, a turn and an export.
const readers = 4

// Open opens the database, making or migrating it where needed. A database of a
// newer release is a *NewerError; a file that is no database is a *DamagedError.
func Open(ctx context.Context, c Config) (*DB, error) {
	return open(ctx, c, migrations())
}

func open(ctx context.Context, c Config, steps []string) (*DB, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := ownFile(c.Path); err != nil {
		return nil, fmt.Errorf("store %s: %w", c.Path, err)
	}
	db := &DB{path: c.Path, now: c.Now, holder: c.Holder, alive: c.Alive}
	if db.alive == nil {
		db.alive = processAlive
	}
	var err error
	if db.token, err = newToken(); err != nil {
		return nil, fmt.Errorf("store %s: %w", c.Path, err)
	}
	if err := db.connect(ctx, steps); err != nil {
		return nil, errors.Join(explain(c.Path, err), db.Close())
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context, steps []string) (err error) {
	if db.write, err = sql.Open("sqlite", dsn(db.path, "synchronous(FULL)", "secure_delete(1)")); err != nil {
		return err
	}
	db.write.SetMaxOpenConns(1)
	if db.journal, err = db.setJournal(ctx); err != nil {
		return err
	}
	if err := db.migrate(ctx, steps); err != nil {
		return err
	}
	if db.read, err = sql.Open("sqlite", dsn(db.path, "query_only(1)")); err != nil {
		return err
	}
	db.read.SetMaxOpenConns(readers)
	return nil
}

// dsn names the file for SQLite; a path may hold any byte.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_txlock": {"immediate"}}
	for _, p := range append([]string{"busy_timeout(5000)", "foreign_keys(1)"}, pragmas...) {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return u.String()
}

// setJournal asks for a write-ahead log where the file system can share one
// between processes, and returns the mode that is in force (A-DUR-1).
func (db *DB) setJournal(ctx context.Context) (mode string, err error) {
	want := "wal"
	if onNetwork(filepath.Dir(db.path)) {
		want = "delete"
	}
	err = patiently(ctx, func() error {
		return db.write.QueryRowContext(ctx, "PRAGMA journal_mode="+want).Scan(&mode)
	})
	return strings.ToLower(mode), err
}

// Notice says what is less than usual with this database, for a person; empty is nothing.
func (db *DB) Notice() string {
	if db.journal == "wal" {
		return ""
	}
	return fmt.Sprintf("%s is on a file system without shared memory: car uses a rollback journal there, and sessions wait for each other longer", db.path)
}

// Close waits for the transactions in hand and closes the file.
func (db *DB) Close() error {
	var errs []error
	for _, pool := range []*sql.DB{db.read, db.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// ownFile makes the folder and the file for their owner only, and takes others'
// rights from a file that is there; SQLite gives its side files the same mode.
func ownFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	if info.Mode().Perm()&^fs.FileMode(0o600) != 0 {
		return f.Chmod(0o600)
	}
	return nil
}
