package idem

import (
	"context"
	"sync"

	"car/internal/engine/ir"
)

// Result is what a call answered. Action is the one that ran.
type Result struct {
	Action ir.ActionID `json:"action_id"`
	Output any         `json:"output"`
}

// KeyOf is the identity of a call: a digest of tenant, type, tool and
// parameters, so that no tenant can spell another's (F-11).
func KeyOf(tenant string, a ir.Action) (ir.Digest, error) {
	params := a.Parameters
	if params == nil {
		params = map[string]any{}
	}
	return ir.DigestOf([]any{tenant, a.Type.String(), a.Tool, params})
}

// Store keeps results by key. Safe for concurrent use.
type Store struct {
	warn func(error)

	mu      sync.Mutex
	entries map[ir.Digest]Result
	flight  map[ir.Digest]chan struct{} // closed when the claim ends
	journal *journal                    // nil keeps nothing beyond the process
}

// Open makes a store. With a path it replays the journal there, and Skipped tells
// how many of its lines could not be read. warn is told of every write that
// fails; it must not block.
func Open(path string, warn func(error)) (*Store, int, error) {
	s := &Store{warn: warn, entries: map[ir.Digest]Result{}, flight: map[ir.Digest]chan struct{}{}}
	if path == "" {
		return s, 0, nil
	}
	j, skipped, err := openJournal(path, s.entries)
	if err != nil {
		return nil, 0, err
	}
	s.journal = j
	return s, skipped, nil
}

// Claim is the right to run a call that has no result yet. End it with Keep or Drop.
type Claim struct {
	s    *Store
	key  ir.Digest
	once sync.Once
}

// Claim returns a known result, or the right to make one. While somebody else
// holds that right it waits, until ctx ends.
func (s *Store) Claim(ctx context.Context, key ir.Digest) (*Claim, *Result, error) {
	for {
		s.mu.Lock()
		if r, ok := s.entries[key]; ok {
			s.mu.Unlock()
			return nil, &r, nil
		}
		busy, ok := s.flight[key]
		if !ok {
			s.flight[key] = make(chan struct{})
			s.mu.Unlock()
			return &Claim{s: s, key: key}, nil, nil
		}
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// Keep ends the claim with a result.
func (c *Claim) Keep(r Result) {
	c.once.Do(func() {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		c.s.entries[c.key] = r
		c.s.write(line{Key: c.key, Result: &r})
		c.end()
	})
}

// Drop ends the claim without one; whoever waits may try.
func (c *Claim) Drop() {
	c.once.Do(func() {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		c.end()
	})
}

// Key is what was claimed.
func (c *Claim) Key() ir.Digest { return c.key }

func (c *Claim) end() {
	close(c.s.flight[c.key])
	delete(c.s.flight, c.key)
}

// Forget drops the results of a run that was rolled back (E-IDEM-2).
func (s *Store) Forget(keys ...ir.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if _, ok := s.entries[key]; ok {
			delete(s.entries, key)
			s.write(line{Key: key})
		}
	}
}

// Clear drops everything, in the journal too (E-CKPT-1).
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.entries)
	s.write(line{Clear: true})
}

// Len counts the results that are kept.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

// Close closes the journal.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	return s.journal.close()
}

// write appends a line, and compacts once most lines are of the past. The caller holds mu.
func (s *Store) write(l line) {
	if s.journal == nil {
		return
	}
	if err := s.journal.append(l, s.entries); err != nil {
		s.warn(err)
	}
}
