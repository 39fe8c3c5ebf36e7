package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/llm"
)

const me = "anthropic"

func body(t *testing.T, r llm.Request) string {
	t.Helper()
	b, err := encode(me, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// messages is the messages of a body, markers aside.
func messages(t *testing.T, r llm.Request) string {
	t.Helper()
	r.Cache = llm.CacheOff
	_, list, ok := strings.Cut(body(t, r), `"messages":`)
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
	return llm.Part{Kind: llm.PartToolCall, Origin: llm.Origin{Provider: me, Model: "a"},
		Call: &llm.ToolCall{ID: id, ProviderID: providerID, Name: "read_file", Arguments: args}}
}

func result(id, text string) llm.Part {
	return llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: id, Text: text}}
}

func thought(model, raw string) llm.Part {
	return llm.Part{Kind: llm.PartThinking, Text: "hm", Raw: raw, Origin: llm.Origin{Provider: me, Model: model}}
}

// A-LLM-2, A-LLM-5: the whole body, field by field.
func TestBody(t *testing.T) {
	t.Parallel()
	r := llm.Request{Model: "a", System: "Be <brief>.", MaxTokens: 99, Effort: llm.EffortHigh,
		Tools:      []llm.Tool{{Name: "read_file", Description: "Reads.", Parameters: json.RawMessage(`{"type": "object"}`)}, {Name: "now"}},
		ToolChoice: llm.ToolChoice{Mode: llm.ToolRequired},
		Messages: []llm.Message{
			user(llm.TextPart("look"), llm.Part{Kind: llm.PartImage, Image: &llm.Image{MediaType: "image/png", Data: []byte("png")}},
				llm.Part{Kind: llm.PartImage, Image: &llm.Image{URL: "https://h/i.png"}}),
			assistant(llm.TextPart("ok"), call("t1c1", "toolu_1", `{"path": "<a>"}`), call("t1c2", "toolu_1", "")),
			user(llm.TextPart("and quickly"), result("t1c2", "two"),
				llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "t1c1", Text: "one", IsError: true, Images: []llm.Image{{URL: "https://h/s.png"}}}}),
		}}
	ids := llm.WireIDs(r.Messages, me)
	want := `{"model":"a","max_tokens":99,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"},` +
		`"tool_choice":{"type":"any"},` +
		`"tools":[{"name":"read_file","description":"Reads.","input_schema":{"type":"object"}},{"name":"now","input_schema":{"type":"object","properties":{}}}],` +
		`"system":[{"type":"text","text":"Be <brief>."}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},` +
		`{"type":"image","source":{"type":"url","url":"https://h/i.png"}}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path":"<a>"}},` +
		`{"type":"tool_use","id":"` + ids["t1c2"] + `","name":"read_file","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + ids["t1c2"] + `","content":"two"},` +
		`{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"url","url":"https://h/s.png"}}],"is_error":true},` +
		`{"type":"text","text":"and quickly"}]}]}`
	if diff := cmp.Diff(want, body(t, r)); diff != "" {
		t.Error(diff)
	}
}

// Defaults: a number of tokens is always sent, nothing is thought unless asked for, no choice without tools.
func TestBodyDefaults(t *testing.T) {
	t.Parallel()
	r := llm.Request{Model: "a", Messages: []llm.Message{llm.UserText("hi")}, ToolChoice: llm.ToolChoice{Mode: llm.ToolNone}, Effort: llm.EffortOff}
	want := fmt.Sprintf(`{"model":"a","max_tokens":%d,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`, defaultMaxTokens)
	if diff := cmp.Diff(want, body(t, r)); diff != "" {
		t.Error(diff)
	}
	r.Tools = []llm.Tool{{Name: "x"}}
	for choice, want := range map[llm.ToolChoice]string{{}: "", {Mode: llm.ToolNone}: `"tool_choice":{"type":"none"}`, {Mode: llm.ToolNamed, Name: "x"}: `"tool_choice":{"type":"tool","name":"x"}`} {
		r.ToolChoice = choice
		if got := body(t, r); !strings.Contains(got, want) || want == "" && strings.Contains(got, "tool_choice") {
			t.Errorf("%v: %s", choice, got)
		}
	}
}

