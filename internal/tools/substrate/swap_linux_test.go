package substrate

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// T-FILE-2, T-FILE-5: what an open file says of itself is true of what was opened,
// also while the tree is being changed.
func TestInfoIsTrueWhileTheTreeChanges(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	b.put(t, "d/x", "plain")
	b.put(t, "private/x", "hidden")
	b.link(t, "private", "link")
	dir, link := filepath.Join(b.root, "d"), filepath.Join(b.root, "link")
	stop := make(chan struct{})
	var swaps, work sync.WaitGroup
	swaps.Go(func() {
		for !isClosed(stop) {
			if err := unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
		}
	})
	work.Go(func() {
		for reads := 0; reads < 3000; {
			got, info, err := read(b.FS(), "d/x")
			if err != nil {
				continue
			}
			reads++
			if hidden := got == "hidden"; hidden != (info.Path == "private/x") {
				t.Errorf("%q says it is %s", got, info.Path)
				return
			}
		}
	})
	work.Go(func() {
		for writes := 0; writes < 100; {
			text := fmt.Sprint(writes)
			info, err := b.FS().Replace("d/y", []byte(text), 0, accept)
			if err != nil {
				continue
			}
			writes++
			there, err := os.ReadFile(filepath.Join(b.root, "private/y"))
			if err == nil && string(there) == text && info.Path != "private/y" {
				t.Errorf("a write to private/y says it went to %s", info.Path)
				return
			}
		}
	})
	work.Wait()
	close(stop)
	swaps.Wait()
}

// T-FILE-2: the folder that a write opens is the one its path names, however often
// a link takes its place.
func TestParentIsNeverALinkThatTurnedUp(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	b.put(t, "d/x", "")
	b.put(t, "private/x", "")
	b.link(t, "private", "link")
	dir, link := filepath.Join(b.root, "d"), filepath.Join(b.root, "link")
	private, err := os.Stat(filepath.Join(b.root, "private"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.FS().(*files).resolve("d/x", true)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for !isClosed(stop) {
			unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
		}
	})
	for range 20_000 {
		parent, _, err := openParent(p, false)
		if err != nil {
			continue
		}
		there, err := parent.Stat(".")
		parent.Close()
		if err != nil || os.SameFile(there, private) {
			t.Errorf("the folder of d/x is private (%v)", err)
			break
		}
		if h, err := descend(p, openFlags); err == nil {
			h.Close()
		}
	}
	close(stop)
	swaps.Wait()
}
