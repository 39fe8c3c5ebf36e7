package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"car/internal/assistant/llm"
)

// callDelta is a piece of a tool call. Servers leave out any of its fields.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments are a string of JSON, or the object itself (A-LLM-7).
type arguments string

// UnmarshalJSON takes the text of a string and any other value as it stands.
func (a *arguments) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*a = arguments(text)
		return nil
	}
	if !bytes.Equal(b, []byte("null")) {
		*a = arguments(b)
	}
	return nil
}

// chatCalls puts the pieces of tool calls together. An id that is new opens a
// call; an index only says which call a piece without an id belongs to.
type chatCalls struct {
	calls  []*growingCall
	opened int
}

type growingCall struct {
	index *int
	id    string
	name  string
	// held are arguments that came before the name.
	held string
	// seen are all arguments so far, to know whether they are a whole object.
	seen  []byte
	wire  int
	ready bool
}

// add takes one piece and emits what it opens and adds.
func (c *chatCalls) add(d callDelta, emit func(llm.Event)) {
	call := c.find(d)
	if call == nil {
		call = &growingCall{index: d.Index, id: d.ID}
		c.calls = append(c.calls, call)
	}
	if call.id == "" {
		call.id = d.ID
	}
	if call.name == "" {
		call.name = d.Function.Name
	}
	fragment := string(d.Function.Arguments)
	call.seen = append(call.seen, fragment...)
	if !call.ready {
		call.held += fragment
		if call.name == "" {
			return
		}
		call.ready, call.wire = true, c.opened
		c.opened++
		emit(llm.ToolStart{Index: call.wire, ID: call.id, Name: call.name})
		fragment, call.held = call.held, ""
	}
	if fragment != "" {
		emit(llm.ToolDelta{Index: call.wire, Fragment: fragment})
	}
}

// find returns the call that a piece continues, nil when it opens one.
func (c *chatCalls) find(d callDelta) *growingCall {
	call := c.candidate(d)
	if call == nil || d.ID != "" && call.id != "" && d.ID != call.id {
		return nil
	}
	// A name on a call that has one is a repetition, unless that call is whole and
	// another object begins, or the name is another one and nothing ties the two.
	if d.Function.Name == "" || call.name == "" {
		return call
	}
	if call.whole() && strings.HasPrefix(strings.TrimSpace(string(d.Function.Arguments)), "{") {
		return nil
	}
	if d.Function.Name != call.name && (d.ID == "" || call.whole()) {
		return nil
	}
	return call
}

// candidate is the latest call with the piece's index, or its id, or at all.
func (c *chatCalls) candidate(d callDelta) *growingCall {
	for i := len(c.calls) - 1; i >= 0; i-- {
		call := c.calls[i]
		switch {
		case d.Index != nil && call.index != nil:
			if *d.Index == *call.index {
				return call
			}
		case d.ID != "" && call.id != "":
			if d.ID == call.id {
				return call
			}
		default:
			return call
		}
	}
	return nil
}

// whole reports whether the arguments so far are a whole object.
func (g *growingCall) whole() bool {
	text := bytes.TrimSpace(g.seen)
	return len(text) > 0 && text[len(text)-1] == '}' && json.Valid(text)
}

// nameless reports a call that never got a name.
func (c *chatCalls) nameless() bool {
	for _, call := range c.calls {
		if !call.ready {
			return true
		}
	}
	return false
}
