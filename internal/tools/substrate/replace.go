package substrate

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"car/internal/engine/tool"
)

// tempPrefix begins the names of files that wait for their rename.
const tempPrefix = ".car-tmp-"

// replacement is one Replace under way in the folder of its target.
type replacement struct {
	files   *files
	place   place
	dir     *os.Root
	base    string
	content []byte
	mode    os.FileMode
	verify  func(now []byte, err error) error
}

// Replace puts content at path, whole or not at all (T-FILE-13). A file that
// exists keeps its mode, owner and attributes; mode is for a new one, 0 leaves it
// to the umask. Parents are made, and removed again when verify refuses. A file
// with several names is written in place, so that it stays one file; that is the
// one write which a crash can cut.
func (f *files) Replace(path string, content []byte, mode os.FileMode, verify func(now []byte, err error) error) (tool.Info, error) {
	for range attempts {
		info, err := f.replaceOnce(path, content, mode, verify)
		if !errors.Is(err, errMoved) {
			return info, err
		}
	}
	return tool.Info{}, moved(path)
}

func (f *files) replaceOnce(path string, content []byte, mode os.FileMode, verify func([]byte, error) error) (tool.Info, error) {
	p, err := f.resolve(path, true)
	if err != nil {
		return tool.Info{}, err
	}
	if err := writable(p); err != nil {
		return tool.Info{}, err
	}
	dir, made, err := openParent(p, true)
	if err != nil {
		return tool.Info{}, err
	}
	defer dir.Close()
	r := &replacement{files: f, place: p, dir: dir, base: filepath.Base(p.rel), content: content, mode: mode, verify: verify}
	fi, err := r.run()
	if err != nil {
		for _, rel := range made {
			p.door.root.Remove(rel)
		}
		return tool.Info{}, err
	}
	return f.infoOf(p, fi), nil
}

// writable refuses places that no write may go to, whatever policy says.
func writable(p place) error {
	switch {
	case p.door == nil || p.rel == ".":
		return outside(p.spelled)
	case p.info == nil:
		return nil
	case p.info.IsDir():
		return &tool.Fault{Kind: tool.Unsupported, Text: fmt.Sprintf("%q is a folder", p.spelled)}
	case !p.info.Mode().IsRegular():
		return openable(p)
	case p.info.Mode().Perm()&0o200 == 0:
		return &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("%q is read-only (mode %04o); ask the person to make it writable", p.spelled, p.info.Mode().Perm())}
	}
	return nil
}

// openParent opens the folder of a place inside, component by component and never
// through a link, because the place is resolved: a link that turns up is a tree
// that moved. It returns the folders it made, deepest first, where it may.
func openParent(p place, mayMake bool) (*os.Root, []string, error) {
	cur, err := p.door.root.OpenRoot(".")
	if err != nil {
		return nil, nil, pathFault(p.spelled, err)
	}
	var made []string
	done := ""
	for _, name := range components(filepath.Dir(p.rel)) {
		done = filepath.Join(done, name)
		next, isNew, err := enter(cur, name, mayMake)
		cur.Close()
		if isNew {
			made = append([]string{done}, made...)
		}
		if err != nil {
			if !errors.Is(err, errMoved) {
				err = pathFault(p.spelled, err)
			}
			for _, rel := range made {
				p.door.root.Remove(rel)
			}
			return nil, nil, err
		}
		cur = next
	}
	return cur, made, nil
}

// enter opens a folder below dir and makes it where it is missing and it may.
func enter(dir *os.Root, name string, mayMake bool) (next *os.Root, made bool, err error) {
	fi, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && mayMake {
		failed := dir.Mkdir(name, 0o777)
		if failed != nil && !errors.Is(failed, fs.ErrExist) {
			return nil, false, failed
		}
		made = failed == nil
		fi, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, made, err
	}
	if !fi.IsDir() {
		return nil, made, errMoved
	}
	next, err = dir.OpenRoot(name)
	if err != nil {
		return nil, made, errMoved
	}
	there, err := next.Stat(".")
	if err != nil || !os.SameFile(fi, there) {
		next.Close()
		return nil, made, errMoved
	}
	return next, made, nil
}

