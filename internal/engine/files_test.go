package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"car/internal/engine"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/engine/undo"
)

// writing builds a house with an undo journal and a tool "put" that writes text to path.
func writing(t *testing.T) *house {
	h := build(t, func(c *engine.Config, h *house) {
		journal, err := undo.Open(t.TempDir())
		must(t, err)
		t.Cleanup(func() { journal.Close() })
		c.Undo, h.undo = journal, journal
	})
	h.tools["put"] = putter{}
	h.tools["sh"] = hand{effects: tool.Effects{Declared: true, Shell: tool.Shell{Text: "true"}}, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{Output: "ok"}, nil
	}}
	var err error
	h.Runtime, err = engine.New(h.config)
	must(t, err)
	return h
}

// putter writes text to path, whatever is there.
type putter struct{}

func (putter) Spec() tool.Spec { return tool.Spec{Name: "put"} }

func (putter) Effects(c tool.Call) (tool.Effects, error) {
	path, _ := c.Params["path"].(string)
	return tool.Effects{Declared: true, Reads: []string{path}, Writes: []string{path}}, nil
}

func (putter) Run(ctx context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
	path, text := c.Params["path"].(string), c.Params["text"].(string)
	r := tool.Replacement{Content: []byte(text)}
	if f, err := e.Files.Open(path); err == nil {
		content := make([]byte, f.Info().Size)
		_, err = f.Read(content)
		if err != nil && len(content) > 0 {
			return tool.Execution{}, err
		}
		f.Close()
		r.Expect = ir.DigestBytes(content)
	}
	_, err := e.Writer.Replace(ctx, path, r)
	return tool.Execution{Output: "ok"}, err
}

func put(path, text string) string {
	return call("put", `"parameters":{"path":"`+path+`","text":"`+text+`"}`)
}

// tree lists the files below the root with their text.
func tree(t *testing.T, root string) string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			out = append(out, rel+"/")
			return nil
		}
		text, err := os.ReadFile(path)
		out = append(out, rel+"="+string(text))
		return err
	}))
	return strings.Join(out, " ")
}

// B-FILE-2: an abort leaves the tree byte-identical: edits undone, created files
// and the folders made for them gone; a shell in the run is named.
func TestAbortPutsFilesBack(t *testing.T) {
	t.Parallel()
	h := writing(t)
	must(t, os.WriteFile(filepath.Join(h.root, "a.txt"), []byte("old"), 0o640))
	before := tree(t, h.root)
	r := h.execute(t, plan(t, put("a.txt", "1"), put("a.txt", "2"), put("deep/er/b.txt", "new"), call("sh", ""), call("fail", "")), engine.Options{})
	if after := tree(t, h.root); after != before {
		t.Errorf("tree is %s, was %s", after, before)
	}
	if info, err := os.Stat(filepath.Join(h.root, "a.txt")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	event := h.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.FilesRolledBack}})
	if len(event) != 1 || event[0].Data["uncovered"] != true || len(r.Rollback.Files) != 4 || !r.Results[0].RolledBack {
		t.Errorf("%+v, rollback %+v", event, r.Rollback)
	}
}

// B-FILE-2: what a person changed since stays and is named; a conversation's files stay.
func TestAbortSparesOthersWork(t *testing.T) {
	t.Parallel()
	h := writing(t)
	h.tools["person"] = hand{effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{}, os.WriteFile(filepath.Join(h.root, "a.txt"), []byte("by hand"), 0o644)
	}}
	r := h.execute(t, plan(t, put("a.txt", "1"), put("b.txt", "1"), call("person", ""), call("fail", "")), engine.Options{})
	if got := tree(t, h.root); got != "a.txt=by hand" || len(r.Rollback.Conflicts) != 1 || r.Rollback.Conflicts[0] != "a.txt" {
		t.Errorf("%s, %+v", got, r.Rollback)
	}
	p := plan(t, put("c.txt", "kept"), call("fail", ""))
	p.ID = "chat"
	if h.execute(t, p, engine.Options{FileRollback: engine.FilesStay}); !strings.Contains(tree(t, h.root), "c.txt=kept") {
		t.Error("a conversation's file was reverted")
	}
}

// B-FILE-1: what cannot be kept is not changed.
func TestNoChangeWithoutItsRecord(t *testing.T) {
	t.Parallel()
	h := writing(t)
	must(t, os.WriteFile(filepath.Join(h.root, "a.txt"), []byte("old"), 0o644))
	h.undo.Close() // stands for a disk that takes nothing more
	r := h.execute(t, plan(t, put("a.txt", "new"), put("dir/b.txt", "new")), engine.Options{})
	if tree(t, h.root) != "a.txt=old" || !strings.Contains(r.Results[0].Error, "was not changed, because what it was could not be kept") {
		t.Errorf("%s, %+v", tree(t, h.root), r.Results)
	}
}

