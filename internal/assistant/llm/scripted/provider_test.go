package scripted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A-LLM-1, A-LLM-14: the suite, every play written as a scenario.
func TestConformance(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, driver{})
}

// driver writes plays as a scenario that starts over at its end.
type driver struct{}

func (driver) Provider(t *testing.T, plays ...llmtest.Play) llm.Provider {
	t.Helper()
	s := scenario{Version: 1, Loop: true}
	for _, p := range plays {
		if n := len(s.Turns); n > 0 && s.Turns[n-1].Fault != nil && cmp.Equal(plays[n-1].Reply, p.Reply) {
			continue // the faulted turn plays clean the second time
		}
		s.Turns = append(s.Turns, written(p))
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(s); err != nil {
		t.Fatal(err)
	}
	// The encoder writes zero values, which are not all the same as nothing.
	var lines []string
	for line := range strings.Lines(b.String()) {
		if value := strings.TrimSpace(line); !strings.HasSuffix(value, " = 0") && !strings.HasSuffix(value, ` = ""`) {
			lines = append(lines, line)
		}
	}
	return open(t, strings.Join(lines, ""))
}

func written(p llmtest.Play) turn {
	w := turn{Thinking: p.Reply.Thinking, Text: p.Reply.Text, Chunk: 4}
	for _, c := range p.Reply.Calls {
		w.Calls = append(w.Calls, call{ID: c.ID, Name: c.Name, ArgsRaw: &c.Args})
	}
	if u := p.Reply.Usage; u != nil {
		w.Usage = &usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead}
	}
	words := map[llm.ErrorKind]string{llm.KindOverloaded: "overloaded_error", llm.KindServer: "api_error"}
	switch p.Fault.Kind {
	case llmtest.FaultRefuse:
		w.Fault = &fault{Kind: "http", Status: statuses[p.Fault.Error], RetryAfter: p.Fault.RetryAfterSeconds, Body: bodies[p.Fault.Error]}
	case llmtest.FaultCut:
		w.Fault = &fault{Kind: "disconnect"}
	case llmtest.FaultError:
		w.Fault = &fault{Kind: "error_event", Type: words[p.Fault.Error]}
	case llmtest.FaultStall:
		w.Fault = &fault{Kind: "stall", MS: 90_000}
	case llmtest.NoFault:
		if p.Reply.Stop == llm.StopLength {
			doubled(&w)
		}
	}
	return w
}

// doubled makes a turn whose first half is the reply, because that is what a length fault leaves.
func doubled(w *turn) {
	w.Fault = &fault{Kind: "length", Times: 1}
	w.Text += w.Text
	for i := range w.Calls {
		twice := *w.Calls[i].ArgsRaw + *w.Calls[i].ArgsRaw
		w.Calls[i].ArgsRaw = &twice
	}
}

var statuses = map[llm.ErrorKind]int{llm.KindAuth: 401, llm.KindPayment: 402, llm.KindForbidden: 403, llm.KindModelNotFound: 404, llm.KindInvalid: 400,
	llm.KindContext: 413, llm.KindRefused: 400, llm.KindRateLimited: 429, llm.KindServer: 500, llm.KindOverloaded: 529}

var bodies = map[llm.ErrorKind]string{llm.KindModelNotFound: `{"error":"no such model"}`, llm.KindRefused: `{"error":{"code":"content_filter","message":"no"}}`}

