package store_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
)

// clock is a time that a test moves.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ns.Store(time.Date(2031, 5, 4, 3, 2, 1, 7, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "home", "car.db") }

func openAt(t testing.TB, path string, c *clock) *store.DB {
	t.Helper()
	return openAs(t, store.Config{Path: path, Now: c.now, Holder: store.Self()})
}

func openAs(t testing.TB, c store.Config) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func newLedger(t testing.TB, s approval.Store, c *clock) *approval.Ledger {
	t.Helper()
	l, err := approval.New(approval.Config{Store: s, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// anEffect is a call of a session that would run a command.
func anEffect(t testing.TB, session, call, command string) approval.Effect {
	t.Helper()
	scope := approval.Scope{
		Tool: "shell", ToolVersion: "1", Parameters: map[string]any{"command": command, "timeout_secs": 120.0},
		RepositoryRoot: "/project", Cwd: "/project", Target: command, Environment: "unspecified",
		CredentialCapabilities: []string{"git:configured-remote"}, Substrate: "local",
	}
	id, err := scope.EffectID(session, call, 1)
	if err != nil {
		t.Fatal(err)
	}
	return approval.Effect{ID: id, Session: session, CallID: call, Proposal: "p1", Action: "a1", Attempt: 1, Scope: scope, AllowedBy: "auto:full_access"}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustState(t testing.TB, db *store.DB, id approval.EffectID, want approval.State) approval.Effect {
	t.Helper()
	e, found, err := db.Effect(context.WithoutCancel(t.Context()), id)
	must(t, err)
	if !found && want != approval.StateUnset || e.State != want {
		t.Fatalf("effect %s is %q (found %v), want %q", id, e.State, found, want)
	}
	return e
}
