package eventlog

import (
	"encoding/json"
	"slices"
	"time"

	"car/internal/engine/ir"
)

// Query selects events (E-LOG-2). What is set must all hold; the zero value
// selects everything.
type Query struct {
	Kinds      []Kind
	ActionID   ir.ActionID
	ProposalID ir.ProposalID
	// Since is inclusive, Until exclusive.
	Since time.Time
	Until time.Time
	// DataMatches compares members of data as text: strings as they are, other
	// values as compact JSON.
	DataMatches map[string]string
	// Limit bounds the answer to the newest; 0 is no limit.
	Limit int
}

// Query returns the selected events, newest first.
func (l *Log) Query(q Query) []Event {
	l.mu.RLock()
	events := l.events
	l.mu.RUnlock()
	return Select(events, q)
}

// Count returns how many events are selected, whatever the limit says.
func (l *Log) Count(q Query) int {
	l.mu.RLock()
	events := l.events
	l.mu.RUnlock()
	n := 0
	for i := range events {
		if q.selects(&events[i]) {
			n++
		}
	}
	return n
}

// Select applies a query to events in log order and returns them newest first.
func Select(events []Event, q Query) []Event {
	var found []Event
	for i := range slices.Backward(events) {
		if !q.selects(&events[i]) {
			continue
		}
		found = append(found, events[i])
		if len(found) == q.Limit {
			break
		}
	}
	return found
}

func (q *Query) selects(e *Event) bool {
	switch {
	case len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind),
		q.ActionID != "" && q.ActionID != e.ActionID,
		q.ProposalID != "" && q.ProposalID != e.ProposalID,
		!q.Since.IsZero() && e.Timestamp.Before(q.Since),
		!q.Until.IsZero() && !e.Timestamp.Before(q.Until):
		return false
	}
	for name, want := range q.DataMatches {
		v, ok := e.Data[name]
		if !ok || textOf(v) != want {
			return false
		}
	}
	return true
}

func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
