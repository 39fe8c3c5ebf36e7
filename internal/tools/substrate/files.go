package substrate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"car/internal/engine/tool"
)

// attempts bounds how often an access starts over because the tree moved under it.
const attempts = 3

// errMoved says that what was opened is not what was resolved.
var errMoved = errors.New("changed while it was being opened")

// files implements tool.FS over doors. Safe for concurrent use.
type files struct {
	// doors are the workspace, first, and the scratch folder.
	doors  []*door
	home   string
	temps  *temps
	hidden *secondNames
}

// Stat follows links.
func (f *files) Stat(path string) (tool.Info, error) { return f.stat(path, true) }

// Lstat does not follow the last link.
func (f *files) Lstat(path string) (tool.Info, error) { return f.stat(path, false) }

func (f *files) stat(path string, follow bool) (tool.Info, error) {
	p, err := f.resolve(path, follow)
	if err != nil {
		return tool.Info{}, err
	}
	if p.info == nil {
		return tool.Info{}, pathFault(path, fs.ErrNotExist)
	}
	return f.infoOf(p, p.info), nil
}

// Readlink returns what the link at path says.
func (f *files) Readlink(path string) (string, error) {
	p, err := f.resolve(path, false)
	if err != nil {
		return "", err
	}
	if p.info == nil {
		return "", pathFault(path, fs.ErrNotExist)
	}
	if p.info.Mode()&fs.ModeSymlink == 0 {
		return "", &tool.Fault{Kind: tool.BadArgs, Text: fmt.Sprintf("%q is not a link", path)}
	}
	var target string
	if p.door != nil {
		target, err = p.door.root.Readlink(p.rel)
	} else {
		target, err = os.Readlink(p.abs)
	}
	if err != nil {
		return "", pathFault(path, err)
	}
	return target, nil
}

// Open opens a regular file for reading.
func (f *files) Open(path string) (tool.File, error) {
	for range attempts {
		p, err := f.resolve(path, true)
		if err != nil {
			return nil, err
		}
		if err := openable(p); err != nil {
			return nil, err
		}
		h, fi, err := openPlace(p, openFlags)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &file{File: h, info: f.infoOf(p, fi)}, nil
	}
	return nil, moved(path)
}

// openable refuses what is no regular file, before anything can block (T-FILE-6).
func openable(p place) error {
	switch {
	case p.special:
		return &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("%q leads to a device or to the open files of a process; only regular files can be read", p.spelled)}
	case p.info == nil:
		return pathFault(p.spelled, fs.ErrNotExist)
	case p.info.IsDir():
		return &tool.Fault{Kind: tool.Unsupported, Text: fmt.Sprintf("%q is a folder; use list_dir", p.spelled)}
	case !p.info.Mode().IsRegular():
		return &tool.Fault{Kind: tool.Unsupported, Text: fmt.Sprintf("%q is %s; only regular files can be read or written", p.spelled, kindOf(p.info.Mode()))}
	}
	return nil
}

// openPlace opens what was resolved and makes sure that it is still of the kind
// that was found there. Inside, no link is followed any more: one that turns up is
// a tree that moved, and what Info says of the path stays true.
func openPlace(p place, flags int) (*os.File, fs.FileInfo, error) {
	var h *os.File
	var err error
	if p.door != nil {
		h, err = openInside(p, flags)
	} else {
		h, err = os.OpenFile(p.abs, flags|noFollow, 0)
	}
	switch {
	case errors.Is(err, errMoved), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP):
		return nil, nil, errMoved
	case err != nil:
		return nil, nil, pathFault(p.spelled, err)
	}
	fi, err := h.Stat()
	if err != nil || fi.Mode().Type() != p.info.Mode().Type() || p.door == nil && !os.SameFile(fi, p.info) {
		h.Close()
		return nil, nil, errMoved
	}
	return h, fi, nil
}

