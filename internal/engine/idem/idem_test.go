package idem_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"car/internal/engine/idem"
	"car/internal/engine/ir"
)

func open(t *testing.T, path string) *idem.Store {
	t.Helper()
	s, skipped, err := idem.Open(path, func(err error) { t.Errorf("warned: %v", err) })
	if err != nil || skipped != 0 {
		t.Fatal(err, skipped)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func keep(t *testing.T, s *idem.Store, key ir.Digest, output any) {
	t.Helper()
	c, known, err := s.Claim(t.Context(), key)
	if err != nil || known != nil {
		t.Fatalf("claim of %s: %v %v", key, known, err)
	}
	c.Keep(idem.Result{Action: "a", Output: output})
}

func lookup(t *testing.T, s *idem.Store, key ir.Digest) any {
	t.Helper()
	c, known, err := s.Claim(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if known == nil {
		c.Drop()
		return nil
	}
	return known.Output
}

// E-IDEM-1: tenant, type, tool and parameters take part, and none can spell another's.
func TestKeys(t *testing.T) {
	t.Parallel()
	seen := map[ir.Digest]string{}
	for name, c := range map[string]struct {
		tenant string
		a      ir.Action
	}{
		"plain":        {"", ir.Action{Type: ir.ToolCall, Tool: "t", Parameters: map[string]any{"k": "v"}}},
		"tenant":       {"x", ir.Action{Type: ir.ToolCall, Tool: "t", Parameters: map[string]any{"k": "v"}}},
		"tenant, tool": {"x:tool_call", ir.Action{Type: ir.ToolCall, Tool: "t"}},
		"tool":         {"x", ir.Action{Type: ir.ToolCall, Tool: "tool_call:t"}},
		"params":       {"", ir.Action{Type: ir.ToolCall, Tool: "t", Parameters: map[string]any{"k": "w"}}},
	} {
		key, err := idem.KeyOf(c.tenant, c.a)
		if err != nil || seen[key] != "" {
			t.Errorf("%s: %v, same key as %q", name, err, seen[key])
		}
		seen[key] = name
	}
}

// E-IDEM-1: the same key in flight is waited for, and then answered; a dropped claim lets the next try.
func TestTwinsRunOnce(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	first, _, err := s.Claim(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	var ran atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c, known, err := s.Claim(t.Context(), "k")
			if err != nil {
				t.Error(err)
			} else if known == nil {
				ran.Add(1)
				c.Keep(idem.Result{Output: "once"})
			} else if known.Output != "once" {
				t.Errorf("answered %v", known.Output)
			}
		})
	}
	first.Drop()
	wg.Wait()
	if ran.Load() != 1 {
		t.Errorf("ran %d times", ran.Load())
	}
	again, _, err := s.Claim(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Claim(ended, "other"); err == nil {
		t.Error("a wait did not end with its context")
	}
	again.Drop()
}

// E-IDEM-3: results, tombstones and clear survive a restart; a bad line is counted, a torn one harms nobody.
func TestJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "idem.jsonl")
	s := open(t, path)
	keep(t, s, "a", map[string]any{"n": 1.0})
	keep(t, s, "b", "two")
	s.Forget("b", "unknown")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("junk\n{\"key\":\"torn\",\"resu"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s, skipped, err := idem.Open(path, func(error) {})
	if err != nil || skipped != 2 || s.Len() != 1 || !ir.Equal(lookup(t, s, "a"), map[string]any{"n": 1.0}) {
		t.Fatalf("%d skipped, %d kept, %v", skipped, s.Len(), err)
	}
	keep(t, s, "c", "after the torn line")
	s.Close()
	s, _, err = idem.Open(path, func(error) {})
	if err != nil || lookup(t, s, "c") != "after the torn line" {
		t.Errorf("a line after a torn one was lost: %v", err)
	}
	s.Clear()
	s.Close()
	s, _, err = idem.Open(path, func(error) {})
	if err != nil || s.Len() != 0 {
		t.Errorf("%d results after clear, %v", s.Len(), err)
	}
	s.Close()
}

// E-IDEM-3: a journal of the past is compacted, and what is live stays.
func TestCompaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "idem.jsonl")
	s := open(t, path)
	keep(t, s, "live", "x")
	for range 700 {
		keep(t, s, "k", strings.Repeat("y", 100))
		s.Forget("k")
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 80_000 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	s.Close()
	if s = open(t, path); s.Len() != 1 || lookup(t, s, "live") != "x" {
		t.Errorf("%d results after compaction", s.Len())
	}
}

// E-IDEM-3: a journal that cannot be written warns; the result still counts.
func TestUnwritableJournal(t *testing.T) {
	t.Parallel()
	warned := 0
	s, _, err := idem.Open(filepath.Join(t.TempDir(), "j"), func(error) { warned++ })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // writes fail from here on, as on a file that went bad
		t.Fatal(err)
	}
	keep(t, s, "a", "kept")
	if warned != 1 || lookup(t, s, "a") != "kept" {
		t.Errorf("%d warnings", warned)
	}
}
