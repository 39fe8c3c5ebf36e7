package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// reply reads one stream or document into events.
type reply struct {
	wire.Queue
	origin  llm.Origin
	started bool
	open    map[int]*openBlock
	calls   int
	usage   llm.Usage
	reason  string
	detail  string
	ended   bool // message_stop came
}

func newReply(o llm.Origin) *reply { return &reply{origin: o, open: map[int]*openBlock{}} }

// event is the union of the stream's events.
type event struct {
	Type         string          `json:"type"`
	Message      *envelope       `json:"message"`
	Index        int             `json:"index"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        *tokens         `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

// envelope is a message: the start of a stream, or a whole document.
type envelope struct {
	Type        string            `json:"type"`
	ID          string            `json:"id"`
	Model       string            `json:"model"`
	Content     []json.RawMessage `json:"content"`
	StopReason  string            `json:"stop_reason"`
	StopDetails *stopDetails      `json:"stop_details"`
	Usage       *tokens           `json:"usage"`
	Error       json.RawMessage   `json:"error"`
}

type delta struct {
	Type        string       `json:"type"`
	Text        string       `json:"text"`
	Thinking    string       `json:"thinking"`
	Signature   string       `json:"signature"`
	PartialJSON string       `json:"partial_json"`
	StopReason  string       `json:"stop_reason"`
	StopDetails *stopDetails `json:"stop_details"`
}

type stopDetails struct {
	Category    string `json:"category"`
	Explanation string `json:"explanation"`
}

// tokens are cumulative; a field that is absent keeps its last value.
type tokens struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

// Frame reads one event. A frame is known by the type in its data, or by the name
// before it where a proxy left the type out.
func (r *reply) Frame(a *wire.Answer, f wire.Frame) (bool, error) {
	var e event
	if err := a.Decode(f, &e); err != nil {
		return false, err
	}
	if e.Type == "" {
		e.Type = f.Name
	}
	if e.Type == "error" || len(e.Error) > 0 && !bytes.Equal(e.Error, []byte("null")) {
		return false, a.Failed(f.Data)
	}
	switch e.Type {
	case "message_start":
		r.start(a, e.Message)
	case "content_block_start":
		return false, r.openBlock(a, e.Index, e.ContentBlock)
	case "content_block_delta":
		return false, r.grow(a, e.Index, e.Delta)
	case "content_block_stop":
		return false, r.closeBlock(a, e.Index)
	case "message_delta":
		r.stopping(e.Delta.StopReason, e.Delta.StopDetails)
		r.charge(e.Usage)
	case "message_stop":
		r.ended = true
		return true, r.closeAll(a)
	}
	return false, nil
}

// Document reads a message that came whole.
func (r *reply) Document(a *wire.Answer, data []byte) error {
	var m envelope
	if err := json.Unmarshal(data, &m); err != nil {
		return a.Malformed("the answer is not the JSON it should be")
	}
	if m.Type == "error" || len(m.Error) > 0 && !bytes.Equal(m.Error, []byte("null")) {
		return a.Failed(data)
	}
	if m.Type != "message" && m.StopReason == "" {
		return a.Malformed("the answer is no message of a model; check base_url")
	}
	r.start(a, &envelope{ID: m.ID, Model: m.Model})
	for i, raw := range m.Content {
		if err := r.openBlock(a, i, raw); err != nil {
			return err
		}
		if err := r.closeBlock(a, i); err != nil {
			return err
		}
	}
	r.stopping(m.StopReason, m.StopDetails)
	r.charge(m.Usage)
	r.ended = true
	return nil
}

// End says how the reply ended: whole only with message_stop and a reason (P-STREAM-1).
func (r *reply) End(a *wire.Answer, cut error) error {
	switch {
	case cut != nil && !r.ended:
		return cut
	case !r.ended:
		return a.Disconnected("the reply ended without message_stop")
	case r.reason == "":
		return a.Disconnected("the reply ended without a stop reason")
	}
	r.begin(a, "")
	r.Emit(llm.Stop{Kind: r.stopKind(), Raw: r.reason, Detail: r.detail})
	return nil
}

var stopKinds = map[string]llm.StopKind{
	"end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd, "tool_use": llm.StopEnd,
	"max_tokens": llm.StopLength, "refusal": llm.StopRefusal, "pause_turn": llm.StopPause,
	"model_context_window_exceeded": llm.StopContext,
}

func (r *reply) stopKind() llm.StopKind {
	kind := stopKinds[r.reason]
	if kind == llm.StopEnd && r.calls > 0 {
		return llm.StopToolUse
	}
	return kind
}

func (r *reply) start(a *wire.Answer, m *envelope) {
	if m == nil {
		m = &envelope{}
	}
	r.begin(a, m.Model)
	r.charge(m.Usage)
}

// begin emits Started once.
func (r *reply) begin(a *wire.Answer, model string) {
	if !r.started {
		r.started = true
		r.Emit(llm.Started{Model: model, RequestID: a.RequestID()})
	}
}

func (r *reply) stopping(reason string, d *stopDetails) {
	if reason != "" {
		r.reason = reason
	}
	if d != nil {
		r.detail = strings.TrimSpace(d.Category + " " + d.Explanation)
	}
}

func (r *reply) charge(t *tokens) {
	if t == nil {
		return
	}
	for _, f := range []struct{ from, to *int64 }{{t.Input, &r.usage.Input}, {t.Output, &r.usage.Output},
		{t.CacheRead, &r.usage.CacheRead}, {t.CacheWrite, &r.usage.CacheWrite}} {
		if f.from != nil && *f.from >= 0 {
			*f.to = *f.from
		}
	}
	r.Emit(r.usage)
}

// closeAll closes what the server left open.
func (r *reply) closeAll(a *wire.Answer) error {
	indexes := make([]int, 0, len(r.open))
	for i := range r.open {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	for _, i := range indexes {
		if err := r.closeBlock(a, i); err != nil {
			return err
		}
	}
	return nil
}
