package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"car/internal/assistant/store"
	"car/internal/engine/eventlog"
)

// chainKeyBytes is the length of the key that signs where a record stood.
const chainKeyBytes = 32

// chainKey is the key of this person's records, made where there is none
// (B-CHAIN-1). Two processes that make it at once end with the same one: whoever
// links its file first wins.
func chainKey(home string) ([]byte, error) {
	path := chainKeyPath(home)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeChainKey(home, path); err != nil {
			return nil, err
		}
	}
	return readChainKey(home)
}

func chainKeyPath(home string) string { return filepath.Join(home, "chain.key") }

// readChainKey reads the key and makes none: to somebody who verifies, a key that
// is gone is a finding. It is its owner's alone, whatever a copy made of its mode.
func readChainKey(home string) ([]byte, error) {
	path := chainKeyPath(home)
	key, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not there, and without it no record can be verified", path)
	case err != nil:
		return nil, err
	case len(key) != chainKeyBytes:
		return nil, usageError(fmt.Errorf("%s holds %d bytes, not the %d of a key", path, len(key), chainKeyBytes), "move it away; records made with it can then no longer be verified")
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, 0o600)
	}
	return key, err
}

func makeChainKey(home, path string) error {
	f, err := os.CreateTemp(home, ".chain.key-") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, chainKeyBytes)
	if _, err = rand.Read(key); err == nil {
		_, err = f.Write(key)
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// anchors keeps where records stood in the database, apart from the records. An
// anchor is written also when the work that it speaks of was ended.
type anchors struct{ db *store.DB }

// PutAnchor keeps an anchor.
func (a anchors) PutAnchor(session, anchor string) error {
	return a.db.PutAnchor(context.Background(), session, anchor)
}

// Anchor finds it.
func (a anchors) Anchor(session string) (string, bool, error) {
	return a.db.Anchor(context.Background(), session)
}

// anchoring is what a session's record is anchored with.
func (h *house) anchoring(session string) (*eventlog.Anchoring, error) {
	key, err := chainKey(h.home)
	if err != nil {
		return nil, err
	}
	return &eventlog.Anchoring{Session: session, Store: anchors{h.db}, Key: key}, nil
}
