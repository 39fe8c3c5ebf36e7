package eventlog

import (
	"errors"
	"fmt"
	"io/fs"

	"car/internal/engine/jsonl"
)

// Verdict is what a log's file and its anchor say together (B-CHAIN-1). The zero
// value is no clean bill.
type Verdict uint8

// The verdicts. All but Verified mean that the record is not what was written.
const (
	VerdictUnset Verdict = iota
	Verified
	// Tampered is an event that was edited, deleted, moved or put in.
	Tampered
	// Truncated is a log that ends before its anchor.
	Truncated
	// HeadCut is a log that begins behind its base.
	HeadCut
	// AnchorMissing and AnchorForged leave the log's ends unproven.
	AnchorMissing
	AnchorForged
)

var verdictLabels = [...]string{"unverified", "verified", "tampered", "truncated", "head cut without a base", "anchor missing", "anchor forged"}

// String is the verdict in a word or a few, without its numbers.
func (v Verdict) String() string {
	if int(v) < len(verdictLabels) {
		return verdictLabels[v]
	}
	return fmt.Sprintf("unknown(%d)", uint8(v))
}

// MarshalText writes the label.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Audit is what checking a log against its anchor found.
type Audit struct {
	Verdict Verdict
	// Chain is what the chain itself says.
	Chain Verification
	// Unanchored counts the verified events behind the anchor, as a crash leaves them.
	Unanchored int
	// At is the index of the bad event, from 0, where the verdict is Tampered.
	At int
	// Anchored is the newest event that was anchored, Found the newest that is there.
	Anchored uint64
	Found    uint64
	// Reason says how it was found, in a sentence; empty where the verdict says all.
	Reason string
}

// OK reports that the record is as it was written, as far as it was anchored.
func (a Audit) OK() bool { return a.Verdict == Verified }

// String is the verdict with its numbers, as B-CHAIN-1 words it.
func (a Audit) String() string {
	switch a.Verdict {
	case Verified:
		if a.Unanchored > 0 {
			return fmt.Sprintf("verified %d (unanchored %d)", a.Chain.Verified, a.Unanchored)
		}
		return fmt.Sprintf("verified %d", a.Chain.Verified)
	case Tampered:
		return fmt.Sprintf("tampered at %d", a.At)
	case Truncated:
		return fmt.Sprintf("truncated: anchored %d, found %d", a.Anchored, a.Found)
	default:
		return a.Verdict.String()
	}
}

// VerifyAnchored checks a log's file, which another process may be writing, against
// its chain and its anchor. expect, if not empty, is a head that the session
// printed: it must be in the log, whatever the anchor says. The error is about
// reading; what is wrong with the record is in the result. What it cannot show:
// changes to events behind the last anchor that make the chain anew, and those of
// somebody who has the key, against whom expect helps.
func VerifyAnchored(path string, a Anchoring, expect string) (Audit, error) {
	at, found, err := a.get()
	forged := errors.Is(err, errForged)
	if err != nil && !forged {
		return Audit{}, fmt.Errorf("verify event log: %w", err)
	}
	w, err := walkChain(path, a.Session, at, expect)
	if errors.Is(err, fs.ErrNotExist) && found {
		err = nil // a log that is gone is one cut to nothing
	}
	if err != nil {
		return Audit{}, fmt.Errorf("verify event log: %w", err)
	}
	audit := Audit{Chain: w.result, Anchored: at.Seq, Found: w.result.HeadSeq}
	if w.result.Verified == 0 && w.result.Intact() {
		audit.Found = at.BaseSeq
	}
	switch {
	case !w.result.Intact():
		audit.Reason, err = howItChanged(path, w.result)
		return audit.tampered(w.result.TamperedAt), err
	case !found:
		audit.Verdict = AnchorMissing
	case forged:
		audit.Verdict, audit.Reason = AnchorForged, errForged.Error()
	default:
		audit = audit.against(at, w)
	}
	return audit, nil
}

