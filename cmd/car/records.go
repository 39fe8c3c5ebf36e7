package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"car/internal/engine/eventlog"
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

// auditRecord tells a person who goes on with a session whose record is not what
// was written; what the session said is in the database and goes on all the same.
func (h *house) auditRecord(ctx context.Context, id string) error {
	_, anchored, err := h.db.Anchor(ctx, id)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(sessionLog(h.home, id)); errors.Is(err, fs.ErrNotExist) && !anchored {
		return nil // an import or a copy has no record yet
	}
	with, err := h.anchoring(id)
	if err != nil {
		return err
	}
	audit, err := eventlog.VerifyAnchored(sessionLog(h.home, id), *with, "")
	if err != nil {
		h.notice("the record of this session could not be verified: " + err.Error())
		return nil
	}
	// A process that was killed in its first second has written no anchor yet.
	if !audit.OK() && audit.Verdict != eventlog.AnchorMissing {
		h.notice(fmt.Sprintf("the record of this session is not what was written (%s): car log verify %s", audit, id))
	}
	return nil
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
