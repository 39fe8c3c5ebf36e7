package eventlog

import (
	"errors"
	"time"
)

// An anchor follows its event after this long, or this many more, or at once when
// a run or turn has ended (B-CHAIN-1).
const (
	anchorWait  = time.Second
	anchorEvery = 256
)

// anchorer writes anchors beside those who append, so that none of them waits for it.
type anchorer struct {
	grew chan struct{} // holds a token when an event has no anchor; written by Append and the anchorer, read by the anchorer
	due  chan struct{} // holds a token when that event shall not wait; written by Append, read by the anchorer
	stop chan struct{} // closed by Close
	done chan struct{} // closed when the anchorer has ended
}

func newAnchorer() *anchorer {
	return &anchorer{grew: make(chan struct{}, 1), due: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// noteUnanchored has an event that was appended anchored in time. The caller holds mu.
func (l *Log) noteUnanchored(k Kind) {
	if l.anchors == nil {
		return
	}
	l.unanchored++
	if l.unanchored == 1 {
		signal(l.anchors.grew)
	}
	if l.unanchored == anchorEvery || k == RunCompleted || k == TurnCompleted {
		signal(l.anchors.due)
	}
}

// keepAnchored runs until Close. What could not be anchored is tried again after a
// wait, and a last time by Close, which says so.
func (l *Log) keepAnchored() {
	a := l.anchors
	defer close(a.done)
	for {
		select {
		case <-a.stop:
			return
		case <-a.grew:
		}
		timer := time.NewTimer(anchorWait)
		select {
		case <-a.stop:
			timer.Stop()
			return
		case <-timer.C:
		case <-a.due:
			timer.Stop()
		}
		l.anchorNow()
	}
}

func (l *Log) anchorNow() {
	l.mu.RLock()
	n, err := l.unanchored, error(nil)
	if n > 0 && !l.closed {
		err = l.putAnchor(l.base)
	}
	l.mu.RUnlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.unanchored -= n
	}
	if l.unanchored > 0 {
		signal(l.anchors.grew)
	}
}

// endAnchoring waits for the anchorer and anchors what is left. It is called once,
// when nothing can be appended any more.
func (l *Log) endAnchoring() error {
	if l.anchors == nil {
		return nil
	}
	close(l.anchors.stop)
	<-l.anchors.done
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.unanchored == 0 {
		return nil
	}
	return l.putAnchor(l.base)
}

// closeFile ends the anchorer, then the file.
func (l *Log) closeFile() error {
	if l.file == nil {
		return nil
	}
	return errors.Join(l.endAnchoring(), l.file.sync(), l.file.Close())
}
