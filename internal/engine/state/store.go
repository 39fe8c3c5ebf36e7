package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"car/internal/engine/ir"
)

// Store is the versioned key/value store (E-STATE-1). The zero value is not
// usable; see New. Safe for concurrent use.
type Store struct {
	mu sync.RWMutex
	// Guarded by mu.
	cells    map[string]cell
	revision uint64
	open     []*Tx
	// removed remembers the versions of deletions while a transaction is open, so that
	// one proposal's deletion can be told from another's.
	removed map[string]uint64
}

// cell is a value and the revision of the write that put it there.
type cell struct {
	value   any
	version uint64
}

// Transition is one mutation that landed. Old and New are decoded JSON and shared:
// not to be changed.
type Transition struct {
	Key string
	// Old counts if Existed; without it the key was not there.
	Old     any
	Existed bool
	// New counts unless Deleted.
	New any
	// ActionID is who wrote.
	ActionID ir.ActionID
	// Version is the revision of the store that this mutation made.
	Version uint64

	deleted bool
	// oldVersion is the version of what stood there, or of the deletion before.
	oldVersion uint64
}

// Deleted reports that the mutation took the key away.
func (t Transition) Deleted() bool { return t.deleted }

// Change is the mutation as results and events show it (F-1).
func (t Transition) Change() ir.StateChange {
	if t.deleted {
		return ir.StateChange{Op: opDelete}
	}
	return ir.StateChange{Op: opSet, Value: t.New}
}

// Changes are the net changes of some transitions, in whatever order they stand:
// the newest of each key.
func Changes(transitions []Transition) map[string]ir.StateChange {
	newest := make(map[string]Transition, len(transitions))
	for _, t := range transitions {
		if t.Version > newest[t.Key].Version {
			newest[t.Key] = t
		}
	}
	changes := make(map[string]ir.StateChange, len(newest))
	for key, t := range newest {
		changes[key] = t.Change()
	}
	return changes
}

// The words of ir.StateChange.
const (
	opSet    = "set"
	opDelete = "delete"
)

// New makes an empty store.
func New() *Store {
	return &Store{cells: make(map[string]cell), removed: make(map[string]uint64)}
}

// Get returns a key's value. The value is shared: not to be changed.
func (s *Store) Get(key string) (any, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.cells[key]
	return c.value, ok
}

// Version returns the version of a key's value, 0 when the key is not there.
func (s *Store) Version(key string) uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.cells[key].version
}

// Revision counts the mutations of the store. Equal revisions mean equal contents.
func (s *Store) Revision() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.revision
}

// Set writes a clone of one value. A value that is not I-JSON is an error.
func (s *Store) Set(key string, value any, by ir.ActionID) (Transition, error) {
	landed, err := s.SetBatch(map[string]any{key: value}, by)
	if err != nil {
		return Transition{}, err
	}
	return landed[0], nil
}

// SetBatch writes clones of all values or of none, in key order.
func (s *Store) SetBatch(values map[string]any, by ir.ActionID) ([]Transition, error) {
	writes := make(map[string]write, len(values))
	for key, value := range values {
		w, err := newWrite(key, value)
		if err != nil {
			return nil, err
		}
		writes[key] = w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.land(writes, by), nil
}

// Delete takes a key away and reports whether it was there.
func (s *Store) Delete(key string, by ir.ActionID) (Transition, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	landed := s.land(map[string]write{key: {deleted: true}}, by)
	if len(landed) == 0 {
		return Transition{}, false
	}
	return landed[0], true
}

// Keys lists the keys that belong to no tenant, sorted.
func (s *Store) Keys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]string, 0, len(s.cells))
	for key := range s.cells {
		if !strings.HasPrefix(key, tenantPrefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Versions returns the version of every key that belongs to no tenant.
func (s *Store) Versions() map[string]uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	versions := make(map[string]uint64, len(s.cells))
	for key, c := range s.cells {
		if !strings.HasPrefix(key, tenantPrefix) {
			versions[key] = c.version
		}
	}
	return versions
}

// write is a value to put under a key, or its deletion.
type write struct {
	value   any
	deleted bool
}

func newWrite(key string, value any) (write, error) {
	copied, err := ir.Clone(value)
	if err != nil {
		return write{}, fmt.Errorf("state['%s']: %w", key, err)
	}
	return write{value: copied}, nil
}

// land applies writes in key order. Deleting what is not there is no mutation. The
// caller holds mu.
func (s *Store) land(writes map[string]write, by ir.ActionID) []Transition {
	landed := make([]Transition, 0, len(writes))
	for _, key := range slices.Sorted(maps.Keys(writes)) {
		w := writes[key]
		old, existed := s.cells[key]
		if w.deleted && !existed {
			continue
		}
		oldVersion := s.stamp(key)
		s.revision++
		t := Transition{
			Key: key, Old: old.value, Existed: existed, New: w.value,
			ActionID: by, Version: s.revision, deleted: w.deleted, oldVersion: oldVersion,
		}
		if w.deleted {
			s.remove(key, s.revision)
		} else {
			s.cells[key] = cell{w.value, s.revision}
			delete(s.removed, key)
		}
		landed = append(landed, t)
	}
	return landed
}

// remove takes a key away. The caller holds mu.
func (s *Store) remove(key string, version uint64) {
	delete(s.cells, key)
	if len(s.open) > 0 {
		s.removed[key] = version
	}
}

// stamp is the version of the last mutation of a key, its deletion included. The
// caller holds mu.
func (s *Store) stamp(key string) uint64 {
	if c, ok := s.cells[key]; ok {
		return c.version
	}
	return s.removed[key]
}
