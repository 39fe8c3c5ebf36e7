package undo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/undo"
)

func open(t *testing.T, dir string) *undo.Journal {
	t.Helper()
	j, err := undo.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func file(text string) undo.State {
	return undo.State{Kind: undo.File, Digest: ir.DigestBytes([]byte(text)), Mode: 0o644}
}

// change records that a path went from one text to another; "-" is absent.
func change(t *testing.T, j *undo.Journal, turn int, path, before, after string) {
	t.Helper()
	state := func(text string) undo.State {
		if text == "-" {
			return undo.State{Kind: undo.Absent}
		}
		return file(text)
	}
	n, err := j.Before(undo.Change{Turn: turn, Proposal: "p", Path: path, Before: state(before)}, []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	now := state(after)
	if err := j.After(n, &now); err != nil {
		t.Fatal(err)
	}
}

// world says what stands at each path; a missing one is absent.
func world(files map[string]string) func(string) (undo.State, error) {
	return func(path string) (undo.State, error) {
		if text, ok := files[path]; ok {
			return file(text), nil
		}
		return undo.State{Kind: undo.Absent}, nil
	}
}

func plan(t *testing.T, j *undo.Journal, turn int, files map[string]string) string {
	t.Helper()
	steps, err := j.Plan(undo.OfTurn(turn), world(files))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, s := range steps {
		words = append(words, s.Path+" "+s.Verdict.String())
	}
	return strings.Join(words, ", ")
}

// P-WORK-4, B-FILE-3, B087: edits, creations and deletions go back over several
// changes; what a person changed since is a conflict; what is as before stays.
func TestPlan(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	change(t, j, 1, "old.go", "a", "b")
	change(t, j, 2, "b.go", "b0", "b1")
	change(t, j, 2, "b.go", "b1", "b2")
	change(t, j, 2, "go.sum", "sum", "-")
	change(t, j, 2, "dir/c.go", "-", "c")
	change(t, j, 2, "same", "x", "y")
	files := map[string]string{"old.go": "b", "b.go": "b2", "dir/c.go": "c", "same": "x"}
	if got := plan(t, j, 2, files); got != "dir/c.go restore, b.go restore, go.sum restore, same already" {
		t.Error(got)
	}
	files["b.go"] = "by hand"
	if got := plan(t, j, 2, files); !strings.Contains(got, "b.go conflict") {
		t.Error(got)
	}
	steps, err := j.Plan(undo.OfTurn(2), world(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.Path == "go.sum" {
			if content, err := j.Content(s.To.Digest); string(content) != "sum" || err != nil {
				t.Errorf("%q %v", content, err)
			}
		}
	}
}

// B-FILE-1: it is on disk before the change, survives a restart, and a change cut
// by a crash is a conflict, never a guess.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	change(t, j, 1, "a", "1", "2")
	if _, err := j.Before(undo.Change{Turn: 2, Path: "b", Before: file("b1")}, []byte("b1")); err != nil {
		t.Fatal(err)
	}
	n, err := j.Before(undo.Change{Turn: 2, Path: "never", Before: undo.State{Kind: undo.Absent}}, nil)
	if err != nil || j.After(n, nil) != nil {
		t.Fatal(err)
	}
	j.Close()
	f, err := os.OpenFile(filepath.Join(dir, "changes.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":4,"torn`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	j = open(t, dir)
	if got := plan(t, j, 1, map[string]string{"a": "2"}); got != "a restore" {
		t.Error(got)
	}
	if got := plan(t, j, 2, map[string]string{"b": "half"}); got != "b conflict" {
		t.Error(got)
	}
	change(t, j, 3, "c", "-", "c") // after a torn line
	j.Close()
	if got := plan(t, open(t, dir), 3, map[string]string{"c": "c"}); got != "c restore" {
		t.Error(got)
	}
}

// B-FILE-1, D-23: contents are 0600; one that is too large is not kept and says so; a damaged one is not put back.
func TestContents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	huge := strings.Repeat("x", 16<<20+1)
	change(t, j, 1, "huge", huge, "small")
	change(t, j, 1, "a", "secret", "b")
	if got := plan(t, j, 1, map[string]string{"huge": "small", "a": "b"}); got != "huge unavailable, a restore" {
		t.Error(got)
	}
	blob := filepath.Join(dir, string(ir.DigestBytes([]byte("secret"))))
	if info, err := os.Stat(blob); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := os.WriteFile(blob, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Content(ir.DigestBytes([]byte("secret"))); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Content(ir.DigestBytes([]byte("secret"))); err == nil || !strings.Contains(err.Error(), "no longer kept") {
		t.Errorf("%v", err)
	}
}

// B-FILE-1: what cannot be stored must not be changed, and what cannot be looked at is not planned.
func TestNoGuessing(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	change(t, j, 1, "a", "1", "2")
	if _, err := j.Plan(undo.OfTurn(1), func(string) (undo.State, error) { return undo.State{}, errors.New("no permission") }); err == nil {
		t.Error("planned over a path that cannot be read")
	}
	j.Close() // stands for a disk that takes nothing more
	if _, err := j.Before(undo.Change{Turn: 1, Path: "b", Before: file("x")}, []byte("x")); err == nil {
		t.Error("a change that was not recorded was let through")
	}
}

// B-FILE-3: undo goes one turn back each time, redo one forward, and a turn whose
// undoing was cut counts as not taken back.
func TestNewest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	newest := func(redo bool, want int) {
		t.Helper()
		if got, found := j.Newest(redo); got != want || found != (want != 0) {
			t.Errorf("redo %v: %d %v, want %d", redo, got, found, want)
		}
	}
	newest(false, 0)
	change(t, j, 1, "a", "0", "1")
	change(t, j, 2, "a", "1", "2")
	newest(false, 2)
	newest(true, 0)
	undo1 := j.NextUndo()
	change(t, j, undo1, "a", "2", "1")
	newest(false, 2) // not marked: cut halfway, the next undo finishes it
	newest(true, 0)
	if err := j.Undone(undo.Mark{Undone: 2, By: undo1}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	j = open(t, dir)
	newest(false, 1)
	newest(true, undo1)
	redo := j.NextUndo()
	change(t, j, redo, "a", "1", "2")
	if err := j.Undone(undo.Mark{Undone: undo1, By: redo}); err != nil || redo != -2 {
		t.Fatal(err, redo)
	}
	newest(false, 2)
	if !j.Known(1) || j.Known(9) {
		t.Error("known turns")
	}
}