// descend opens a place below its door component by component.
func descend(p place, flags int) (*os.File, error) {
	if p.rel == "." {
		return p.door.root.Open(".")
	}
	dir, _, err := openParent(p, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	base := filepath.Base(p.rel)
	fi, err := dir.Lstat(base)
	if err != nil {
		return nil, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return nil, errMoved
	}
	h, err := dir.OpenFile(base, flags, 0)
	if err != nil {
		return nil, err
	}
	if there, err := h.Stat(); err != nil || !os.SameFile(fi, there) {
		h.Close()
		return nil, errMoved
	}
	return h, nil
}

// ReadDir lists a folder in byte order.
func (f *files) ReadDir(path string) ([]fs.DirEntry, error) {
	for range attempts {
		p, err := f.resolve(path, true)
		if err != nil {
			return nil, err
		}
		switch {
		case p.special:
			return nil, &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("%q leads to devices or to the open files of a process", path)}
		case p.info == nil:
			return nil, pathFault(path, fs.ErrNotExist)
		case !p.info.IsDir():
			return nil, &tool.Fault{Kind: tool.Unsupported, Text: fmt.Sprintf("%q is not a folder", path)}
		}
		h, _, err := openPlace(p, os.O_RDONLY)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		entries, err := h.ReadDir(-1)
		h.Close()
		if err != nil {
			return nil, pathFault(path, err)
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		return entries, nil
	}
	return nil, moved(path)
}

func moved(path string) error {
	return &tool.Fault{Kind: tool.Stale, Text: fmt.Sprintf("%q keeps changing while it is being opened; try again", path)}
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a link"
	}
	return "a special file"
}

// file is an open regular file.
type file struct {
	*os.File
	info tool.Info
}

// Info tells what was opened.
func (f *file) Info() tool.Info { return f.info }

// infoOf describes a place by what an open handle or lstat says of it.
func (f *files) infoOf(p place, fi fs.FileInfo) tool.Info {
	id := identityOf(p.abs, fi)
	info := tool.Info{
		Path: p.abs, Size: fi.Size(), Mode: fi.Mode(), ModTime: fi.ModTime(),
		Key: id.key, Links: id.links, Outside: p.door == nil, Secret: p.secret,
	}
	if p.door != nil && p.door.relative {
		info.Path = toSlash(p.rel)
	}
	if !info.Secret && id.links > 1 && fi.Mode().IsRegular() {
		info.Secret = f.hidden.names(id.inode, f.candidates(p))
	}
	return info
}

// candidates are the folders in which another name of a file may be a secret
// one: those from the file up to its door, and those of the home.
func (f *files) candidates(p place) []string {
	var dirs []string
	if p.door != nil {
		for dir := parent(p.abs); ; dir = parent(dir) {
			dirs = append(dirs, dir)
			if _, inside := p.door.rel(dir); !inside || dir == p.door.dir {
				break
			}
		}
	}
	return append(dirs, secretFolders(f.home)...)
}

// secondNames finds out whether a file is a second name of a secret file
// (T-FILE-5). It remembers what a folder holds for as long as the folder's time
// of change stands, since stores of packages are full of hard links.
type secondNames struct {
	mu   sync.Mutex
	seen map[string]secretsOf
}

type secretsOf struct {
	changed int64
	inodes  []string
}

func (s *secondNames) names(inode string, dirs []string) bool {
	for _, dir := range dirs {
		if slices.Contains(s.in(dir), inode) {
			return true
		}
	}
	return false
}

func (s *secondNames) in(dir string) []string {
	fi, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, found := s.seen[dir]
	if found && known.changed == fi.ModTime().UnixNano() {
		return known.inodes
	}
	known = secretsOf{changed: fi.ModTime().UnixNano()}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := dir + string(os.PathSeparator) + e.Name()
		if !secretPath(path) {
			continue
		}
		if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
			known.inodes = append(known.inodes, identityOf(path, fi).inode)
		}
	}
	s.seen[dir] = known
	return known.inodes
}
