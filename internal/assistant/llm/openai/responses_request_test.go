package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

func responsesBodyOf(t *testing.T, r llm.Request) string {
	t.Helper()
	b, err := encodeResponses(local, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A-LLM-6, A-CTX-5: the whole body, field by field; nothing is kept on the server.
func TestResponsesBody(t *testing.T) {
	t.Parallel()
	r := llm.Request{Model: "a", System: "Be <brief>.", MaxTokens: 99, Effort: llm.EffortMax, Cache: llm.Cache5m, SessionID: "s",
		Tools:      []llm.Tool{{Name: "read_file", Description: "Reads.", Parameters: json.RawMessage(`{"type": "object"}`)}, {Name: "now"}},
		ToolChoice: llm.ToolChoice{Mode: llm.ToolNamed, Name: "now"},
		Messages: []llm.Message{
			user(llm.TextPart("look"), llm.Part{Kind: llm.PartImage, Image: &llm.Image{MediaType: "image/png", Data: []byte("png"), Detail: "low"}}),
		}}
	want := `{"model":"a","stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":99,` +
		`"reasoning":{"effort":"high","summary":"auto"},"prompt_cache_key":"s","tool_choice":{"name":"now","type":"function"},"tools":[` +
		`{"type":"function","name":"read_file","description":"Reads.","parameters":{"type":"object"},"strict":false},` +
		`{"type":"function","name":"now","parameters":{"type":"object","properties":{}},"strict":false}],"instructions":"Be <brief>.",` +
		`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,cG5n","detail":"low"}]}]}`
	if diff := cmp.Diff(want, responsesBodyOf(t, r)); diff != "" {
		t.Error(diff)
	}
}

// A-LLM-3, P-STREAM-5, B059: encrypted reasoning goes back byte for byte before what
// it led to, to its model only, and never alone. P-WORK-2: each call has its output.
func TestResponsesReplay(t *testing.T) {
	t.Parallel()
	raw := `{"type":"reasoning", "id":"rs_1","encrypted_content":"c2Vh=="}`
	r := llm.Request{Model: "a", Messages: []llm.Message{
		user(llm.TextPart("go")),
		assistant(thought("a", raw), thought("b", `{"id":"other"}`), llm.TextPart("Reading."), call("t1c1", "call_1", `{"path":"x"}`), call("t1c2", "", `{"pa`), thought("a", `{"id":"rs_alone"}`)),
		user(result("t1c1", "one", llm.Image{MediaType: "image/png", Data: []byte("p")}), result("t1c2", "two")),
	}}
	_, got, _ := strings.Cut(responsesBodyOf(t, r), `"input":`)
	ids := llm.WireIDs(r.Messages, "local")
	want := `[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},` + strings.ReplaceAll(raw, ", ", ",") +
		`,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Reading."}]},` +
		`{"type":"function_call","call_id":"` + ids["t1c1"] + `","name":"read_file","arguments":"{\"path\":\"x\"}"},` +
		`{"type":"function_call","call_id":"` + ids["t1c2"] + `","name":"read_file","arguments":"{\"invalid_arguments\":\"{\\\"pa\"}"},` +
		`{"type":"function_call_output","call_id":"` + ids["t1c1"] + `","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/png;base64,cA==","detail":"auto"}]},` +
		`{"type":"function_call_output","call_id":"` + ids["t1c2"] + `","output":"two"}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A-LLM-6: OpenAI's own server is asked by Responses, every other by Chat, and who
// names a format gets it.
func TestWhichFormat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		base string
		api  API
		path string
	}{
		{"", Auto, "responses"}, {"https://api.openai.com/v1", Auto, "responses"}, {"http://127.0.0.1:11434/v1", Auto, "chat/completions"},
		{"", Chat, "chat/completions"}, {"http://127.0.0.1:1/v1", Responses, "responses"},
	} {
		p, err := New(Config{API: tc.api, Wire: wire.Config{BaseURL: tc.base}})
		if err != nil || p.dialect.path != tc.path {
			t.Errorf("%q by %s asks %q, %v; want %q", tc.base, tc.api, p.dialect.path, err, tc.path)
		}
	}
}
