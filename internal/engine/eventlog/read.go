package eventlog

import (
	"errors"
	"fmt"

	"car/internal/engine/jsonl"
)

// ReadFile reads the events of a file that another process may be writing. Bytes
// behind the last newline are left out. A bad line is an error that names it, and
// the events before it are returned with it.
func ReadFile(path string) ([]Event, error) {
	var events []Event
	err := jsonl.Each(path, func(_ int, line []byte) error {
		e, err := decodeEvent(line)
		if err == nil {
			events = append(events, e)
		}
		return err
	})
	if err != nil {
		return events, fmt.Errorf("read event log: %w", err)
	}
	return events, nil
}

// VerifyFile checks the chain of a file that another process may be writing
// (E-LOG-6). genesis is what the log was made with. The error is about reading;
// what is wrong with the chain is in the result.
func VerifyFile(path, genesis string) (Verification, error) {
	v := newVerifier(genesis)
	err := jsonl.Each(path, func(_ int, line []byte) error {
		if !v.line(line) {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return Verification{}, fmt.Errorf("verify event log: %w", err)
	}
	return v.result, nil
}

var errStop = errors.New("stop")

// Verify checks the log's chain, on disk where it has a file. A file that ends
// before the newest event is bad at the index where it ends. It holds up no Append.
func (l *Log) Verify() (Verification, error) {
	l.mu.RLock()
	events, seq, head, chained := l.events, l.seq, l.head, l.chained
	l.mu.RUnlock()
	if !chained {
		return Verification{TamperedAt: -1, Skipped: len(events)}, nil
	}
	v, err := l.verifyChain(events)
	if err != nil || !v.Intact() {
		return v, err
	}
	// Events may have been added since; those before must be there.
	if v.HeadSeq < seq || v.HeadSeq == seq && v.Verified > 0 && v.Head != head {
		v.TamperedAt = v.Skipped + v.Verified
		v.Reason = fmt.Sprintf("the log ends at event %d, its newest is %d", v.HeadSeq, seq)
	}
	return v, nil
}

func (l *Log) verifyChain(events []Event) (Verification, error) {
	if l.file != nil {
		return VerifyFile(l.cfg.Path, l.cfg.Genesis)
	}
	v := newVerifier(l.cfg.Genesis)
	for i := range events {
		line, err := lineOf(&events[i])
		if err != nil {
			return Verification{}, fmt.Errorf("verify event log: %w", err)
		}
		if !v.line(line) {
			break
		}
	}
	return v.result, nil
}
