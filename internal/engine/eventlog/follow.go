package eventlog

import (
	"context"
	"iter"
	"sort"
)

// Follow yields every event whose Seq is at least from, first those that are
// there and then each as it is appended, until ctx is done, the log is closed or
// the caller stops. It reads by index when it is ready to: a slow caller misses
// nothing and delays nobody. Events that retention dropped before they were read
// show as a gap in Seq.
func (l *Log) Follow(ctx context.Context, from uint64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for {
			batch, grown := l.after(from)
			for _, e := range batch {
				if ctx.Err() != nil || !yield(e) {
					return
				}
				from = e.Seq + 1
			}
			if len(batch) > 0 {
				continue
			}
			if grown == nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-grown:
			}
		}
	}
}

// after returns the events from a number on, or, when there are none yet, a
// channel that the next change closes; nil when no change can come.
func (l *Log) after(from uint64) ([]Event, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := sort.Search(len(l.events), func(i int) bool { return l.events[i].Seq >= from })
	if at < len(l.events) {
		return l.events[at:len(l.events):len(l.events)], nil
	}
	if l.closed {
		return nil, nil
	}
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return nil, l.grown
}
