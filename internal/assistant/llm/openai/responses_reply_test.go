package openai

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/llmtest"
)

func playResponses(t *testing.T, frames ...[]byte) llmtest.Outcome {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = rw.Write(bytes.Join(frames, nil))
	}))
	t.Cleanup(srv.Close)
	o, err := llmtest.Observe(t.Context(), newResponsesTest(t, srv.URL, nil), llmtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// B051, A-LLM-6: replies of odd shapes. An incomplete one is no finished turn, a
// status that nobody knows is no end, whole items count where no delta came.
func TestResponsesShapes(t *testing.T) {
	t.Parallel()
	whole := func(item map[string]any) []byte {
		return event("response.output_item.done", map[string]any{"output_index": 0, "item": item})
	}
	end := func(status, reason string) []byte {
		r := map[string]any{"model": "m", "status": status, "output": []any{}}
		if reason != "" {
			r["incomplete_details"] = map[string]any{"reason": reason}
		}
		return event("response.completed", map[string]any{"response": r})
	}
	read := llmtest.Call{ID: "c1", Name: "read_file", Args: `{"path":"a"}`}
	for name, tc := range map[string]struct {
		frames [][]byte
		kind   llm.StopKind
		raw    string
		text   string
		calls  int
	}{
		"items without deltas":      {[][]byte{whole(messageItem("hello")), end("completed", "")}, llm.StopEnd, "completed", "hello", 0},
		"a call without deltas":     {[][]byte{whole(callItem(read, read.Args)), end("completed", "")}, llm.StopToolUse, "completed", "", 1},
		"filtered":                  {[][]byte{end("incomplete", "content_filter")}, llm.StopRefusal, "content_filter", "", 0},
		"refused":                   {[][]byte{event("response.refusal.delta", map[string]any{"delta": "no"}), end("completed", "")}, llm.StopRefusal, "completed", "", 0},
		"an unknown reason":         {[][]byte{whole(messageItem("hello")), end("incomplete", "tired")}, llm.StopOther, "tired", "hello", 0},
		"an unknown status":         {[][]byte{end("queued", "")}, llm.StopOther, "queued", "", 0},
		"an item of another kind":   {[][]byte{whole(map[string]any{"type": "web_search_call", "id": "w"}), whole(messageItem("x")), end("completed", "")}, llm.StopEnd, "completed", "x", 0},
		"arguments before the item": {[][]byte{event("response.function_call_arguments.delta", map[string]any{"output_index": 0, "delta": `{"pa`}), whole(callItem(read, read.Args)), end("completed", "")}, llm.StopToolUse, "completed", "", 1},
	} {
		o := playResponses(t, tc.frames...)
		if o.Err != nil || o.Reply.Stop.Kind != tc.kind || o.Reply.Stop.Raw != tc.raw || o.Reply.Message.Text() != tc.text || len(o.Reply.Message.Calls()) != tc.calls {
			t.Errorf("%s: %v %+v", name, o.Err, o.Reply)
		}
		if tc.calls == 1 && o.Reply.Message.Calls()[0].Arguments != read.Args {
			t.Errorf("%s: arguments %q", name, o.Reply.Message.Calls()[0].Arguments)
		}
	}
}

// A-LLM-4: errors inside of a stream with status 200 keep their kind, whatever the shape.
func TestResponsesErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		frame []byte
		kind  llm.ErrorKind
		again bool
	}{
		"flat":           {[]byte("data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}\n\n"), llm.KindRateLimited, true},
		"nested":         {[]byte("data: {\"type\":\"error\",\"error\":{\"code\":\"server_error\",\"message\":\"oh\"}}\n\n"), llm.KindServer, true},
		"failed":         {responsesErrorFrame(llm.KindContext), llm.KindContext, false},
		"spent":          {event("response.failed", map[string]any{"response": map[string]any{"error": map[string]any{"code": "insufficient_quota", "message": "spent"}}}), llm.KindRateLimited, false},
		"no reason":      {event("response.failed", map[string]any{"response": map[string]any{}}), llm.KindMalformed, false},
		"no response":    {event("response.completed", nil), llm.KindMalformed, false},
		"a broken item":  {event("response.output_item.done", map[string]any{"item": "text"}), llm.KindMalformed, false},
		"a nameless one": {event("response.output_item.done", map[string]any{"item": map[string]any{"type": "function_call", "call_id": "c"}}), llm.KindMalformed, false},
		"only [DONE]":    {fmt.Appendf(nil, "data: [DONE]\n\n"), llm.KindDisconnected, true},
	} {
		o := playResponses(t, event("response.created", nil), tc.frame)
		if o.Err == nil || o.Err.Kind != tc.kind || o.Err.Kind != llm.KindMalformed && o.Err.Retryable() != tc.again {
			t.Errorf("%s: %+v", name, o.Err)
		}
	}
}
