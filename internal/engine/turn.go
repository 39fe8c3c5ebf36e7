package engine

import (
	"context"
	"slices"
	"sync"
)

// turns orders the proposals over one store: one writer, or any number of readers
// (B-CONC-1). It is first come, first served, so that a writer who waits precedes
// readers who come later, and nobody starves. Waits obey their context.
type turns struct {
	mu      sync.Mutex
	readers int
	writing bool
	line    []*waiter
}

// waiter is somebody in line; ready is closed when the turn is theirs.
type waiter struct {
	shared bool
	ready  chan struct{}
}

// take waits for a turn.
func (t *turns) take(ctx context.Context, shared bool) error {
	t.mu.Lock()
	w := &waiter{shared: shared, ready: make(chan struct{})}
	t.line = append(t.line, w)
	t.admit()
	t.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.line, w); i >= 0 {
		t.line = slices.Delete(t.line, i, i+1)
	} else {
		t.leave(shared) // the turn came at the same moment
	}
	t.admit()
	return context.Cause(ctx)
}

// give ends a turn.
func (t *turns) give(shared bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave(shared)
	t.admit()
}

func (t *turns) leave(shared bool) {
	if shared {
		t.readers--
		return
	}
	t.writing = false
}

// admit lets in whoever is first and may, and the readers right behind a reader.
func (t *turns) admit() {
	for len(t.line) > 0 {
		w := t.line[0]
		if t.writing || !w.shared && t.readers > 0 {
			return
		}
		if w.shared {
			t.readers++
		} else {
			t.writing = true
		}
		t.line = t.line[1:]
		close(w.ready)
	}
}
