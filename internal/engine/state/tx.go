package state

import (
	"errors"
	"slices"
	"sync"

	"car/internal/engine/ir"
)

// ErrEnded is returned by writes that come after their attempt or proposal ended,
// as those of a tool that was abandoned do.
var ErrEnded = errors.New("state: the attempt has ended")

// Tx is one proposal's part in the store: it remembers what its attempts wrote,
// so that it can be taken back. End it with Commit or Rollback. Safe for
// concurrent use.
type Tx struct {
	store *Store
	mu    sync.Mutex
	// Guarded by mu, which is taken before the store's.
	landed []Transition
	ended  bool
}

// Begin starts a proposal's transaction. Its writes are visible to all as they
// land; only ending it settles whether they stay.
func (s *Store) Begin() *Tx {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return &Tx{store: s}
}

// Get reads a shared key of the store as it stands. Tenants' keys are not seen.
func (tx *Tx) Get(key string) (any, bool) { return tx.GetOf("", key) }

// GetOf reads a tenant's own key (E-SESS-2); without a tenant it is Get.
func (tx *Tx) GetOf(tenant, key string) (any, bool) {
	full, err := ownKey(tenant, key)
	if err != nil {
		return nil, false
	}
	return tx.store.Get(full)
}

// Transitions are the mutations that landed so far, oldest first.
func (tx *Tx) Transitions() []Transition {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return slices.Clone(tx.landed)
}

// Commit ends the transaction and keeps what landed, which it returns oldest
// first. Ending it again returns the same and changes nothing.
func (tx *Tx) Commit() []Transition {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	tx.end()
	return slices.Clone(tx.landed)
}

// Undone is what a rollback did.
type Undone struct {
	// Restored are the transitions that were undone, newest first: each key is back at
	// the Old of the last one that names it.
	Restored []Transition
	// Conflicts are the keys, sorted, that somebody else wrote since. They stay as they are.
	Conflicts []string
}

// Rollback ends the transaction and undoes its transitions, newest first, as one
// step that no reader sees half done. After the end it undoes nothing.
func (tx *Tx) Rollback() Undone {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	var undone Undone
	if tx.ended {
		return undone
	}
	foreign := map[string]bool{}
	for _, t := range slices.Backward(tx.landed) {
		if foreign[t.Key] || tx.store.stamp(t.Key) != t.Version {
			foreign[t.Key] = true
			continue
		}
		tx.store.undo(t)
		undone.Restored = append(undone.Restored, t)
	}
	for key := range foreign {
		undone.Conflicts = append(undone.Conflicts, key)
	}
	slices.Sort(undone.Conflicts)
	tx.end()
	return undone
}

// undo puts back what a transition replaced, with the version it had. The caller holds mu.
func (s *Store) undo(t Transition) {
	s.revision++
	if !t.Existed {
		s.remove(t.Key, t.oldVersion)
		return
	}
	s.cells[t.Key] = cell{t.Old, t.oldVersion}
	delete(s.removed, t.Key)
}

// end marks the transaction as over. The caller holds both locks.
func (tx *Tx) end() {
	if tx.ended {
		return
	}
	tx.ended = true
	if tx.store.open--; tx.store.open == 0 {
		clear(tx.store.removed)
	}
}

// land puts an attempt's writes into the store as one batch.
func (tx *Tx) land(writes map[string]write, by ir.ActionID) ([]Transition, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.ended {
		return nil, ErrEnded
	}
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	landed := tx.store.land(writes, by)
	tx.landed = append(tx.landed, landed...)
	return landed, nil
}
