package llmtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/llm"
)

// Run holds a provider to the contract of llm.Provider (A-LLM-1). Goroutines that
// survive are the business of the caller's TestMain (goleak).
func Run(t *testing.T, d Driver) {
	for name, test := range map[string]func(*testing.T, Driver){
		"replies come as they are":                  replies,
		"errors before a reply":                     refusals,
		"retry-after":                               waits,
		"a reply that breaks off":                   breaks,
		"cancel":                                    cancels,
		"leaving early":                             leaves,
		"each range is a request":                   ranges,
		"many at once":                              concurrent,
		"a request that cannot be sent is not sent": unsendable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}

// observe fails the test at a breach of the contract.
func observe(t *testing.T, p llm.Provider) Outcome {
	t.Helper()
	o, err := Observe(t.Context(), p, Request())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Replies are whole replies of every shape; adapters' own tests reuse them.
func Replies() map[string]Reply {
	args := `{"path":"a <b> & \"c\" é漢😀.txt","n":[1,2.5,null]}`
	return map[string]Reply{
		"text":     {Text: "Hello, wörld 漢字 😀.", Usage: &llm.Usage{Input: 12, Output: 7, CacheRead: 3}},
		"thinking": {Thinking: "Let me <see> \"it\".", Text: "Done."},
		"one call": {Text: "Reading.", Calls: []Call{{"id_1", "read_file", args}}},
		"parallel calls": {Thinking: "two", Calls: []Call{{"id_1", "read_file", args}, {"id_2", "list_dir", ""}, {"id_3", "read_file", `{}`}},
			Usage: &llm.Usage{Input: 1, Output: 2}},
		"repeated ids":        {Calls: []Call{{"call_0", "read_file", `{"path":"a"}`}, {"call_0", "read_file", `{"path":"b"}`}}},
		"broken arguments":    {Calls: []Call{{"id_1", "read_file", `{"path": "a.txt", "content": "hel`}}},
		"no JSON at all":      {Calls: []Call{{"id_1", "read_file", `path=a`}}},
		"length with text":    {Text: "It goes on and", Stop: llm.StopLength},
		"length with a call":  {Text: "So", Calls: []Call{{"id_1", "read_file", `{"path": "a`}}, Stop: llm.StopLength},
		"length, hidden only": {Thinking: "hm, hm", Stop: llm.StopLength},
		"empty":               {},
	}
}

// P-STREAM-1..3, B053, B055, B057: what the model said is what comes out, and nothing is completed or mended.
func replies(t *testing.T, d Driver) {
	for name, r := range Replies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			CheckReply(t, observe(t, d.Provider(t, Play{Reply: r})), r)
		})
	}
}

// CheckReply compares an outcome with the reply that was played.
func CheckReply(t *testing.T, o Outcome, want Reply) {
	t.Helper()
	if o.Err != nil {
		t.Fatalf("error %v", o.Err)
	}
	if got := o.Reply.Message.Text(); got != want.Text {
		t.Errorf("text %q, want %q", got, want.Text)
	}
	thinking := ""
	for _, p := range o.Reply.Message.Parts {
		if p.Kind == llm.PartThinking {
			thinking += p.Text
		}
	}
	if thinking != want.Thinking {
		t.Errorf("thinking %q, want %q", thinking, want.Thinking)
	}
	var calls []Call
	for _, c := range o.Reply.Message.Calls() {
		calls = append(calls, Call{c.ProviderID, c.Name, c.Arguments})
	}
	wantCalls := append([]Call(nil), want.Calls...)
	if diff := cmp.Diff(wantCalls, calls, cmp.Transformer("empty", func(c Call) [3]string {
		if c.Args == "{}" { // no format keeps nothing and an empty object apart
			c.Args = ""
		}
		return [3]string{c.ID, c.Name, c.Args}
	})); diff != "" {
		t.Errorf("calls: %s", diff)
	}
	if o.Reply.Stop.Kind != want.StopKind() || o.Reply.Stop.Raw == "" {
		t.Errorf("stop %s (%q), want %s", o.Reply.Stop.Kind, o.Reply.Stop.Raw, want.StopKind())
	}
	if want.Usage != nil {
		if diff := cmp.Diff(want.Usage, o.Reply.Usage); diff != "" {
			t.Errorf("usage: %s", diff)
		}
	}
}

// A-LLM-4, A-AUTH-1: each kind of refusal is told apart, and only some may be tried again.
func refusals(t *testing.T, d Driver) {
	reasons := map[llm.ErrorKind]llm.AuthReason{llm.KindAuth: llm.AuthInvalidKey, llm.KindForbidden: llm.AuthForbidden, llm.KindPayment: llm.AuthPaymentRequired}
	for kind, again := range map[llm.ErrorKind]bool{
		llm.KindAuth: false, llm.KindPayment: false, llm.KindForbidden: false, llm.KindModelNotFound: false, llm.KindInvalid: false,
		llm.KindContext: false, llm.KindRefused: false, llm.KindRateLimited: true, llm.KindServer: true, llm.KindOverloaded: true,
	} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			o := observe(t, d.Provider(t, Play{Fault: Fault{Kind: FaultRefuse, Error: kind}}))
			if o.Err == nil || o.Err.Kind != kind || o.Err.Retryable() != again || o.Err.Reason != reasons[kind] {
				t.Errorf("error %+v, want %s, retryable %v, reason %s", o.Err, kind, again, reasons[kind])
			}
			if len(o.Events) != 0 {
				t.Errorf("events %v before the error", o.Events)
			}
		})
	}
}

