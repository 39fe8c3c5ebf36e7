package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// chatReply reads one stream or document into events.
type chatReply struct {
	wire.Queue
	origin    llm.Origin
	started   bool
	calls     chatCalls
	think     thinkSplitter
	thought   strings.Builder // of a <think> block, not yet an item
	reasoning reasoning
	usage     *chatUsage
	finish    string
	finished  bool // a finish reason or [DONE] came
	refusal   strings.Builder
}

func newChatReply(o llm.Origin) *chatReply { return &chatReply{origin: o} }

type chatChunk struct {
	Model   string          `json:"model"`
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type chatChoice struct {
	Index        int        `json:"index"`
	Delta        *chatDelta `json:"delta"`
	Message      *chatDelta `json:"message"`
	FinishReason string     `json:"finish_reason"`
}

type chatDelta struct {
	Content          text            `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent text            `json:"reasoning_content"`
	Reasoning        text            `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

// text is a string, or a list of parts whose text is joined; some servers send lists.
type text string

// UnmarshalJSON reads either form and takes everything else for nothing.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(b, &parts) == nil {
		for _, p := range parts {
			*t += text(p.Text)
		}
	}
	return nil
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// CacheHit is DeepSeek's word for cached tokens, Cost is OpenRouter's price in dollars.
	CacheHit int64    `json:"prompt_cache_hit_tokens"`
	Cost     *float64 `json:"cost"`
}

// event subtracts the cached part from the input, which the API counts as part of it (A-LLM-12).
func (u chatUsage) event() llm.Usage {
	cached := max(u.Details.Cached, u.CacheHit, 0)
	e := llm.Usage{Input: max(u.Prompt-cached, 0), Output: max(u.Completion, 0), CacheRead: cached, Reasoning: max(u.CompletionDetails.Reasoning, 0)}
	if u.Cost != nil && *u.Cost >= 0 && *u.Cost < 1e9 {
		micros := int64(math.Ceil(*u.Cost * 1e6))
		e.CostMicros = &micros
	}
	return e
}

var done = []byte("[DONE]")

// Frame reads one event.
func (r *chatReply) Frame(a *wire.Answer, f wire.Frame) (bool, error) {
	data := bytes.TrimSpace(f.Data)
	if bytes.Equal(data, done) {
		r.finished = true
		return true, nil
	}
	if len(data) == 0 {
		return false, nil
	}
	var chunk chatChunk
	if err := a.Decode(f, &chunk); err != nil {
		if f.Name == "error" && !f.Cut {
			return false, a.Failed(quote(data))
		}
		return false, err
	}
	if isError(f.Name, chunk) {
		return false, a.Failed(f.Data)
	}
	return false, r.chunk(a, chunk)
}

// isError knows "error": null for what it is.
func isError(name string, c chatChunk) bool {
	told := bytes.TrimSpace(c.Error)
	return len(told) > 0 && !bytes.Equal(told, []byte("null")) || name == "error" && len(c.Choices) == 0
}

// quote makes an error body of a text that is not JSON.
func quote(text []byte) []byte {
	body, err := wire.Encode(map[string]string{"error": string(text)})
	if err != nil {
		return nil
	}
	return body
}

// Document reads a reply that came whole, and an error that came with status 200.
func (r *chatReply) Document(a *wire.Answer, data []byte) error {
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return a.Malformed("the answer is not the JSON it should be")
	}
	if isError("", chunk) {
		return a.Failed(data)
	}
	if len(chunk.Choices) == 0 {
		return a.Malformed("the answer is no reply of a model; check base_url")
	}
	return r.chunk(a, chunk)
}

func (r *chatReply) chunk(a *wire.Answer, c chatChunk) error {
	if !r.started {
		r.started = true
		r.Emit(llm.Started{Model: c.Model, RequestID: a.RequestID()})
	}
	if c.Usage != nil {
		r.usage = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*chatDelta{choice.Delta, choice.Message} {
			if d != nil {
				r.delta(*d)
			}
		}
		if choice.FinishReason == "error" {
			return &llm.Error{Kind: llm.KindServer, Provider: r.origin.Provider, Status: 200, RequestID: a.RequestID(), Message: "the model's server broke off the reply"}
		}
		if choice.FinishReason != "" {
			r.finish, r.finished = choice.FinishReason, true
		}
	}
	return nil
}

func (r *chatReply) delta(d chatDelta) {
	if thinking := r.reasoning.add(d); thinking != "" {
		r.Emit(llm.Thinking{Delta: thinking})
	}
	r.refusal.WriteString(d.Refusal)
	if d.Content != "" {
		r.say(r.think.split(string(d.Content)))
	}
	for _, piece := range d.ToolCalls {
		r.say(r.think.rest())
		r.closeThought()
		r.calls.add(piece, r.Emit)
	}
}

// say emits what the splitter made of the text, and closes a <think> block that is over.
func (r *chatReply) say(thinking, text string) {
	if thinking != "" {
		r.thought.WriteString(thinking)
		r.Emit(llm.Thinking{Delta: thinking})
	}
	if text != "" {
		r.closeThought()
		r.Emit(llm.Text{Delta: text})
	}
}

// closeThought keeps the reasoning that something else follows. A <think> block is
// for the eye only; it has no form to go back in.
func (r *chatReply) closeThought() {
	if part, ok := r.reasoning.take(r.origin); ok {
		r.Emit(llm.Item{Part: part})
	}
	if r.thought.Len() > 0 {
		r.Emit(llm.Item{Part: llm.Part{Kind: llm.PartThinking, Text: r.thought.String(), Origin: r.origin}})
		r.thought.Reset()
	}
}

// End says how the reply ended. With a finish reason it is whole, whatever became
// of the connection afterwards (A-LLM-6).
func (r *chatReply) End(a *wire.Answer, cut error) error {
	var e *llm.Error
	if cut != nil && (!r.finished || errors.As(cut, &e) && e.Kind == llm.KindCanceled) {
		return cut
	}
	if !r.finished || !r.started {
		return a.Disconnected("the reply ended without [DONE] and without a finish reason")
	}
	if r.calls.nameless() {
		return a.Malformed("the reply holds a tool call without a name")
	}
	r.say(r.think.rest())
	r.closeThought()
	if r.usage != nil {
		r.Emit(r.usage.event())
	}
	r.Emit(r.stop())
	return nil
}

var stopKinds = map[string]llm.StopKind{
	"": llm.StopEnd, "stop": llm.StopEnd, "end_turn": llm.StopEnd, "eos": llm.StopEnd, "eos_token": llm.StopEnd, "stop_sequence": llm.StopEnd,
	"tool_calls": llm.StopEnd, "function_call": llm.StopEnd, "tool_use": llm.StopEnd,
	"length": llm.StopLength, "max_tokens": llm.StopLength, "content_filter": llm.StopRefusal, "model_length": llm.StopContext,
}

func (r *chatReply) stop() llm.Stop {
	s := llm.Stop{Kind: stopKinds[r.finish], Raw: r.finish}
	switch {
	case s.Kind == llm.StopEnd && r.refusal.Len() > 0:
		s.Kind, s.Detail = llm.StopRefusal, r.refusal.String()
	case s.Kind == llm.StopRefusal:
		s.Detail = strings.TrimSpace(r.finish + " " + r.refusal.String())
	case s.Kind == llm.StopEnd && r.calls.opened > 0:
		s.Kind = llm.StopToolUse
	}
	return s
}
