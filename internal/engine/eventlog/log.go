package eventlog

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Config makes a Log.
type Config struct {
	// Path is the JSONL file; empty keeps the log in memory only. Missing folders are
	// made, 0700. One process at a time may have a path open for writing.
	Path string
	// Now is required.
	Now func() time.Time
	// Redact is applied to every string in data, names excepted; nil applies nothing.
	Redact func(string) string
	// Chain links every event to the one before it by hash. A file that is chained
	// already stays so.
	Chain bool
	// Genesis is the hash before the first event, see GenesisOf.
	Genesis string
	// Anchoring stores the chain's head apart as the log grows (B-CHAIN-1); nil does
	// not. It needs Path and Chain, and Genesis is that of its session.
	Anchoring *Anchoring
	// MaxEvents and MaxAge bound what is kept, oldest dropped first; 0 is no bound.
	MaxEvents int
	MaxAge    time.Duration
}

// ErrClosed is returned by a log that was closed.
var ErrClosed = errors.New("event log is closed")

// Log is an append-only record of what happened. Safe for concurrent use.
type Log struct {
	// Fixed by Open. anchors is nil where nothing is anchored.
	cfg     Config
	notice  string
	anchors *anchorer

	mu sync.RWMutex
	// Guarded by mu. events is only ever appended to and cut at its front, so that a
	// part of it can be read after mu is given back.
	events  []Event
	seq     uint64
	head    string
	chained bool
	closed  bool
	file    *journal
	// base is what the file's first chained event follows; it counts once based.
	base  place
	based bool
	// unlinked says that an event of the file does not follow the one before it.
	unlinked bool
	// unanchored counts the events behind the last anchor.
	unanchored int
	// cost is what the log's priced events came to, those that retention dropped included.
	cost float64
	// grown is closed by the next change; nil when no follower waits.
	grown chan struct{}
}

// Open opens a log and reads what its file holds. A torn last line, as a crash
// leaves it, is dropped and Notice says so; any other line that is no event is an
// error that names it.
func Open(cfg Config) (*Log, error) {
	if cfg.Now == nil {
		return nil, errors.New("eventlog: Config.Now is nil")
	}
	if cfg.MaxEvents < 0 || cfg.MaxAge < 0 {
		return nil, errors.New("eventlog: Config.MaxEvents and Config.MaxAge are at least 0")
	}
	if err := cfg.checkAnchoring(); err != nil {
		return nil, err
	}
	l := &Log{cfg: cfg, chained: cfg.Chain, head: cfg.Genesis, base: place{hash: cfg.Genesis}}
	if cfg.Path == "" {
		return l, nil
	}
	file, err := openJournal(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open event log: %w", err)
	}
	l.file = file
	if err := l.replay(); err != nil {
		return nil, errors.Join(fmt.Errorf("open event log: %w", err), file.Close())
	}
	if l.anchors != nil {
		go l.keepAnchored() // ended by Close
	}
	return l, nil
}

// replay reads the file into memory and leaves it ready for the next line.
func (l *Log) replay() error {
	torn, err := l.file.Scan(func(_ int, line []byte) error {
		e, err := decodeEvent(line)
		if err != nil {
			return err
		}
		if e.Seq <= l.seq {
			return fmt.Errorf("seq %d after seq %d", e.Seq, l.seq)
		}
		l.events = append(l.events, e)
		l.seq = e.Seq
		l.cost = max(l.cost, costSoFar(&e, l.cost))
		if e.Hash != "" {
			l.unlinked = l.unlinked || l.based && e.PrevHash != l.head
			l.standOn(&e)
			l.chained, l.head = true, e.Hash
		}
		return nil
	})
	if err != nil {
		return err
	}
	if torn > 0 {
		l.note(fmt.Sprintf("%s: dropped a torn last line of %d bytes; what it would have recorded is unknown", l.cfg.Path, torn))
	}
	if err := l.startAnchoring(); err != nil {
		return err
	}
	var now time.Time
	if l.cfg.MaxAge > 0 {
		now = l.cfg.Now()
	}
	l.trim(now)
	return nil
}

// standOn remembers what the first chained event follows.
func (l *Log) standOn(first *Event) {
	if !l.based {
		l.base, l.based = place{first.Seq - 1, first.PrevHash}, true
	}
}

func (l *Log) note(text string) {
	if l.notice != "" {
		l.notice += "; "
	}
	l.notice += text
}

// Notice says what Open had to drop, and whether the log agrees with its anchor;
// empty if there is nothing to say.
func (l *Log) Notice() string { return l.notice }

// Append records an event and returns it as the log keeps it. When it returns an
// error nothing was recorded, and nothing that the event would have announced may
// happen. It does not wait for the disk; see Sync.
func (l *Log) Append(e Event) (Event, error) {
	data, err := cleaner{l.cfg.Redact}.object(e.Data, 0)
	if err != nil {
		return Event{}, fmt.Errorf("append %s event: data.%w", e.Kind, err)
	}
	if !e.Kind.known() {
		return Event{}, fmt.Errorf("append event: %w", errNoLabel(e.Kind))
	}
	e.Data = data
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return Event{}, ErrClosed
	}
	now := l.cfg.Now()
	cost := l.addCost(e.Data)
	e.Seq, e.Timestamp = l.seq+1, now.UTC().Round(0)
	line, err := l.encode(&e)
	if err != nil {
		return Event{}, fmt.Errorf("append %s event: %w", e.Kind, err)
	}
	if err := l.write(line); err != nil {
		return Event{}, fmt.Errorf("append %s event: %w", e.Kind, err)
	}
	l.events = append(l.events, e)
	l.seq, l.cost = e.Seq, cost
	if l.chained {
		l.standOn(&e)
		l.head = e.Hash
	}
	l.noteUnanchored(e.Kind)
	l.trim(now)
	l.wake()
	return e, nil
}

// encode makes the event's line and hash; a log in memory without a chain needs neither.
func (l *Log) encode(e *Event) ([]byte, error) {
	e.PrevHash, e.Hash = "", ""
	if l.chained {
		return seal(e, l.head)
	}
	if l.file == nil {
		return nil, nil
	}
	return lineOf(e)
}

func (l *Log) write(line []byte) error {
	if l.file == nil {
		return nil
	}
	return l.file.Append(line)
}

// wake tells waiting followers that there is something new. The caller holds mu.
func (l *Log) wake() {
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

// Head returns the number and the hash of the newest event; the hash is the
// genesis when there is none, and means nothing in a log without a chain.
func (l *Log) Head() (seq uint64, hash string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.seq, l.head
}

// Trimmed reports that events were dropped from the front of what can be queried.
func (l *Log) Trimmed() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.events) == 0 {
		return l.seq > 0
	}
	return l.events[0].Seq > 1
}

// Sync waits until the file's events are on disk.
func (l *Log) Sync() error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return ErrClosed
	}
	if l.file == nil {
		return nil
	}
	return l.file.sync()
}

// Close syncs, anchors and closes the file and ends every Follow once it has read
// what is there. The events stay readable. Closing twice is fine.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.wake()
	l.mu.Unlock()
	return l.closeFile()
}
