package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/jsonl"
)

// Config makes a durable store.
type Config struct {
	// Path is the JSONL file. Missing folders are made. One process at a time may have it open.
	Path string
	// Warn is told when the file cannot be shortened, which loses nothing; nil drops it.
	Warn func(error)
	// SyncFolder flushes a folder's names; nil is the system's own.
	SyncFolder func(folder string) error
}

// Durability says what became of a rollback on disk (E-STATE-3). A store in memory
// is as durable as its process.
type Durability uint8

// The durabilities. The zero value is a rollback that had nothing to undo.
const (
	NothingUndone Durability = iota
	// Durable is a rollback that is in force, here and after a restart.
	Durable
	// DurabilityUnknown is one that is in force here; whether a power cut leaves it so
	// is not known.
	DurabilityUnknown
	// RollbackFailed is one that changed nothing.
	RollbackFailed
)

var durabilityLabels = [...]string{"none", "durable", "durability_unknown", "failed"}

// String returns the wire label of ir.Rollback.State.
func (d Durability) String() string {
	if int(d) < len(durabilityLabels) {
		return durabilityLabels[d]
	}
	return fmt.Sprintf("unknown(%d)", uint8(d))
}

// Open opens a store that outlives its process. Every batch is a line of the file
// before it is in memory, and the last word about a key wins. What a proposal wrote
// that was neither committed nor rolled back when its process ended is taken back
// now, and Notice says so; so it does of a torn last line. A line that cannot be
// read otherwise is an error that names it.
func Open(c Config) (*Store, error) {
	if c.Path == "" {
		return nil, errors.New("state: Config.Path is empty")
	}
	file, err := jsonl.Open(c.Path)
	if err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	if c.SyncFolder != nil {
		file.SyncsFoldersWith(c.SyncFolder)
	}
	s := New()
	s.journal = &journal{File: file, warn: c.Warn}
	if err := s.restore(); err != nil {
		return nil, errors.Join(fmt.Errorf("open state: %w", err), file.Close())
	}
	return s, nil
}

// Notice says what Open had to drop or take back, empty if nothing.
func (s *Store) Notice() string { return s.notice }

// Close closes the file, if there is one. Nothing can be written afterwards.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	return s.journal.Close()
}

// record is one line of the file.
type record struct {
	// Tx is the proposal that wrote; the writes of 0 are final at once.
	Tx     uint64      `json:"tx,omitempty"`
	By     ir.ActionID `json:"by,omitempty"`
	Writes []entry     `json:"writes,omitempty"`
	// Replaces has the writes stand in place of all that was there.
	Replaces bool `json:"replaces,omitempty"`
	// Commit and Rollback end a proposal.
	Commit   uint64 `json:"commit,omitempty"`
	Rollback uint64 `json:"rollback,omitempty"`
	// Revision stands first in a file that was shortened: the counters of what is not
	// in it any more.
	Revision uint64 `json:"revision,omitempty"`
	LastTx   uint64 `json:"last_tx,omitempty"`
}

