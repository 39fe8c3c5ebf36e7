package substrate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// scratch is the session's own folder below the system's temporary one (D-33),
// with a lock beside it that dies with its process: whoever can take the lock of
// another session's folder knows that its owner is dead.
type scratch struct {
	dir   string
	lock  *os.File
	temps *temps
}

const lockPrefix, lockSuffix = ".", ".lock"

// openScratch sweeps what dead runs left and makes the session's folder.
func openScratch(c Config) (*scratch, error) {
	base, err := filepath.EvalSymlinks(c.ScratchBase)
	if err != nil {
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	base = filepath.Join(base, "car-"+c.UID)
	if err := ownFolder(base); err != nil {
		return nil, err
	}
	sweep(base, c.Notice)
	lock, err := takeLock(filepath.Join(base, lockPrefix+c.Session+lockSuffix))
	if err != nil {
		return nil, fmt.Errorf("scratch folder of session %q: %w; is another process using this session?", c.Session, err)
	}
	s := &scratch{dir: filepath.Join(base, c.Session), lock: lock, temps: &temps{lock: lock}}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		lock.Close()
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	if err := ownFolder(s.dir); err != nil {
		lock.Close()
		return nil, err
	}
	return s, nil
}

// ownFolder makes a 0700 folder, and refuses one that somebody else prepared:
// the temporary folder is everybody's.
func ownFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("scratch folder: %w", err)
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("scratch folder: %w", err)
	}
	if !fi.IsDir() || !ownedByUs(fi) {
		return fmt.Errorf("scratch folder %s belongs to somebody else; remove it or choose another temporary folder", dir)
	}
	if fi.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// close removes the folder and lets go of the lock.
func (s *scratch) close() error {
	err := os.RemoveAll(s.dir)
	os.Remove(s.lock.Name())
	return errors.Join(err, s.lock.Close())
}

// spool opens a new file of its own for output beyond bounds.
func (s *scratch) spool(name string) (io.WriteCloser, string, error) {
	dir := filepath.Join(s.dir, "spool")
	if err := ownFolder(dir); err != nil {
		return nil, "", err
	}
	h, err := os.CreateTemp(dir, strings.ReplaceAll(filepath.Base(name), "*", "_")+"-*")
	if err != nil {
		return nil, "", fmt.Errorf("spool: %w", err)
	}
	return h, h.Name(), nil
}

// takeLock creates and locks a file that nobody else holds. A file that was
// removed between opening and locking is not the one others will look at.
func takeLock(path string) (*os.File, error) {
	for {
		h, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lockFile(h); err != nil {
			h.Close()
			return nil, err
		}
		mine, err1 := h.Stat()
		there, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return h, nil
		}
		h.Close()
	}
}

// sweep ends the processes, temporary files and folders of runs that were killed
// (P-PROC-2, T-SHELL-4, T-FILE-13). What it cannot do it leaves for the next start.
func sweep(base string, notice func(string)) {
	locks, _ := filepath.Glob(filepath.Join(base, lockPrefix+"*"+lockSuffix))
	for _, path := range locks {
		lock, err := takeLock(path)
		if err != nil {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), lockPrefix), lockSuffix)
		dir := filepath.Join(base, name)
		killed := reapTagged(dir)
		temps := removeTemps(lock)
		err = os.RemoveAll(dir)
		os.Remove(path)
		lock.Close()
		if notice != nil {
			notice(sweptText(name, killed, temps, err))
		}
	}
}

func sweptText(session string, killed []int, temps int, err error) string {
	text := fmt.Sprintf("session %s was killed earlier: its scratch folder is removed", session)
	if err != nil {
		text = fmt.Sprintf("session %s was killed earlier: its scratch folder could not be removed: %v", session, err)
	}
	if len(killed) > 0 {
		text += fmt.Sprintf(", %d processes it left running were ended (%s)", len(killed), strings.Trim(fmt.Sprint(killed), "[]"))
	}
	if temps > 0 {
		text += fmt.Sprintf(", %d unfinished writes were removed", temps)
	}
	return text
}

// temps keeps the names of temporary files under way in the lock file, so that
// the next start finds those of a killed run without walking any tree.
type temps struct {
	mu      sync.Mutex
	lock    *os.File
	pending int
}

// begin records a name before the file is made.
func (t *temps) begin(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending++
	_, err := t.lock.WriteString(path + "\x00")
	return err
}

// done forgets all names once no file is under way.
func (t *temps) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending--; t.pending > 0 {
		return
	}
	if t.lock.Truncate(0) == nil {
		_, _ = t.lock.Seek(0, io.SeekStart)
	}
}

// removeTemps removes what a dead run recorded. Only our own names count, since
// its children could write the file too.
func removeTemps(lock *os.File) int {
	data, err := io.ReadAll(io.LimitReader(lock, 1<<20))
	if err != nil {
		return 0
	}
	removed := 0
	for path := range strings.SplitSeq(string(data), "\x00") {
		if !filepath.IsAbs(path) || !strings.HasPrefix(filepath.Base(path), tempPrefix) {
			continue
		}
		if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && os.Remove(path) == nil {
			removed++
		}
	}
	return removed
}
