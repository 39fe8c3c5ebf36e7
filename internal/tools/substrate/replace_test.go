//go:build unix

package substrate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"car/internal/engine/tool"
)

func accept([]byte, error) error { return nil }

// T-FILE-13: a write is whole, keeps the mode, and leaves nothing beside it.
func TestReplaceKeepsModeAndIsWhole(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	path := b.put(t, "run.sh", "old")
	os.Chmod(path, 0o751)
	b.link(t, "run.sh", "link.sh")
	var seen string
	info, err := b.FS().Replace("link.sh", []byte("new"), 0o600, func(now []byte, err error) error {
		seen = string(now)
		return err
	})
	if err != nil || seen != "old" || info.Path != "run.sh" {
		t.Fatalf("got %+v %v, seen %q", info, err, seen)
	}
	fi, _ := os.Lstat(path)
	if content(t, path) != "new" || fi.Mode() != 0o751 {
		t.Errorf("got %q %v", content(t, path), fi.Mode())
	}
	if target, _ := os.Readlink(filepath.Join(b.root, "link.sh")); target != "run.sh" {
		t.Errorf("the link was replaced, it says %q", target)
	}
	if entries, _ := os.ReadDir(b.root); len(entries) != 2 {
		t.Errorf("left beside: %v", entries)
	}
}

// T-FILE-15: parents are made, and not left behind when the write is refused.
func TestReplaceMakesParents(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	no := errors.New("no")
	if _, err := b.FS().Replace("a/b/c.txt", []byte("x"), 0, func([]byte, error) error { return no }); !errors.Is(err, no) {
		t.Fatalf("got %v, want the caller's refusal", err)
	}
	if _, err := os.Lstat(filepath.Join(b.root, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused write left its folders: %v", err)
	}
	missing := false
	if _, err := b.FS().Replace("a/b/c.txt", []byte("x"), 0o640, func(now []byte, err error) error {
		missing = errors.Is(err, fs.ErrNotExist)
		return nil
	}); err != nil || !missing {
		t.Fatalf("got %v, missing %v", err, missing)
	}
	fi, err := os.Stat(filepath.Join(b.root, "a/b/c.txt"))
	if err != nil || fi.Mode() != 0o640 || content(t, filepath.Join(b.root, "a/b/c.txt")) != "x" {
		t.Errorf("got %v %v", fi, err)
	}
}

// T-FILE-3, B025: nothing outside is written, by no spelling, and nothing is made on the way.
func TestReplaceStaysInside(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	victim := filepath.Join(b.outside, "victim.txt")
	os.WriteFile(victim, []byte("keep"), 0o644)
	b.link(t, "../outside", "outbox")
	b.link(t, victim, "notes.txt")
	b.link(t, filepath.Join(b.outside, "new.txt"), "draft.txt")
	for _, path := range []string{
		"outbox/a.txt", "outbox/sub/a.txt", "notes.txt", "draft.txt", "../x.txt", b.root + "/../x.txt", b.root + "-backup/x.txt",
		"/tmp/car-test-never-written", b.root + "/../root-2/x", ".",
	} {
		_, err := b.FS().Replace(path, []byte("x"), 0, accept)
		if text := faultText(err); !strings.Contains(text, "outside the working directory") {
			t.Errorf("%q: got %v", path, err)
		}
	}
	if entries, _ := os.ReadDir(b.outside); len(entries) != 1 || content(t, victim) != "keep" {
		t.Errorf("outside changed: %v", entries)
	}
}

// T-FILE-13: a read-only file is refused, also for root, who could.
func TestReplaceRefusesReadOnly(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	os.Chmod(b.put(t, "ro.txt", "x"), 0o444)
	if _, err := b.FS().Replace("ro.txt", []byte("y"), 0, accept); !strings.Contains(faultText(err), "read-only") {
		t.Errorf("got %v", err)
	}
}

// T-FILE-13: a file with several names stays one file.
func TestReplaceKeepsHardLinksTogether(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	path := b.put(t, "a", "long old content")
	second := filepath.Join(b.root, "b")
	os.Link(path, second)
	if _, err := b.FS().Replace("a", []byte("new"), 0, accept); err != nil {
		t.Fatal(err)
	}
	if content(t, path) != "new" || content(t, second) != "new" {
		t.Errorf("got %q and %q", content(t, path), content(t, second))
	}
	no := errors.New("no")
	if _, err := b.FS().Replace("a", []byte("x"), 0, func([]byte, error) error { return no }); !errors.Is(err, no) || content(t, path) != "new" {
		t.Errorf("refusal: %v, %q", err, content(t, path))
	}
}

// P-WORK-5: what comes up at the target between look and rename is seen, not covered.
func TestReplaceSeesAFileThatJustCameUp(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	path := filepath.Join(b.root, "n.txt")
	calls := 0
	_, err := b.FS().Replace("n.txt", []byte("ours"), 0, func(now []byte, err error) error {
		if calls++; calls == 1 {
			os.WriteFile(path, []byte("theirs"), 0o644)
			return nil
		}
		return &tool.StaleError{Path: "n.txt", Fresh: now}
	})
	var stale *tool.StaleError
	if !errors.As(err, &stale) || string(stale.Fresh) != "theirs" || content(t, path) != "theirs" {
		t.Errorf("got %v, file %q", err, content(t, path))
	}
}

// T-FILE-2: 10,000 swaps of a folder for a link during writes, no escape.
func TestSwapsDuringWrites(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	b.put(t, "d/x.txt", "inside")
	os.WriteFile(filepath.Join(b.outside, "x.txt"), []byte("keep"), 0o644)
	b.link(t, b.outside, "link")
	dir, aside, link := filepath.Join(b.root, "d"), filepath.Join(b.root, "aside"), filepath.Join(b.root, "link")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5000 {
			os.Rename(dir, aside)
			os.Rename(link, dir)
			os.Rename(dir, link)
			os.Rename(aside, dir)
		}
	}()
	var writers sync.WaitGroup
	written := 0
	writers.Go(func() {
		for i := 0; !isClosed(done); i++ {
			if _, err := b.FS().Replace("d/x.txt", fmt.Appendf(nil, "write %d", i), 0, accept); err == nil {
				written++
			}
		}
	})
	writers.Go(func() {
		for !isClosed(done) {
			if got, info, err := read(b.FS(), "d/x.txt"); err == nil && got == "keep" && !info.Outside {
				t.Error("a file outside was read as one inside")
			}
		}
	})
	writers.Wait()
	if entries, _ := os.ReadDir(b.outside); len(entries) != 1 || content(t, filepath.Join(b.outside, "x.txt")) != "keep" {
		t.Errorf("outside changed: %v %q", entries, content(t, filepath.Join(b.outside, "x.txt")))
	}
	if written == 0 {
		t.Error("no write ever came through, the test proves nothing")
	}
}

