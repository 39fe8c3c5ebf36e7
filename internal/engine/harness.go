package engine

import (
	"sync"
	"time"
)

// Harness tunes how hard the runtime tries (E-FAIL-5).
type Harness struct {
	// MaxRetries caps every action's own; 0 is one attempt.
	MaxRetries uint32
	// RetryBackoff replaces the first wait of 100 ms if it is positive.
	RetryBackoff time.Duration
	// MaxReplans is the replan budget.
	MaxReplans int
}

// defaultHarness is what Update starts from where nothing is set: the caps change nothing.
var defaultHarness = Harness{MaxRetries: ^uint32(0) - 1, RetryBackoff: firstBackoff}

// harness is the runtime's, if one is set. Safe for concurrent use.
type harness struct {
	mu  sync.Mutex
	set *Harness
}

// SetHarness installs a configuration, nil for none; it also sets the replan
// budget. It applies from the next proposal on.
func (r *Runtime) SetHarness(h *Harness) { r.UpdateHarness(func(*Harness) *Harness { return h }) }

// UpdateHarness changes the configuration in one step that no other change comes
// between. change gets a copy, of the defaults where nothing is set.
func (r *Runtime) UpdateHarness(change func(*Harness) *Harness) {
	r.harness.mu.Lock()
	defer r.harness.mu.Unlock()
	now := defaultHarness
	if r.harness.set != nil {
		now = *r.harness.set
	}
	next := change(&now)
	r.harness.set = nil
	if next == nil {
		return
	}
	kept := *next
	r.harness.set = &kept
	r.replanning.mu.Lock()
	defer r.replanning.mu.Unlock()
	r.replanning.cfg.MaxReplans = kept.MaxReplans
}

// tries are an action's attempts and first wait under the harness.
func (h *harness) tries(most int) (attempts int, first time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.set == nil {
		return most, firstBackoff
	}
	first = firstBackoff
	if h.set.RetryBackoff > 0 {
		first = h.set.RetryBackoff
	}
	return int(min(uint64(most), uint64(h.set.MaxRetries)+1)), first
}