func (r *replacement) run() (fs.FileInfo, error) {
	old, fi, err := r.current()
	if err != nil {
		return nil, err
	}
	if fi != nil && identityOf(r.place.abs, fi).links > 1 {
		return r.inPlace(fi)
	}
	temp, err := r.writeTemp(old, fi)
	if old != nil {
		old.Close()
	}
	if err == nil {
		err = r.swap(temp)
	}
	if err != nil {
		r.dir.Remove(temp)
		r.files.temps.done()
		return nil, r.fault(err)
	}
	r.files.temps.done()
	if err := syncDir(r.dir); err != nil {
		return nil, r.fault(err)
	}
	return r.dir.Lstat(r.base)
}

// fault words a failure of the system, and lets the caller's own refusals pass.
func (r *replacement) fault(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	if errors.Is(err, errMoved) || !errors.As(err, &pe) && !errors.As(err, &le) {
		return err
	}
	if le != nil {
		err = &fs.PathError{Op: le.Op, Path: r.place.spelled, Err: le.Err}
	}
	return pathFault(r.place.spelled, err)
}

// current opens what is at the target now, nil where nothing is.
func (r *replacement) current() (*os.File, fs.FileInfo, error) {
	fi, err := r.dir.Lstat(r.base)
	if errors.Is(err, fs.ErrNotExist) {
		if r.place.info != nil {
			return nil, nil, errMoved
		}
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, pathFault(r.place.spelled, err)
	}
	if !fi.Mode().IsRegular() {
		return nil, nil, errMoved
	}
	h, err := r.dir.OpenFile(r.base, openFlags, 0)
	if err != nil {
		return nil, nil, pathFault(r.place.spelled, err)
	}
	there, err := h.Stat()
	if err != nil || !os.SameFile(fi, there) {
		h.Close()
		return nil, nil, errMoved
	}
	return h, there, nil
}

// writeTemp writes the content beside the target and makes it durable.
func (r *replacement) writeTemp(old *os.File, fi fs.FileInfo) (name string, err error) {
	name = tempPrefix + strings.ToLower(rand.Text())
	if err := r.files.temps.begin(filepath.Join(filepath.Dir(r.place.abs), name)); err != nil {
		return name, err
	}
	perm := os.FileMode(0o666)
	if fi != nil || r.mode != 0 {
		perm = 0o600
	}
	h, err := r.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return name, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if _, err := h.Write(r.content); err != nil {
		return name, err
	}
	switch {
	case fi != nil:
		err = keepAttributes(old, h, fi)
	case r.mode != 0:
		err = h.Chmod(r.mode.Perm())
	}
	if err != nil {
		return name, err
	}
	return name, h.Sync()
}

// swap asks verify about what is there and puts the temporary file in its place.
// A new file is linked, not renamed, so that it cannot cover one that just came up.
func (r *replacement) swap(temp string) error {
	for range attempts {
		now, err := r.readNow()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing := err != nil
		if missing {
			err = fs.ErrNotExist
		}
		if err := r.verify(now, err); err != nil {
			return err
		}
		if !missing {
			return r.dir.Rename(temp, r.base)
		}
		err = r.dir.Link(temp, r.base)
		if err == nil {
			return r.dir.Remove(temp)
		}
		if !errors.Is(err, fs.ErrExist) {
			return r.dir.Rename(temp, r.base)
		}
	}
	return errMoved
}

// readNow reads what is at the target at this moment.
func (r *replacement) readNow() ([]byte, error) {
	h, _, err := r.current()
	if err != nil {
		return nil, err
	}
	if h == nil {
		return nil, fs.ErrNotExist
	}
	defer h.Close()
	return io.ReadAll(h)
}

// inPlace rewrites a file with several names.
func (r *replacement) inPlace(fi fs.FileInfo) (fs.FileInfo, error) {
	h, err := r.dir.OpenFile(r.base, os.O_RDWR, 0)
	if err != nil {
		return nil, pathFault(r.place.spelled, err)
	}
	defer h.Close()
	if there, err := h.Stat(); err != nil || !os.SameFile(fi, there) {
		return nil, errMoved
	}
	now, err := io.ReadAll(h)
	if err != nil {
		return nil, r.fault(err)
	}
	if err := r.verify(now, nil); err != nil {
		return nil, err
	}
	if bytes.Equal(now, r.content) {
		return h.Stat()
	}
	if _, err := h.WriteAt(r.content, 0); err != nil {
		return nil, r.fault(err)
	}
	if err := errors.Join(h.Truncate(int64(len(r.content))), h.Sync()); err != nil {
		return nil, r.fault(err)
	}
	return h.Stat()
}
