// Package messaging is messaging.send: words to people, through the engine like any
// other effect (E-TOOL-3). Schema and sink arrive together. Without a sink no model
// is told of the tool, and a call of it is refused here and nowhere else, so that no
// other executor can answer in its place.
//
// It reaches people only through tool.Messages, which the host binds, and imports
// engine/ir, engine/tool and tools/wire.
package messaging

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

const name = "messaging.send"

// maxBody bounds one message, in bytes.
const maxBody = 32 << 10

const schema = `{
  "type": "object",
  "properties": {
    "channel": {"type": "string", "description": "The medium, as the person named it: mail, chat."},
    "kind": {"type": "string", "enum": ["direct", "channel"], "description": "direct is one person, channel a room."},
    "to": {"type": "string", "description": "The person's address, or the name of the room."},
    "body": {"type": "string", "description": "The words, as they are to arrive."},
    "idempotency_key": {"type": "string", "description": "A message of the same key is sent once."}
  },
  "required": ["channel", "kind", "to", "body"],
  "additionalProperties": false
}`

type input struct {
	Channel string `json:"channel"`
	Kind    string `json:"kind"`
	To      string `json:"to"`
	Body    string `json:"body"`
	Key     string `json:"idempotency_key"`
}

type output struct {
	Channel   string `json:"channel"`
	Kind      string `json:"kind"`
	To        string `json:"to"`
	ID        string `json:"id,omitempty"`
	Duplicate bool   `json:"duplicate,omitempty"`
}

type send struct{ sink tool.Messages }

var _ tool.Exclusive = send{}

// New returns the tool over the host's sink; without one it refuses.
func New(b tool.Bindings) tool.Tool { return send{b.Messages} }

// Listed reports that there is a sink.
func (s send) Listed() bool { return s.sink != nil }

// Spec declares an outward effect with a rate limit and without a cache: the same
// words may be meant twice.
func (s send) Spec() tool.Spec {
	return tool.Spec{
		Name: name, Source: ir.Builtin,
		Description: "Send a message to a person or a room. It cannot be taken back, and the person of this session is asked first.",
		Parameters:  json.RawMessage(schema), Effect: tool.Outward, Category: "messaging", Version: "1",
		RateLimit: &ir.RateLimit{MaxCalls: 10, IntervalSecs: 60},
	}
}

// Effects declares nothing: who is reached, and by which host, is the sink's affair,
// so a call is judged as able to do everything. Without a sink nobody is asked.
func (s send) Effects(call tool.Call) (tool.Effects, error) {
	if s.sink == nil {
		return tool.Effects{}, unconfigured()
	}
	_, err := parse(call)
	return tool.Effects{}, err
}

func unconfigured() error {
	return wire.Fault(tool.Unsupported, "%s: messaging is not configured on this runtime — nothing was sent; tell the person of this session instead", name)
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	if err != nil {
		return in, err
	}
	for parameter, value := range map[string]string{"channel": in.Channel, "to": in.To, "body": in.Body} {
		if strings.TrimSpace(value) == "" {
			return in, wire.Bad("missing '%s' parameter", parameter)
		}
	}
	switch {
	case in.Kind != "direct" && in.Kind != "channel":
		return in, wire.Bad("parameter 'kind' must be direct or channel, not %q", in.Kind)
	case len(in.Body) > maxBody:
		return in, wire.Bad("the body is %d bytes, %d at most", len(in.Body), maxBody)
	}
	return in, nil
}

// Preview shows who would get which words.
func (s send) Preview(_ context.Context, call tool.Call, _ tool.Files) ([]ir.Block, error) {
	in, err := parse(call)
	if err != nil {
		return nil, err
	}
	return []ir.Block{{Kind: ir.BlockText, Title: fmt.Sprintf("%s message to %s by %s", in.Kind, in.To, in.Channel), Text: in.Body}}, nil
}

// Run sends. Nothing that a sink answers hands the call to another executor.
func (s send) Run(ctx context.Context, call tool.Call, _ tool.Env) (tool.Execution, error) {
	if s.sink == nil {
		return tool.Execution{}, unconfigured()
	}
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	if err := wire.Canceled(ctx.Err()); err != nil {
		return tool.Execution{}, err
	}
	key := in.Key
	if key == "" {
		key = strings.Join([]string{call.Session, string(call.Proposal), string(call.Action)}, "/")
	}
	receipt, err := s.sink.Send(ctx, tool.Message{Channel: in.Channel, Direct: in.Kind == "direct", To: in.To, Body: in.Body, Key: key})
	if err != nil {
		return tool.Execution{}, wire.Fault(tool.Failed, "%s: %v", name, err)
	}
	out, err := wire.Out(output{Channel: in.Channel, Kind: in.Kind, To: in.To, ID: receipt.ID, Duplicate: receipt.Duplicate})
	return tool.Execution{Output: out}, err
}