func (a Audit) tampered(at int) Audit {
	a.Verdict, a.At = Tampered, at
	return a
}

// against compares an intact chain with its anchor.
func (a Audit) against(at Anchor, w *walk) Audit {
	switch first := w.result.HeadSeq + 1 - uint64(w.result.Verified); {
	case w.result.Verified > 0 && first > at.BaseSeq+1:
		a.Verdict, a.Reason = HeadCut, fmt.Sprintf("it begins with event %d, and its base is event %d", first, at.BaseSeq)
	case a.Found < at.Seq:
		a.Verdict = Truncated
	case w.baseHash != "" && w.baseHash != at.BaseHash:
		a.Reason = "made anew: the event is not the one behind which the log was cut"
		return a.tampered(w.index(at.BaseSeq))
	case w.anchorHash != at.Hash && at.Seq != at.BaseSeq:
		a.Reason = "made anew: the event is not the one that was anchored"
		return a.tampered(w.index(at.Seq))
	case !w.expected:
		a.Reason = "the head that was expected is not in this record"
		return a.tampered(w.result.Skipped + w.result.Verified)
	default:
		a.Verdict, a.Unanchored = Verified, int(a.Found-at.Seq)
	}
	return a
}

// walk is a chain that was walked, with the hashes at the places an anchor names.
type walk struct {
	*verifier
	anchorHash, baseHash string
	expected             bool
}

// index is where an event stands in an intact log.
func (w *walk) index(seq uint64) int {
	first := w.result.HeadSeq + 1 - uint64(w.result.Verified)
	return w.result.Skipped + max(0, int(seq)-int(first))
}

// walkChain walks the chain of a file; one that is not there is walked as empty,
// with its error.
func walkChain(path, session string, at Anchor, expect string) (*walk, error) {
	w := &walk{verifier: newVerifier(GenesisOf(session)), expected: expect == ""}
	err := jsonl.Each(path, func(_ int, line []byte) error {
		before := w.result.Verified
		if !w.line(line) {
			return errStop
		}
		if w.result.Verified == before {
			return nil
		}
		if before == 0 {
			w.see(place{w.result.HeadSeq - 1, w.result.Base}, at, expect)
		}
		w.see(place{w.result.HeadSeq, w.result.Head}, at, expect)
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return w, err
}

func (w *walk) see(p place, at Anchor, expect string) {
	if p.seq == at.Seq {
		w.anchorHash = p.hash
	}
	if p.seq == at.BaseSeq {
		w.baseHash = p.hash
	}
	w.expected = w.expected || p.hash == expect
}

// howItChanged tells an edit from a deletion and a deletion from a move, by what
// stands behind the place where the chain broke.
func howItChanged(path string, v Verification) (string, error) {
	var here uint64
	later := false
	err := jsonl.Each(path, func(i int, line []byte) error {
		if i < v.TamperedAt {
			return nil
		}
		e, err := decodeEvent(line)
		switch {
		case i == v.TamperedAt && err == nil:
			here = e.Seq
		case err == nil && e.Seq == v.HeadSeq+1:
			later = true
		}
		return nil
	})
	next := v.HeadSeq + 1
	switch {
	case err != nil:
		return "", fmt.Errorf("verify event log: %w", err)
	case here == 0 || v.Edited:
		return "edited: " + v.Reason, nil
	case here > next && later:
		return fmt.Sprintf("moved: event %d stands behind event %d", next, here), nil
	case here == next+1:
		return fmt.Sprintf("deleted: event %d is not there", next), nil
	case here > next:
		return fmt.Sprintf("deleted: events %d to %d are not there", next, here-1), nil
	case here < next:
		return fmt.Sprintf("put in: event %d stands behind event %d", here, v.HeadSeq), nil
	default:
		return "made anew: " + v.Reason, nil
	}
}
