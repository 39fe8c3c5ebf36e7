package gate

import (
	"maps"
	"slices"
	"sync"

	"car/internal/engine/verify/flow"
)

// flowLedger remembers what each session has read. Safe for concurrent use.
type flowLedger struct {
	mu       sync.Mutex
	sessions map[string]*reading
}

// reading is what a session's author knows by now.
type reading struct {
	// sure is the highest label it read, may what it may have read beside.
	sure, may flow.Label
	// from names where what is secret comes from, the first few.
	from []string
	// names are what has happened, for orders.
	names map[string]bool
}

// maxSources bounds how many sources a refusal names.
const maxSources = 4

// of is a copy of what a session knows.
func (l *flowLedger) of(session string) reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.sessions[session]
	if !ok {
		return reading{}
	}
	return reading{sure: r.sure, may: r.may, from: slices.Clone(r.from), names: maps.Clone(r.names)}
}

func (l *flowLedger) at(session string) *reading {
	r, ok := l.sessions[session]
	if !ok {
		r = &reading{names: map[string]bool{}}
		l.sessions[session] = r
	}
	return r
}

// started notes what an action that starts is called.
func (l *flowLedger) started(session string, names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		if name != "" {
			l.at(session).names[name] = true
		}
	}
}

// read notes what an action brought.
func (l *flowLedger) read(session string, sure, may flow.Label, source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.at(session)
	secret := max(sure.Confidentiality, may.Confidentiality) == flow.Secret
	if secret && len(r.from) < maxSources && !slices.Contains(r.from, source) {
		r.from = append(r.from, source)
	}
	r.sure, r.may = r.sure.Join(sure), r.may.Join(may)
}
