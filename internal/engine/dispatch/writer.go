package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/engine/undo"
)

// writer changes what a call declared it would write, and nothing else. Before
// each change what is there goes to the undo journal, which can refuse it (B-FILE-1).
type writer struct {
	files   *files
	journal *journal
	keeper  *keeper
}

// Replace puts content at path if what is there is what the caller expects (P-WORK-5).
func (w *writer) Replace(ctx context.Context, path string, r tool.Replacement) (ir.FileChange, error) {
	if err := w.mayWrite(path); err != nil {
		return ir.FileChange{}, err
	}
	change := ir.FileChange{Path: path, After: ir.DigestBytes(r.Content)}
	made, err := w.keeper.folders(w.files, path)
	if err != nil {
		return ir.FileChange{}, err
	}
	var record *record
	info, err := w.files.fs.Replace(path, r.Content, 0, func(now []byte, err error) error {
		var before undo.State
		if before, err = w.agree(ctx, path, r.Expect, now, err); err != nil {
			return err
		}
		change.Before = before.Digest
		record, err = w.keeper.before(w.files.leadsTo(path), before, now)
		return err
	})
	return w.done(change, info.Path, record, made, err)
}

// Remove takes a file away if its content is what the caller expects.
func (w *writer) Remove(ctx context.Context, path string, expect ir.Digest) (ir.FileChange, error) {
	remover, ok := w.files.fs.(tool.Remover)
	if !ok {
		return ir.FileChange{}, &tool.Fault{Kind: tool.Unsupported, Text: "files cannot be removed here"}
	}
	if err := w.mayWrite(path); err != nil {
		return ir.FileChange{}, err
	}
	at := w.files.leadsTo(path)
	var change ir.FileChange
	var record *record
	err := remover.Remove(path, func(now []byte, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return &tool.StaleError{Path: path}
		}
		before, err := w.agree(ctx, path, expect, now, err)
		if err != nil {
			return err
		}
		change = ir.FileChange{Path: path, Before: before.Digest}
		record, err = w.keeper.before(at, before, now)
		return err
	})
	return w.done(change, w.relative(at), record, nil, err)
}

// agree compares what is there now with what the caller believes, as the last
// thing before a change.
func (w *writer) agree(ctx context.Context, path string, expect ir.Digest, now []byte, err error) (undo.State, error) {
	if ctx.Err() != nil {
		return undo.State{}, context.Cause(ctx)
	}
	before := undo.State{Kind: undo.Absent}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if expect != "" {
			return before, &tool.StaleError{Path: path}
		}
	case err != nil:
		return before, err
	case now == nil: // a folder, which must be empty to go
		before.Kind = undo.Dir
		if expect != "" {
			return before, &tool.StaleError{Path: path}
		}
	default:
		before = undo.State{Kind: undo.File, Digest: ir.DigestBytes(now)}
		if before.Digest != expect {
			return before, &tool.StaleError{Path: path, Fresh: bytes.Clone(now)}
		}
	}
	return before, w.mayWrite(path)
}

// done closes the records of a change, made or not.
func (w *writer) done(change ir.FileChange, resolved string, record *record, made []*record, err error) (ir.FileChange, error) {
	after := undo.State{Kind: undo.Absent}
	if change.After != "" {
		after = undo.State{Kind: undo.File, Digest: change.After}
	}
	for _, folder := range made {
		err = errors.Join(err, folder.close(err == nil, undo.State{Kind: undo.Dir}))
	}
	err = errors.Join(err, record.close(err == nil, after))
	if err != nil {
		return ir.FileChange{}, flat(err)
	}
	change.Resolved = resolved
	w.journal.add(change)
	return change, nil
}

// flat takes a lone error out of a join, so that its own text and type show.
func flat(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) == 1 {
		return flat(joined.Unwrap()[0])
	}
	return err
}

func (w *writer) relative(at string) string {
	if rel, err := filepath.Rel(w.files.root, at); err == nil {
		return filepath.ToSlash(rel)
	}
	return at
}

// keeper writes an attempt's changes into the undo journal; without one it keeps nothing.
type keeper struct {
	journal *undo.Journal
	root    string
	turn    int
	action  ir.ActionID
	of      ir.ProposalID
}

// record is one change that was announced.
type record struct {
	journal *undo.Journal
	n       int
}

// before announces a change of an absolute path below the root.
func (k *keeper) before(at string, before undo.State, content []byte) (*record, error) {
	rel, err := filepath.Rel(k.root, at)
	if k.journal == nil || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil, nil // the scratch folder is never undone (D-33)
	}
	n, err := k.journal.Before(undo.Change{Turn: k.turn, Proposal: k.of, Action: k.action, Path: filepath.ToSlash(rel), Before: before}, content)
	if err != nil {
		return nil, fmt.Errorf("%s was not changed, because what it was could not be kept: %v", filepath.ToSlash(rel), err)
	}
	return &record{k.journal, n}, nil
}

// folders announces the folders that a write to path will make, outermost first.
func (k *keeper) folders(f *files, target string) ([]*record, error) {
	if k.journal == nil {
		return nil, nil
	}
	var missing []string
	for at := filepath.Dir(f.leadsTo(target)); within(at, k.root) && at != k.root; at = filepath.Dir(at) {
		if _, err := f.fs.Lstat(at); err == nil {
			break
		}
		missing = append([]string{at}, missing...)
	}
	var made []*record
	for _, at := range missing {
		r, err := k.before(at, undo.State{Kind: undo.Absent}, nil)
		if err != nil {
			return nil, err
		}
		made = append(made, r)
	}
	return made, nil
}

// close says what came of a change.
func (r *record) close(changed bool, after undo.State) error {
	if r == nil {
		return nil
	}
	if !changed {
		return r.journal.After(r.n, nil)
	}
	return r.journal.After(r.n, &after)
}

// mayWrite refuses the governor's own files and git's, through any link (G-TRUST-3, T-FILE-4).
// Admission judged the path before; this looks again at where it leads now.
func (w *writer) mayWrite(path string) error {
	if !slices.Contains(w.files.writes, w.files.absolute(path)) {
		return denied("%s was not declared by this call", path)
	}
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
