package openai

import (
	"fmt"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/llmtest"
	"car/internal/assistant/llm/wire"
)

// A-LLM-1, A-LLM-6, P-STREAM: the Responses format passes the whole suite over
// loopback HTTP.
func TestConformanceResponses(t *testing.T) {
	t.Parallel()
	llmtest.RunHTTP(t, llmtest.Wire{New: newResponsesTest, Frames: responsesFrames, Document: responsesDocument, Refusal: refusal, ErrorFrame: responsesErrorFrame})
}

func newResponsesTest(t *testing.T, base string, change func(*wire.Config)) llm.Provider {
	t.Helper()
	c := Config{API: Responses, Wire: wire.Config{BaseURL: base + "/v1"}}
	if change != nil {
		change(&c.Wire)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func event(kind string, fields map[string]any) []byte {
	all := map[string]any{"type": kind, "error": nil}
	for k, v := range fields {
		all[k] = v
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, encoded(all))
}

func reasoningItem(text string) map[string]any {
	return map[string]any{"type": "reasoning", "id": "rs_1", "encrypted_content": "c2VhbGVk", "summary": []any{map[string]any{"type": "summary_text", "text": text}}}
}

func messageItem(text string) map[string]any {
	return map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": text}}}
}

func callItem(c llmtest.Call, args string) map[string]any {
	return map[string]any{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": args}
}

func responseOf(r llmtest.Reply, output []any) map[string]any {
	body := map[string]any{"id": "resp_1", "object": "response", "model": "served-model", "status": "completed", "error": nil, "output": output}
	u := llm.Usage{Input: 1, Output: 1}
	if r.Usage != nil {
		u = *r.Usage
	}
	body["usage"] = map[string]any{"input_tokens": u.Input + u.CacheRead, "output_tokens": u.Output, "input_tokens_details": map[string]any{"cached_tokens": u.CacheRead}}
	switch r.StopKind() {
	case llm.StopLength:
		body["status"], body["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	case llm.StopRefusal:
		body["status"], body["incomplete_details"] = "incomplete", map[string]any{"reason": "content_filter"}
	}
	return body
}

func responsesFrames(r llmtest.Reply) [][]byte {
	list := [][]byte{event("response.created", map[string]any{"response": map[string]any{"model": "served-model", "status": "in_progress"}})}
	index := 0
	add := func(kind string, fields map[string]any) {
		fields["output_index"] = index
		list = append(list, event(kind, fields))
	}
	if r.Thinking != "" {
		for _, p := range r.Pieces(r.Thinking) {
			add("response.reasoning_summary_text.delta", map[string]any{"delta": p})
		}
		add("response.output_item.done", map[string]any{"item": reasoningItem(r.Thinking)})
		index++
	}
	if r.Text != "" {
		for _, p := range r.Pieces(r.Text) {
			add("response.output_text.delta", map[string]any{"delta": p})
		}
		add("response.output_item.done", map[string]any{"item": messageItem(r.Text)})
		index++
	}
	for _, c := range r.Calls {
		add("response.output_item.added", map[string]any{"item": callItem(c, "")})
		for _, p := range r.Pieces(c.Args) {
			add("response.function_call_arguments.delta", map[string]any{"delta": p})
		}
		add("response.output_item.done", map[string]any{"item": callItem(c, c.Args)})
		index++
	}
	final := "response.completed"
	if k := r.StopKind(); k == llm.StopLength || k == llm.StopRefusal {
		final = "response.incomplete"
	}
	return append(list, event(final, map[string]any{"response": responseOf(r, []any{})}))
}

func responsesDocument(r llmtest.Reply) []byte {
	output := []any{}
	if r.Thinking != "" {
		output = append(output, reasoningItem(r.Thinking))
	}
	if r.Text != "" {
		output = append(output, messageItem(r.Text))
	}
	for _, c := range r.Calls {
		output = append(output, callItem(c, c.Args))
	}
	return encoded(responseOf(r, output))
}

func responsesErrorFrame(k llm.ErrorKind) []byte {
	f := failures[k]
	code := f.code
	if code == nil {
		code = f.kind
	}
	return event("response.failed", map[string]any{"response": map[string]any{"status": "failed", "error": map[string]any{"code": code, "message": f.message}}})
}