// T-FILE-13: temporary files of a killed run are swept by the next start, and only those.
func TestTempsOfDeadRunsAreSwept(t *testing.T) {
	t.Parallel()
	var notices []string
	var orphan, innocent string
	b := open(t, func(c *Config) {
		orphan = filepath.Join(c.Root, tempPrefix+"dead")
		innocent = filepath.Join(c.Root, "innocent")
		os.WriteFile(orphan, nil, 0o600)
		os.WriteFile(innocent, nil, 0o600)
		dead := filepath.Join(c.ScratchBase, "car-1000")
		os.MkdirAll(filepath.Join(dead, "gone", "sub"), 0o700)
		os.WriteFile(filepath.Join(dead, ".gone.lock"), []byte(orphan+"\x00"+innocent+"\x00"), 0o600)
		c.Notice = func(text string) { notices = append(notices, text) }
	})
	if _, err := os.Lstat(orphan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary file of a dead run is still there: %v", err)
	}
	if _, err := os.Lstat(innocent); err != nil {
		t.Errorf("a file that is none of ours was removed: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(b.base, "car-1000", "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its scratch folder is still there: %v", err)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "gone") || !strings.Contains(notices[0], "1 unfinished") {
		t.Errorf("notices %q", notices)
	}
}

// D-33: the scratch folder is private, one session's, and gone after Close.
func TestScratchFolder(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	dir := b.Describe().Scratch
	fi, err := os.Stat(dir)
	if err != nil || fi.Mode().Perm() != 0o700 || dir != filepath.Join(b.base, "car-1000", "s1") {
		t.Fatalf("got %s %v %v", dir, fi, err)
	}
	if _, err := Open(b.config()); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the same session twice: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
	again, err := Open(b.config())
	if err != nil {
		t.Fatalf("reopen: %v", err)
	}
	again.Close()
	os.RemoveAll(filepath.Dir(dir))
	os.Symlink(b.outside, filepath.Dir(dir))
	if _, err := Open(b.config()); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("a prepared link as scratch folder: %v", err)
	}
}

func (b *bench) config() Config { return b.Substrate.(*local).cfg }

// B087: what a call created can be taken away again, and nothing else.
func TestRemove(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	fsys := b.FS().(tool.Remover)
	b.put(t, "d/sub/f.txt", "content")
	b.link(t, "d/sub/f.txt", "link")
	b.link(t, "../outside", "out")
	os.WriteFile(filepath.Join(b.outside, "o"), []byte("keep"), 0o644)
	no := errors.New("changed since")
	var seen string
	if err := fsys.Remove("d/sub/f.txt", func(now []byte, err error) error { seen = string(now); return no }); !errors.Is(err, no) || seen != "content" {
		t.Errorf("refused by the caller: %v, seen %q", err, seen)
	}
	for path, word := range map[string]string{
		"link": "a link", "out/o": "outside the working directory", "../outside/o": "outside the working directory", ".": "outside", "d": "not empty",
	} {
		if err := fsys.Remove(path, accept); !strings.Contains(faultText(err), word) {
			t.Errorf("%q: got %v, want %q", path, err, word)
		}
	}
	missing := false
	if err := fsys.Remove("none/x", func(_ []byte, err error) error { missing = errors.Is(err, fs.ErrNotExist); return nil }); err != nil || !missing {
		t.Errorf("nothing there: %v", err)
	}
	for _, path := range []string{"d/sub/f.txt", "d/sub", "d"} {
		if err := fsys.Remove(path, accept); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := os.Lstat(filepath.Join(b.root, path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", path)
		}
	}
	if content(t, filepath.Join(b.outside, "o")) != "keep" {
		t.Error("a file outside was removed")
	}
}
