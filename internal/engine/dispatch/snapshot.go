package dispatch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/engine/undo"
)

// Bounds of what is kept before a command runs; what is beyond is not kept, and an
// undo says that a command ran.
const (
	snapshotFiles = 2000
	snapshotFile  = 16 << 20
	snapshotBytes = 64 << 20
)

// snapshot keeps the files that a shell command is known to be about to change, so
// that an undo brings them back (P-WORK-1, P-WORK-4, B087).
type snapshot struct {
	d       *Dispatcher
	keep    *keeper
	journal *journal
	files   int
	bytes   int64
	taken   map[string]*kept
	order   []string
}

// kept is one file as it was.
type kept struct {
	record *record
	before undo.State
}

// snapshotOf keeps what a granted call endangers, before it runs. An error means that
// it must not run.
func (d *Dispatcher) snapshotOf(ctx context.Context, g admit.Grant, j *journal) (*snapshot, error) {
	if d.cfg.Undo == nil || g.Effects.Shell.Text == "" {
		return nil, nil
	}
	root := d.cfg.Substrate.Describe().Root
	s := &snapshot{d: d, journal: j, taken: map[string]*kept{},
		keep: &keeper{journal: d.cfg.Undo, root: root, turn: g.Call.Turn, action: g.Action.ID, of: g.Proposal}}
	for _, target := range g.Judgement.Targets {
		if !filepath.IsAbs(target) {
			target = filepath.Join(root, filepath.FromSlash(target))
		}
		if err := s.add(ctx, target); err != nil {
			return s, err
		}
	}
	return s, s.addLosses(ctx, g)
}

// addLosses keeps what the call's git commands would discard.
func (s *snapshot) addLosses(ctx context.Context, g admit.Grant) error {
	programs, ok := s.d.cfg.Substrate.(tool.Programs)
	if !ok {
		return nil
	}
	for _, l := range lossesOf(g.Judgement) {
		if !l.tracked && !l.untracked && !l.ignored {
			continue
		}
		entries, top, err := git{programs, l.dir}.status(ctx, l)
		if err != nil {
			continue // the person was told that it is not known
		}
		for _, e := range entries {
			if err := s.add(ctx, filepath.Join(top, filepath.FromSlash(e.path))); err != nil {
				return err
			}
		}
	}
	return nil
}

// add keeps a file, or the files below a folder, within the bounds.
func (s *snapshot) add(ctx context.Context, at string) error {
	if !within(at, s.keep.root) || s.taken[at] != nil || s.files >= snapshotFiles || ctx.Err() != nil {
		return nil
	}
	info, err := s.d.cfg.Substrate.FS().Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.note(at, undo.State{Kind: undo.Absent}, nil)
	case err != nil:
		return nil // what can not be looked at can not be kept
	case info.Mode.IsDir():
		if filepath.Base(at) == ".git" {
			return nil
		}
		return s.addFolder(ctx, at)
	case !info.Mode.IsRegular() || info.Size > snapshotFile || s.bytes+info.Size > snapshotBytes:
		return nil
	}
	content, err := s.read(at)
	if err != nil {
		return nil
	}
	s.bytes += int64(len(content))
	return s.note(at, undo.State{Kind: undo.File, Digest: ir.DigestBytes(content), Mode: uint32(info.Mode.Perm())}, content)
}

// addFolder keeps the files below a folder; a file that comes back makes its folders.
func (s *snapshot) addFolder(ctx context.Context, at string) error {
	entries, err := s.d.cfg.Substrate.FS().ReadDir(at)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if err := s.add(ctx, filepath.Join(at, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshot) read(at string) ([]byte, error) {
	f, err := s.d.cfg.Substrate.FS().Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var content bytes.Buffer
	if _, err := io.Copy(&content, io.LimitReader(f, snapshotFile+1)); err != nil {
		return nil, err
	}
	if content.Len() > snapshotFile {
		return nil, errors.New("grew while it was read")
	}
	return content.Bytes(), nil
}

func (s *snapshot) note(at string, before undo.State, content []byte) error {
	record, err := s.keep.before(at, before, content)
	if err != nil {
		return err
	}
	s.files++
	s.taken[at] = &kept{record, before}
	s.order = append(s.order, at)
	return nil
}

// close notes what became of the files, and tells the changes.
func (s *snapshot) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, at := range s.order {
		k := s.taken[at]
		rel, err := filepath.Rel(s.keep.root, at)
		if err != nil {
			rel = at
		}
		path := filepath.ToSlash(rel)
		now, err := s.d.Now(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		changed := now != k.before
		errs = append(errs, k.record.close(changed, now))
		if changed && (k.before.Kind == undo.File || now.Kind == undo.File) {
			s.journal.add(ir.FileChange{Path: path, Resolved: path, Before: k.before.Digest, After: now.Digest})
		}
	}
	return errors.Join(errs...)
}