func open(t *testing.T, text string) *Provider {
	t.Helper()
	p, err := New(Config{File: "demo.toml", Data: []byte(text), CWD: `/home/me/"x"`, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// A-LLM-14: the example of the package comment and of the specification plays.
func TestExample(t *testing.T) {
	t.Parallel()
	p := open(t, `version = 1
[[turn]]
expect = { contains = "fix", tools = ["edit_file"] }
text = "Reading."
[[turn.call]]
name = "read_file"
args = { path = "{{cwd}}/main.go", deep = { list = [1, {x = "{{cwd}}"}] } }
[[turn.call]]
name = "read_file"
args_raw = '{"path": "{{cwd}}'
[turn.usage]
input = 1200
output = 40
[turn.fault]
kind = "disconnect"
after_chars = 4
times = 1
[[turn]]
expect = { last_result_contains = "no such file" }
text = "It is in {{cwd}}."
`)
	r := llmtest.Request()
	r.Messages = []llm.Message{llm.UserText("please fix it")}
	r.Tools = append(r.Tools, llm.Tool{Name: "edit_file"})
	cut, err := llmtest.Observe(t.Context(), p, r)
	if err != nil || cut.Err == nil || cut.Err.Kind != llm.KindDisconnected || cut.Reply.Message.Text() != "Read" {
		t.Fatalf("first: %+v %v, want the first 4 characters and a cut", cut, err)
	}
	reply, err := llm.Collect(t.Context(), p, r)
	if err != nil {
		t.Fatal(err)
	}
	calls := reply.Message.Calls()
	want := []string{`{"deep":{"list":[1,{"x":"/home/me/\"x\""}]},"path":"/home/me/\"x\"/main.go"}`, `{"path": "/home/me/\"x\"`}
	if len(calls) != 2 || calls[0].Arguments != want[0] || calls[1].Arguments != want[1] {
		t.Errorf("calls %+v %+v, want %q", calls[0], calls[1], want)
	}
	if diff := cmp.Diff(&llm.Usage{Input: 1200, Output: 40}, reply.Usage); diff != "" {
		t.Error(diff)
	}
	calls[0].ID, calls[1].ID = "t1c1", "t1c2"
	r.Messages = append(r.Messages, reply.Message, llm.Message{Role: llm.User, Parts: []llm.Part{
		{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "t1c1", Text: "fine"}},
		{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "t1c2", Text: "no such file"}},
	}})
	reply, err = llm.Collect(t.Context(), p, r)
	if err != nil || reply.Message.Text() != `It is in /home/me/"x".` {
		t.Errorf("second: %+v %v", reply, err)
	}
}

// A-LLM-14: what is asked for and not there names the turn; nothing is moved on.
func TestUnmet(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		`demo.toml: turn 1 expects the tool "edit_file", which is not offered`:          "expect = { tools = [\"edit_file\"] }",
		`demo.toml: turn 1 expects the user's words to contain "fix"; they are "hello"`: "expect = { contains = \"fix\" }",
		`demo.toml: turn 1 expects the last result to contain "no such file"; it is ""`: "expect = { last_result_contains = \"no such file\" }",
		`demo.toml: turn 2 was asked for, but the scenario has 1`:                       "text = \"hi\"",
	} {
		p := open(t, "version = 1\n[[turn]]\n"+text+"\n")
		var last *llm.Error
		for range 2 {
			_, err := llm.Collect(t.Context(), p, llmtest.Request())
			errors.As(err, &last)
		}
		if last == nil || last.Message != want || last.Kind != llm.KindInvalid || last.Retryable() {
			t.Errorf("error %v, want %q", last, want)
		}
	}
}

// Sessions do not disturb each other.
func TestSessionsHaveTheirOwnPlace(t *testing.T) {
	t.Parallel()
	p := open(t, "version = 1\n[[turn]]\ntext = \"one\"\n[[turn]]\ntext = \"two\"\n")
	for _, step := range []struct{ session, want string }{{"a", "one"}, {"b", "one"}, {"a", "two"}, {"b", "two"}} {
		r := llmtest.Request()
		r.SessionID = step.session
		got, err := llm.Collect(t.Context(), p, r)
		if err != nil || got.Message.Text() != step.want {
			t.Errorf("session %s: %q %v, want %q", step.session, got.Message.Text(), err, step.want)
		}
	}
}

