package substrate_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"car/internal/engine/tool"
	"car/internal/tools/substrate"
)

// B-FILE-2, T-FILE-2: a file or an empty folder goes, after its content was
// looked at; what is outside, full or not regular stays.
func TestRemove(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root, out := filepath.Join(base, "root"), filepath.Join(base, "out")
	for _, dir := range []string{filepath.Join(root, "full/in"), filepath.Join(root, "empty"), out} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{"root/a": "one", "root/keep": "two", "out/x": "away"} {
		if err := os.WriteFile(filepath.Join(base, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(out, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	s, err := substrate.Open(substrate.Config{Root: root, ScratchBase: base, UID: "1", Session: "s", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	files, ok := s.FS().(tool.Remover)
	if !ok {
		t.Fatal("the local file system cannot remove")
	}
	seen := ""
	agree := func(now []byte, err error) error { seen = string(now); return err }
	if err := files.Remove("a", agree); err != nil || seen != "one" {
		t.Errorf("file: %v, saw %q", err, seen)
	}
	if err := files.Remove("empty", agree); err != nil {
		t.Errorf("empty folder: %v", err)
	}
	no := errors.New("no")
	if err := files.Remove("keep", func([]byte, error) error { return no }); !errors.Is(err, no) {
		t.Errorf("refused: %v", err)
	}
	if err := files.Remove("gone", agree); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	for _, path := range []string{"full", "link/x", "../out/x", "."} {
		if err := files.Remove(path, agree); err == nil {
			t.Errorf("%s was removed", path)
		}
	}
	for path, want := range map[string]bool{"root/a": false, "root/empty": false, "root/keep": true, "root/full/in": true, "out/x": true} {
		if _, err := os.Lstat(filepath.Join(base, path)); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
