package state

import (
	"errors"
	"maps"
	"slices"

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
	// id numbers the transaction in its store.
	id uint64
	// Guarded by the store's mu. A transaction is in the store's open list until it ended.
	landed []Transition
	ended  bool
}

// Begin starts a proposal's transaction. Its writes are visible to all as they
// land; only ending it settles whether they stay.
func (s *Store) Begin() *Tx {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastTx++
	tx := &Tx{store: s, id: s.lastTx}
	s.open = append(s.open, tx)
	return tx
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
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	return slices.Clone(tx.landed)
}

// Commit ends the transaction and keeps what landed, which it returns oldest
// first. Ending it again returns the same and changes nothing. An error means that
// the end is not on disk: what landed stays for this process, and the next one to
// open the store takes it back.
func (tx *Tx) Commit() ([]Transition, error) {
	s := tx.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if tx.ended {
		return slices.Clone(tx.landed), nil
	}
	tx.end()
	if s.journal != nil && len(tx.landed) > 0 {
		if err := s.journal.settle(record{Commit: tx.id}); err != nil {
			s.journal.frozen = true
			return slices.Clone(tx.landed), err
		}
	}
	s.shorten()
	return slices.Clone(tx.landed), nil
}

// Undone is what a rollback did.
type Undone struct {
	// Restored are the transitions that were undone, newest first: each key is back at
	// the Old of the last one that names it.
	Restored []Transition
	// Conflicts are the keys, sorted, that somebody else wrote since. They stay as they are.
	Conflicts []string
	// Durability says what became of it on disk, and Err why it is not Durable.
	Durability Durability
	Err        error
}

// Rollback ends the transaction and undoes its transitions, newest first, as one
// step that no reader sees half done. After the end it undoes nothing. One that
// cannot be written changes nothing: what landed stays for this process, and the
// next one to open the store takes it back.
func (tx *Tx) Rollback() Undone {
	s := tx.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if tx.ended {
		return Undone{}
	}
	if len(tx.landed) == 0 {
		tx.end()
		return Undone{}
	}
	d, err := s.journal.publish(record{Rollback: tx.id})
	if d == RollbackFailed {
		tx.end()
		s.journal.frozen = true
		return Undone{Durability: d, Err: err}
	}
	undone := tx.undo()
	undone.Durability, undone.Err = d, err
	if len(undone.Restored) == 0 {
		undone.Durability, undone.Err = NothingUndone, nil
	}
	s.shorten()
	return undone
}

// undo takes the transaction's transitions back and ends it. The caller holds the
// store's mu.
func (tx *Tx) undo() Undone {
	s := tx.store
	var undone Undone
	conflicts := map[string]bool{}
	for _, t := range slices.Backward(tx.landed) {
		if s.stamp(t.Key) == t.Version {
			s.undo(t)
			undone.Restored = append(undone.Restored, t)
			continue
		}
		conflicts[t.Key] = true
		s.unbury(t)
	}
	undone.Conflicts = slices.Sorted(maps.Keys(conflicts))
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

// unbury takes out a transition that another proposal wrote over: should that one
// be rolled back too, what stood before both comes back and not a value that was
// taken back already. The caller holds mu.
func (s *Store) unbury(t Transition) {
	for _, tx := range s.open {
		for i := range tx.landed {
			if over := &tx.landed[i]; over.Key == t.Key && over.oldVersion == t.Version {
				over.Old, over.Existed, over.oldVersion = t.Old, t.Existed, t.oldVersion
			}
		}
	}
}

// end takes the transaction off the open list. The caller holds the store's mu.
func (tx *Tx) end() {
	s := tx.store
	tx.ended = true
	s.open = slices.DeleteFunc(s.open, func(o *Tx) bool { return o == tx })
	if len(s.open) == 0 {
		clear(s.removed)
	}
}

// land puts an attempt's writes into the store as one batch.
func (tx *Tx) land(writes map[string]write, by ir.ActionID) ([]Transition, error) {
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	if tx.ended {
		return nil, ErrEnded
	}
	landed := tx.store.plan(writes, by, tx.store.revision)
	if len(landed) == 0 {
		return landed, nil
	}
	if tx.store.journal != nil {
		if err := tx.store.journal.append(recordOf(tx.id, by, landed)); err != nil {
			return nil, err
		}
	}
	tx.store.applyAll(landed)
	tx.landed = append(tx.landed, landed...)
	return landed, nil
}