// What the API refuses is left out: empty text, text of space, a message of nothing, space after the last word of a reply to go on with.
func TestBodyLeavesOutWhatIsRefused(t *testing.T) {
	t.Parallel()
	got := messages(t, llm.Request{Model: "a", Messages: []llm.Message{
		user(llm.TextPart(" \n"), llm.TextPart("hi")), assistant(thought("other", `{"a":1}`)), user(llm.TextPart("more")), assistant(llm.TextPart("so \n")),
	}})
	want := `[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"user","content":[{"type":"text","text":"more"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"so"}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// P-STREAM-3, B055: broken arguments go back as a valid object.
func TestBrokenArgumentsGoBackValid(t *testing.T) {
	t.Parallel()
	got := body(t, llm.Request{Model: "a", Messages: []llm.Message{llm.UserText("x"), assistant(call("t1c1", "i", `{"path": "a.txt", "content": "hel`)), user(result("t1c1", "invalid"))}})
	if !json.Valid([]byte(got)) || !strings.Contains(got, `"input":{"invalid_arguments":"{\"path\": \"a.txt\", \"content\": \"hel"}`) {
		t.Error(got)
	}
}

// P-STREAM-5, A-LLM-3, B059: signed reasoning goes back to the model that made it, byte for byte, and to nobody else.
func TestThinkingGoesBackToItsModelOnly(t *testing.T) {
	t.Parallel()
	raw := `{"type":"thinking","thinking":"a <b> & é \\u2028","signature":"c2ln+/=="}`
	redacted := `{"type":"redacted_thinking","data":"x+/="}`
	m := []llm.Message{llm.UserText("q"), assistant(thought("a", raw), thought("a", redacted), call("t1c1", "toolu_1", "{}")), user(result("t1c1", "r"))}
	for model, want := range map[string]int{"a": 1, "b": 0} {
		got := messages(t, llm.Request{Model: model, Messages: m})
		if strings.Count(got, raw) != want || strings.Count(got, redacted) != want {
			t.Errorf("to model %s: %s", model, got)
		}
	}
	other, err := encode("gateway", llm.Request{Model: "a", Messages: m})
	if err != nil || bytes.Contains(other, []byte("signature")) || bytes.Contains(other, []byte("toolu_1")) {
		t.Errorf("to another provider: %s, %v", other, err)
	}
	if _, err := encode(me, llm.Request{Model: "a", Messages: []llm.Message{llm.UserText("q"), assistant(thought("a", "{"), llm.TextPart("x"))}}); err == nil {
		t.Error("a damaged part is sent")
	}
}

// A-CTX-4: the messages of a request are a byte prefix of the next one's, markers aside.
func TestPrefixIsStable(t *testing.T) {
	t.Parallel()
	m := []llm.Message{llm.UserText("q")}
	last := messages(t, llm.Request{Model: "a", Messages: m})
	for n := range 12 {
		id := fmt.Sprintf("t1c%d", n)
		m = append(m, assistant(thought("a", `{"type":"thinking"}`), llm.TextPart("x"), call(id, "call_0", `{"b":1,"a":2}`)), user(result(id, "r")))
		next := messages(t, llm.Request{Model: "a", Messages: m})
		if !strings.HasPrefix(next, last) {
			t.Fatalf("step %d:\n%s\nis no prefix of\n%s", n, last, next)
		}
		last = next
	}
}

// A-CTX-5: at most four markers, the rolling ones at most 15 blocks apart, none on thinking.
func TestCacheMarkers(t *testing.T) {
	t.Parallel()
	r := llm.Request{Model: "a", System: "s", Tools: []llm.Tool{{Name: "x"}, {Name: "y"}}, Cache: llm.Cache5m, Messages: []llm.Message{llm.UserText("q")}}
	for n := range 30 {
		blocks, marks := markedBlocks(t, r)
		if total := strings.Count(body(t, r), "cache_control"); total > 4 || total != len(marks)+2 {
			t.Fatalf("step %d: %d markers", n, total)
		}
		switch {
		case len(marks) == 0 || marks[len(marks)-1] < blocks-2:
			t.Fatalf("step %d: markers %v of %d blocks", n, marks, blocks)
		case len(marks) == 1 && blocks > markerDistance+2:
			t.Fatalf("step %d: one marker for %d blocks", n, blocks)
		case len(marks) == 2 && marks[1]-marks[0] > markerDistance:
			t.Fatalf("step %d: markers %v", n, marks)
		}
		id := fmt.Sprintf("t1c%d", n)
		r.Messages = append(r.Messages, assistant(call(id, "", "{}"), thought("a", `{"type":"thinking"}`)), user(result(id, "r")))
	}
	if got := body(t, r); !strings.Contains(got, `{"name":"y","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}`) ||
		!strings.Contains(got, `"text":"s","cache_control":{"type":"ephemeral"}`) {
		t.Errorf("last tool and system are not marked: %s", got)
	}
	r.Cache = llm.Cache1h
	if got := body(t, r); strings.Count(got, `"cache_control":{"type":"ephemeral","ttl":"1h"}`) != 4 {
		t.Errorf("an hour is not asked for everywhere: %s", got)
	}
	r.Cache = llm.CacheOff
	if got := body(t, r); strings.Contains(got, "cache_control") {
		t.Error("markers without being asked for")
	}
	r.Cache, r.Messages = llm.Cache5m, []llm.Message{user(llm.TextPart("q")), assistant(thought("a", `{"type":"thinking"}`))}
	if blocks, marks := markedBlocks(t, r); blocks != 2 || len(marks) != 1 || marks[0] != 0 {
		t.Errorf("thinking last: markers %v of %d", marks, blocks)
	}
}

// markedBlocks counts the blocks of all messages and says which are marked.
func markedBlocks(t *testing.T, r llm.Request) (blocks int, marks []int) {
	t.Helper()
	var sent struct {
		Messages []struct {
			Content []struct {
				Type    string          `json:"type"`
				Control json.RawMessage `json:"cache_control"`
			} `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body(t, r)), &sent); err != nil {
		t.Fatal(err)
	}
	for _, m := range sent.Messages {
		for _, b := range m.Content {
			if b.Control != nil {
				marks = append(marks, blocks)
				if b.Type == "thinking" {
					t.Error("thinking is marked")
				}
			}
			blocks++
		}
	}
	return blocks, marks
}
