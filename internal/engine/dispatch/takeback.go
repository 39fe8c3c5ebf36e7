package dispatch

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/engine/undo"
)

// TakenBack is what became of the files that a run changed (B-FILE-2).
type TakenBack struct {
	Restored    []string
	Conflicts   []string
	Unavailable []string
}

// TakeBack puts the files of the selected changes back, each only if it still is
// as the run left it. It goes through the same verified replacement as any write.
func (d *Dispatcher) TakeBack(s undo.Select) (TakenBack, error) {
	var out TakenBack
	if d.cfg.Undo == nil {
		return out, nil
	}
	steps, err := d.cfg.Undo.Plan(s, d.Now)
	if err != nil {
		return out, err
	}
	var failed error
	for _, step := range steps {
		switch step.Verdict {
		case undo.Restore:
			switch err := d.restore(step); {
			case err == nil:
				out.Restored = append(out.Restored, step.Path)
			case errors.Is(err, errChanged):
				out.Conflicts = append(out.Conflicts, step.Path)
			default:
				out.Unavailable = append(out.Unavailable, step.Path)
				failed = errors.Join(failed, err)
			}
		case undo.Conflict:
			out.Conflicts = append(out.Conflicts, step.Path)
		case undo.Unavailable:
			out.Unavailable = append(out.Unavailable, step.Path)
		}
	}
	return out, failed
}

// errChanged says that a path changed between the plan and its step.
var errChanged = errors.New("changed meanwhile")

// restore does one step of a plan.
func (d *Dispatcher) restore(step undo.Step) error {
	files := d.cfg.Substrate.FS()
	verify := func(now []byte, err error) error {
		if !sameAs(step.From, now, err) {
			return errChanged
		}
		return nil
	}
	if step.To.Kind == undo.File {
		content, err := d.cfg.Undo.Content(step.To.Digest)
		if err != nil {
			return err
		}
		_, err = files.Replace(step.Path, content, 0, verify)
		return err
	}
	remover, ok := files.(tool.Remover)
	if !ok {
		return &tool.Fault{Kind: tool.Unsupported, Text: "files cannot be removed here"}
	}
	return remover.Remove(step.Path, verify)
}

func sameAs(want undo.State, now []byte, err error) bool {
	switch want.Kind {
	case undo.Absent:
		return errors.Is(err, fs.ErrNotExist)
	case undo.Dir:
		return err == nil && now == nil
	default:
		return err == nil && now != nil && ir.DigestBytes(now) == want.Digest
	}
}

// Now is what stands at a path below the root, links not followed.
func (d *Dispatcher) Now(path string) (undo.State, error) { return StateOf(d.cfg.Substrate, path) }

// StateOf looks at a path below a substrate's root, links not followed.
func StateOf(s tool.Substrate, path string) (undo.State, error) {
	files := s.FS()
	at := filepath.Join(s.Describe().Root, filepath.FromSlash(path))
	info, err := files.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return undo.State{Kind: undo.Absent}, nil
	case err != nil:
		return undo.State{}, err
	case info.Mode.IsDir():
		return undo.State{Kind: undo.Dir}, nil
	case !info.Mode.IsRegular():
		return undo.State{Kind: undo.Kind(info.Mode.Type().String())}, nil
	}
	f, err := files.Open(at)
	if err != nil {
		return undo.State{}, err
	}
	defer f.Close()
	var content bytes.Buffer
	if _, err := io.Copy(&content, f); err != nil {
		return undo.State{}, err
	}
	return undo.State{Kind: undo.File, Digest: ir.DigestBytes(content.Bytes()), Mode: uint32(info.Mode.Perm())}, nil
}
