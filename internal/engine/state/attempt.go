package state

import (
	"sync"

	"car/internal/engine/ir"
)

// Attempt is the store as one attempt of an action sees it: its own writes before
// everybody's (E-EXEC-8). Nothing lands before Commit. It is a tool.State. Safe for
// concurrent use.
type Attempt struct {
	tx *Tx
	by ir.ActionID
	mu sync.Mutex
	// Guarded by mu.
	writes map[string]write
	ended  bool
}

// Attempt starts a buffer for one attempt of an action.
func (tx *Tx) Attempt(by ir.ActionID) *Attempt { return &Attempt{tx: tx, by: by} }

// Get returns what the attempt wrote under a shared key, else what is in the store.
func (a *Attempt) Get(key string) (any, bool) { return a.Of("").Get(key) }

// Set buffers a clone of a value under a shared key. A value that is not I-JSON
// is an error, so is a key that spells a tenant's, so is any write after the
// attempt ended.
func (a *Attempt) Set(key string, value any) error { return a.Of("").Set(key, value) }

// Delete buffers the deletion of a shared key.
func (a *Attempt) Delete(key string) error { return a.Of("").Delete(key) }

// Of is the same attempt with a tenant's own keys (E-SESS-2). Without a tenant
// the keys are the shared ones. It is a tool.State too.
func (a *Attempt) Of(tenant string) Scoped { return Scoped{a, tenant} }

// Scoped is an attempt under the key names of one tenant.
type Scoped struct {
	attempt *Attempt
	tenant  string
}

// Get returns what the attempt wrote, else what is in the store.
func (s Scoped) Get(key string) (any, bool) {
	full, err := ownKey(s.tenant, key)
	if err != nil {
		return nil, false
	}
	a := s.attempt
	a.mu.Lock()
	w, own := a.writes[full]
	a.mu.Unlock()
	if own {
		return w.value, !w.deleted
	}
	return a.tx.store.Get(full)
}

// Set buffers a clone of a value; its errors are those of Attempt.Set.
func (s Scoped) Set(key string, value any) error {
	w, err := newWrite(key, value)
	if err != nil {
		return err
	}
	return s.put(key, w)
}

// Delete buffers the deletion of a key.
func (s Scoped) Delete(key string) error { return s.put(key, write{deleted: true}) }

func (s Scoped) put(key string, w write) error {
	full, err := ownKey(s.tenant, key)
	if err != nil {
		return err
	}
	a := s.attempt
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return ErrEnded
	}
	if a.writes == nil {
		a.writes = make(map[string]write)
	}
	a.writes[full] = w
	return nil
}

// Commit ends the attempt and lands its writes as one batch in key order. It
// returns this attempt's transitions and no sibling's.
func (a *Attempt) Commit() ([]Transition, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil, ErrEnded
	}
	a.ended = true
	if len(a.writes) == 0 {
		return nil, nil
	}
	return a.tx.land(a.writes, a.by)
}

// Discard ends the attempt without a trace. After Commit it does nothing.
func (a *Attempt) Discard() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.writes = nil
}
