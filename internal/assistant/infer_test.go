package assistant

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"car/internal/assistant/llm"
)

// bareRun is a run over a fake model without worker and database, for fake time.
func bareRun(t *testing.T, m *model, choices ...Choice) *run {
	c := bareConversation(t)
	c.svc.cfg.Retry = llm.DefaultRetryPolicy()
	c.runtime = &Runtime{Tools: tools("read_file")}
	_, cancel := context.WithCancelCause(t.Context())
	r := newRun(c, waitingInput{Input: Input{Text: "go"}}, cancel)
	r.number = 1
	r.choices = append([]Choice{{Provider: m, Model: "m1"}}, choices...)
	r.say(entryInput, llm.UserText("go"), 0)
	return r
}

// told are the events of a conversation so far.
func told(c *Conversation) []Event {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	return append([]Event(nil), c.hub.ring...)
}

func fails(kind llm.ErrorKind, change func(*llm.Error)) said {
	e := &llm.Error{Kind: kind, Provider: "fake", Message: kind.String()}
	if change != nil {
		change(e)
	}
	return said{err: e}
}

// A-LLM-9, P-STREAM-4: what may work later is tried again with a countdown, as the
// server asks; tries are bounded; the rest is final at once.
func TestRetries(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration) func(*llm.Error) { return func(e *llm.Error) { e.RetryAfter = d } }
	cases := []struct {
		name     string
		script   []said
		forever  bool
		requests int
		waits    time.Duration // exact, or at least where atLeast
		code     string        // empty is done
	}{
		{"retry-after twice", []said{fails(llm.KindRateLimited, after(2*time.Second)), fails(llm.KindRateLimited, after(2*time.Second)), says("ok")}, false, 3, 4 * time.Second, ""},
		{"overloaded for ever", []said{fails(llm.KindOverloaded, after(time.Second))}, true, 6, 5 * time.Second, CodeProvider},
		{"too long a wait", []said{fails(llm.KindRateLimited, after(time.Hour))}, false, 1, 0, CodeRateLimited},
		{"spent quota", []said{fails(llm.KindRateLimited, func(e *llm.Error) { e.Advice = llm.AdviceNever })}, false, 1, 0, CodeQuota},
		{"invalid", []said{fails(llm.KindInvalid, nil)}, false, 1, 0, CodeProvider},
		{"unknown model", []said{fails(llm.KindModelNotFound, nil)}, false, 1, 0, CodeModelNotFound},
		{"thinking is not shown text", []said{{thinking: "hm", err: &llm.Error{Kind: llm.KindDisconnected, RetryAfter: time.Second}}, says("ok")}, false, 2, time.Second, ""},
	}
	for _, tc := range cases {
		synctest.Test(t, func(t *testing.T) {
			m := &model{t: t, script: tc.script, forever: tc.forever}
			r := bareRun(t, m)
			start := time.Now()
			end := r.converse(t.Context())
			if f, _ := end.(Failure); f.Code != tc.code {
				t.Errorf("%s: ended with %+v", tc.name, end)
			} else if tc.name == "too long a wait" && f.RetryAfterS != 3600 {
				t.Errorf("%s: retry_after_s is %g", tc.name, f.RetryAfterS)
			}
			if n := len(m.requests()); n != tc.requests {
				t.Errorf("%s: %d requests, want %d", tc.name, n, tc.requests)
			}
			if waited := time.Since(start); waited != tc.waits {
				t.Errorf("%s: waited %s, want %s", tc.name, waited, tc.waits)
			}
			retries := bodies[InferenceRetry](told(r.c))
			if len(retries) != tc.requests-1 {
				t.Errorf("%s: %d retries told", tc.name, len(retries))
			}
			for i, e := range retries {
				if e.Attempt != i+2 || e.BackoffMS == 0 || e.Reason == "" {
					t.Errorf("%s: retry %+v", tc.name, e)
				}
			}
		})
	}
}

