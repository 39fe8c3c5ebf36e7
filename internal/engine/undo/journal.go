package undo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"car/internal/engine/ir"
)

// Bounds of what is kept (B-FILE-1): beyond them a change still runs, and is
// marked as one that cannot be undone.
const (
	maxFile = 16 << 20
	maxTurn = 256 << 20
)

// Kind is what stands at a path; its text is on disk.
type Kind string

// The kinds. Absent is nothing at all.
const (
	Absent Kind = "absent"
	File   Kind = "file"
	Dir    Kind = "dir"
)

// State is what stands at a path. Digest belongs to a file.
type State struct {
	Kind   Kind      `json:"kind"`
	Digest ir.Digest `json:"digest,omitempty"`
	Mode   uint32    `json:"mode,omitempty"`
}

// Same reports that nothing differs that a person would miss.
func (s State) Same(o State) bool { return s.Kind == o.Kind && s.Digest == o.Digest }

// Change is one change of one path. N orders them over the session.
type Change struct {
	N        int           `json:"n"`
	Turn     int           `json:"turn"`
	Proposal ir.ProposalID `json:"proposal"`
	Action   ir.ActionID   `json:"action"`
	// Path is relative to the root with slashes.
	Path   string `json:"path"`
	Before State  `json:"before"`
	// After is nil while the change is under way, and for one that was cut by a crash.
	After *State `json:"after,omitempty"`
	// Unavailable says why the content before was not kept.
	Unavailable string `json:"unavailable,omitempty"`
	// Failed marks a change that was announced and did not happen.
	Failed bool `json:"failed,omitempty"`
}

// Journal is a session's changes. Safe for concurrent use within one process,
// which holds the session's lease.
type Journal struct {
	dir string

	mu      sync.Mutex
	file    *os.File
	changes []Change
	marks   []Mark
	kept    map[int]int64 // bytes of content by turn
}

// Mark says that a turn was taken back, whole, by another, which is a turn too
// and can be taken back the same way.
type Mark struct {
	Undone int `json:"undone"`
	By     int `json:"by"`
}

// line is what stands in the file: a change, or a mark.
type line struct {
	Change
	Mark *Mark `json:"mark,omitempty"`
}

// Open replays the journal below dir, making it where it is missing. A torn last
// line is dropped; it speaks of a change that was never made.
func Open(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "changes.jsonl"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	j := &Journal{dir: dir, file: file, kept: map[int]int64{}}
	if err := j.replay(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *Journal) replay() error {
	text, err := os.ReadFile(j.file.Name())
	if err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for n, text := range bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n")) {
		var l line
		if len(text) == 0 {
			continue
		}
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("undo journal %s: line %d: %w", j.file.Name(), n+1, err)
		}
		j.put(l)
	}
	if len(whole) < len(text) {
		if err := j.file.Truncate(int64(len(whole))); err != nil {
			return fmt.Errorf("undo journal: %w", err)
		}
	}
	return nil
}

// put takes a line in: a new change, or news of one. The caller holds mu or is alone.
func (j *Journal) put(l line) {
	switch {
	case l.Mark != nil:
		j.marks = append(j.marks, *l.Mark)
	case l.N <= len(j.changes):
		j.changes[l.N-1] = l.Change
	default:
		j.changes = append(j.changes, l.Change)
	}
}

// Undone records that a turn was taken back whole. Until then it counts as not
// taken back, so that one cut halfway is finished by the next try.
func (j *Journal) Undone(m Mark) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(line{Mark: &m})
}

// Before records what stands at a path before it is changed, and its content
// (nil where there is none), durably. An error means that the change must not be made.
func (j *Journal) Before(c Change, content []byte) (n int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c.N = len(j.changes) + 1
	if c.Before.Kind == File {
		switch size := int64(len(content)); {
		case size > maxFile:
			c.Unavailable = fmt.Sprintf("larger than %d MiB", maxFile>>20)
		case j.kept[c.Turn]+size > maxTurn:
			c.Unavailable = fmt.Sprintf("the turn changed more than %d MiB", maxTurn>>20)
		default:
			if err := j.keep(c.Before.Digest, content); err != nil {
				return 0, err
			}
			j.kept[c.Turn] += size
		}
	}
	if err := j.write(line{Change: c}); err != nil {
		return 0, err
	}
	return c.N, nil
}

// After records what stands there now; nil says that the change was not made.
func (j *Journal) After(n int, after *State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.changes[n-1]
	c.After, c.Failed = after, after == nil
	return j.write(line{Change: c})
}

func (j *Journal) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	j.put(l)
	return nil
}

// keep stores content under its digest, once.
func (j *Journal) keep(digest ir.Digest, content []byte) error {
	path := j.blob(digest)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	temp, err := os.CreateTemp(j.dir, "blob-*") // 0600
	if err != nil {
		return fmt.Errorf("undo blob: %w", err)
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("undo blob: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

func (j *Journal) blob(d ir.Digest) string { return filepath.Join(j.dir, string(d)) }

// Content returns kept content, after checking that it is still what it was.
func (j *Journal) Content(d ir.Digest) ([]byte, error) {
	content, err := os.ReadFile(j.blob(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the content before the change is no longer kept")
	}
	if err != nil {
		return nil, fmt.Errorf("undo blob: %w", err)
	}
	if ir.DigestBytes(content) != d {
		return nil, fmt.Errorf("undo blob %s is damaged", d[:12])
	}
	return content, nil
}

// Close closes the journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}
