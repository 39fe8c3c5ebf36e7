package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/assistant/store"
)

// A-DUR-1, P-GUARD-8: the files are their owner's alone, in a folder of the same,
// in the modes that the promises need.
func TestOpenMakesPrivateFiles(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	newSession(t, db, "s1")
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, want 0700", info.Mode())
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		info, err := f.Info()
		must(t, err)
		if info.Mode() != 0o600 {
			t.Errorf("%s is %v, want 0600", f.Name(), info.Mode())
		}
	}
	if len(files) != 3 {
		t.Errorf("%d files, want database, log and shared memory", len(files))
	}
	if db.Notice() != "" {
		t.Errorf("notice on a local disk: %s", db.Notice())
	}
	must(t, os.Chmod(path, 0o644))
	openAt(t, path, c)
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("a file that others could read stays %v, %v", info.Mode(), err)
	}
}

// A-DUR-1: a path may hold what an address may not.
func TestOpenTakesOddPaths(t *testing.T) {
	t.Parallel()
	c := newClock()
	for _, name := range []string{"a b", "50%25?x=1#y&z", "é\"'`", "_pragma=query_only(1)"} {
		path := filepath.Join(t.TempDir(), name, "car.db")
		newSession(t, openAt(t, path, c), "s1")
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A-DUR-1: a database of a newer release is refused and left as it is.
func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	must(t, openAt(t, path, c).Close())
	_, err := raw(t, path).ExecContext(t.Context(), `PRAGMA user_version = 999`)
	must(t, err)
	var newer *store.NewerError
	_, err = store.Open(t.Context(), store.Config{Path: path, Now: c.now})
	if !errors.As(err, &newer) || newer.Has != 999 || newer.Knows < 1 || newer.Path != path {
		t.Fatalf("open: %v, want a NewerError", err)
	}
	var version int
	must(t, raw(t, path).QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&version))
	if version != 999 {
		t.Errorf("the newer database was changed to %d", version)
	}
}

// P-GUARD-6: what is no database is neither overwritten nor taken for an empty one.
func TestADamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	junk := strings.Repeat("this is no database. ", 500)
	must(t, os.WriteFile(path, []byte(junk), 0o600))
	var damaged *store.DamagedError
	if _, err := store.Open(t.Context(), store.Config{Path: path, Now: c.now}); !errors.As(err, &damaged) {
		t.Errorf("open: %v, want a DamagedError", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != junk {
		t.Errorf("the file was changed: %v", err)
	}
}

// A constructor names the field that is wrong.
func TestOpenChecksItsConfig(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]store.Config{
		"Config.Path":    {Path: "car.db", Now: time.Now},
		"Config.Now":     {Path: newPath(t)},
		"not a regular":  {Path: "/dev/null", Now: time.Now},
		"is a directory": {Path: t.TempDir(), Now: time.Now},
	} {
		if _, err := store.Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open: %v, want an error about %s", err, want)
		}
	}
}

// BenchmarkEffect is what an allowed effect costs before and after it runs (P-SCALE).
func BenchmarkEffect(b *testing.B) {
	c := newClock()
	db := openAt(b, newPath(b), c)
	must(b, db.AcquireLease(b.Context(), "s1"))
	l := newLedger(b, db, c)
	for i := 0; b.Loop(); i++ {
		e := anEffect(b, "s1", fmt.Sprintf("t1c%d", i), "make")
		must(b, l.BeforeDispatch(b.Context(), e))
		must(b, l.AfterDispatch(b.Context(), e.ID, outcomeOK()))
	}
}

// BenchmarkCheckpoint is what a step's three messages cost after a history of n
// messages: the same for every n (A-DUR-2).
func BenchmarkCheckpoint(b *testing.B) {
	for _, history := range []int{0, 1_000, 30_000} {
		b.Run(fmt.Sprint(history), func(b *testing.B) {
			db := openAt(b, newPath(b), newClock())
			newSession(b, db, "s1")
			for range history / 1000 {
				many := make([]store.Entry, 1000)
				for i := range many {
					many[i] = say("user", strings.Repeat("history ", 100))
				}
				appendAll(b, db, "s1", 1, many...)
			}
			for i := 0; b.Loop(); i++ {
				call := fmt.Sprintf("b%d", i)
				ask, answer := say("assistant", "look"), say("user", "found")
				ask.Calls, answer.Answers = []store.Call{{ID: call, Tool: "read_file", Args: "{}"}}, []string{call}
				appendAll(b, db, "s1", 1, say("user", "hello"), ask, answer)
			}
		})
	}
}
