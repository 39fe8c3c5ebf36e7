package idem

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"car/internal/engine/ir"
)

// slack is how many lines beyond twice the live ones a journal may hold (E-IDEM-3).
const slack = 1024

// line is one record: a result, a tombstone (null) or a clear.
type line struct {
	Key    ir.Digest `json:"key,omitempty"`
	Result *Result   `json:"result"`
	Clear  bool      `json:"clear,omitempty"`
}

// journal is an append-only file of lines, rewritten when it is mostly past.
type journal struct {
	path  string
	file  *os.File
	lines int
}

// openJournal replays what is there into entries, last line wins. Lines that
// cannot be read are counted; a torn last one is ended, so that the next is whole.
func openJournal(path string, entries map[ir.Digest]Result) (*journal, int, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("idempotency journal: %w", err)
	}
	j := &journal{path: path, file: file}
	skipped := 0
	in := bufio.NewReader(file)
	for {
		text, readErr := in.ReadBytes('\n')
		if len(text) > 0 {
			j.lines++
			if !replay(text, entries) {
				skipped++
			}
		}
		if readErr == nil {
			continue
		}
		if len(text) > 0 {
			_, err = file.Write([]byte("\n"))
		}
		return j, skipped, err
	}
}

func replay(text []byte, entries map[ir.Digest]Result) bool {
	var l line
	if err := json.Unmarshal(text, &l); err != nil || l.Key == "" && !l.Clear {
		return false
	}
	switch {
	case l.Clear:
		clear(entries)
	case l.Result == nil:
		delete(entries, l.Key)
	default:
		entries[l.Key] = *l.Result
	}
	return true
}

func (j *journal) append(l line, live map[ir.Digest]Result) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("idempotency journal: %w", err)
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("idempotency journal %s: %w", j.path, err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("idempotency journal %s: %w", j.path, err)
	}
	j.lines++
	if j.lines > 2*len(live)+slack {
		return j.compact(live)
	}
	return nil
}

// compact replaces the file by its live lines, through a rename, so that a crash
// leaves the old or the new one.
func (j *journal) compact(live map[ir.Digest]Result) error {
	next, err := os.CreateTemp(filepath.Dir(j.path), filepath.Base(j.path)+".*")
	if err != nil {
		return fmt.Errorf("compact idempotency journal: %w", err)
	}
	out := bufio.NewWriter(next)
	for key, r := range live {
		text, err := json.Marshal(line{Key: key, Result: &r})
		if err != nil {
			return fmt.Errorf("compact idempotency journal: %w", errors.Join(err, next.Close(), os.Remove(next.Name())))
		}
		out.Write(append(text, '\n')) // a failed write is kept by the writer and told by Flush
	}
	if err := errors.Join(out.Flush(), next.Sync(), next.Chmod(0o600)); err != nil {
		return fmt.Errorf("compact idempotency journal: %w", errors.Join(err, next.Close(), os.Remove(next.Name())))
	}
	if err := os.Rename(next.Name(), j.path); err != nil {
		return fmt.Errorf("compact idempotency journal: %w", errors.Join(err, next.Close(), os.Remove(next.Name())))
	}
	old := j.file
	j.file, j.lines = next, len(live)
	return old.Close()
}

func (j *journal) close() error { return j.file.Close() }
