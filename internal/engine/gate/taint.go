package gate

import (
	"maps"
	"slices"
	"sync"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/verify/intent"
)

// taintLedger remembers which state keys hold what untrusted output led to, and
// which sessions have such output in their prompt. Keys are as the store spells
// them, so that every tenant has its own. Safe for concurrent use.
type taintLedger struct {
	mu   *sync.Mutex
	keys map[string]bool
	// sources are the tools whose untrusted output stands in a session's prompt.
	sources map[string][]string
	// carries are actions that read a tainted key, so that what they keep is tainted.
	carries map[carrier]bool
}

// carrier names an action of a proposal.
type carrier struct {
	session  string
	proposal ir.ProposalID
	action   ir.ActionID
}

func newTaintLedger() taintLedger {
	return taintLedger{mu: &sync.Mutex{}, keys: map[string]bool{}, sources: map[string][]string{}, carries: map[carrier]bool{}}
}

// influence notes untrusted output in a session's prompt. It stays as long as the
// session does: what was summed up of it stands there still.
func (l taintLedger) influence(session, tool string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sources[session]) < maxSources && !slices.Contains(l.sources[session], tool) {
		l.sources[session] = append(l.sources[session], tool)
	}
}

func (l taintLedger) influences(session string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.sources[session])
}

func (l taintLedger) tainted() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.keys)
}

// started forgets what an earlier run of the same action carried.
func (l taintLedger) started(h admit.Happening) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.carries, carrier{h.Session, h.Proposal, h.Action.ID})
}

// ended taints what an action wrote, if its output is not trusted or it read what is
// tainted: a trusted tool launders nothing.
func (l taintLedger) ended(h admit.Happening, untrusted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	carries := untrusted || slices.ContainsFunc(intent.Reads(h.Action), func(k string) bool {
		if h.Key != nil {
			k = h.Key(k)
		}
		return l.keys[k]
	})
	if !carries {
		return
	}
	l.carries[carrier{h.Session, h.Proposal, h.Action.ID}] = true
	for _, key := range h.Wrote {
		l.keys[key] = true
	}
}

// kept clears what a trusted action wrote for good. A write that is taken back clears
// nothing: the tainted value is there again.
func (l taintLedger) kept(h admit.Happening, untrusted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := carrier{h.Session, h.Proposal, h.Action.ID}
	tainted := untrusted || l.carries[from]
	delete(l.carries, from)
	for _, key := range h.Wrote {
		if tainted {
			l.keys[key] = true
		} else {
			delete(l.keys, key)
		}
	}
}
