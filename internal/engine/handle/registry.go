package handle

import (
	"context"
	"sync"
	"time"

	"car/internal/engine/ir"
)

// Bounds of a stream (E-DET-2, E-DET-3).
const (
	kept      = 1024
	fanout    = 256
	keepEnded = 15 * time.Minute
)

// Stream is a detached tool at work: it emits chunks until it ends. It must end
// when ctx does. A terminal chunk ends it for good; what comes after is dropped.
type Stream func(ctx context.Context, emit func(ir.Chunk))

// Owner says whose a stream is, so that an abort or a closed session ends it.
type Owner struct {
	Session  string
	Proposal ir.ProposalID
	// Effect is the row that closes with the stream; empty is none.
	Effect string
}

// Poll is what a poll answers (E-DET-2).
type Poll struct {
	Handle   string          `json:"handle"`
	Tool     string          `json:"tool"`
	ActionID ir.ActionID     `json:"action_id"`
	Status   ir.StreamStatus `json:"status"`
	Chunks   []ir.Chunk      `json:"chunks"`
	Dropped  int             `json:"dropped_chunks,omitempty"`
	Result   any             `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// Registry owns the streams of a runtime. Safe for concurrent use.
type Registry struct {
	newID func() string
	now   func() time.Time
	// ended is told of a stream that reached its terminal state, outside any lock.
	ended func(Poll, Owner)
	wg    sync.WaitGroup

	mu       sync.Mutex
	byHandle map[string]*entry
	watchers map[chan ir.StreamEvent]struct{}
}

// entry is one stream; all of it is guarded by the registry's mu.
type entry struct {
	poll   Poll
	owner  Owner
	cancel context.CancelFunc
	at     time.Time // when it ended
}

// New makes a registry. ended may be nil.
func New(newID func() string, now func() time.Time, ended func(Poll, Owner)) *Registry {
	if ended == nil {
		ended = func(Poll, Owner) {}
	}
	return &Registry{newID: newID, now: now, ended: ended, byHandle: map[string]*entry{}, watchers: map[chan ir.StreamEvent]struct{}{}}
}

// Start runs a stream and returns its handle at once.
func (r *Registry) Start(tool string, action ir.ActionID, owner Owner, s Stream) string {
	// The stream outlives the call that started it; only its owner, a cancel or Close end it.
	ctx, cancel := context.WithCancel(context.Background())
	r.mu.Lock()
	r.sweep()
	id := r.newID()
	e := &entry{poll: Poll{Handle: id, Tool: tool, ActionID: action}, owner: owner, cancel: cancel}
	r.byHandle[id] = e
	r.mu.Unlock()
	r.wg.Go(func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				r.push(e, ir.Chunk{Kind: ir.ChunkError, Message: "the stream panicked"})
			}
			r.push(e, ir.Chunk{Kind: ir.ChunkError, Message: "the stream ended without saying how"})
		}()
		s(ctx, func(c ir.Chunk) { r.push(e, c) })
	})
	return id
}

// push adds a chunk; the first terminal one seals the stream.
func (r *Registry) push(e *entry, c ir.Chunk) {
	r.mu.Lock()
	if e.poll.Status != ir.StreamRunning {
		r.mu.Unlock()
		return
	}
	if len(e.poll.Chunks) == kept {
		e.poll.Chunks = e.poll.Chunks[1:]
		e.poll.Dropped++
	}
	e.poll.Chunks = append(e.poll.Chunks, c)
	switch c.Kind {
	case ir.ChunkDone:
		e.poll.Status, e.poll.Result, e.at = ir.StreamSucceeded, c.Result, r.now()
	case ir.ChunkError:
		e.poll.Status, e.poll.Error, e.at = ir.StreamFailed, c.Message, r.now()
	}
	for w := range r.watchers {
		select {
		case w <- ir.StreamEvent{Handle: e.poll.Handle, Chunk: c}:
		default: // a watcher that is behind loses this one; a poll has it
		}
	}
	sealed := e.poll
	r.mu.Unlock()
	if c.Kind.Terminal() {
		r.ended(sealed, e.owner)
	}
}

// Poll drains what came since the last one; false for a handle that is unknown or consumed.
func (r *Registry) Poll(id string) (Poll, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	e, ok := r.byHandle[id]
	if !ok {
		return Poll{}, false
	}
	answer := e.poll
	e.poll.Chunks, e.poll.Dropped = nil, 0
	if e.poll.Status != ir.StreamRunning {
		delete(r.byHandle, id)
	}
	return answer, true
}

// Cancel seals a stream as cancelled and ends its context; false when there is
// no such handle. One that has already ended stays as it is.
func (r *Registry) Cancel(id string) bool {
	r.mu.Lock()
	e, ok := r.byHandle[id]
	r.mu.Unlock()
	if ok {
		r.seal(e)
	}
	return ok
}

// CancelOwned cancels what a proposal or a session owns; an empty proposal means
// all of the session's.
func (r *Registry) CancelOwned(o Owner) {
	r.mu.Lock()
	var mine []*entry
	for _, e := range r.byHandle {
		if e.owner.Session == o.Session && (o.Proposal == "" || e.owner.Proposal == o.Proposal) {
			mine = append(mine, e)
		}
	}
	r.mu.Unlock()
	for _, e := range mine {
		r.seal(e)
	}
}

func (r *Registry) seal(e *entry) {
	r.mu.Lock()
	running := e.poll.Status == ir.StreamRunning
	if running {
		e.poll.Status, e.at = ir.StreamCancelled, r.now()
	}
	sealed := e.poll
	r.mu.Unlock()
	e.cancel()
	if running {
		r.ended(sealed, e.owner)
	}
}

// Watch returns every chunk of every stream as it comes, and how to stop. It is
// lossy: a reader who falls 256 behind misses some. Poll misses none.
func (r *Registry) Watch() (<-chan ir.StreamEvent, func()) {
	w := make(chan ir.StreamEvent, fanout)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[w] = struct{}{}
	return w, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, ok := r.watchers[w]; ok {
			delete(r.watchers, w)
			close(w)
		}
	}
}

// Close cancels every stream and waits for their goroutines until ctx ends.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	var all []*entry
	for _, e := range r.byHandle {
		all = append(all, e)
	}
	r.mu.Unlock()
	for _, e := range all {
		r.seal(e)
	}
	done := make(chan struct{})
	go func() { r.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sweep drops what ended long ago and nobody polled. The caller holds mu.
func (r *Registry) sweep() {
	for id, e := range r.byHandle {
		if e.poll.Status != ir.StreamRunning && r.now().Sub(e.at) >= keepEnded {
			delete(r.byHandle, id)
		}
	}
}