// A-LLM-14: every fault, and that the turn plays clean after it.
func TestFaults(t *testing.T) {
	t.Parallel()
	whole := "Some text for you."
	for fault, want := range map[string]struct {
		kind llm.ErrorKind
		text string
		stop llm.StopKind
	}{
		`{ kind = "http", status = 429, retry_after = 7 }`:    {kind: llm.KindRateLimited},
		`{ kind = "http", status = 500, body = "boom" }`:      {kind: llm.KindServer},
		`{ kind = "disconnect" }`:                             {kind: llm.KindDisconnected, text: "Some text"},
		`{ kind = "disconnect", after_chars = 0 }`:            {kind: llm.KindDisconnected},
		`{ kind = "disconnect", after_chars = 21 }`:           {kind: llm.KindDisconnected, text: whole},
		`{ kind = "disconnect", after_chars = 9999 }`:         {kind: llm.KindDisconnected, text: whole},
		`{ kind = "stall", ms = 90000 }`:                      {kind: llm.KindTimeout, text: "Some text"},
		`{ kind = "stall", ms = 3000 }`:                       {text: whole, stop: llm.StopToolUse},
		`{ kind = "error_event", type = "overloaded_error" }`: {kind: llm.KindOverloaded, text: "Some text"},
		`{ kind = "auth", reason = "signed_out" }`:            {kind: llm.KindAuth},
		`{ kind = "auth", reason = "payment_required" }`:      {kind: llm.KindPayment},
		`{ kind = "length" }`:                                 {text: "Some text", stop: llm.StopLength},
		`{ kind = "empty" }`:                                  {stop: llm.StopEnd},
		`{ kind = "no_stop", times = 2 }`:                     {kind: llm.KindDisconnected, text: whole},
	} {
		p := open(t, "version = 1\nloop = true\n[[turn]]\ntext = \""+whole+"\"\nchunk = 3\nfault = "+fault+"\n[[turn.call]]\nname = \"x\"\nargs = { path = \"a\" }\n")
		o, err := llmtest.Observe(t.Context(), p, llmtest.Request())
		if err != nil {
			t.Fatalf("%s: %v", fault, err)
		}
		kind := llm.KindUnset
		if o.Err != nil {
			kind = o.Err.Kind
		}
		if kind != want.kind || o.Reply.Stop.Kind != want.stop || o.Reply.Message.Text() != want.text {
			t.Errorf("%s: %s, stop %s, text %q; want %+v", fault, kind, o.Reply.Stop.Kind, o.Reply.Message.Text(), want)
		}
		if strings.Contains(fault, "times = 2") {
			if o, _ := llmtest.Observe(t.Context(), p, llmtest.Request()); o.Err == nil {
				t.Errorf("%s: the second time is clean", fault)
			}
		}
		o, err = llmtest.Observe(t.Context(), p, llmtest.Request())
		if err != nil || o.Err != nil || o.Reply.Message.Text() != whole || len(o.Reply.Message.Calls()) != 1 {
			t.Errorf("%s: the clean turn is %+v %v", fault, o, err)
		}
	}
	p := open(t, "version = 1\n[[turn]]\nfault = { kind = \"auth\", reason = \"no_workspace\" }\n")
	if o, _ := llmtest.Observe(t.Context(), p, llmtest.Request()); o.Err == nil || o.Err.Reason != llm.AuthNoWorkspace || o.Err.Retryable() {
		t.Errorf("auth: %+v", o.Err)
	}
}

