package jsonl_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/jsonl"
)

func open(t *testing.T, path string) *jsonl.File {
	t.Helper()
	f, err := jsonl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func scan(t *testing.T, f *jsonl.File) (lines []string, torn int) {
	t.Helper()
	torn, err := f.Scan(func(_ int, line []byte) error { lines = append(lines, string(line)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return lines, torn
}

func add(t *testing.T, f *jsonl.File, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := f.Append([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
}

// E-LOG-1: lines come back whole, a torn last one is cut off and told, and what
// comes next stands on a line of its own.
func TestTornLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b.jsonl")
	f := open(t, path)
	add(t, f, "1", "2")
	if err := f.Append([]byte("torn")); err != nil {
		t.Fatal(err)
	}
	f.Close()
	f = open(t, path)
	if lines, torn := scan(t, f); torn != 4 || !slices.Equal(lines, []string{"1", "2"}) || f.Lines() != 2 {
		t.Errorf("%q, %d bytes torn", lines, torn)
	}
	add(t, f, "3")
	if lines, torn := scan(t, f); torn != 0 || !slices.Equal(lines, []string{"1", "2", "3"}) {
		t.Errorf("%q, %d bytes torn", lines, torn)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// E-STATE-3: a file is replaced whole or not at all, and who asked is told whether
// the new one is in force.
func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f := open(t, path)
	add(t, f, "1", "2", "3")
	fill := func(next io.Writer, old io.Reader) error { return jsonl.CopyBehind(next, old, 2) }
	refused := errors.New("refused")
	published, err := f.Replace(func(next io.Writer, _ io.Reader) error { io.WriteString(next, "half\n"); return refused })
	if lines, _ := scan(t, f); published || !errors.Is(err, refused) || len(lines) != 3 {
		t.Errorf("refused: published %v, %v, %q", published, err, lines)
	}
	if err := os.MkdirAll(path+".tmp/x", 0o700); err != nil {
		t.Fatal(err)
	}
	if published, err := f.Replace(fill); published || err == nil {
		t.Errorf("nowhere to write: published %v, %v", published, err)
	}
	add(t, f, "4")
	if lines, _ := scan(t, f); len(lines) != 4 {
		t.Errorf("after a failed replacement %q", lines)
	}
	if err := os.RemoveAll(path + ".tmp"); err != nil {
		t.Fatal(err)
	}
	f.SyncsFoldersWith(func(string) error { return refused })
	if published, err := f.Replace(fill); !published || !errors.Is(err, refused) {
		t.Errorf("folder not flushed: published %v, %v", published, err)
	}
	add(t, f, "5")
	if text, err := os.ReadFile(path); err != nil || string(text) != "3\n4\n5\n" || f.Lines() != 3 {
		t.Errorf("%q, %d lines, %v", text, f.Lines(), err)
	}
}

// E-STATE-3: a line that is published is on disk; when the folder is not, that is told.
func TestPublish(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f := open(t, path)
	if published, err := f.Publish([]byte("1\n")); !published || err != nil {
		t.Errorf("published %v, %v", published, err)
	}
	refused := errors.New("refused")
	f.SyncsFoldersWith(func(folder string) error {
		if folder != filepath.Dir(path) {
			t.Errorf("folder %s", folder)
		}
		return refused
	})
	if published, err := f.Publish([]byte("2\n")); !published || !errors.Is(err, refused) {
		t.Errorf("folder not flushed: published %v, %v", published, err)
	}
	f.Close()
	if published, err := f.Publish([]byte("3\n")); published || err == nil {
		t.Errorf("closed: published %v, %v", published, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "1\n2\n" || f.Lines() != 2 {
		t.Errorf("%q, %d lines, %v", text, f.Lines(), err)
	}
}

// Style 3.3: an error names file and line; a reader of another's file leaves the
// part behind the last line alone.
func TestEach(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte("1\n2\npart"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := jsonl.Each(path, func(int, []byte) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("%d lines, %v", n, err)
	}
	err := jsonl.Each(path, func(i int, _ []byte) error {
		if i == 1 {
			return errors.New("bad")
		}
		return nil
	})
	if err == nil || !strings.HasSuffix(err.Error(), "x.jsonl: line 2: bad") {
		t.Errorf("%v", err)
	}
}
