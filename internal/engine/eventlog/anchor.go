package eventlog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
)

// Anchor is where a session's chain stood when it was stored apart from the log
// (B-CHAIN-1): its newest event, and the event behind which its file began. Against
// whoever can write the log but not the anchor, it shows that events are missing
// at either end, or that the whole chain was made anew.
type Anchor struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
	// BaseSeq and BaseHash are those of the last event that retention took away, or 0
	// and the genesis.
	BaseSeq  uint64 `json:"base_seq"`
	BaseHash string `json:"base_hash"`
}

// AnchorStore keeps one anchor a session, away from the log. To it an anchor is
// text. Safe for concurrent use.
type AnchorStore interface {
	// PutAnchor keeps an anchor in place of the session's last one. It is on disk when
	// it returns.
	PutAnchor(session, anchor string) error
	// Anchor returns the session's anchor, if there is one.
	Anchor(session string) (anchor string, found bool, err error)
}

// Anchoring is what a session's anchors are kept and signed with.
type Anchoring struct {
	Session string
	Store   AnchorStore
	// Key signs. Whoever has it and can write log and store can make a history; the
	// head that a session printed at its end stands against that.
	Key []byte
}

// sealedAnchor is an anchor as it is stored.
type sealedAnchor struct {
	Anchor
	MAC string `json:"mac"`
}

// errForged is an anchor that was not written with the key.
var errForged = errors.New("the anchor was not written with this key")

func (a Anchoring) mac(at Anchor) string {
	h := hmac.New(sha256.New, a.Key)
	fmt.Fprintf(h, "car-anchor-v1:%q:%d:%q:%d:%q", a.Session, at.Seq, at.Hash, at.BaseSeq, at.BaseHash)
	return hex.EncodeToString(h.Sum(nil))
}

func (a Anchoring) put(at Anchor) error {
	text, err := json.Marshal(sealedAnchor{at, a.mac(at)})
	if err != nil {
		return err
	}
	return a.Store.PutAnchor(a.Session, string(text))
}

// get reads the session's anchor; one that the key did not sign is errForged.
func (a Anchoring) get() (at Anchor, found bool, err error) {
	text, found, err := a.Store.Anchor(a.Session)
	if err != nil || !found {
		return at, false, err
	}
	var sealed sealedAnchor
	if json.Unmarshal([]byte(text), &sealed) != nil || !hmac.Equal([]byte(sealed.MAC), []byte(a.mac(sealed.Anchor))) {
		return at, true, errForged
	}
	return sealed.Anchor, true, nil
}

// checkAnchoring says what is wrong with a configuration that anchors.
func (c Config) checkAnchoring() error {
	switch {
	case c.Anchoring == nil:
		return nil
	case c.Path == "" || !c.Chain:
		return errors.New("eventlog: Config.Anchoring needs Path and Chain")
	case c.Anchoring.Session == "" || c.Anchoring.Store == nil || len(c.Anchoring.Key) == 0:
		return errors.New("eventlog: Config.Anchoring lacks Session, Store or Key")
	}
	return nil
}

// startAnchoring takes up a session's anchors where they stand. A log that does
// not lead on from its anchor gets no new one: what shows that it was changed
// stays. It is called by Open, before anybody else has the log.
func (l *Log) startAnchoring() error {
	if l.cfg.Anchoring == nil {
		return nil
	}
	at, found, err := l.cfg.Anchoring.get()
	doubt := ""
	switch {
	case errors.Is(err, errForged):
		doubt = AnchorForged.String()
	case err != nil:
		return fmt.Errorf("read the anchor of %s: %w", l.cfg.Path, err)
	case !found && l.seq > 0:
		doubt = AnchorMissing.String()
	case l.unlinked:
		doubt = "an event does not follow the one before it"
	case found && !l.leadsOnFrom(at):
		doubt = "the anchored event is not in it"
	}
	if doubt != "" {
		l.note(fmt.Sprintf("the record of session %s does not agree with its anchor (%s): no new one is written; `car log verify %s` tells more",
			l.cfg.Anchoring.Session, doubt, l.cfg.Anchoring.Session))
		return nil
	}
	l.anchors = newAnchorer()
	if !found { // so that a log with events always has one
		return l.putAnchor(l.base)
	}
	if l.seq > at.Seq {
		l.unanchored = int(l.seq - at.Seq)
		signal(l.anchors.grew)
	}
	return nil
}

// leadsOnFrom reports that the log holds the event at which an anchor stands.
func (l *Log) leadsOnFrom(at Anchor) bool {
	if at.Seq == l.base.seq {
		return at.Hash == l.base.hash
	}
	i := sort.Search(len(l.events), func(i int) bool { return l.events[i].Seq >= at.Seq })
	return i < len(l.events) && l.events[i].Seq == at.Seq && l.events[i].Hash == at.Hash
}

// place is an event of the chain, or what stands before its first.
type place struct {
	seq  uint64
	hash string
}

// putAnchor puts the log on disk and then its head into the store. The caller
// holds mu, for reading at least.
func (l *Log) putAnchor(base place) error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("anchor %s: %w", l.cfg.Path, err)
	}
	err := l.cfg.Anchoring.put(Anchor{Seq: l.seq, Hash: l.head, BaseSeq: base.seq, BaseHash: base.hash})
	if err != nil {
		return fmt.Errorf("anchor %s: %w", l.cfg.Path, err)
	}
	return nil
}

// moveBase anchors what the file will begin behind before it does, so that at no
// moment a head is gone that no anchor speaks of. The caller holds mu.
func (l *Log) moveBase() error {
	next := place{l.seq, l.head}
	if len(l.events) > 0 {
		next = place{l.events[0].Seq - 1, l.events[0].PrevHash}
	}
	if l.anchors != nil {
		if err := l.putAnchor(next); err != nil {
			return err
		}
	}
	l.base, l.based = next, true
	return nil
}
