package walk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
	"car/internal/tools/walk"
)

// paths walks and joins what was visited.
func paths(t *testing.T, h *tooltest.House, start string, o walk.Options) (string, walk.Skipped) {
	t.Helper()
	var seen []string
	skipped, err := walk.Tree(t.Context(), h.Env().Files, start, o, func(e walk.Entry) error {
		seen = append(seen, e.Path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(seen, " "), skipped
}

// T-FILE-19, B081: order, ignore files of every kind, and the counts.
func TestTree(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	for name, text := range map[string]string{
		".gitignore": "*.log\n/out/\n!keep.log\n", ".git/info/exclude": "private*\n", ".git/config": "", "a/x.go": "", "a.b": "", "a/app.log": "", "keep.log": "",
		"out/o.bin": "", "private.txt": "", "sub/.gitignore": "gen/*\n!gen/api.go\n", "sub/gen/api.go": "", "sub/gen/other.go": "", "sub/.hidden": "", "mine.swp": "",
		"nested/.git/info/exclude": "secretish\n", "nested/secretish": "", "nested/n.go": "",
	} {
		h.Put(t, name, text)
	}
	h.Link(t, ".", "loop")
	h.Link(t, "../outside", "out-link")
	all, skipped := paths(t, h, ".", walk.Options{GlobalIgnore: "*.swp\n"})
	want := ".gitignore a a/x.go a.b keep.log loop nested nested/n.go out-link sub sub/.gitignore sub/.hidden sub/gen sub/gen/api.go"
	if all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
	count := walk.Skipped{IgnoredFiles: 5, IgnoredFolders: 1, Names: []string{"a/app.log", "mine.swp", "nested/secretish", "out", "private.txt", "sub/gen/other.go"}}
	if diff := cmp.Diff(count, skipped); diff != "" {
		t.Error(diff)
	}
	if got, s := paths(t, h, "./sub/", walk.Options{SkipHidden: true, Depth: 1}); got != "sub/gen" || s.Hidden != 2 {
		t.Errorf("got %s %+v", got, s)
	}
	if got, s := paths(t, h, "sub/gen", walk.Options{}); got != "sub/gen/api.go" || s.IgnoredFiles != 1 {
		t.Errorf("rules from above: %s %+v", got, s)
	}
	if got, _ := paths(t, h, "out", walk.Options{}); got != "out/o.bin" {
		t.Errorf("an ignored folder that was named: %s", got)
	}
	if got, _ := paths(t, h, "nested", walk.Options{IncludeIgnored: true}); got != "nested/n.go nested/secretish" {
		t.Errorf("with ignored ones: %s", got)
	}
	if got, _ := paths(t, h, h.Root+"/a", walk.Options{}); got != h.Root+"/a/x.go" {
		t.Errorf("absolute start: %s", got)
	}
}

// T-FILE-19: it works outside of a repository, and outside of the root.
func TestOutside(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	h.ReadOutside = true
	os.MkdirAll(filepath.Join(h.Outside, "d"), 0o755)
	os.WriteFile(filepath.Join(h.Outside, "d", ".gitignore"), []byte("x\n"), 0o644)
	for _, n := range []string{"x", "y"} {
		os.WriteFile(filepath.Join(h.Outside, "d", n), nil, 0o644)
	}
	if got, s := paths(t, h, "../outside", walk.Options{}); got != "../outside/d ../outside/d/.gitignore ../outside/d/y" || s.IgnoredFiles != 1 {
		t.Errorf("got %s %+v", got, s)
	}
}

// P-SCALE-1: cancel and a visitor's error end a walk.
func TestEnds(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	for i := range 50 {
		h.Put(t, fmt.Sprintf("d%d/f", i), "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := walk.Tree(ctx, h.Env().Files, ".", walk.Options{}, func(walk.Entry) error {
		if n++; n == 5 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n > 6 {
		t.Errorf("%v after %d", err, n)
	}
	stop := errors.New("enough")
	if _, err := walk.Tree(t.Context(), h.Env().Files, ".", walk.Options{}, func(walk.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// B079: a deep folder is walked to its end.
func TestDeepFolder(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	deep := strings.Repeat("d/", 60)
	h.Put(t, deep+"leaf", "")
	got, _ := paths(t, h, ".", walk.Options{})
	if !strings.HasSuffix(got, deep+"leaf") {
		t.Error("the leaf of a deep tree was not reached")
	}
}

// endless is a tree without bottom.
type endless struct{ tool.Files }

func (endless) Stat(string) (tool.Info, error) {
	return tool.Info{Path: ".", Mode: fs.ModeDir | 0o755}, nil
}
func (endless) Open(string) (tool.File, error) { return nil, fs.ErrNotExist }
func (endless) ReadDir(string) ([]fs.DirEntry, error) {
	return []fs.DirEntry{item{"a", fs.ModeDir}, item{"f", 0}}, nil
}

type item struct {
	name string
	mode fs.FileMode
}

func (i item) Name() string               { return i.name }
func (i item) IsDir() bool                { return i.mode.IsDir() }
func (i item) Type() fs.FileMode          { return i.mode }
func (i item) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// P-SCALE-1: a tree without end is left when the time is up.
func TestEndlessTreeIsLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := walk.Tree(ctx, endless{}, ".", walk.Options{}, func(walk.Entry) error { return nil })
	if !walk.Ended(t.Context(), err) {
		t.Errorf("got %v", err)
	}
}
