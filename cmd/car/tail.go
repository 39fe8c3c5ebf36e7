package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"car/internal/engine/eventlog"
)

// tail reads the event log of a session that another process may be writing.
type tail struct {
	path string
	file *os.File
	in   *bufio.Reader
	// part is a line whose end is not there yet.
	part []byte
	last uint64
}

// tailPace is how often a log that is followed is looked at.
const tailPace = 200 * time.Millisecond

func openTail(path string) (*tail, error) {
	t := &tail{path: path}
	return t, t.reopen()
}

func (t *tail) reopen() error {
	file, err := os.Open(t.path)
	if err != nil {
		return err
	}
	if t.file != nil {
		t.file.Close()
	}
	t.file, t.in, t.part = file, bufio.NewReader(file), nil
	return nil
}

func (t *tail) close() error { return t.file.Close() }

// next returns one more event; ok is false when there is none yet.
func (t *tail) next() (e eventlog.Event, line []byte, ok bool, err error) {
	for {
		piece, err := t.in.ReadBytes('\n')
		t.part = append(t.part, piece...)
		if errors.Is(err, io.EOF) {
			return e, nil, false, nil
		}
		if err != nil {
			return e, nil, false, err
		}
		line, t.part = bytes.TrimSpace(t.part), nil
		e = eventlog.Event{}
		if err := json.Unmarshal(line, &e); err != nil {
			return e, nil, false, fmt.Errorf("%s: a line after event %d is no event: %w", t.path, t.last, err)
		}
		if e.Seq <= t.last {
			continue // retention wrote the file anew
		}
		t.last = e.Seq
		return e, line, true, nil
	}
}

// wait returns when the log may have grown, or with ctx.
func (t *tail) wait(ctx context.Context) error {
	timer := time.NewTimer(tailPace)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	there, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	if open, err := t.file.Stat(); err == nil && os.SameFile(there, open) {
		return nil
	}
	return t.reopen()
}