// P-WORK-4, B087, B-FILE-3: an undo puts a turn's edits, creations and deletions
// back, spares what a person changed, can itself be undone, and names a shell.
func TestUndo(t *testing.T) {
	t.Parallel()
	h := writing(t)
	file := func(name, text string) { must(t, os.WriteFile(filepath.Join(h.root, name), []byte(text), 0o644)) }
	file("b.go", "b0")
	file("go.sum", "sum")
	turn := func(n int, actions ...string) {
		p := plan(t, actions...)
		p.ID = ir.ProposalID("turn" + string(rune('0'+n)))
		if r := h.execute(t, p, engine.Options{Turn: n, FileRollback: engine.FilesStay}); !r.AllSucceeded() {
			t.Fatalf("%+v", r.Results)
		}
	}
	turn(1, put("a.txt", "one"))
	turn(2, put("b.go", "b1"), put("new/c.go", "c"), put("go.sum", ""), call("sh", ""))
	undoing := func(o engine.UndoOptions) (engine.UndoReport, error) {
		t.Helper()
		o.Session, o.By = "s", "user"
		return h.Undo(t.Context(), o)
	}
	after := tree(t, h.root)
	if r, err := undoing(engine.UndoOptions{DryRun: true}); err != nil || r.Turn != 2 || len(r.Steps) != 4 || !r.Shell || tree(t, h.root) != after {
		t.Fatalf("dry run: %+v %v", r, err)
	}
	file("b.go", "by hand")
	byHand := tree(t, h.root)
	if r, err := undoing(engine.UndoOptions{}); !errors.Is(err, engine.ErrUndoConflicts) || len(r.Conflicts()) != 1 || tree(t, h.root) != byHand {
		t.Fatalf("conflict: %+v %v, tree %s", r, err, tree(t, h.root))
	}
	if r, err := undoing(engine.UndoOptions{Partial: true}); err != nil || len(r.Done) != 3 || tree(t, h.root) != "a.txt=one b.go=by hand go.sum=sum" {
		t.Fatalf("partial: %+v %v, tree %s", r, err, tree(t, h.root))
	}
	if r, err := undoing(engine.UndoOptions{Force: true}); err != nil || tree(t, h.root) != "a.txt=one b.go=b0 go.sum=sum" {
		t.Fatalf("force: %+v %v, tree %s", r, err, tree(t, h.root))
	}
	if r, err := undoing(engine.UndoOptions{Redo: true}); err != nil || !strings.Contains(tree(t, h.root), "b.go=by hand") {
		t.Fatalf("redo gives back what force overwrote: %+v %v, tree %s", r, err, tree(t, h.root))
	}
	one := 1
	if r, err := undoing(engine.UndoOptions{Turn: &one}); err != nil || strings.Contains(tree(t, h.root), "a.txt") {
		t.Fatalf("turn 1: %+v %v, tree %s", r, err, tree(t, h.root))
	}
	nine := 9
	if _, err := undoing(engine.UndoOptions{Turn: &nine}); err == nil {
		t.Error("a turn that changed nothing was undone")
	}
	rows, err := h.db.InState(t.Context(), "s", approval.Completed)
	if err != nil || !slices.ContainsFunc(rows, func(e approval.Effect) bool { return e.Scope.Tool == "restore_path" }) {
		t.Errorf("an undo left no rows: %d %v", len(rows), err)
	}
}

// B-FILE-3: undo twice goes two turns back, redo comes forward again.
func TestUndoTwice(t *testing.T) {
	t.Parallel()
	h := writing(t)
	for n, text := range []string{"", "1", "2", "3"} {
		if n == 0 {
			continue
		}
		p := plan(t, put("a.txt", text))
		p.ID = ir.ProposalID(text)
		h.execute(t, p, engine.Options{Turn: n, FileRollback: engine.FilesStay})
	}
	for _, step := range []struct {
		redo bool
		want string
	}{{false, "a.txt=2"}, {false, "a.txt=1"}, {true, "a.txt=2"}, {true, "a.txt=3"}, {false, "a.txt=2"}, {false, "a.txt=1"}, {false, ""}} {
		if r, err := h.Undo(t.Context(), engine.UndoOptions{Session: "s", By: "user", Redo: step.redo}); err != nil || tree(t, h.root) != step.want {
			t.Fatalf("redo %v: %s, want %s; %+v %v", step.redo, tree(t, h.root), step.want, r, err)
		}
	}
	if _, err := h.Undo(t.Context(), engine.UndoOptions{Session: "s", By: "user"}); !errors.Is(err, engine.ErrNothingToUndo) {
		t.Errorf("%v", err)
	}
}