// A-LLM-9, B061: the wait a server asks for arrives.
func waits(t *testing.T, d Driver) {
	o := observe(t, d.Provider(t, Play{Fault: Fault{Kind: FaultRefuse, Error: llm.KindRateLimited, RetryAfterSeconds: 2}}))
	if o.Err == nil || o.Err.RetryAfter != 2*time.Second {
		t.Errorf("error %+v, want a wait of 2 s", o.Err)
	}
}

// P-STREAM-1, B051: a reply that breaks off is an error, its text is kept, its calls are not.
func breaks(t *testing.T, d Driver) {
	reply := Reply{Text: "Reading the file now.", Calls: []Call{{"id_1", "read_file", `{"path":"a"}`}}}
	for name, tc := range map[string]struct {
		fault Fault
		kind  llm.ErrorKind
	}{
		"the connection breaks":        {Fault{Kind: FaultCut}, llm.KindDisconnected},
		"an error in the middle":       {Fault{Kind: FaultError, Error: llm.KindOverloaded}, llm.KindOverloaded},
		"a server error in the middle": {Fault{Kind: FaultError, Error: llm.KindServer}, llm.KindServer},
		"silence":                      {Fault{Kind: FaultStall}, llm.KindTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := d.Provider(t, Play{Reply: reply, Fault: tc.fault}, Play{Reply: reply})
			o := observe(t, p)
			if o.Err == nil || o.Err.Kind != tc.kind || !o.Err.Retryable() {
				t.Fatalf("error %+v, want %s", o.Err, tc.kind)
			}
			text := o.Reply.Message.Text()
			if text == "" || !strings.HasPrefix(reply.Text, text) || len(o.Reply.Message.Calls()) != 0 {
				t.Errorf("what is left is %+v, want the first of the text alone", o.Reply.Message)
			}
			CheckReply(t, observe(t, p), reply)
		})
	}
}

// A-LLM-1: ending the context ends the stream with an error of kind canceled.
func cancels(t *testing.T, d Driver) {
	p := d.Provider(t, Play{Reply: Reply{Text: strings.Repeat("word ", 400)}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	texts := 0
	for e, err := range p.Stream(ctx, Request()) {
		if last != nil {
			t.Fatalf("%v %v after the error", e, err)
		}
		last = err
		if _, ok := e.(llm.Text); ok {
			texts++
			cancel()
		}
	}
	var e *llm.Error
	if !errors.As(last, &e) || e.Kind != llm.KindCanceled || e.Retryable() || !errors.Is(last, context.Canceled) || texts != 1 {
		t.Errorf("error %v after %d texts, want canceled after one", last, texts)
	}
	before, stop := context.WithCancel(t.Context())
	stop()
	o, err := Observe(before, p, Request())
	if err != nil || o.Err == nil || o.Err.Kind != llm.KindCanceled {
		t.Errorf("a context that was over gives %v %v", o.Err, err)
	}
}

// A-LLM-1: leaving the range ends it, wherever it is left.
func leaves(t *testing.T, d Driver) {
	reply := Reply{Thinking: "hm", Text: "some text", Calls: []Call{{"id_1", "read_file", `{"path":"a"}`}}}
	p := d.Provider(t, Play{Reply: reply})
	all := len(observe(t, p).Events)
	for n := 1; n <= all; n++ {
		p := d.Provider(t, Play{Reply: reply})
		taken := 0
		for range p.Stream(t.Context(), Request()) {
			if taken++; taken == n {
				break
			}
		}
		if taken != n {
			t.Fatalf("left after %d events of %d", taken, n)
		}
	}
}

// A-LLM-1: the request starts with the range, and a second range is a second request.
func ranges(t *testing.T, d Driver) {
	p := d.Provider(t, Play{Reply: Reply{Text: "one"}}, Play{Reply: Reply{Text: "two"}})
	seq := p.Stream(t.Context(), Request())
	for _, want := range []string{"one", "two"} {
		got := ""
		for e, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := e.(llm.Text); ok {
				got += text.Delta
			}
		}
		if got != want {
			t.Errorf("text %q, want %q", got, want)
		}
	}
}

// Sessions share a provider.
func concurrent(t *testing.T, d Driver) {
	want := Reply{Text: "the same for all of them", Calls: []Call{{"id_1", "read_file", `{"path":"a"}`}}}
	p := d.Provider(t, Play{Reply: want})
	outcomes := make([]Outcome, 8)
	breaches := make([]error, len(outcomes))
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() { outcomes[i], breaches[i] = Observe(t.Context(), p, Request()) })
	}
	wg.Wait()
	for i, o := range outcomes {
		if breaches[i] != nil {
			t.Fatal(breaches[i])
		}
		CheckReply(t, o, want)
	}
}

// P-WORK-2: a request that breaks the rules costs nothing.
func unsendable(t *testing.T, d Driver) {
	p := d.Provider(t, Play{Reply: Reply{Text: "hi"}})
	r := Request()
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "t1c1", Name: "x"}}}})
	o, err := Observe(t.Context(), p, r)
	if err != nil || o.Err == nil || o.Err.Kind != llm.KindInvalid || !strings.Contains(o.Err.Message, "t1c1") {
		t.Errorf("error %v %v, want invalid naming the call", o.Err, err)
	}
	CheckReply(t, observe(t, p), Reply{Text: "hi"})
}
