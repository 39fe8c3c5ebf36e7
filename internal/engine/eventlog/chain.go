package eventlog

import (
	"fmt"

	"car/internal/engine/ir"
)

// GenesisOf is the hash that stands before a session's first event (B-CHAIN-1).
func GenesisOf(session string) string {
	return string(ir.DigestBytes([]byte("car-chain-v1:" + session)))
}

// seal gives an event its place in the chain and returns its line. The hash covers
// the canonical event with prev_hash and without hash (E-LOG-6).
func seal(e *Event, prev string) ([]byte, error) {
	e.PrevHash, e.Hash = prev, ""
	line, err := lineOf(e)
	if err != nil {
		return nil, err
	}
	hash, err := hashOf(line)
	if err != nil {
		return nil, err
	}
	e.Hash = hash
	// hash is the last member of Event, so it can be put behind the others.
	line = append(line[:len(line)-len("}\n")], `,"hash":"`...)
	line = append(line, hash...)
	return append(line, '"', '}', '\n'), nil
}

// hashOf is the hash of a record that has no hash member.
func hashOf(body []byte) (string, error) {
	canonical, err := ir.CanonicalText(body)
	if err != nil {
		return "", err
	}
	return string(ir.DigestBytes(canonical)), nil
}

// Verification is what checking a chain found. The zero value says that the first
// event is bad.
type Verification struct {
	// Verified counts the events whose hash and link are right, up to the first bad one.
	Verified int
	// Skipped counts the events before the log was chained.
	Skipped int
	// TamperedAt is the index of the first bad event, counting from 0, or -1.
	TamperedAt int
	// Reason says what is wrong there.
	Reason string
	// Edited says that the event itself is not what its hash covers.
	Edited bool
	// Base is the hash before the first event that was verified, Head the hash of
	// the last, HeadSeq its number. Base is the genesis unless older events were dropped.
	Base    string
	Head    string
	HeadSeq uint64
}

// Intact reports that nothing was found wrong.
func (v Verification) Intact() bool { return v.TamperedAt < 0 }

// verifier walks a chain line by line.
type verifier struct {
	genesis string
	index   int
	result  Verification
}

func newVerifier(genesis string) *verifier {
	return &verifier{genesis: genesis, result: Verification{TamperedAt: -1}}
}

// line checks the next record and reports whether to go on.
func (v *verifier) line(line []byte) bool {
	if reason := v.check(line); reason != "" {
		v.bad(reason)
		return false
	}
	v.index++
	return true
}

func (v *verifier) bad(reason string) {
	v.result.TamperedAt, v.result.Reason = v.index, reason
}

func (v *verifier) check(line []byte) string {
	found, err := split(line)
	if err != nil {
		return err.Error()
	}
	e, err := eventOf(found)
	if err != nil {
		return err.Error()
	}
	r := &v.result
	if e.Hash == "" {
		if r.Verified > 0 || e.PrevHash != "" {
			return "the event has no hash and belongs to a chain"
		}
		r.Skipped++
		return ""
	}
	if r.Verified == 0 {
		// Without older events there is nothing but the genesis to stand on. A log
		// whose head retention took away stands on whatever its first event names.
		if r.Base = e.PrevHash; e.Seq == 1 || r.Skipped > 0 {
			r.Base = v.genesis
		}
		r.Head, r.HeadSeq = r.Base, e.Seq-1
	}
	// The members as they stand: those this version does not know are covered too.
	switch hash, err := hashOf(without(found, "hash")); {
	case err != nil:
		return err.Error()
	case hash != e.Hash:
		r.Edited = true
		return "the event is not what its hash covers"
	case e.PrevHash != r.Head:
		return "the event does not follow the one before it"
	case e.Seq != r.HeadSeq+1:
		return fmt.Sprintf("event %d follows event %d", e.Seq, r.HeadSeq)
	}
	r.Verified++
	r.Head, r.HeadSeq = e.Hash, e.Seq
	return ""
}
