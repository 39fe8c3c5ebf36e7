package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"car/internal/engine/ir"
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

// writer changes what a call declared it would write, and nothing else.
type writer struct {
	files   *files
	journal *journal
}

// Replace puts content at path if what is there is what the caller expects (P-WORK-5).
func (w *writer) Replace(ctx context.Context, path string, r tool.Replacement) (ir.FileChange, error) {
	if !slices.Contains(w.files.writes, w.files.absolute(path)) {
		return ir.FileChange{}, denied("%s was not declared by this call", path)
	}
	if err := w.mayWrite(path); err != nil {
		return ir.FileChange{}, err
	}
	var before ir.Digest
	verify := func(now []byte, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, os.ErrNotExist) {
			if r.Expect != "" {
				return &tool.StaleError{Path: path}
			}
			return w.mayWrite(path)
		}
		if err != nil {
			return err
		}
		before = ir.DigestBytes(now)
		if before != r.Expect {
			return &tool.StaleError{Path: path, Fresh: bytes.Clone(now)}
		}
		return w.mayWrite(path)
	}
	info, err := w.files.fs.Replace(path, r.Content, 0o644, verify)
	if err != nil {
		return ir.FileChange{}, err
	}
	change := ir.FileChange{Path: path, Resolved: info.Path, Before: before, After: ir.DigestBytes(r.Content)}
	w.journal.add(change)
	return change, nil
}

// mayWrite refuses the governor's own files and git's, through any link (G-TRUST-3, T-FILE-4).
// Admission judged the path before; this looks again at where it leads now.
func (w *writer) mayWrite(path string) error {
	for _, p := range []string{w.files.absolute(path), w.files.leadsTo(path)} {
		if !within(p, w.files.root) && !within(p, w.files.scratch) {
			return denied("%s is outside the working directory", path)
		}
		if within(p, w.files.carHome) && !within(p, w.files.scratch) {
			return denied("%s belongs to car itself and is closed to tools", path)
		}
		if rel, err := filepath.Rel(w.files.root, p); err == nil && protected(rel) {
			return denied("%s is protected: tools do not write .car or git's hooks and config", path)
		}
	}
	return nil
}

// leadsTo is where a write to path would land: its nearest ancestor that exists,
// links followed, and below it the names that are still to be made.
func (f *files) leadsTo(path string) string {
	rest := ""
	for at := f.absolute(path); ; at = filepath.Dir(at) {
		if info, err := f.fs.Stat(at); err == nil {
			return filepath.Join(f.absolute(info.Path), rest)
		}
		if at == filepath.Dir(at) {
			return filepath.Join(at, rest)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// protected reports a path below the root that no file tool writes, in any letter
// case and with trailing dots and spaces dropped (D27).
func protected(rel string) bool {
	var parts []string
	for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
		parts = append(parts, strings.ToLower(strings.TrimRight(part, ". ")))
	}
	for i, part := range parts {
		if part == ".car" {
			return true
		}
		if part != ".git" {
			continue
		}
		rest := parts[i+1:]
		if len(rest) == 0 || rest[0] == "hooks" || rest[0] == "config" || len(rest) > 1 && rest[0] == "info" && rest[1] == "attributes" {
			return true
		}
	}
	return false
}
