package assistant

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// hub hands a session's events to whoever listens. Publishing never waits: each
// subscriber has a queue of its own, in which pieces of text and progress are
// joined once it is long, and nothing else is ever dropped (A-EVT-4).
type hub struct {
	session string
	now     func() time.Time

	mu     sync.Mutex
	seq    uint64
	ring   []Event                  // the last events, at least ringSize of them, oldest first
	subs   map[*subscriber]struct{} // those whose pump runs
	closed bool
	pumps  sync.WaitGroup
}

func newHub(session string, now func() time.Time) *hub {
	return &hub{session: session, now: now, subs: map[*subscriber]struct{}{}}
}

// publish stamps a body and hands it on. Events of a closed hub go nowhere.
func (h *hub) publish(run int, body Body) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.seq++
	e := Event{Session: h.session, Run: run, Seq: h.seq, Time: h.now(), Body: body}
	if len(h.ring) == 2*ringSize { // copied once in ringSize events
		h.ring = append(h.ring[:0:0], h.ring[ringSize:]...)
	}
	h.ring = append(h.ring, e)
	for s := range h.subs {
		s.push(e)
	}
}

// subscribe returns the events after the one numbered from, as far as they are
// kept, and those that follow. Leaving is the returned function; it may be called twice.
func (h *hub) subscribe(from uint64) (<-chan Event, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var kept []queued
	if len(h.ring) > 0 && h.ring[0].Seq > from+1 {
		kept = append(kept, queued{Event: lagged(h.ring[0], "older events are no longer kept; read the session's history")})
	}
	for _, e := range h.ring {
		if e.Seq > from {
			kept = append(kept, queued{Event: e})
		}
	}
	if h.closed {
		return replayed(kept), func() {}
	}
	s := &subscriber{out: make(chan Event), wake: make(chan struct{}, 1), gone: make(chan struct{}), queue: kept}
	h.subs[s] = struct{}{}
	h.pumps.Go(func() {
		s.pump()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, s)
	})
	return s.out, s.leave
}

// replayed is the stream of a hub that is closed: what is kept, then the end.
func replayed(kept []queued) <-chan Event {
	out := make(chan Event, len(kept))
	for _, q := range kept {
		out <- q.Event
	}
	close(out)
	return out
}

// lagged is a notice to one subscriber; its Seq is 0, since it is not part of the session.
func lagged(like Event, text string) Event {
	return Event{Session: like.Session, Run: like.Run, Time: like.Time, Body: Notice{Code: "lagged", Text: text}}
}

// close lets every subscriber read what it was sent, for at most wait, and then
// closes their channels. It returns when no goroutine is left.
func (h *hub) close(wait time.Duration) {
	h.mu.Lock()
	h.closed = true
	subs := slices.Collect(maps.Keys(h.subs))
	h.mu.Unlock()
	for _, s := range subs {
		s.finish()
	}
	done := make(chan struct{})
	go func() {
		h.pumps.Wait()
		close(done)
	}()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
	}
	for _, s := range subs {
		s.leave()
	}
	<-done
}

// subscriber is one reader with its queue. push and finish are called by the hub,
// pump runs in a goroutine of its own and is the only sender on out, which it closes.
type subscriber struct {
	out  chan Event
	wake chan struct{} // holds a token when there is something to look at
	gone chan struct{} // closed when the reader has left

	mu     sync.Mutex
	queue  []queued
	ending bool
	left   bool
}

// queued is an event whose delta may still grow.
type queued struct {
	Event
	tail *strings.Builder
}

// push adds an event. A subscriber that is too far behind is given up: what it
// did not read is dropped, and it is told.
func (s *subscriber) push(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.nudge()
	n := len(s.queue)
	switch {
	case s.ending:
	case n >= queueLimit && s.queue[n-1].join(e):
	case n < lagLimit:
		s.queue = append(s.queue, queued{Event: e})
	default:
		s.queue = []queued{{Event: lagged(e, "this reader fell too far behind and was let go; subscribe again from the last event it has seen")}}
		s.ending = true
	}
}

func (s *subscriber) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// finish ends the stream after what is queued.
func (s *subscriber) finish() {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	s.nudge()
}

// leave ends the stream at once.
func (s *subscriber) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left {
		s.left = true
		close(s.gone)
	}
}

// pump moves events from the queue to the reader, at the reader's pace.
func (s *subscriber) pump() {
	defer close(s.out)
	for {
		e, ok, ending := s.pop()
		switch {
		case ok:
			select {
			case s.out <- e:
			case <-s.gone:
				return
			}
		case ending:
			return
		default:
			select {
			case <-s.wake:
			case <-s.gone:
				return
			}
		}
	}
}

func (s *subscriber) pop() (e Event, ok, ending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.queue = nil
		return Event{}, false, s.ending
	}
	e = s.queue[0].whole()
	s.queue = s.queue[1:]
	return e, true, false
}

// join adds e to a queued event of the same kind: text is appended, progress of
// the same call replaced. The joined event has the later number.
func (q *queued) join(e Event) bool {
	if q.Run != e.Run {
		return false
	}
	switch next := e.Body.(type) {
	case Token:
		if last, ok := q.Body.(Token); ok {
			return q.grow(last.Delta, next.Delta, e)
		}
	case Thinking:
		if last, ok := q.Body.(Thinking); ok {
			return q.grow(last.Delta, next.Delta, e)
		}
	case ToolProgress:
		if last, ok := q.Body.(ToolProgress); ok && last.CallID == next.CallID {
			q.Event = e
			return true
		}
	}
	return false
}

func (q *queued) grow(first, delta string, e Event) bool {
	if q.tail == nil {
		q.tail = &strings.Builder{}
		q.tail.WriteString(first)
	}
	q.tail.WriteString(delta)
	q.Seq, q.Time = e.Seq, e.Time
	return true
}

func (q *queued) whole() Event {
	if q.tail == nil {
		return q.Event
	}
	switch q.Body.(type) {
	case Token:
		q.Body = Token{Delta: q.tail.String()}
	case Thinking:
		q.Body = Thinking{Delta: q.tail.String()}
	}
	return q.Event
}