// A-LLM-10: a cancel ends a backoff at once.
func TestCancelEndsABackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &model{t: t, script: []said{fails(llm.KindRateLimited, func(e *llm.Error) { e.RetryAfter = 100 * time.Second })}}
		r := bareRun(t, m)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(errCanceled) })
		start := time.Now()
		end, ok := r.converse(ctx).(Failure)
		if !ok || end.Code != CodeCanceled || time.Since(start) != 3*time.Second {
			t.Errorf("after %s: %+v", time.Since(start), end)
		}
	})
}

// B051, A-LLM-10, P-STREAM-1: text that was shown before the stream broke off is
// kept, marked, and continued; twice at most. Nothing of a cut stream runs.
func TestB051CutStream(t *testing.T) {
	t.Parallel()
	cut := func(text string) said {
		return said{text: text, err: &llm.Error{Kind: llm.KindDisconnected, Provider: "fake", Message: "the stream ended early"}}
	}
	synctest.Test(t, func(t *testing.T) {
		m := &model{t: t, script: []said{cut("one "), cut("two "), says("three")}}
		r := bareRun(t, m)
		if done, _ := r.converse(t.Context()).(Done); done.Text != "one two three" {
			t.Errorf("done says %q", done.Text)
		}
		var marks []string
		for _, row := range r.c.script.rows {
			marks = append(marks, string(row.Kind)+row.Mark)
		}
		if got := strings.Join(marks, " "); got != "input replycut note replycut note reply" {
			t.Errorf("the transcript is %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := &model{t: t, script: []said{cut("a "), cut("b "), cut("c ")}}
		r := bareRun(t, m)
		if end, _ := r.converse(t.Context()).(Failure); end.Code != CodeCut || end.Text != "a b c " {
			t.Errorf("ended with %+v", end)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a whole call, then the end of the connection
		whole := callsTools("read_file", `{"path":"a"}`)
		whole.err = &llm.Error{Kind: llm.KindDisconnected, Provider: "fake", Message: "the stream ended early"}
		m := &model{t: t, script: []said{whole, says("ok")}}
		r := bareRun(t, m) // without an engine: a call that ran would panic
		if _, ok := r.converse(t.Context()).(Done); !ok || len(m.requests()) != 2 || len(m.requests()[1].Messages) != 1 {
			t.Errorf("%d requests, the last %+v", len(m.requests()), m.requests()[1].Messages)
		}
	})
}

// A-LLM-10: a failure that is not worth a retry keeps the shown text and ends.
func TestShownTextSurvivesAFinalFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &model{t: t, script: []said{{text: "half ", err: &llm.Error{Kind: llm.KindInvalid, Message: "bad"}}}}
		r := bareRun(t, m)
		if end, _ := r.converse(t.Context()).(Failure); end.Code != CodeProvider || end.Text != "half " {
			t.Errorf("ended with %+v", end)
		}
	})
}

// A-LLM-11, A-SVC-5: the fallback list is used after the retries of a model that is
// out of service, is announced, and is never used for a refusal, a sign-in or an
// input that names its model.
func TestFallback(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind     llm.ErrorKind
		falls    bool
		requests int
	}{{llm.KindServer, true, 6}, {llm.KindNetwork, true, 6}, {llm.KindRefused, false, 1}, {llm.KindInvalid, false, 1}, {llm.KindRateLimited, false, 6}} {
		synctest.Test(t, func(t *testing.T) {
			first := &model{t: t, script: []said{fails(tc.kind, nil)}, forever: true}
			second := &model{t: t, script: []said{says("from the second")}}
			r := bareRun(t, first, Choice{Provider: second, Model: "m2"})
			end := r.converse(t.Context())
			if done, _ := end.(Done); tc.falls != (done.Text == "from the second") {
				t.Errorf("%s: ended with %+v", tc.kind, end)
			}
			if len(first.requests()) != tc.requests {
				t.Errorf("%s: %d requests to the first", tc.kind, len(first.requests()))
			}
			if notices := bodies[Notice](told(r.c)); tc.falls && (len(notices) != 1 || notices[0].Code != "model_fallback") {
				t.Errorf("%s: notices %+v", tc.kind, notices)
			}
		})
	}
}

