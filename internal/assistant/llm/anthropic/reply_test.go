package anthropic

import (
	"context"
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
func answer(t *testing.T, text string) llm.Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Request-Id", "req_7")
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	p := newTest(t, s.URL, nil)
	t.Cleanup(func() { _ = p.(*Provider).Close() })
	return p
}

func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

const (
	opening = `{"type":"message_start","message":{"id":"m","model":"a-1","usage":{"input_tokens":5,"output_tokens":1,"cache_read_input_tokens":4}}}`
	ending  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`
	over    = `{"type":"message_stop"}`
)

func collect(t *testing.T, text string) (llm.Reply, error) {
	t.Helper()
	return llm.Collect(t.Context(), answer(t, text), llmtest.Request())
}

// A-LLM-3, P-STREAM-5: what is kept of thinking is what goes back, byte for byte.
func TestThinkingIsKeptRaw(t *testing.T) {
	t.Parallel()
	reply, err := collect(t, stream(opening,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a <b> & "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"é"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln+/="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"x+/="}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s","name":"web","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\":"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
		`{"type":"content_block_stop","index":2}`, ending, over))
	if err != nil {
		t.Fatal(err)
	}
	o := llm.Origin{Provider: "anthropic", Model: "test-model"}
	want := []llm.Part{
		{Kind: llm.PartThinking, Text: "a <b> & é", Raw: `{"type":"thinking","thinking":"a <b> & é","signature":"c2ln+/="}`, Origin: o},
		{Kind: llm.PartThinking, Raw: `{"type":"redacted_thinking","data":"x+/="}`, Origin: o},
		{Kind: llm.PartOpaque, Raw: `{"id":"s","input":{"q":1},"name":"web","type":"server_tool_use"}`, Origin: o},
	}
	if diff := cmp.Diff(want, reply.Message.Parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(llm.Started{Model: "a-1", RequestID: "req_7"}, reply.Started); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&llm.Usage{Input: 5, CacheRead: 4, Output: 9}, reply.Usage); diff != "" {
		t.Error(diff)
	}
}

// A-LLM-5: what gateways do differently is read all the same.
func TestGatewayHabits(t *testing.T) {
	t.Parallel()
	open := `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"x","input":{"a": 1}}}`
	for name, tc := range map[string]struct{ text, args, said string }{
		"a whole input with the opening": {stream(opening, open, `{"type":"content_block_stop","index":0}`, ending, over), `{"a": 1}`, ""},
		"a block that is never closed":   {stream(opening, open, ending, over), `{"a": 1}`, ""},
		"an opening without input":       {stream(opening, strings.Replace(open, `{"a": 1}`, `{}`, 1), ending, over), "", ""},
		"an input that is text":          {stream(opening, strings.Replace(open, `{"a": 1}`, `"{\"a\": "`, 1), ending, over), `{"a": `, ""},
		"text that was not opened":       {stream(opening, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`, ending, over), "", "hi"},
		"no message_start":               {stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}`, ending, over), "", "hi"},
		"the type only as event name":    {"event: message_start\n" + stream(strings.Replace(opening, `"type":"message_start",`, "", 1)) + "event: message_delta\n" + stream(strings.Replace(ending, `"type":"message_delta",`, "", 1)) + "event: message_stop\ndata: {}\n\n", "", ""},
		"unknown events and deltas":      {stream(opening, `{"type":"news","x":1}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`, ending, over), "", "hi"},
		"a null error":                   {stream(opening, strings.Replace(ending, "{", `{"error":null,`, 1), over), "", ""},
	} {
		reply, err := collect(t, tc.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		args := ""
		for _, c := range reply.Message.Calls() {
			args += c.Arguments
		}
		if args != tc.args || reply.Message.Text() != tc.said {
			t.Errorf("%s: arguments %q, text %q", name, args, reply.Message.Text())
		}
	}
}

// P-STREAM-1: endings that are none.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		kind llm.ErrorKind
	}{
		"no stop reason":              {stream(opening, over), llm.KindDisconnected},
		"a reason but no end":         {stream(opening, ending), llm.KindDisconnected},
		"input without its block":     {stream(opening, `{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, ending, over), llm.KindMalformed},
		"a block that is no object":   {stream(opening, `{"type":"content_block_start","index":0,"content_block":7}`, ending, over), llm.KindMalformed},
		"an error on status 200":      {stream(opening, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`, ending, over), llm.KindRateLimited},
		"a document without a reason": {`{"type":"message","content":[]}`, llm.KindDisconnected},
	} {
		reply, err := collect(t, tc.text)
		e, ok := err.(*llm.Error)
		if !ok || e.Kind != tc.kind || e.RequestID != "req_7" || len(reply.Message.Calls()) > 0 {
			t.Errorf("%s: %+v, want %s", name, err, tc.kind)
		}
	}
}

// A-LLM-2: every word for an end.
func TestStopReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]llm.StopKind{"end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd, "tool_use": llm.StopEnd, "max_tokens": llm.StopLength,
		"refusal": llm.StopRefusal, "pause_turn": llm.StopPause, "model_context_window_exceeded": llm.StopContext, "newfangled": llm.StopOther} {
		end := strings.Replace(ending, `"end_turn"`, `"`+reason+`","stop_details":{"category":"cyber","explanation":"no"}`, 1)
		reply, err := collect(t, stream(opening, end, over))
		if err != nil || reply.Stop != (llm.Stop{Kind: want, Raw: reason, Detail: "cyber no"}) {
			t.Errorf("%s: %+v %v", reason, reply.Stop, err)
		}
	}
}

// D-40, A-LLM-13: which header carries what, to which address.
func TestKeys(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		credential wire.Credential
		override   string
		base       string
		header     string
		want, path string
	}{
		"a key":                       {wire.Credential{Key: "k-1"}, "", "", "X-Api-Key", "k-1", "/v1/messages"},
		"a token":                     {wire.Credential{Token: "t-1"}, "", "/v1", "Authorization", "Bearer t-1", "/v1/messages"},
		"a gateway's own":             {wire.Credential{Key: "k-1"}, "X-Gate", "/gate/anthropic/", "X-Gate", "k-1", "/gate/anthropic/v1/messages"},
		"a key in authorization":      {wire.Credential{Key: "k-1"}, "authorization", "", "Authorization", "Bearer k-1", "/v1/messages"},
		"nothing, for a local server": {wire.Credential{}, "", "", "X-Api-Key", "", "/v1/messages"},
	} {
		seen := make(chan *http.Request, 1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen <- r
			fmt.Fprint(w, stream(opening, ending, over))
		}))
		t.Cleanup(s.Close)
		p, err := New(Config{Wire: wire.Config{BaseURL: s.URL + tc.base}, AuthHeader: tc.override, Credential: wire.Fixed(tc.credential)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		if _, err := llm.Collect(t.Context(), p, llmtest.Request()); err != nil {
			t.Fatal(err)
		}
		r := <-seen
		if r.Header.Get(tc.header) != tc.want || r.URL.Path != tc.path || r.Header.Get("anthropic-version") == "" {
			t.Errorf("%s: %s %v", name, r.URL.Path, r.Header)
		}
		for _, other := range []string{"X-Api-Key", "Authorization"} {
			if other != tc.header && r.Header.Get(other) != "" {
				t.Errorf("%s: %s is sent as well", name, other)
			}
		}
	}
}

// A-LLM-5: a model that cannot think adaptively says so; we say which setting it is.
func TestEffortHint(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"type":"error","error":{"type":"invalid_request_error","message":"adaptive thinking is not supported on this model"}}`)
	}))
	t.Cleanup(s.Close)
	p := newTest(t, s.URL, nil)
	t.Cleanup(func() { _ = p.(*Provider).Close() })
	for effort, want := range map[llm.Effort]bool{llm.EffortHigh: true, llm.EffortDefault: false} {
		r := llmtest.Request()
		r.Effort = effort
		_, err := llm.Collect(t.Context(), p, r)
		if e, ok := err.(*llm.Error); !ok || e.Kind != llm.KindInvalid || strings.Contains(e.Hint, "unset the effort") != want {
			t.Errorf("effort %s: %+v", effort, err)
		}
	}
}

// A-LLM-13: the live list, and what happens without one.
func TestModels(t *testing.T) {
	t.Parallel()
	p := answer(t, `{"data":[{"id":"a","max_input_tokens":200000},{"id":"b"}],"has_more":false}`).(*Provider)
	got, err := p.Models(t.Context())
	if diff := cmp.Diff([]llm.ModelInfo{{ID: "a", Window: 200000}, {ID: "b"}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := answer(t, "[]").(*Provider).Models(t.Context()); err == nil {
		t.Error("a list that is none is taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Models(ctx); err == nil {
		t.Error("canceled and no error")
	}
}

// A-LLM-13: mistakes in a configuration name provider and field.
func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Name: "gate", Wire: wire.Config{BaseURL: "nonsense"}}); err == nil || !strings.HasPrefix(err.Error(), "provider gate: base_url") {
		t.Errorf("error %v", err)
	}
	p, err := New(Config{})
	if err != nil || p.Name() != "anthropic" || p.client.Host() != "api.anthropic.com" {
		t.Errorf("%v %v", p, err)
	}
}
