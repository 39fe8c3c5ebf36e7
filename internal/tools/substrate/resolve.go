package substrate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"car/internal/engine/tool"
)

// maxLinks bounds the links one path may pass, as the kernel does.
const maxLinks = 40

// door is a folder whose inside is reached through a handle.
type door struct {
	root *os.Root
	// handle is the folder itself.
	handle *os.File
	// dir is the canonical absolute path; aliases are other spellings of it.
	dir     string
	aliases []string
	info    fs.FileInfo
	// relative says that Info.Path below this door is relative to it.
	relative bool
}

// rel returns path below the door, "." for the door itself.
func (d *door) rel(path string) (string, bool) {
	if path == d.dir {
		return ".", true
	}
	return strings.CutPrefix(path, withSeparator(d.dir))
}

// place is where a path leads once its links were followed.
type place struct {
	// spelled is the path of the call, for messages.
	spelled string
	// abs is canonical: no link, no "..".
	abs string
	// door and rel say how to get there; door is nil outside.
	door *door
	rel  string
	// info is what is there, by lstat; nil when nothing is.
	info fs.FileInfo
	// missing says that nothing is there.
	missing bool
	// secret and special remember every name that the path went through.
	secret  bool
	special bool
}

// walk is one resolution under way.
type walk struct {
	files   *files
	place   place
	cur     string
	pending []string
	links   int
}

// resolve follows path link by link, the last one only when asked. A path that
// leads to nothing is no error: info is nil.
func (f *files) resolve(path string, followLast bool) (place, error) {
	if err := checkSpelling(path); err != nil {
		return place{}, err
	}
	w := walk{files: f, place: place{spelled: path}}
	w.begin(path)
	mustBeDir := strings.HasSuffix(path, "/") || os.IsPathSeparator(path[len(path)-1])
	for len(w.pending) > 0 && !w.place.missing {
		if err := w.step(followLast || mustBeDir); err != nil {
			return place{}, err
		}
	}
	p := w.place
	p.abs = w.cur
	if !p.missing && p.info == nil {
		fi, err := os.Lstat(p.abs)
		if err != nil {
			return place{}, pathFault(path, err)
		}
		p.info = fi
	}
	if mustBeDir && p.info != nil && !p.info.IsDir() {
		return place{}, notDirectory(path)
	}
	p.special = p.special || specialPath(p.abs)
	p.door, p.rel = f.doorFor(p.abs)
	return p, nil
}

// begin sets the start of a walk: a door where the spelling already says so, so
// that what lies above the root is neither touched nor trusted again.
func (w *walk) begin(path string) {
	if !filepath.IsAbs(path) {
		w.cur, w.pending = w.files.doors[0].dir, components(path)
		return
	}
	for _, d := range w.files.doors {
		for _, dir := range append([]string{d.dir}, d.aliases...) {
			if path == dir {
				w.cur = d.dir
				return
			}
			if rest, found := strings.CutPrefix(path, withSeparator(dir)); found {
				w.cur, w.pending = d.dir, components(rest)
				return
			}
		}
	}
	w.fromTop(path)
}

// fromTop restarts at the top of the file system.
func (w *walk) fromTop(path string) {
	vol := filepath.VolumeName(path)
	w.cur = vol + string(filepath.Separator)
	w.pending = append(components(path[len(vol):]), w.pending...)
}

// step takes one component.
func (w *walk) step(followLast bool) error {
	name := w.pending[0]
	w.pending = w.pending[1:]
	if name == ".." {
		w.cur = filepath.Dir(w.cur)
		w.place.info = nil
		return nil
	}
	next := filepath.Join(w.cur, name)
	w.place.special = w.place.special || specialPath(next)
	fi, err := os.Lstat(next)
	if len(w.pending) == 0 || err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		w.place.secret = w.place.secret || secretPath(next)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w.stopMissing(next, err)
	case err != nil:
		return pathFault(w.place.spelled, err)
	case fi.Mode()&fs.ModeSymlink != 0 && (len(w.pending) > 0 || followLast):
		return w.follow(next)
	case len(w.pending) > 0 && !fi.IsDir():
		return notDirectory(w.place.spelled)
	}
	w.cur, w.place.info = next, fi
	for _, d := range w.files.doors {
		// Another spelling of a door: other letter case, a bind mount.
		if fi.IsDir() && os.SameFile(fi, d.info) {
			w.cur = d.dir
		}
	}
	return nil
}

// follow puts the target of a link in front of what is left.
func (w *walk) follow(link string) error {
	if w.links++; w.links > maxLinks {
		return &tool.Fault{Kind: tool.Failed, Text: fmt.Sprintf("%q passes too many links; is there a loop?", w.place.spelled)}
	}
	target, err := os.Readlink(link)
	if err != nil {
		return pathFault(w.place.spelled, err)
	}
	w.place.info = nil
	if filepath.IsAbs(target) {
		w.fromTop(target)
		return nil
	}
	w.pending = append(components(target), w.pending...)
	return nil
}

// stopMissing ends the walk where nothing is. The rest is joined for creation;
// a ".." in it has no meaning that the kernel shares.
func (w *walk) stopMissing(next string, err error) error {
	for _, name := range w.pending {
		if name == ".." {
			return pathFault(w.place.spelled, err)
		}
	}
	w.cur = filepath.Join(append([]string{next}, w.pending...)...)
	w.place.secret = w.place.secret || secretPath(w.cur)
	w.place.info, w.place.missing, w.pending = nil, true, nil
	return nil
}

// doorFor finds the door that a canonical path lies behind.
func (f *files) doorFor(abs string) (*door, string) {
	for _, d := range f.doors {
		if rel, found := d.rel(abs); found {
			return d, rel
		}
	}
	return nil, ""
}

// components splits a path and drops what changes nothing.
func components(path string) []string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	kept := parts[:0]
	for _, p := range parts {
		if p != "." {
			kept = append(kept, p)
		}
	}
	return kept
}

func withSeparator(dir string) string {
	if strings.HasSuffix(dir, string(filepath.Separator)) {
		return dir
	}
	return dir + string(filepath.Separator)
}

// specialPath reports a path whose opening may block or lead somewhere else:
// devices, and the descriptors of processes (T-FILE-6).
func specialPath(path string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	if path == "/dev" || strings.HasPrefix(path, "/dev/") {
		return true
	}
	rest, found := strings.CutPrefix(path, "/proc/")
	if !found {
		return false
	}
	for _, part := range strings.Split(rest, "/")[1:] {
		switch part {
		case "fd", "fdinfo", "map_files", "root", "cwd", "exe", "mem", "environ":
			return true
		}
	}
	return false
}

// pathFault turns an error of the system into one that a model can read. Plain
// "not found" stays what it is.
func pathFault(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case errors.Is(err, syscall.ENOTDIR):
		return notDirectory(path)
	case errors.Is(err, fs.ErrPermission):
		return &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("%q: the system denies access", path)}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &tool.Fault{Kind: tool.Failed, Text: fmt.Sprintf("%q: %v", path, err)}
}

func notDirectory(path string) error {
	return &tool.Fault{Kind: tool.NotFound, Text: fmt.Sprintf("%q: a part of the path is a file, not a folder", path)}
}

func outside(path string) error {
	return &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("%q is outside the working directory; write below it, or to $TMPDIR", path)}
}

func parent(abs string) string { return filepath.Dir(abs) }

func toSlash(path string) string { return filepath.ToSlash(path) }
