// Package eventsquery is the events_query tool: what this session already did,
// from its own log, in bounded summaries (T-EVENTS).
//
// It imports engine/ir, engine/tool and the wire beside it.
package eventsquery

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

const (
	defaultLimit = 20
	maxLimit     = 100
	// dataBytes is what an event's data is clipped to; with its marker it stays under 400.
	dataBytes = 300
)

const schema = `{
  "type": "object",
  "properties": {
    "kinds": {"type": "array", "items": {"type": "string"}, "description": "Kinds of events, e.g. [\"action_failed\", \"policy_violation\"]; all kinds when left out."},
    "action_id": {"type": "string", "description": "Only events of this action."},
    "call_id": {"type": "string", "description": "Only events of this tool call."},
    "tool": {"type": "string", "description": "Only events of this tool."},
    "since": {"type": "string", "description": "Only events from this time on, RFC 3339."},
    "limit": {"type": "integer", "description": "How many, newest first: 20 unless given, 100 at most."}
  },
  "additionalProperties": false
}`

type input struct {
	Kinds    []string    `json:"kinds"`
	ActionID ir.ActionID `json:"action_id"`
	CallID   string      `json:"call_id"`
	Tool     string      `json:"tool"`
	Since    string      `json:"since"`
	Limit    *int64      `json:"limit"`
}

// output has the names of T-EVENTS-1.
type output struct {
	Events        []event `json:"events"`
	Returned      int     `json:"returned"`
	TotalMatching int     `json:"total_matching"`
}

type event struct {
	Kind      string      `json:"kind"`
	ActionID  ir.ActionID `json:"action_id,omitempty"`
	Timestamp string      `json:"timestamp"`
	Data      string      `json:"data"`
}

type eventsQuery struct{ log tool.Events }

// New returns the tool, nil where no log is bound.
func New(b tool.Bindings) tool.Tool {
	if b.Events == nil {
		return nil
	}
	return eventsQuery{log: b.Events}
}

// Spec says what the tool is.
func (eventsQuery) Spec() tool.Spec {
	return tool.Spec{
		Name: "events_query",
		Description: "Query this session's event log: what was tried, what failed, what the runtime decided. " +
			"Use it before repeating something that may have failed, and after older messages were removed. Newest first, clipped.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "utility", CountField: "total_matching", Version: "1",
	}
}

// Effects declares nothing: the log is the runtime's own.
func (q eventsQuery) Effects(call tool.Call) (tool.Effects, error) {
	_, err := q.parse(call)
	return tool.Effects{Declared: true}, err
}

// parse makes the query. An unknown kind is an error, never an empty answer,
// which would read as "that never happened" (T-EVENTS-2).
func (q eventsQuery) parse(call tool.Call) (tool.EventQuery, error) {
	if list, ok := call.Params["kinds"].([]any); ok {
		for _, k := range list {
			if _, ok := k.(string); !ok {
				return tool.EventQuery{}, wire.Bad("kinds entries must be strings")
			}
		}
	}
	in, err := wire.In[input](call.Params)
	if err != nil {
		return tool.EventQuery{}, err
	}
	known := q.log.Kinds()
	for _, k := range in.Kinds {
		if !slices.Contains(known, k) {
			return tool.EventQuery{}, wire.Bad("unknown event kind '%s'. Valid kinds include: %s", k, strings.Join(known, ", "))
		}
	}
	query := tool.EventQuery{Kinds: in.Kinds, ActionID: in.ActionID, CallID: in.CallID, Tool: in.Tool, Limit: defaultLimit}
	if in.Limit != nil {
		query.Limit = int(min(max(*in.Limit, 1), maxLimit))
	}
	if in.Since != "" {
		if query.Since, err = time.Parse(time.RFC3339, in.Since); err != nil {
			return query, wire.Bad("since %q is no RFC 3339 time, such as 2026-01-31T12:00:00Z", in.Since)
		}
	}
	return query, nil
}

// Run answers. The log is asked once; rendering happens on what it returned.
func (q eventsQuery) Run(_ context.Context, call tool.Call, _ tool.Env) (tool.Execution, error) {
	query, err := q.parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	found, total := q.log.Query(query)
	found = found[:min(len(found), query.Limit)]
	out := output{Events: make([]event, 0, len(found)), Returned: len(found), TotalMatching: total}
	b := ir.Block{Kind: ir.BlockTable, Title: "events", Header: []string{"time", "kind", "action", "data"}, Omitted: int64(max(total-len(found), 0))}
	for _, e := range found {
		data, err := compact(e.Data)
		if err != nil {
			return tool.Execution{}, wire.Fault(tool.Failed, "event %s of %s: %v", e.Kind, e.Timestamp, err)
		}
		out.Events = append(out.Events, event{e.Kind, e.ActionID, e.Timestamp, data})
		b.Rows = append(b.Rows, []string{e.Timestamp, e.Kind, string(e.ActionID), data})
	}
	o, err := wire.Out(out)
	return tool.Execution{Output: o, Blocks: []ir.Block{b}}, err
}

// compact renders data as JSON of at most dataBytes and a marker.
func compact(data any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if len(text) <= dataBytes {
		return text, nil
	}
	end := dataBytes
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…[" + strconv.Itoa(len(text)-end) + " more bytes]", nil
}
