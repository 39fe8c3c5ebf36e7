package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/llm"
)

func body(t *testing.T, s server, r llm.Request) string {
	t.Helper()
	b, err := encodeChat(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var local = server{name: "local"}

func messages(t *testing.T, r llm.Request) string {
	t.Helper()
	_, list, ok := strings.Cut(body(t, local, r), `"messages":`)
	if !ok {
		t.Fatal("no messages")
	}
	return strings.TrimSuffix(strings.TrimSuffix(list, "}"), "]")
}

func assistant(parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.Assistant, Parts: parts}
}

func user(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.User, Parts: parts} }

func call(id, providerID, args string) llm.Part {
	return llm.Part{Kind: llm.PartToolCall, Origin: llm.Origin{Provider: "local", Model: "a"},
		Call: &llm.ToolCall{ID: id, ProviderID: providerID, Name: "read_file", Arguments: args}}
}

func result(id, text string, images ...llm.Image) llm.Part {
	return llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: id, Text: text, Images: images}}
}

func thought(model, raw string) llm.Part {
	return llm.Part{Kind: llm.PartThinking, Text: "hm", Raw: raw, Origin: llm.Origin{Provider: "local", Model: model}}
}

// A-LLM-2, A-LLM-6: the whole body, field by field.
func TestChatBody(t *testing.T) {
	t.Parallel()
	r := llm.Request{Model: "a", System: "Be <brief>.", MaxTokens: 99, Effort: llm.EffortMax, Cache: llm.Cache5m, SessionID: "s",
		Tools:      []llm.Tool{{Name: "read_file", Description: "Reads.", Parameters: json.RawMessage(`{"type": "object"}`)}, {Name: "now"}},
		ToolChoice: llm.ToolChoice{Mode: llm.ToolNamed, Name: "now"},
		Messages: []llm.Message{
			user(llm.TextPart("look"), llm.Part{Kind: llm.PartImage, Image: &llm.Image{MediaType: "image/png", Data: []byte("png"), Detail: "low"}}),
			assistant(llm.TextPart("ok"), call("t1c1", "call_0", `{"path": "<a>"}`), call("t1c2", "call_0", "")),
			user(llm.TextPart("and"), result("t1c1", "one", llm.Image{URL: "https://h/s.png"}), result("t1c2", ""), llm.TextPart("quickly")),
			assistant(llm.TextPart("done")), user(llm.TextPart("thanks"), llm.TextPart("a lot")),
		}}
	ids := llm.WireIDs(r.Messages, "local")
	want := `{"model":"a","stream":true,"stream_options":{"include_usage":true},"max_tokens":99,"reasoning_effort":"high",` +
		`"tool_choice":{"function":{"name":"now"},"type":"function"},` +
		`"tools":[{"type":"function","function":{"name":"read_file","description":"Reads.","parameters":{"type":"object"}}},` +
		`{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}],"messages":[` +
		`{"role":"system","content":"Be <brief>."},` +
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n","detail":"low"}}]},` +
		`{"role":"assistant","content":"ok","tool_calls":[{"id":"call_0","type":"function","function":{"name":"read_file","arguments":"{\"path\": \"<a>\"}"}},` +
		`{"id":"` + ids["t1c2"] + `","type":"function","function":{"name":"read_file","arguments":"{}"}}]},` +
		`{"role":"tool","content":"one","tool_call_id":"call_0"},{"role":"tool","content":"","tool_call_id":"` + ids["t1c2"] + `"},` +
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://h/s.png"}},{"type":"text","text":"and"},{"type":"text","text":"quickly"}]},` +
		`{"role":"assistant","content":"done"},{"role":"user","content":"thanks\n\na lot"}]}`
	if diff := cmp.Diff(want, body(t, local, r)); diff != "" {
		t.Error(diff)
	}
	// A-CTX-5: the official server knows two fields that others refuse.
	official := body(t, server{name: "openai", official: true}, r)
	for _, field := range []string{`"max_completion_tokens":99`, `"prompt_cache_key":"s"`} {
		if !strings.Contains(official, field) || strings.Contains(official, `"max_tokens"`) {
			t.Errorf("to the official server: %s", official)
		}
	}
}

// Defaults are left to the server, and there is no choice without tools.
func TestChatBodyDefaults(t *testing.T) {
	t.Parallel()
	r := llm.Request{Model: "a", Messages: []llm.Message{llm.UserText("hi"), assistant(thought("b", `{"x":1}`))}, Effort: llm.EffortOff, ToolChoice: llm.ToolChoice{Mode: llm.ToolRequired}}
	want := `{"model":"a","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
	if diff := cmp.Diff(want, body(t, local, r)); diff != "" {
		t.Error(diff)
	}
	r.Tools = []llm.Tool{{Name: "x"}}
	for mode, want := range map[llm.ToolMode]string{llm.ToolNone: `"tool_choice":"none"`, llm.ToolRequired: `"tool_choice":"required"`} {
		r.ToolChoice.Mode = mode
		if got := body(t, local, r); !strings.Contains(got, want) {
			t.Errorf("%s is missing: %s", want, got)
		}
	}
}

// A-LLM-3, P-STREAM-5, B059: reasoning goes back under its own names to its own model; pieces of one are joined.
func TestChatReasoningGoesBack(t *testing.T) {
	t.Parallel()
	m := []llm.Message{llm.UserText("q"),
		assistant(thought("a", `{"reasoning_content":"a <b> "}`), call("t1c1", "c", "{}"), thought("a", `{"reasoning_content":"& é","reasoning_details":[{"signature":"x+/="}]}`),
			llm.Part{Kind: llm.PartThinking, Text: "for the eye", Origin: llm.Origin{Provider: "local", Model: "a"}}),
		user(result("t1c1", "r"))}
	got := messages(t, llm.Request{Model: "a", Messages: m})
	if !strings.Contains(got, `,"reasoning_content":"a <b> & é","reasoning_details":[{"signature":"x+/="}]}`) || strings.Contains(got, "for the eye") {
		t.Errorf("to its model: %s", got)
	}
	if got := messages(t, llm.Request{Model: "b", Messages: m}); strings.Contains(got, "reasoning") {
		t.Errorf("to another model: %s", got)
	}
	m[1].Parts[0].Raw = "{"
	if _, err := encodeChat(local, llm.Request{Model: "a", Messages: m}); err == nil {
		t.Error("a damaged part is sent")
	}
}

// A-CTX-4, B055: the messages of a request are a byte prefix of the next one's, broken arguments included.
func TestChatPrefixIsStable(t *testing.T) {
	t.Parallel()
	m := []llm.Message{llm.UserText("q")}
	last := messages(t, llm.Request{Model: "a", Messages: m})
	for n := range 8 {
		id := fmt.Sprintf("t1c%d", n)
		m = append(m, assistant(thought("a", `{"reasoning_content":"x"}`), call(id, "call_0", `{"b": "cut`)), user(result(id, "r")))
		next := messages(t, llm.Request{Model: "a", Messages: m})
		if !strings.HasPrefix(next, last) || !json.Valid([]byte(next+"]")) {
			t.Fatalf("step %d:\n%s\nis no prefix of\n%s", n, last, next)
		}
		last = next
	}
	if !strings.Contains(last, `"arguments":"{\"invalid_arguments\":`) {
		t.Error(last)
	}
}
