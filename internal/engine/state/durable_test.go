package state_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/state"
)

func openStore(t testing.TB, c state.Config) *state.Store {
	t.Helper()
	s, err := state.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func statePath(t testing.TB) string { return filepath.Join(t.TempDir(), "s1", "state.jsonl") }

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func text(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	noError(t, err)
	return string(b)
}

// holds fails unless the store has exactly these keys, tenants' included.
func holds(t testing.TB, s *state.Store, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, s.All()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// E-STATE-3: what was committed or rolled back stands after a restart, versions
// included; null is no deletion; tenants' keys are their own.
func TestDurableStore(t *testing.T) {
	t.Parallel()
	c := state.Config{Path: statePath(t)}
	s := openStore(t, c)
	_, err := s.SetBatch(map[string]any{"a": 1, "b": []any{"x", nil, map[string]any{"y": 2.5}}, "gone": true}, "seed")
	noError(t, err)
	_, _, err = s.Delete("gone", "seed")
	noError(t, err)
	tx := s.Begin()
	write(t, tx, "a1", "a", nil)
	a := tx.Attempt("a2")
	noError(t, a.Of("t1").Set("k", "tenant's"))
	commit(t, a)
	_, err = tx.Commit()
	noError(t, err)
	bad := s.Begin()
	write(t, bad, "a3", "a", "provisional")
	remove(t, bad, "a3", "b")
	if undone := bad.Rollback(); undone.Durability != state.Durable || undone.Err != nil || len(undone.Restored) != 2 {
		t.Errorf("undone %+v", undone)
	}
	want, revision, version := s.All(), s.Revision(), s.Version("b")
	noError(t, s.Close())
	if _, err := s.Set("a", 2, "late"); err == nil {
		t.Error("wrote to a closed store")
	}
	s = openStore(t, c)
	holds(t, s, want)
	holds(t, s, map[string]any{"a": nil, "b": []any{"x", nil, map[string]any{"y": 2.5}}, "tenant:t1:k": "tenant's"})
	if s.Revision() != revision || s.Version("b") != version || s.Notice() != "" {
		t.Errorf("revision %d, want %d; version %d, want %d; notice %q", s.Revision(), revision, s.Version("b"), version, s.Notice())
	}
	if info, err := os.Stat(c.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// E-STATE-2, E-STATE-3: a proposal that had no end when its process did leaves
// nothing, a torn line is dropped, and both are told once.
func TestUnfinishedProposal(t *testing.T) {
	t.Parallel()
	c := state.Config{Path: statePath(t)}
	s := openStore(t, c)
	_, err := s.Set("a", "old", "seed")
	noError(t, err)
	tx := s.Begin()
	write(t, tx, "a1", "a", "half")
	write(t, tx, "a2", "b", "half")
	noError(t, s.Close()) // as a crash does, without an end of the proposal
	noError(t, os.WriteFile(c.Path, []byte(text(t, c.Path)+`{"tx":2,"wri`), 0o600))
	s = openStore(t, c)
	holds(t, s, map[string]any{"a": "old"})
	if n := s.Notice(); !strings.Contains(n, "dropped a torn last line of 12 bytes") || !strings.Contains(n, "took back 2 changes to state") {
		t.Errorf("notice %q", n)
	}
	noError(t, s.Close())
	s = openStore(t, c)
	holds(t, s, map[string]any{"a": "old"})
	if s.Notice() != "" {
		t.Errorf("told again: %q", s.Notice())
	}
}

// E-STATE-3: a rollback that cannot be written changes nothing in memory, and the
// next process to open the store finishes it.
func TestRollbackThatFails(t *testing.T) {
	t.Parallel()
	c := state.Config{Path: statePath(t)}
	s := openStore(t, c)
	_, err := s.Set("a", "old", "seed")
	noError(t, err)
	tx := s.Begin()
	write(t, tx, "a1", "a", "new")
	noError(t, s.Close()) // nothing can be written any more
	undone := tx.Rollback()
	if undone.Durability != state.RollbackFailed || undone.Err == nil || len(undone.Restored)+len(undone.Conflicts) > 0 || undone.Durability.String() != "failed" {
		t.Errorf("undone %+v", undone)
	}
	holds(t, s, map[string]any{"a": "new"})
	if again := tx.Rollback(); again.Durability != state.NothingUndone {
		t.Errorf("again %+v", again)
	}
	holds(t, openStore(t, c), map[string]any{"a": "old"})

	// A commit that cannot be written is told, and is none after a restart.
	s = openStore(t, c)
	tx = s.Begin()
	write(t, tx, "a1", "a", "new")
	noError(t, s.Close())
	if landed, err := tx.Commit(); err == nil || len(landed) != 1 || !strings.Contains(err.Error(), c.Path) {
		t.Errorf("committed %v, %v", landed, err)
	}
	holds(t, openStore(t, c), map[string]any{"a": "old"})

	// So is a batch, and nothing of it is in memory.
	s = openStore(t, c)
	tx = s.Begin()
	a := tx.Attempt("a1")
	set(t, a, "a", "never")
	noError(t, s.Close())
	if _, err := a.Commit(); err == nil {
		t.Error("landed without a record")
	}
	holds(t, s, map[string]any{"a": "old"})
}

// E-STATE-3: a rollback whose folder cannot be flushed is in force here, and says
// that it may not be after a power cut.
func TestRollbackOfUnknownDurability(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such luck")
	var fail error
	c := state.Config{Path: statePath(t), SyncFolder: func(string) error { return fail }}
	s := openStore(t, c)
	_, err := s.Set("a", "old", "seed")
	noError(t, err)
	fail = broken
	if _, err := s.Set("b", 1, "seed"); err != nil {
		t.Errorf("a write that is on disk is called unwritten: %v", err)
	}
	tx := s.Begin()
	write(t, tx, "a1", "a", "new")
	undone := tx.Rollback()
	if undone.Durability != state.DurabilityUnknown || !errors.Is(undone.Err, broken) || len(undone.Restored) != 1 {
		t.Errorf("undone %+v", undone)
	}
	holds(t, s, map[string]any{"a": "old", "b": 1.0})
	if empty := s.Begin().Rollback(); empty.Durability != state.NothingUndone || empty.Err != nil {
		t.Errorf("a rollback of nothing: %+v", empty)
	}
}

// E-STATE-3: a line that is no batch is an error with its number, and the file stays.
func TestBadStateLines(t *testing.T) {
	t.Parallel()
	good := `{"by":"a","writes":[{"key":"k","value":1,"version":1}]}` + "\n"
	for name, c := range map[string]struct{ bad, want string }{
		"garbage":         {"garbage\n", "line 2: "},
		"nothing":         {"{}\n", "line 2: it holds nothing"},
		"an end of none":  {`{"commit":7}` + "\n", "line 2: the end of proposal 7, which wrote nothing"},
		"a line repeated": {good, "line 2: key 'k' has version 1 after revision 1"},
	} {
		path := statePath(t)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		noError(t, os.WriteFile(path, []byte(good+c.bad+good), 0o600))
		if _, err := state.Open(state.Config{Path: path}); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if text(t, path) != good+c.bad+good {
			t.Errorf("%s: opening changed the file", name)
		}
	}
	if _, err := state.Open(state.Config{}); err == nil {
		t.Error("opened without a path")
	}
}

// E-STATE-3: a file that is mostly past is shortened, never under an open proposal;
// one that cannot be loses nothing and tells.
func TestShortening(t *testing.T) {
	t.Parallel()
	var warned []error
	c := state.Config{Path: statePath(t), Warn: func(err error) { warned = append(warned, err) }}
	s := openStore(t, c)
	lines := func() int { return strings.Count(text(t, c.Path), "\n") }
	one := func(i int, commits bool) {
		tx := s.Begin()
		write(t, tx, "a", "k", i)
		if commits {
			_, err := tx.Commit()
			noError(t, err)
			return
		}
		tx.Rollback()
	}
	open := s.Begin()
	write(t, open, "o", "open", 1)
	for i := range 600 {
		one(i, i%2 == 0)
	}
	if n := lines(); n != 1201 {
		t.Fatalf("%d lines under an open proposal", n)
	}
	if undone := open.Rollback(); len(undone.Restored) != 1 {
		t.Errorf("undone %+v", undone)
	}
	if n := lines(); n != 2 {
		t.Fatalf("%d lines after shortening", n)
	}
	revision, version := s.Revision(), s.Version("k")
	noError(t, s.Close())
	s = openStore(t, c)
	holds(t, s, map[string]any{"k": 598.0})
	if s.Revision() != revision || s.Version("k") != version {
		t.Errorf("revision %d, want %d; version %d, want %d", s.Revision(), revision, s.Version("k"), version)
	}
	noError(t, os.MkdirAll(c.Path+".tmp/x", 0o700))
	for i := range 600 {
		one(i, true)
	}
	if n := lines(); n != 1202 || len(warned) == 0 || len(warned) > 2 {
		t.Errorf("%d lines, warned %v", n, warned)
	}
	holds(t, s, map[string]any{"k": 599.0})
}

// E-CKPT-1: state is replaced whole, without transitions; who is open keeps what
// it wrote as conflicts.
func TestReplace(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", statePath(t)} {
		s := state.New()
		if path != "" {
			s = openStore(t, state.Config{Path: path})
		}
		_, err := s.SetBatch(map[string]any{"a": 1, "b": 2}, "seed")
		noError(t, err)
		open := s.Begin()
		write(t, open, "o", "a", 9)
		write(t, open, "o", "b", 9)
		revision := s.Revision()
		if err := s.Replace(map[string]any{"bad": make(chan int)}); err == nil {
			t.Error("replaced by what is no JSON")
		}
		want := map[string]any{"a": "new", "tenant:t:c": 3.0}
		noError(t, s.Replace(want))
		holds(t, s, want)
		if s.Revision() <= revision {
			t.Error("a replacement is no mutation")
		}
		if undone := open.Rollback(); !slices.Equal(undone.Conflicts, []string{"a", "b"}) || len(undone.Restored) > 0 {
			t.Errorf("undone %+v", undone)
		}
		holds(t, s, want)
		if path == "" {
			continue
		}
		noError(t, s.Close())
		holds(t, openStore(t, state.Config{Path: path}), want)
	}
}

// E-STATE-3 as a law: however proposals interleave and end, a store that is opened
// again holds what the store in memory held once those without an end were taken
// back, also when it was shortened on the way.
func TestDurableInterleaving(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		s, err := state.Open(state.Config{Path: path, SyncFolder: func(string) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { s.Close() }()
		open := map[int]*state.Tx{}
		for i := range rapid.IntRange(0, 25).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			id := rapid.IntRange(0, 2).Draw(t, "proposal")
			if open[id] == nil {
				open[id] = s.Begin()
			}
			a := open[id].Attempt(ir.ActionID(fmt.Sprint("a", id)))
			switch rapid.SampledFrom([]string{"write", "write", "delete", "commit", "rollback", "final", "replace"}).Draw(t, "do") {
			case "write":
				err = a.Set(key, i)
			case "delete":
				err = a.Delete(key)
			case "commit":
				_, err = open[id].Commit()
				delete(open, id)
			case "rollback":
				err = open[id].Rollback().Err
				delete(open, id)
			case "final":
				_, err = s.Set(key, fmt.Sprint("final", i), "x")
			case "replace":
				err = s.Replace(map[string]any{key: fmt.Sprint("replaced", i)})
			}
			if err == nil && open[id] != nil {
				_, err = a.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		copied := path + ".copy"
		written, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(copied, written, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range slices.Backward(slices.Sorted(maps.Keys(open))) {
			open[id].Rollback()
		}
		again, err := state.Open(state.Config{Path: copied})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if diff := cmp.Diff(s.All(), again.All()); diff != "" {
			t.Fatalf("state (-memory +opened again):\n%s", diff)
		}
	})
}