// entry is one write of a batch.
type entry struct {
	Key     string `json:"key"`
	Value   any    `json:"value,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
	Version uint64 `json:"version"`
}

func (r record) line() ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}

// journal is the file under a durable store. Its user serialises the calls.
type journal struct {
	*jsonl.File
	warn func(error)
	// nextRewrite is the number of lines at which shortening is tried again.
	nextRewrite int
	// frozen keeps the file as it is: it holds a proposal that memory could not take back.
	frozen bool
}

// append writes a record and leaves it to its proposal's end to wait for the disk.
func (j *journal) append(r record) error {
	if j == nil {
		return nil
	}
	line, err := r.line()
	if err == nil {
		err = j.Append(line)
	}
	if err != nil {
		return fmt.Errorf("state %s: %w", j.Path(), err)
	}
	return nil
}

// publish writes a record and waits until it is on disk.
func (j *journal) publish(r record) (Durability, error) {
	if j == nil {
		return Durable, nil
	}
	line, err := r.line()
	if err != nil {
		return RollbackFailed, err
	}
	published, err := j.Publish(line)
	switch {
	case !published:
		return RollbackFailed, err
	case err != nil:
		return DurabilityUnknown, err
	default:
		return Durable, nil
	}
}

// settle publishes a record that is not a rollback: whether the folder was flushed
// is no reason to call what is written unwritten.
func (j *journal) settle(r record) error {
	if d, err := j.publish(r); d == RollbackFailed {
		return fmt.Errorf("state %s: %w", j.Path(), err)
	}
	return nil
}

func recordOf(tx uint64, by ir.ActionID, landed []Transition) record {
	r := record{Tx: tx, By: by, Writes: make([]entry, len(landed))}
	for i, t := range landed {
		r.Writes[i] = entry{Key: t.Key, Value: t.New, Deleted: t.deleted, Version: t.Version}
	}
	return r
}

// restore replays the file and takes back what was left unfinished.
func (s *Store) restore() error {
	unfinished := map[uint64]*Tx{}
	torn, err := s.journal.Scan(func(_ int, line []byte) error {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		return s.replay(r, unfinished)
	})
	if err != nil {
		return err
	}
	if torn > 0 {
		s.notice = fmt.Sprintf("%s: dropped a torn last line of %d bytes", s.journal.Path(), torn)
	}
	n := 0
	for _, tx := range slices.Backward(slices.Clone(s.open)) {
		if err := s.journal.settle(record{Rollback: tx.id}); err != nil {
			return err
		}
		n += len(tx.undo().Restored)
	}
	if n > 0 {
		if s.notice != "" {
			s.notice += "; "
		}
		s.notice += fmt.Sprintf("took back %d changes to state of a proposal that had no end when its process did", n)
	}
	s.shorten()
	return nil
}

// replay applies one record, as it was applied when it was written.
func (s *Store) replay(r record, unfinished map[uint64]*Tx) error {
	s.revision, s.lastTx = max(s.revision, r.Revision), max(s.lastTx, r.LastTx, r.Tx)
	switch {
	case r.Commit > 0 || r.Rollback > 0:
		id := max(r.Commit, r.Rollback)
		tx := unfinished[id]
		if tx == nil {
			return fmt.Errorf("the end of proposal %d, which wrote nothing", id)
		}
		delete(unfinished, id)
		if r.Rollback > 0 {
			tx.undo()
		} else {
			tx.end()
		}
		return nil
	case len(r.Writes) == 0 && !r.Replaces && r.Revision == 0:
		return errors.New("it holds nothing")
	}
	var tx *Tx
	if r.Tx > 0 {
		if tx = unfinished[r.Tx]; tx == nil {
			tx = &Tx{store: s, id: r.Tx}
			unfinished[r.Tx], s.open = tx, append(s.open, tx)
		}
	}
	if r.Replaces {
		s.clear()
	}
	for _, e := range r.Writes {
		if e.Version <= s.revision && r.Revision == 0 {
			return fmt.Errorf("key '%s' has version %d after revision %d", e.Key, e.Version, s.revision)
		}
		t := s.transition(e.Key, write{e.Value, e.Deleted}, r.By, e.Version)
		s.apply(t)
		if tx != nil {
			tx.landed = append(tx.landed, t)
		}
	}
	return nil
}

// slack is how many lines beyond twice the live ones a file may hold.
const slack = 1024

// shorten rewrites a file that is mostly past, while no proposal is open: what an
// open one would need to be taken back is not in a shortened file. It is a matter
// of room alone, so a failure is told and tried again later. The caller holds mu.
func (s *Store) shorten() {
	j := s.journal
	if j == nil || j.frozen || len(s.open) > 0 || j.Lines() <= max(2*len(s.cells)+slack, j.nextRewrite) {
		return
	}
	published, err := j.Replace(func(next io.Writer, _ io.Reader) error {
		if err := writeRecord(next, record{Revision: s.revision, LastTx: s.lastTx}); err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(s.cells)) {
			c := s.cells[key]
			// Each has the revision beside it, since its version is of the past.
			if err := writeRecord(next, record{Revision: s.revision, Writes: []entry{{Key: key, Value: c.value, Version: c.version}}}); err != nil {
				return err
			}
		}
		return nil
	})
	if !published {
		j.nextRewrite = j.Lines() + slack
	}
	if err != nil && j.warn != nil {
		j.warn(fmt.Errorf("shorten state: %w", err))
	}
}

func writeRecord(w io.Writer, r record) error {
	line, err := r.line()
	if err == nil {
		_, err = w.Write(line)
	}
	return err
}