// A-SVC-5: a model that the input names reaches the provider unchanged, trimmed;
// blank means the configured one.
func TestNamedModelIsStrict(t *testing.T) {
	t.Parallel()
	h := newHouse(t, says("a"), says("b"))
	c, f := h.start()
	for _, name := range []string{"  gpt-oss:20b ", "   "} {
		if err := c.Send(t.Context(), Input{Text: "go", Model: name}); err != nil {
			t.Fatal(err)
		}
		f.end()
	}
	r := h.model.requests()
	if r[0].Model != "gpt-oss:20b" || r[1].Model != "m1" {
		t.Errorf("models were %q and %q", r[0].Model, r[1].Model)
	}
	if served := bodies[ModelServed](f.all); served[0].ModelID != "gpt-oss:20b-served" {
		t.Errorf("served %+v", served)
	}
}

// A-AUTH-2: signed out is one call, no retry, no fallback, no tools; receipts, then
// auth_required with its constant text, then nothing.
func TestSignedOutTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{err: &llm.Error{Kind: llm.KindAuth, Reason: llm.AuthInvalidKey, Provider: "fake", Message: "key sk-secret is wrong"}})
	h.config.Models = menu{choices: []Choice{{Provider: h.model, Model: "m1"}, {Provider: h.model, Model: "m2"}}}
	events := h.say(Input{Text: "go"})
	end := mustEnd[AuthRequired](t, events)
	if end.Reason != "invalid_key" || end.Message != authTexts[llm.AuthInvalidKey].message || end.Help == "" || end.Provider != "fake" {
		t.Errorf("ended with %+v", end)
	}
	if k := kindsOf(events); k[len(k)-2] != "receipt_report" || len(h.model.requests()) != 1 {
		t.Errorf("events %v", k)
	}
	if strings.Contains(jsonText(events), "sk-secret") {
		t.Error("an event holds a part of a key")
	}
}

// A-AUTH-1: every reason has its text, and no provider at all is one of them.
func TestEveryAuthReasonHasItsText(t *testing.T) {
	t.Parallel()
	for reason := llm.AuthSignedOut; reason <= llm.AuthUntrustedConfig; reason++ {
		if text := authTexts[reason]; text.message == "" || text.help == "" {
			t.Errorf("%s has no text", reason)
		}
	}
	h := newHouse(t)
	h.config.Models = menu{}
	if end := mustEnd[AuthRequired](t, h.say(Input{Text: "go"})); end.Reason != "no_provider" {
		t.Errorf("ended with %+v", end)
	}
	h = newHouse(t)
	h.config.Models = menu{err: errors.New("no such model")}
	if end := mustEnd[Failure](t, h.say(Input{Text: "go"})); end.Code != CodeProvider {
		t.Errorf("ended with %+v", end)
	}
}

// A-LLM-12, A-EVT: usage is told for every request, estimated where the provider is
// silent, and summed in the report; an unknown price is no price.
func TestUsageIsCounted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{text: "a", stop: llm.StopLength, usage: &llm.Usage{Input: 10, Output: 5, CacheRead: 100}}, says("b"))
	events := h.say(Input{Text: "go"})
	usage := bodies[Usage](events)
	if len(usage) != 2 || usage[0].Input != 10 || usage[0].CacheRead != 100 || usage[0].Estimated || !usage[1].Estimated || usage[1].Input == 0 || usage[0].CostUSD != nil {
		t.Errorf("usage %+v", usage)
	}
	report := bodies[ReceiptReport](events)[0].Usage
	if report.Input != usage[0].Input+usage[1].Input || report.CacheRead != 100 || !report.Estimated {
		t.Errorf("the report has %+v", report)
	}
	sum, err := h.db.UsageOf(t.Context(), "s1", 1)
	if err != nil || sum.Requests != 2 || sum.Input != report.Input {
		t.Errorf("rows sum to %+v, %v", sum, err)
	}
}
