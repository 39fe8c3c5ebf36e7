package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"car/internal/engine/approval"
)

func testConfig(t *testing.T) Config {
	return Config{Path: filepath.Join(t.TempDir(), "home", "car.db"), Now: time.Now}
}

func mustOpen(t *testing.T, c Config, steps []string) *DB {
	t.Helper()
	db, err := open(t.Context(), c, steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A-DUR-1: a later release adds its steps, rows stay, and a whole private copy of
// what was there lies beside; a release without the step then refuses the file.
func TestMigrationGoesForwardAfterACopy(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	old := mustOpen(t, c, migrations())
	if err := old.CreateSession(t.Context(), Session{ID: "s1", Title: "kept"}); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	next := append(migrations(), `CREATE TABLE notes (text TEXT NOT NULL) STRICT; INSERT INTO notes VALUES ('new');`)
	db := mustOpen(t, c, next)
	if s, err := db.Session(t.Context(), "s1"); err != nil || s.Title != "kept" {
		t.Errorf("after the migration: %+v, %v", s, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(c.Path + ".v1")
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("the copy: %v, %v, want a file of 0600", info, err)
	}
	copied := mustOpen(t, Config{Path: c.Path + ".v1", Now: time.Now}, migrations())
	if s, err := copied.Session(t.Context(), "s1"); err != nil || s.Title != "kept" {
		t.Errorf("in the copy: %+v, %v", s, err)
	}
	var newer *NewerError
	if _, err := open(t.Context(), c, migrations()); !errors.As(err, &newer) || newer.Has != 2 || newer.Knows != 1 {
		t.Errorf("the older release opens it: %v", err)
	}
}

// A-DUR-1: a migration that breaks changes nothing.
func TestABrokenMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	if err := mustOpen(t, c, migrations()).Close(); err != nil {
		t.Fatal(err)
	}
	broken := append(migrations(), `CREATE TABLE notes (text TEXT); CREATE TABLE sessions (id TEXT);`)
	if _, err := open(t.Context(), c, broken); err == nil || !strings.Contains(err.Error(), "migration 2") {
		t.Fatalf("open: %v, want an error that names migration 2", err)
	}
	db := mustOpen(t, c, migrations())
	var tables int
	if err := db.read.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema WHERE name = 'notes'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("half of the migration stayed: %d, %v", tables, err)
	}
}

// B077: any number of openers make one new file together.
func TestManyOpenersMakeOneFile(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	next := append(migrations(), `CREATE TABLE notes (text TEXT NOT NULL) STRICT;`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			db, err := open(t.Context(), c, next)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// A-DUR-1: without shared memory there is a rollback journal and a notice, and
// everything still works.
func TestARollbackJournalIsSaid(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	if err := mustOpen(t, c, migrations()).Close(); err != nil {
		t.Fatal(err)
	}
	db := mustOpen(t, c, migrations())
	if err := db.write.QueryRowContext(t.Context(), `PRAGMA journal_mode = delete`).Scan(&db.journal); err != nil {
		t.Fatal(err)
	}
	if db.journal != "delete" || !strings.Contains(db.Notice(), c.Path) {
		t.Errorf("journal %q, notice %q", db.journal, db.Notice())
	}
	if err := db.CreateSession(t.Context(), Session{ID: "s1"}); err != nil {
		t.Error(err)
	}
	if _, err := db.Session(t.Context(), "s1"); err != nil {
		t.Error(err)
	}
}

// D-17, D-36: what is in force on the connection that writes.
func TestTheWriterIsDurable(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, testConfig(t), migrations())
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "5000"} {
		var got string
		if err := db.write.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v, want %q", pragma, got, err, want)
		}
	}
	if _, err := db.read.ExecContext(t.Context(), `DELETE FROM sessions`); err == nil {
		t.Error("a reading connection wrote")
	}
}

// A-DUR-6, A-APPR-7: on a full disk nothing is dispatched unrecorded, what was
// committed stays, and the error says what happened.
func TestAFullDiskRecordsNothing(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, testConfig(t), migrations())
	l, err := approval.New(approval.Config{Store: db, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := db.write.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := db.write.ExecContext(t.Context(), `PRAGMA max_page_count = 1`); err != nil {
		t.Fatal(err)
	}
	effect := func(i int) approval.Effect {
		e := approval.Effect{Session: "s1", CallID: "c", Attempt: i + 1, Scope: approval.Scope{Tool: "shell", Parameters: map[string]any{"command": strings.Repeat("x", 3000)}}}
		if e.ID, err = e.Scope.EffectID("s1", "c", e.Attempt); err != nil {
			t.Fatal(err)
		}
		return e
	}
	recorded := 0
	for ; recorded < 100; recorded++ {
		if err = l.BeforeDispatch(t.Context(), effect(recorded)); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), "cannot persist approval scope") {
		t.Fatalf("a full disk: %v", err)
	}
	if _, found, err := db.Effect(t.Context(), effect(recorded).ID); err != nil || found {
		t.Errorf("the refused effect has a row: %v, %v", found, err)
	}
	if stuck, err := l.Recover(t.Context(), "s1"); err != nil || len(stuck) != recorded {
		t.Errorf("%d effects are there, %v, want the %d that were recorded", len(stuck), err, recorded)
	}
}

// P-SCALE-2: a lock that another process keeps is waited for beyond SQLite's own
// patience, and a caller that gives up is let go.
func TestALockIsWaitedFor(t *testing.T) {
	t.Parallel()
	busy, ok := errors.AsType[*sqlite.Error](lockedError(t))
	if !ok {
		t.Fatal("no lock was met")
	}
	rounds := 0
	err := patiently(t.Context(), func() error {
		if rounds++; rounds < busyRounds {
			return busy
		}
		return nil
	})
	if err != nil || rounds != busyRounds {
		t.Errorf("gave up after %d rounds: %v", rounds, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rounds = 0
	if err := patiently(ctx, func() error { rounds++; return busy }); err == nil || rounds != 1 {
		t.Errorf("a caller that left was kept for %d rounds: %v", rounds, err)
	}
	if err := explain("car.db", busy); !strings.Contains(err.Error(), "kept locked by another process") {
		t.Errorf("what a person reads: %v", err)
	}
}

// lockedError meets a lock with no patience at all.
func lockedError(t *testing.T) error {
	t.Helper()
	c := testConfig(t)
	holder, other := mustOpen(t, c, migrations()), mustOpen(t, c, migrations())
	tx, err := holder.write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := other.write.ExecContext(t.Context(), `PRAGMA busy_timeout = 0`); err != nil {
		t.Fatal(err)
	}
	_, err = other.write.ExecContext(t.Context(), `DELETE FROM leases`)
	return err
}
