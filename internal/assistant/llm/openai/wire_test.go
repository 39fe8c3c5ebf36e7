package openai

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

// A-LLM-1, A-LLM-6, P-STREAM: the whole suite over loopback HTTP.
func TestConformanceChat(t *testing.T) {
	t.Parallel()
	// With a finish reason a reply is whole; usage and [DONE] may be missing. Cutting
	// them off would lose the usage that the suite looks at, not the reply.
	llmtest.RunHTTP(t, llmtest.Wire{New: newTest, Frames: chatFrames, Terminal: 2, Document: chatDocument, Refusal: refusal, ErrorFrame: errorFrame})
}

func newTest(t *testing.T, base string, change func(*wire.Config)) llm.Provider {
	t.Helper()
	c := Config{Wire: wire.Config{BaseURL: base + "/v1"}}
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

func frame(v any) []byte { return fmt.Appendf(nil, "data: %s\n\n", encoded(v)) }

func chunk(delta map[string]any, finish any) []byte {
	return frame(map[string]any{"id": "c1", "object": "chat.completion.chunk", "model": "served-model",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

var finishes = map[llm.StopKind]string{llm.StopEnd: "stop", llm.StopToolUse: "tool_calls", llm.StopLength: "length", llm.StopRefusal: "content_filter"}

func usage(r llmtest.Reply) map[string]any {
	if r.Usage == nil {
		return map[string]any{"prompt_tokens": 1, "completion_tokens": 1}
	}
	return map[string]any{"prompt_tokens": r.Usage.Input + r.Usage.CacheRead, "completion_tokens": r.Usage.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": r.Usage.CacheRead}}
}

func chatFrames(r llmtest.Reply) [][]byte {
	list := [][]byte{chunk(map[string]any{"role": "assistant", "content": ""}, nil)}
	for _, p := range r.Pieces(r.Thinking) {
		list = append(list, chunk(map[string]any{"reasoning_content": p}, nil))
	}
	for _, p := range r.Pieces(r.Text) {
		list = append(list, chunk(map[string]any{"content": p}, nil))
	}
	for i, c := range r.Calls {
		call := func(fields map[string]any) {
			fields["index"] = i
			list = append(list, chunk(map[string]any{"tool_calls": []any{fields}}, nil))
		}
		call(map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}})
		for _, p := range r.Pieces(c.Args) {
			call(map[string]any{"function": map[string]any{"arguments": p}})
		}
	}
	return append(list, chunk(map[string]any{}, finishes[r.StopKind()]),
		frame(map[string]any{"id": "c1", "choices": []any{}, "usage": usage(r)}), []byte("data: [DONE]\n\n"))
}

func chatDocument(r llmtest.Reply) []byte {
	message := map[string]any{"role": "assistant", "content": r.Text}
	if r.Thinking != "" {
		message["reasoning_content"] = r.Thinking
	}
	var calls []any
	for _, c := range r.Calls {
		calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Args}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return encoded(map[string]any{"id": "c1", "object": "chat.completion", "model": "served-model", "usage": usage(r),
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finishes[r.StopKind()]}}})
}

var failures = map[llm.ErrorKind]struct {
	status        int
	kind, message string
	code          any
}{
	llm.KindAuth: {401, "invalid_request_error", "wrong key", "invalid_api_key"}, llm.KindPayment: {402, "insufficient_credits", "no credit", nil},
	llm.KindForbidden: {403, "permission_denied", "not yours", nil}, llm.KindModelNotFound: {404, "invalid_request_error", "no model x", "model_not_found"},
	llm.KindInvalid: {400, "invalid_request_error", "messages: required", nil}, llm.KindContext: {400, "invalid_request_error", "too long", "context_length_exceeded"},
	llm.KindRefused: {400, "invalid_request_error", "no", "content_policy_violation"}, llm.KindRateLimited: {429, "requests", "slow down", "rate_limit_exceeded"},
	llm.KindServer: {500, "server_error", "internal", nil}, llm.KindOverloaded: {503, "overloaded", "overloaded", nil},
}

func refusal(k llm.ErrorKind) (int, []byte) {
	f := failures[k]
	return f.status, encoded(map[string]any{"error": map[string]any{"type": f.kind, "message": f.message, "code": f.code, "param": nil}})
}

func errorFrame(k llm.ErrorKind) []byte {
	_, body := refusal(k)
	return fmt.Appendf(nil, "data: %s\n\n", body)
}
