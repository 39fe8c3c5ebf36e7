package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"car/internal/engine/span"
	"car/internal/engine/state"
)

// openState opens what a session's actions know together; it goes on where the
// session did (E-STATE-3).
func (h *house) openState(dir string) (*state.Store, error) {
	s, err := state.Open(state.Config{Path: filepath.Join(dir, "state.jsonl"), Warn: func(err error) { h.notice(err.Error()) }})
	if err != nil {
		return nil, err
	}
	if text := s.Notice(); text != "" {
		h.notice(text)
	}
	return s, nil
}

// spanFile is where --spans writes; nil writes nowhere.
type spanFile struct {
	file  *os.File
	spans *span.Recorder
}

// openSpans opens the file of --spans, of its owner alone, for more at its end.
func (h *house) openSpans() (*spanFile, error) {
	if h.spans == "" {
		return nil, nil
	}
	file, err := os.OpenFile(h.spans, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, usageError(fmt.Errorf("--spans: %w", err))
	}
	spans, err := span.New(span.Config{Now: h.app.now, Rand: rand.Reader, Emit: span.JSONLines(file, "car")})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &spanFile{file, spans}, nil
}

func (f *spanFile) recorder() *span.Recorder {
	if f == nil {
		return nil
	}
	return f.spans
}

func (f *spanFile) close() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.spans.Close(), f.file.Close())
}
