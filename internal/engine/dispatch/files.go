package dispatch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"car/internal/engine/tool"
)

// files is a substrate's file system narrowed to what a call declared. Inside
// the root reading is free but for secrets; outside, only what was declared and
// so was judged.
type files struct {
	fs       tool.FS
	root     string
	scratch  string
	carHome  string
	reads    []string
	writes   []string
	approved bool
}

func newFiles(s tool.Substrate, carHome string, e tool.Effects, approved bool) *files {
	d := s.Describe()
	f := &files{fs: s.FS(), root: d.Root, scratch: d.Scratch, carHome: carHome, approved: approved}
	for _, p := range e.Reads {
		f.reads = append(f.reads, f.absolute(p))
	}
	for _, p := range e.Writes {
		f.writes = append(f.writes, f.absolute(p))
	}
	return f
}

// absolute spells a call's path in full, without touching the disk.
func (f *files) absolute(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(f.root, p)
}

func within(p, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// mayRead answers for a path as it is spelled and, once known, as it resolved.
func (f *files) mayRead(p string) error {
	full := f.absolute(p)
	if within(full, f.carHome) && !within(full, f.scratch) {
		return denied("%s belongs to car itself and is closed to tools", p)
	}
	if within(full, f.root) || within(full, f.scratch) {
		return nil
	}
	for _, dir := range append(slices.Clone(f.reads), f.writes...) {
		if within(full, dir) {
			return nil
		}
	}
	return denied("%s is outside the working directory and was not part of this call", p)
}

func denied(format string, args ...any) error {
	return &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf(format, args...)}
}

// Stat follows links inside the root.
func (f *files) Stat(p string) (tool.Info, error) {
	if err := f.mayRead(p); err != nil {
		return tool.Info{}, err
	}
	info, err := f.fs.Stat(p)
	if err != nil {
		return info, err
	}
	return info, f.mayRead(info.Path)
}

// ReadDir lists a directory.
func (f *files) ReadDir(p string) ([]fs.DirEntry, error) {
	if err := f.mayRead(p); err != nil {
		return nil, err
	}
	return f.fs.ReadDir(p)
}

// Open opens a regular file. A secret one opens only when a person approved just that file (T-FILE-5).
func (f *files) Open(p string) (tool.File, error) {
	if err := f.mayRead(p); err != nil {
		return nil, err
	}
	file, err := f.fs.Open(p)
	if err != nil {
		return nil, err
	}
	info := file.Info()
	err = f.mayRead(info.Path)
	if info.Secret && !(f.approved && slices.Contains(f.reads, f.absolute(p))) {
		err = denied("%s holds secrets and is not shown", p)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