// A-LLM-14: mistakes are told with file, line and key.
func TestScenarioErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"version = 1\n[[turn]]\ntext = \"a\n": "demo.toml:3:",
		"version = 2\n[[turn]]\n":             "version = 2",
		"version = 1\n":                       "no [[turn]]",
		"version = 1\nlop = true\n[[turn]]\n": `demo.toml:2: unknown key "lop"`,
		"version = 1\n[[turn]]\ntext = \"times\"\n[turn.fault]\nkind=\"empty\"\ntimes=1\n[[turn]]\ntimes = 2\n": `demo.toml:8: unknown key "turn.times"`,
		"version = 1\n[[turn]]\nexpect = { contians = \"x\" }\n":                                                `demo.toml:3: unknown key "turn.expect.contians"`,
		"version = 1\n[[turn]]\n[turn.usagee]\ninput = 1\n":                                                     `demo.toml:3: unknown key "turn.usagee"`,
		"version = 1\n[[turn]]\nchunk = \"4\"\n":                                                                `line 3 (last key "turn.chunk")`,
		"version = 1\n[[turn]]\nchunk = -1\n":                                                                   "turn 1: chunk",
		"version = 1\n[[turn]]\n[[turn]]\n[[turn.call]]\nargs={}\n":                                             "turn 2: call 1: name is missing",
		"version = 1\n[[turn]]\n[[turn.call]]\nname=\"x\"\nargs={}\nargs_raw=\"\"\n":                            "exclude each other",
		"version = 1\n[[turn]]\n[[turn.call]]\nname=\"x\"\nargs={a=[{d=2020-01-01}]}\n":                         "args.a.0.d is a date",
		"version = 1\n[[turn]]\nusage={input=-1}\n":                                                             "usage cannot be negative",
		"version = 1\n[[turn]]\nfault={kind=\"explode\"}\n":                                                     `unknown kind "explode" (one of auth, disconnect, empty,`,
		"version = 1\n[[turn]]\nfault={kind=\"empty\",ms=5}\n":                                                  `ms is no key of kind "empty"`,
		"version = 1\n[[turn]]\nfault={kind=\"http\",status=200}\n":                                             "status = 200",
		"version = 1\n[[turn]]\nfault={kind=\"auth\"}\n":                                                        "reason is missing",
		"version = 1\n[[turn]]\nfault={kind=\"auth\",reason=\"bored\"}\n":                                       "auth reason",
		"version = 1\n[[turn]]\nfault={kind=\"error_event\"}\n":                                                 "type is missing",
		"version = 1\n[[turn]]\nfault={kind=\"stall\",ms=-1}\n":                                                 "negative",
	} {
		_, err := New(Config{File: "demo.toml", Data: []byte(text)})
		if err == nil || !strings.HasPrefix(err.Error(), "demo.toml") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n error %v\n want  %s", text, err, want)
		}
	}
}

// A-LLM-14: time passes only in the sleep that was handed in, and cancel ends it.
func TestSleeps(t *testing.T) {
	t.Parallel()
	var slept time.Duration
	p, err := New(Config{File: "demo.toml", Data: []byte("version = 1\n[[turn]]\ntext = \"abcdefgh\"\nchunk = 2\ndelay_ms = 5\nfault = { kind = \"stall\", ms = 40 }\n"),
		Sleep: func(_ context.Context, d time.Duration) error { slept += d; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Collect(t.Context(), p, llmtest.Request()); err != nil || slept != 60*time.Millisecond {
		t.Errorf("slept %v, error %v; want 4 × 5 ms and 40 ms", slept, err)
	}
	real, err := New(Config{File: "demo.toml", Data: []byte("version = 1\n[[turn]]\ntext = \"ab\"\nchunk = 1\ndelay_ms = 3600000\n")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	o, breach := llmtest.Observe(ctx, real, llmtest.Request())
	if breach != nil || o.Err == nil || o.Err.Kind != llm.KindCanceled {
		t.Errorf("%v %v, want canceled", o.Err, breach)
	}
}

// A long scenario plays in no time: 2,000 chunks are far below a second.
func TestManyChunks(t *testing.T) {
	t.Parallel()
	p := open(t, fmt.Sprintf("version = 1\n[[turn]]\nchunk = 4\ntext = \"%s\"\n", strings.Repeat("漢字é ", 2000)))
	start := time.Now()
	events := 0
	for _, err := range p.Stream(t.Context(), llmtest.Request()) {
		if err != nil {
			t.Fatal(err)
		}
		events++
	}
	if took := time.Since(start); events != 2002 || took > time.Second {
		t.Errorf("%d events in %v", events, took)
	}
}

func BenchmarkStream2000(b *testing.B) {
	p, err := New(Config{File: "demo.toml", Data: fmt.Appendf(nil, "version = 1\nloop = true\n[[turn]]\nchunk = 4\ntext = \"%s\"\n", strings.Repeat("word", 2000))})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for range p.Stream(b.Context(), llmtest.Request()) {
		}
	}
}
