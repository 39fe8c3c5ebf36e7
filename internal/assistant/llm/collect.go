package llm

import (
	"context"
	"fmt"
	"strings"
)

// Reply is a whole streamed reply (A-LLM-1).
type Reply struct {
	Started Started
	// Message is the assistant message: text, thinking, opaque parts and calls in the
	// order of the stream. Calls have raw arguments and no ID yet.
	Message Message
	// Usage is nil when the provider told none.
	Usage *Usage
	Stop  Stop
}

// Collector puts the events of one stream together. It is for a caller that also
// shows them; Collect is for one that does not. Not safe for concurrent use.
type Collector struct {
	origin  Origin
	started Started
	parts   []*collected
	calls   []*collected
	usage   *Usage
	stop    *Stop
	err     error
}

// collected is a part whose text still grows.
type collected struct {
	part Part
	text strings.Builder
}

// NewCollector returns a collector for a stream of the named provider and model.
func NewCollector(o Origin) *Collector { return &Collector{origin: o} }

// Add takes the next event.
func (c *Collector) Add(e Event) {
	if c.stop != nil {
		c.spoil("an event after the stop")
	}
	switch e := e.(type) {
	case Started:
		c.started = e
	case Text:
		c.text().WriteString(e.Delta)
	case Item:
		c.parts = append(c.parts, &collected{part: e.Part})
	case ToolStart:
		c.open(e)
	case ToolDelta:
		if e.Index < 0 || e.Index >= len(c.calls) {
			c.spoil(fmt.Sprintf("a fragment for call %d, which was not opened", e.Index))
			return
		}
		c.calls[e.Index].text.WriteString(e.Fragment)
	case Usage:
		c.usage = &e
	case Stop:
		c.stop = &e
	}
}

// text returns the text part that is open, or opens one.
func (c *Collector) text() *strings.Builder {
	if n := len(c.parts); n > 0 && c.parts[n-1].part.Kind == PartText {
		return &c.parts[n-1].text
	}
	part := &collected{part: Part{Kind: PartText}}
	c.parts = append(c.parts, part)
	return &part.text
}

func (c *Collector) open(e ToolStart) {
	if e.Index != len(c.calls) {
		c.spoil(fmt.Sprintf("call %d opened as number %d", e.Index, len(c.calls)))
		return
	}
	call := &collected{part: Part{Kind: PartToolCall, Origin: c.origin, Call: &ToolCall{ProviderID: e.ID, Name: e.Name}}}
	c.calls = append(c.calls, call)
	c.parts = append(c.parts, call)
}

// spoil keeps the first thing that no stream may do.
func (c *Collector) spoil(what string) {
	if c.err == nil {
		c.err = &Error{Kind: KindMalformed, Provider: c.origin.Provider, Message: "the stream holds " + what}
	}
}

// Text is the visible text so far, for keeping what a cut stream has shown. A cut
// stream has nothing else worth keeping.
func (c *Collector) Text() string {
	var text strings.Builder
	for _, p := range c.parts {
		if p.part.Kind == PartText {
			text.WriteString(p.text.String())
		}
	}
	return text.String()
}

// Usage is what was charged so far, nil when untold; a failed inference counts too.
func (c *Collector) Usage() *Usage { return c.usage }

// Reply returns the whole reply. Before Stop there is none, only an error of kind
// disconnected: no call of a cut stream can be had (P-STREAM-1).
func (c *Collector) Reply() (Reply, error) {
	if c.err != nil {
		return Reply{}, c.err
	}
	if c.stop == nil {
		return Reply{}, &Error{Kind: KindDisconnected, Provider: c.origin.Provider, Message: "the reply ended before it was complete"}
	}
	r := Reply{Started: c.started, Usage: c.usage, Stop: *c.stop, Message: Message{Role: Assistant}}
	for _, p := range c.parts {
		part := p.part
		switch part.Kind {
		case PartText:
			if part.Text = p.text.String(); part.Text == "" {
				continue
			}
		case PartToolCall:
			call := *part.Call
			call.Arguments = p.text.String()
			part.Call = &call
		}
		r.Message.Parts = append(r.Message.Parts, part)
	}
	return r, nil
}

// Collect sends one request and returns its whole reply. With an error, the reply
// holds the visible text and the usage that came before it, and nothing else.
func Collect(ctx context.Context, p Provider, r Request) (Reply, error) {
	c := NewCollector(Origin{Provider: p.Name(), Model: r.Model})
	for event, err := range p.Stream(ctx, r) {
		if err != nil {
			return c.partial(), err
		}
		c.Add(event)
	}
	reply, err := c.Reply()
	if err != nil {
		return c.partial(), err
	}
	return reply, nil
}

func (c *Collector) partial() Reply {
	r := Reply{Started: c.started, Usage: c.usage, Message: Message{Role: Assistant}}
	if text := c.Text(); text != "" {
		r.Message.Parts = []Part{TextPart(text)}
	}
	return r
}
