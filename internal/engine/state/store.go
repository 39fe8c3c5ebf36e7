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
	// lastTx numbers the transactions.
	lastTx uint64

	// journal is the file under a durable store, nil in memory; notice is fixed by Open.
	journal *journal
	notice  string
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
	return s.landFinal(writes, by)
}

// landFinal lands writes that belong to no proposal.
func (s *Store) landFinal(writes map[string]write, by ir.ActionID) ([]Transition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	landed := s.plan(writes, by, s.revision)
	if len(landed) == 0 {
		return landed, nil
	}
	if s.journal != nil {
		if err := s.journal.settle(recordOf(0, by, landed)); err != nil {
			return nil, err
		}
	}
	s.applyAll(landed)
	s.shorten()
	return landed, nil
}

// Delete takes a key away and reports whether it was there.
func (s *Store) Delete(key string, by ir.ActionID) (Transition, bool, error) {
	landed, err := s.landFinal(map[string]write{key: {deleted: true}}, by)
	if err != nil || len(landed) == 0 {
		return Transition{}, false, err
	}
	return landed[0], true, nil
}

// All is every key, those of tenants under their full names. Values are shared:
// not to be changed.
func (s *Store) All() map[string]any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make(map[string]any, len(s.cells))
	for key, c := range s.cells {
		all[key] = c.value
	}
	return all
}

// Replace puts clones of these values, under full names, in place of all that is
// there, as no proposal's mutation (E-CKPT-1). Whoever is open keeps what it wrote
// as conflicts. All is replaced or nothing.
func (s *Store) Replace(values map[string]any) error {
	writes := make(map[string]write, len(values))
	for key, value := range values {
		w, err := newWrite(key, value)
		if err != nil {
			return err
		}
		writes[key] = w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	landed := s.plan(writes, "", s.revision+1) // clearing is a mutation of its own
	if s.journal != nil {
		r := recordOf(0, "", landed)
		r.Replaces = true
		if err := s.journal.settle(r); err != nil {
			return err
		}
	}
	s.clear()
	s.applyAll(landed)
	s.shorten()
	return nil
}

// clear takes everything away. The caller holds mu.
func (s *Store) clear() {
	s.revision++
	for key := range s.cells {
		s.remove(key, s.revision)
	}
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

// plan is what writes would do after a revision, in key order, changing nothing
// yet. Deleting what is not there is no mutation. The caller holds mu.
func (s *Store) plan(writes map[string]write, by ir.ActionID, revision uint64) []Transition {
	planned := make([]Transition, 0, len(writes))
	version := revision
	for _, key := range slices.Sorted(maps.Keys(writes)) {
		w := writes[key]
		if _, existed := s.cells[key]; w.deleted && !existed {
			continue
		}
		version++
		planned = append(planned, s.transition(key, w, by, version))
	}
	return planned
}

// transition is the mutation that a write would be now. The caller holds mu.
func (s *Store) transition(key string, w write, by ir.ActionID, version uint64) Transition {
	old, existed := s.cells[key]
	return Transition{
		Key: key, Old: old.value, Existed: existed, New: w.value,
		ActionID: by, Version: version, deleted: w.deleted, oldVersion: s.stamp(key),
	}
}

// apply lands a mutation. The caller holds mu.
func (s *Store) apply(t Transition) {
	s.revision = max(s.revision, t.Version)
	if t.deleted {
		s.remove(t.Key, t.Version)
		return
	}
	s.cells[t.Key] = cell{t.New, t.Version}
	delete(s.removed, t.Key)
}

func (s *Store) applyAll(landed []Transition) {
	for _, t := range landed {
		s.apply(t)
	}
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
