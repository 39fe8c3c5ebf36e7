package openai

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/llmtest"
	"car/internal/assistant/llm/wire"
)

// answer makes a provider whose server says the given text.
func answer(t *testing.T, status int, text string) *Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "req_7")
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	p := newTest(t, s.URL, nil).(*Provider)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func collect(t *testing.T, text string) (llm.Reply, error) {
	t.Helper()
	p := answer(t, http.StatusOK, text)
	o, err := llmtest.Observe(t.Context(), p, llmtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	if o.Err != nil {
		return o.Reply, o.Err
	}
	return o.Reply, nil
}

func stream(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "data: %s\n\n", c)
	}
	return b.String()
}

// with is a chunk with a delta.
func with(delta string) string {
	return `{"model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

// pieces is a chunk with pieces of tool calls.
func pieces(calls ...string) string { return with(`{"tool_calls":[` + strings.Join(calls, ",") + `]}`) }

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const closing = `[DONE]`

// A-LLM-7, B057: tool calls as servers really send them.
func TestChatCalls(t *testing.T) {
	t.Parallel()
	type calls []llmtest.Call
	two := calls{{ID: "a", Name: "read", Args: `{"p":1}`}, {ID: "b", Name: "list", Args: `{"q":2}`}}
	for name, tc := range map[string]struct {
		chunks []string
		want   calls
	}{
		"as documented": {[]string{
			pieces(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`), pieces(`{"index":0,"function":{"arguments":"{\"p\""}}`),
			pieces(`{"index":1,"id":"b","function":{"name":"list","arguments":"{\"q"}}`), pieces(`{"index":0,"function":{"arguments":":1}"}}`, `{"index":1,"function":{"arguments":"\":2}"}}`)}, two},
		"all index 0 with new ids": {[]string{
			pieces(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), pieces(`{"index":0,"function":{"arguments":":1}"}}`),
			pieces(`{"index":0,"id":"b","function":{"name":"list","arguments":"{\"q\""}}`), pieces(`{"index":0,"function":{"arguments":":2}"}}`)}, two},
		"all index 0 with new ids, no arguments": {[]string{
			pieces(`{"index":0,"id":"a","function":{"name":"list","arguments":""}}`), pieces(`{"index":0,"id":"b","function":{"name":"list","arguments":""}}`)},
			calls{{ID: "a", Name: "list"}, {ID: "b", Name: "list"}}},
		"no index": {[]string{
			pieces(`{"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), pieces(`{"function":{"arguments":":1}"}}`),
			pieces(`{"id":"b","function":{"name":"list","arguments":"{\"q\""}}`), pieces(`{"function":{"arguments":":2}"}}`)}, two},
		"no index, the id each time": {[]string{
			pieces(`{"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), pieces(`{"id":"b","function":{"name":"list","arguments":"{\"q\""}}`),
			pieces(`{"id":"a","function":{"arguments":":1}"}}`), pieces(`{"id":"b","function":{"arguments":":2}"}}`)}, two},
		"no id": {[]string{pieces(`{"index":0,"function":{"name":"read","arguments":"{}"}}`, `{"index":1,"function":{"name":"read","arguments":"{\"p\":1}"}}`)},
			calls{{Name: "read", Args: "{}"}, {Name: "read", Args: `{"p":1}`}}},
		"neither id nor index, whole calls": {[]string{pieces(`{"function":{"name":"read","arguments":"{\"p\":1}"}}`), pieces(`{"function":{"name":"read","arguments":"{\"p\":2}"}}`)},
			calls{{Name: "read", Args: `{"p":1}`}, {Name: "read", Args: `{"p":2}`}}},
		"neither id nor index, another name": {[]string{pieces(`{"function":{"name":"read","arguments":""}}`), pieces(`{"function":{"name":"list","arguments":""}}`)},
			calls{{Name: "read"}, {Name: "list"}}},
		"the same id for both, by index": {[]string{pieces(`{"index":0,"id":"call_0","function":{"name":"read","arguments":"{\"p\":1}"}}`, `{"index":1,"id":"call_0","function":{"name":"read","arguments":"{\"p\":2}"}}`)},
			calls{{ID: "call_0", Name: "read", Args: `{"p":1}`}, {ID: "call_0", Name: "read", Args: `{"p":2}`}}},
		"the same id and index for both, whole": {[]string{pieces(`{"index":0,"id":"call_0","function":{"name":"read","arguments":"{\"p\":1}"}}`), pieces(`{"index":0,"id":"call_0","function":{"name":"read","arguments":"{\"p\":2}"}}`)},
			calls{{ID: "call_0", Name: "read", Args: `{"p":1}`}, {ID: "call_0", Name: "read", Args: `{"p":2}`}}},
		"the name repeated": {[]string{pieces(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), pieces(`{"index":0,"id":"a","function":{"name":"read","arguments":":{\"x\":"}}`), pieces(`{"index":0,"function":{"name":"read","arguments":"1}}"}}`)},
			calls{{ID: "a", Name: "read", Args: `{"p":{"x":1}}`}}},
		"the name late": {[]string{pieces(`{"index":0,"id":"a","function":{"arguments":"{\"p\""}}`), pieces(`{"index":0,"function":{"arguments":":1"}}`), pieces(`{"index":0,"function":{"name":"read","arguments":"}"}}`)},
			calls{{ID: "a", Name: "read", Args: `{"p":1}`}}},
		"the id late":            {[]string{pieces(`{"index":0,"function":{"name":"read","arguments":"{"}}`), pieces(`{"index":0,"id":"a","function":{"arguments":"}"}}`)}, calls{{Name: "read", Args: "{}"}}},
		"arguments as an object": {[]string{pieces(`{"index":0,"id":"a","function":{"name":"read","arguments":{"p": 1}}}`)}, calls{{ID: "a", Name: "read", Args: `{"p": 1}`}}},
		"arguments null":         {[]string{pieces(`{"index":0,"id":"a","function":{"name":"read","arguments":null}}`)}, calls{{ID: "a", Name: "read"}}},
		"text between calls":     {[]string{pieces(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), with(`{"content":"x"}`), pieces(`{"index":1,"id":"b","function":{"name":"list","arguments":"{\"q\":2}"}}`)}, two},
	} {
		for _, end := range [][]string{{finish("tool_calls"), closing}, {finish("stop"), closing}, {finish("stop")}, {closing}} {
			reply, err := collect(t, stream(append(tc.chunks, end...)...))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var got calls
			for _, c := range reply.Message.Calls() {
				got = append(got, llmtest.Call{ID: c.ProviderID, Name: c.Name, Args: c.Arguments})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || reply.Stop.Kind != llm.StopToolUse {
				t.Errorf("%s: stop %s, %s", name, reply.Stop.Kind, diff)
			}
		}
	}
}

// A-LLM-6, A-LLM-7: what else streams hold.
func TestChatHabits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, said, thought string
		stop                llm.StopKind
	}{
		"a null error":             {stream(`{"error":null,"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`, closing), "hi", "", llm.StopEnd},
		"no finish reason":         {stream(with(`{"content":"hi"}`), closing), "hi", "", llm.StopEnd},
		"no [DONE]":                {stream(with(`{"content":"hi"}`), finish("stop")), "hi", "", llm.StopEnd},
		"an odd last frame":        {stream(with(`{"content":"hi"}`), finish("stop")) + "data: {\"usa", "hi", "", llm.StopEnd},
		"another choice":           {stream(`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{"index":0,"delta":{"content":"hi"}}]}`, finish("stop")), "hi", "", llm.StopEnd},
		"text after the reason":    {stream(finish("stop"), with(`{"content":"hi"}`), closing), "hi", "", llm.StopEnd},
		"content in parts":         {stream(with(`{"content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]}`), finish("stop")), "hi", "", llm.StopEnd},
		"content null":             {stream(with(`{"content":null,"refusal":null,"tool_calls":null,"reasoning_content":null}`), finish("stop")), "", "", llm.StopEnd},
		"length":                   {stream(with(`{"content":"hi"}`), finish("length")), "hi", "", llm.StopLength},
		"a filter":                 {stream(with(`{"content":"hi"}`), finish("content_filter")), "hi", "", llm.StopRefusal},
		"a refusal":                {stream(with(`{"refusal":"I can"}`), with(`{"refusal":"not"}`), finish("stop")), "", "", llm.StopRefusal},
		"a full window":            {stream(with(`{"content":"hi"}`), finish("model_length")), "hi", "", llm.StopContext},
		"an unknown reason":        {stream(with(`{"content":"hi"}`), finish("because")), "hi", "", llm.StopOther},
		"reasoning_content":        {stream(with(`{"reasoning_content":"h"}`), with(`{"reasoning_content":"m"}`), with(`{"content":"hi"}`), finish("stop")), "hi", "hm", llm.StopEnd},
		"reasoning":                {stream(with(`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]}`), with(`{"content":"hi"}`), finish("stop")), "hi", "hm", llm.StopEnd},
		"a think block":            {stream(with(`{"content":"<think>\nhm"}`), with(`{"content":"</think>\n\nhi"}`), finish("stop")), "hi", "\nhm", llm.StopEnd},
		"a think block in pieces":  {stream(with(`{"content":"<th"}`), with(`{"content":"ink>h<b"}`), with(`{"content":">m</thi"}`), with(`{"content":"nk>"}`), with(`{"content":"\nhi"}`), finish("stop")), "hi", "h<b>m", llm.StopEnd},
		"a think block and no end": {stream(with(`{"content":"<think>hm</th"}`), finish("length")), "", "hm</th", llm.StopLength},
		"a tag inside the text":    {stream(with(`{"content":"hi <think>x</think>"}`), finish("stop")), "hi <think>x</think>", "", llm.StopEnd},
		"half a tag":               {stream(with(`{"content":"<thi"}`), finish("stop")), "<thi", "", llm.StopEnd},
		"a whole document":         {`{"choices":[{"index":0,"message":{"content":"<think>hm</think>hi"},"finish_reason":"stop"}]}`, "hi", "hm", llm.StopEnd},
	} {
		reply, err := collect(t, tc.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		thought := ""
		for _, p := range reply.Message.Parts {
			if p.Kind == llm.PartThinking {
				thought += p.Text
			}
		}
		if reply.Message.Text() != tc.said || thought != tc.thought || reply.Stop.Kind != tc.stop {
			t.Errorf("%s: text %q, thought %q, stop %s", name, reply.Message.Text(), thought, reply.Stop.Kind)
		}
	}
}

// A-LLM-7: errors in the stream, and ends that are none.
func TestChatErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text   string
		kind   llm.ErrorKind
		status int
	}{
		"an error frame":          {stream(with(`{"content":"hi"}`), `{"error":{"message":"x","type":"server_error","code":null}}`, closing), llm.KindServer, 200},
		"a numeric code":          {stream(with(`{"content":"hi"}`), `{"error":{"message":"x","code":429}}`), llm.KindRateLimited, 429},
		"an error event of text":  {stream(with(`{"content":"hi"}`)) + "event: error\ndata: out of memory\n\n", llm.KindServer, 200},
		"an error event of JSON":  {stream(with(`{"content":"hi"}`)) + "event: error\ndata: {\"message\":\"x\",\"code\":503}\n\n", llm.KindOverloaded, 503},
		"an error document":       {`{"error":{"message":"x","code":402}}`, llm.KindPayment, 402},
		"an error that is text":   {`{"error":"Unexpected endpoint"}`, llm.KindServer, 200},
		"finish reason error":     {stream(with(`{"content":"hi"}`), finish("error"), closing), llm.KindServer, 200},
		"neither reason nor DONE": {stream(with(`{"content":"hi"}`)), llm.KindDisconnected, 200},
		"nothing but DONE":        {stream(closing), llm.KindDisconnected, 200},
		"a call without a name":   {stream(pieces(`{"index":0,"id":"a","function":{"arguments":"{}"}}`), finish("stop")), llm.KindMalformed, 200},
	} {
		reply, err := collect(t, tc.text)
		e, ok := err.(*llm.Error)
		if !ok || e.Kind != tc.kind || e.Status != tc.status || e.RequestID != "req_7" || len(reply.Message.Calls()) > 0 {
			t.Errorf("%s: %+v, want %s with status %d", name, err, tc.kind, tc.status)
		}
	}
}

// A-LLM-12: input is uncached input, and a price that is told wins; without usage there is none.
func TestChatUsage(t *testing.T) {
	t.Parallel()
	price := int64(1235)
	for text, want := range map[string]*llm.Usage{
		stream(finish("stop"), closing): nil,
		stream(finish("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}}`, closing):                                                  {Input: 6, Output: 5, CacheRead: 4, Reasoning: 3},
		stream(`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_tokens_details":null}}`): {Input: 1, Output: 2, CacheRead: 8},
		stream(finish("stop"), `{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":1,"cost":0.0012345}}`, closing):                                                                                                                                 {Input: 2, Output: 1, CostMicros: &price},
		stream(finish("stop"), `{"choices":[],"usage":{"prompt_tokens":-2,"completion_tokens":-1,"cost":-1,"prompt_tokens_details":{"cached_tokens":99}}}`, closing):                                                                                         {CacheRead: 99},
	} {
		reply, err := collect(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, reply.Usage); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// A-LLM-3, P-STREAM-5: reasoning is kept in the words it came in; pieces of one signed element are joined.
func TestChatReasoningIsKept(t *testing.T) {
	t.Parallel()
	reply, err := collect(t, stream(
		with(`{"reasoning":"a <b","reasoning_details":[{"type":"reasoning.text","text":"a <b","index":0,"signature":null}]}`),
		with(`{"reasoning":"> ","reasoning_details":[{"type":"reasoning.text","text":"> ","index":0,"signature":null}]}`),
		with(`{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"x+/="},{"type":"reasoning.encrypted","data":"e","index":1}]}`),
		pieces(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`),
		with(`{"reasoning_content":"more"}`), finish("tool_calls"), closing))
	if err != nil {
		t.Fatal(err)
	}
	o := llm.Origin{Provider: "openai", Model: "test-model"}
	want := []llm.Part{
		{Kind: llm.PartThinking, Text: "a <b> ", Origin: o,
			Raw: `{"reasoning":"a <b> ","reasoning_details":[{"index":0,"signature":"x+/=","text":"a <b> ","type":"reasoning.text"},{"data":"e","index":1,"type":"reasoning.encrypted"}]}`},
		{Kind: llm.PartToolCall, Origin: o, Call: &llm.ToolCall{ProviderID: "a", Name: "read", Arguments: "{}"}},
		{Kind: llm.PartThinking, Text: "more", Raw: `{"reasoning_content":"more"}`, Origin: o},
	}
	if diff := cmp.Diff(want, reply.Message.Parts); diff != "" {
		t.Error(diff)
	}
}

// A-LLM-7: servers that were started without tools say what is missing; so do we, and we do not try again.
func TestHints(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`:                                         "--jinja",
		`{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}`: "--enable-auto-tool-choice",
		`{"error":{"message":"registry.ollama.ai/library/x:latest does not support tools","type":"api_error"}}`:                              "tools capability",
	} {
		_, err := llm.Collect(t.Context(), answer(t, http.StatusInternalServerError, body), llmtest.Request())
		e, ok := err.(*llm.Error)
		if !ok || e.Kind != llm.KindInvalid || e.Retryable() || !strings.Contains(e.Hint, want) {
			t.Errorf("%s: %+v", body, err)
		}
	}
	// A-LLM-7: a server that loads its model is waited for.
	_, err := llm.Collect(t.Context(), answer(t, http.StatusServiceUnavailable, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`), llmtest.Request())
	if e, ok := err.(*llm.Error); !ok || e.Advice != llm.AdviceWait {
		t.Errorf("loading: %+v", err)
	}
}

// A-LLM-6: where the key goes.
func TestKeys(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		credential wire.Credential
		override   string
		header     string
		want       string
	}{
		"a key":               {wire.Credential{Key: "k-1"}, "", "Authorization", "Bearer k-1"},
		"a token":             {wire.Credential{Token: "t-1"}, "", "Authorization", "Bearer t-1"},
		"azure":               {wire.Credential{Key: "k-1"}, "api-key", "Api-Key", "k-1"},
		"none, local servers": {wire.Credential{}, "", "Authorization", ""},
	} {
		seen := make(chan *http.Request, 1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen <- r
			fmt.Fprint(w, stream(finish("stop"), closing))
		}))
		t.Cleanup(s.Close)
		p, err := New(Config{Wire: wire.Config{BaseURL: s.URL + "/v1/"}, AuthHeader: tc.override, Credential: wire.Fixed(tc.credential)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		if _, err := llm.Collect(t.Context(), p, llmtest.Request()); err != nil {
			t.Fatal(err)
		}
		if r := <-seen; r.Header.Get(tc.header) != tc.want || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %s %v", name, r.URL.Path, r.Header)
		}
	}
}

// A-LLM-13, A-CTX-7: the live list, windows where servers tell them.
func TestModels(t *testing.T) {
	t.Parallel()
	p := answer(t, http.StatusOK, `{"object":"list","data":[{"id":"a","max_model_len":8192},{"id":"b","context_length":128000},{"id":"c"}]}`)
	got, err := p.Models(t.Context())
	if diff := cmp.Diff([]llm.ModelInfo{{ID: "a", Window: 8192}, {ID: "b", Window: 128000}, {ID: "c"}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, body := range []string{"<html>", "{}", "[]"} {
		if _, err := answer(t, http.StatusOK, body).Models(t.Context()); err == nil {
			t.Errorf("%s is taken for a list of models", body)
		}
	}
}

// Mistakes in a configuration name provider and field.
func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Name: "x", Wire: wire.Config{BaseURL: "nonsense"}}); err == nil || !strings.HasPrefix(err.Error(), "provider x: base_url") {
		t.Errorf("error %v", err)
	}
	if _, err := New(Config{Name: "x", API: 9}); err == nil || !strings.Contains(err.Error(), "api") {
		t.Errorf("error %v", err)
	}
	p, err := New(Config{})
	if err != nil || p.Name() != "openai" || !p.server.official {
		t.Errorf("%+v %v", p, err)
	}
	var api API
	if err := api.UnmarshalText([]byte("chat")); err != nil || api.String() != "chat" || api.UnmarshalText([]byte("x")) == nil {
		t.Errorf("api %s, %v", api, err)
	}
}
