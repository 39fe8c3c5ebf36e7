package anthropic

import (
	"encoding/json"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/llmtest"
	"car/internal/assistant/llm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A-LLM-1, A-LLM-5, P-STREAM: the whole suite over loopback HTTP.
func TestConformance(t *testing.T) {
	t.Parallel()
	llmtest.RunHTTP(t, format)
}

var format = llmtest.Wire{New: newTest, Frames: frames, Document: document, Refusal: refusal, ErrorFrame: errorFrame}

func newTest(t *testing.T, base string, change func(*wire.Config)) llm.Provider {
	t.Helper()
	c := Config{Wire: wire.Config{BaseURL: base}}
	if change != nil {
		change(&c.Wire)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encoded(v any) json.RawMessage {
	b, err := wire.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

func frame(kind string, fields map[string]any) []byte {
	fields["type"] = kind
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, encoded(fields))
}

var reasons = map[llm.StopKind]string{llm.StopEnd: "end_turn", llm.StopToolUse: "tool_use", llm.StopLength: "max_tokens",
	llm.StopRefusal: "refusal", llm.StopPause: "pause_turn", llm.StopContext: "model_context_window_exceeded"}

func usage(r llmtest.Reply) map[string]any {
	if r.Usage == nil {
		return map[string]any{"input_tokens": 1, "output_tokens": 1}
	}
	return map[string]any{"input_tokens": r.Usage.Input, "output_tokens": r.Usage.Output,
		"cache_read_input_tokens": r.Usage.CacheRead, "cache_creation_input_tokens": r.Usage.CacheWrite}
}

func frames(r llmtest.Reply) [][]byte {
	list := [][]byte{
		frame("message_start", map[string]any{"message": map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "served-model",
			"content": []any{}, "stop_reason": nil, "usage": map[string]any{"input_tokens": 3, "output_tokens": 1}}}),
		frame("ping", map[string]any{}),
	}
	index := 0
	add := func(start map[string]any, deltas ...map[string]any) {
		list = append(list, frame("content_block_start", map[string]any{"index": index, "content_block": start}))
		for _, d := range deltas {
			list = append(list, frame("content_block_delta", map[string]any{"index": index, "delta": d}))
		}
		list = append(list, frame("content_block_stop", map[string]any{"index": index}))
		index++
	}
	deltas := func(kind, field string, pieces []string) (list []map[string]any) {
		for _, p := range pieces {
			list = append(list, map[string]any{"type": kind, field: p})
		}
		return list
	}
	if r.Thinking != "" {
		add(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			append(deltas("thinking_delta", "thinking", r.Pieces(r.Thinking)), deltas("signature_delta", "signature", []string{"c2ln", "bg=="})...)...)
	}
	if r.Text != "" {
		add(map[string]any{"type": "text", "text": ""}, deltas("text_delta", "text", r.Pieces(r.Text))...)
	}
	for _, c := range r.Calls {
		add(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}, deltas("input_json_delta", "partial_json", r.Pieces(c.Args))...)
	}
	return append(list,
		frame("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reasons[r.StopKind()], "stop_sequence": nil}, "usage": usage(r)}),
		frame("message_stop", map[string]any{}))
}

func document(r llmtest.Reply) []byte {
	content := []any{}
	if r.Thinking != "" {
		content = append(content, map[string]any{"type": "thinking", "thinking": r.Thinking, "signature": "c2lnbg=="})
	}
	if r.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": r.Text})
	}
	for _, c := range r.Calls {
		input := json.RawMessage(c.Args)
		if c.Args == "" {
			input = json.RawMessage("{}")
		}
		if !json.Valid(input) { // a server can only send broken arguments as text
			input = encoded(c.Args)
		}
		content = append(content, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input})
	}
	return encoded(map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "served-model", "content": content,
		"stop_reason": reasons[r.StopKind()], "usage": usage(r)})
}

var failures = map[llm.ErrorKind]struct {
	status        int
	kind, message string
}{
	llm.KindAuth: {401, "authentication_error", "invalid x-api-key"}, llm.KindPayment: {402, "billing_error", "no credit"},
	llm.KindForbidden: {403, "permission_error", "not yours"}, llm.KindModelNotFound: {404, "not_found_error", "model: x"},
	llm.KindInvalid: {400, "invalid_request_error", "messages: required"}, llm.KindContext: {400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"},
	llm.KindRefused: {400, "content_policy_violation", "no"}, llm.KindRateLimited: {429, "rate_limit_error", "slow down"},
	llm.KindServer: {500, "api_error", "internal"}, llm.KindOverloaded: {529, "overloaded_error", "overloaded"},
}

func refusal(k llm.ErrorKind) (int, []byte) {
	f := failures[k]
	return f.status, encoded(map[string]any{"type": "error", "error": map[string]any{"type": f.kind, "message": f.message}, "request_id": "req_1"})
}

func errorFrame(k llm.ErrorKind) []byte {
	return frame("error", map[string]any{"error": map[string]any{"type": failures[k].kind, "message": failures[k].message}})
}
