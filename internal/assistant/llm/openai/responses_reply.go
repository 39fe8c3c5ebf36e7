package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// responsesReply reads one stream or document of the Responses API into events.
type responsesReply struct {
	wire.Queue
	origin  llm.Origin
	started bool
	// calls are the calls in order of their items, by output_index.
	calls map[int]*responsesGrowing
	// told are the output items whose text or reasoning came in deltas already.
	told    map[int]bool
	opened  int
	refusal strings.Builder
	final   *responsesBody
}

// responsesGrowing is a call that is being streamed.
type responsesGrowing struct {
	wire int
	sent strings.Builder
}

func newResponsesReply(o llm.Origin) *responsesReply {
	return &responsesReply{origin: o, calls: map[int]*responsesGrowing{}, told: map[int]bool{}}
}

type responsesEvent struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response *responsesBody  `json:"response"`
	Error    json.RawMessage `json:"error"`
}

type responsesBody struct {
	Object string            `json:"object"`
	Status string            `json:"status"`
	Model  string            `json:"model"`
	Output []json.RawMessage `json:"output"`
	Usage  *responsesUsage   `json:"usage"`
	Error  json.RawMessage   `json:"error"`
	// Incomplete says why a reply is not whole.
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

type responsesUsage struct {
	Input        int64 `json:"input_tokens"`
	Output       int64 `json:"output_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

type responsesItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// Frame reads one event. Its type stands in the data; the name of the frame is the
// same word where there is one.
func (r *responsesReply) Frame(a *wire.Answer, f wire.Frame) (bool, error) {
	data := bytes.TrimSpace(f.Data)
	if len(data) == 0 || bytes.Equal(data, done) {
		return false, nil
	}
	var e responsesEvent
	if err := a.Decode(f, &e); err != nil {
		return false, err
	}
	if told := bytes.TrimSpace(e.Error); e.Type == "error" || len(told) > 0 && !bytes.Equal(told, []byte("null")) {
		return false, a.Failed(data)
	}
	return r.event(a, e)
}

func (r *responsesReply) event(a *wire.Answer, e responsesEvent) (bool, error) {
	if e.Type != "" {
		r.start(a, e.Response)
	}
	switch e.Type {
	case "response.output_text.delta":
		r.told[e.Index] = true
		r.text(e.Delta)
	case "response.refusal.delta":
		r.told[e.Index] = true
		r.refusal.WriteString(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.told[e.Index] = true
		r.think(e.Delta)
	case "response.output_item.added":
		return false, r.added(a, e.Index, e.Item)
	case "response.function_call_arguments.delta":
		r.arguments(e.Index, e.Delta)
	case "response.output_item.done":
		return false, r.item(a, e.Index, e.Item)
	case "response.completed", "response.incomplete":
		if e.Response == nil {
			return false, a.Malformed("the reply's last event holds no response")
		}
		r.final = e.Response
		return true, nil
	case "response.failed":
		return false, r.failed(a, e.Response)
	}
	return false, nil
}

// failed is a reply that the server gave up.
func (r *responsesReply) failed(a *wire.Answer, body *responsesBody) error {
	if body == nil || len(body.Error) == 0 {
		return a.Malformed("the reply failed and does not say why")
	}
	data, err := wire.Encode(map[string]json.RawMessage{"error": body.Error})
	if err != nil {
		return a.Malformed("the reply failed and does not say why")
	}
	return a.Failed(data)
}

// Document reads a reply that came whole, and an error that came with status 200.
func (r *responsesReply) Document(a *wire.Answer, data []byte) error {
	var body responsesBody
	if err := json.Unmarshal(data, &body); err != nil {
		return a.Malformed("the answer is not the JSON it should be")
	}
	if told := bytes.TrimSpace(body.Error); len(told) > 0 && !bytes.Equal(told, []byte("null")) {
		return a.Failed(data)
	}
	if body.Output == nil || body.Status == "" {
		return a.Malformed("the answer is no reply of a model; check base_url")
	}
	r.start(a, &body)
	for i, raw := range body.Output {
		if err := r.item(a, i, raw); err != nil {
			return err
		}
	}
	r.final = &body
	return nil
}

func (r *responsesReply) start(a *wire.Answer, body *responsesBody) {
	if r.started {
		return
	}
	r.started = true
	model := ""
	if body != nil {
		model = body.Model
	}
	r.Emit(llm.Started{Model: model, RequestID: a.RequestID()})
}

func (r *responsesReply) text(delta string) {
	if delta != "" {
		r.Emit(llm.Text{Delta: delta})
	}
}

func (r *responsesReply) think(delta string) {
	if delta != "" {
		r.Emit(llm.Thinking{Delta: delta})
	}
}

// added opens a call as soon as its name is known.
func (r *responsesReply) added(a *wire.Answer, index int, raw json.RawMessage) error {
	var i responsesItem
	if err := json.Unmarshal(raw, &i); err != nil {
		return a.Malformed("an item of the reply is not the JSON it should be")
	}
	if i.Type == "function_call" && i.Name != "" {
		r.call(index, i)
	}
	return nil
}

// call is the call of an item, opened when it is new.
func (r *responsesReply) call(index int, i responsesItem) *responsesGrowing {
	c := r.calls[index]
	if c == nil {
		c = &responsesGrowing{wire: r.opened}
		r.opened++
		r.calls[index] = c
		r.Emit(llm.ToolStart{Index: c.wire, ID: i.CallID, Name: i.Name})
	}
	return c
}

// arguments adds a fragment; one for a call that no item opened waits for the item,
// which has the whole of it.
func (r *responsesReply) arguments(index int, delta string) {
	if c := r.calls[index]; c != nil && delta != "" {
		c.sent.WriteString(delta)
		r.Emit(llm.ToolDelta{Index: c.wire, Fragment: delta})
	}
}

// item is a finished item: what of it did not come in pieces comes now, and what
// has to go back in later requests is kept byte for byte.
func (r *responsesReply) item(a *wire.Answer, index int, raw json.RawMessage) error {
	var i responsesItem
	if err := json.Unmarshal(raw, &i); err != nil {
		return a.Malformed("an item of the reply is not the JSON it should be")
	}
	switch i.Type {
	case "function_call":
		if i.Name == "" {
			return a.Malformed("the reply holds a tool call without a name")
		}
		c := r.call(index, i)
		if rest, ok := strings.CutPrefix(i.Arguments, c.sent.String()); ok {
			r.calls[index] = c
			r.arguments(index, rest)
		}
	case "message":
		for _, p := range i.Content {
			if !r.told[index] {
				r.text(p.Text)
				r.refusal.WriteString(p.Refusal)
			}
		}
	case "reasoning":
		r.reasoned(index, i, raw)
	default: // hosted tools and kinds yet to come belong to the server that made them
		r.Emit(llm.Item{Part: llm.Part{Kind: llm.PartOpaque, Raw: string(raw), Origin: r.origin}})
	}
	return nil
}

func (r *responsesReply) reasoned(index int, i responsesItem, raw json.RawMessage) {
	var shown []string
	for _, s := range i.Summary {
		shown = append(shown, s.Text)
	}
	for _, s := range i.Content {
		shown = append(shown, s.Text)
	}
	text := strings.Join(shown, "\n\n")
	if !r.told[index] {
		r.think(text)
	}
	r.Emit(llm.Item{Part: llm.Part{Kind: llm.PartThinking, Text: text, Raw: string(raw), Origin: r.origin}})
}

// End says how the reply ended. Only its last event makes it whole.
func (r *responsesReply) End(a *wire.Answer, cut error) error {
	if r.final == nil {
		if cut != nil {
			return cut
		}
		return a.Disconnected("the reply ended without response.completed")
	}
	if u := r.final.Usage; u != nil {
		cached := max(u.InputDetails.Cached, 0)
		r.Emit(llm.Usage{Input: max(u.Input-cached, 0), Output: max(u.Output, 0), CacheRead: cached, Reasoning: max(u.OutputDetails.Reasoning, 0)})
	}
	r.Emit(r.stop())
	return nil
}

var incompleteKinds = map[string]llm.StopKind{
	"max_output_tokens": llm.StopLength, "max_tokens": llm.StopLength, "content_filter": llm.StopRefusal,
}

// stop reads the status; one that is not known is no end.
func (r *responsesReply) stop() llm.Stop {
	s := llm.Stop{Raw: r.final.Status}
	switch r.final.Status {
	case "completed":
		s.Kind = llm.StopEnd
		if r.refusal.Len() > 0 {
			s.Kind, s.Detail = llm.StopRefusal, r.refusal.String()
		} else if r.opened > 0 {
			s.Kind = llm.StopToolUse
		}
	case "incomplete":
		if r.final.Incomplete != nil {
			s.Raw = r.final.Incomplete.Reason
			s.Kind = incompleteKinds[s.Raw]
		}
		if s.Kind == llm.StopRefusal {
			s.Detail = strings.TrimSpace(s.Raw + " " + r.refusal.String())
		}
	}
	return s
}
