package main

import (
	"time"

	"car/internal/engine/eventlog"
	"car/internal/engine/tool"
)

// logView lends a session's log to events_query. It only reads.
type logView struct{ log *eventlog.Log }

// Query answers newest first, with the count of all that match.
func (v logView) Query(q tool.EventQuery) ([]tool.Event, int) {
	query := eventlog.Query{ActionID: q.ActionID, Since: q.Since, DataMatches: map[string]string{}}
	for _, word := range q.Kinds {
		var k eventlog.Kind
		if k.UnmarshalText([]byte(word)) == nil {
			query.Kinds = append(query.Kinds, k)
		}
	}
	if q.Tool != "" {
		query.DataMatches["tool"] = q.Tool
	}
	if q.CallID != "" {
		query.DataMatches["call_id"] = q.CallID
	}
	found := v.log.Query(query)
	total := len(found)
	if q.Limit > 0 && total > q.Limit {
		found = found[:q.Limit]
	}
	events := make([]tool.Event, 0, len(found))
	for _, e := range found {
		events = append(events, tool.Event{Kind: e.Kind.String(), ActionID: e.ActionID,
			Timestamp: e.Timestamp.Format(time.RFC3339Nano), Data: e.Data})
	}
	return events, total
}

// Kinds lists every kind the log knows.
func (logView) Kinds() []string {
	var labels []string
	for _, k := range eventlog.Kinds() {
		labels = append(labels, k.String())
	}
	return labels
}
