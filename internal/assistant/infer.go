package assistant

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"car/internal/assistant/llm"
	"car/internal/assistant/store"
	"car/internal/engine/eventlog"
)

// inferred is what one inference brought. A cut one has only the text that was
// shown before the stream broke off.
type inferred struct {
	reply llm.Reply
	cut   bool
	text  string
}

// prompt is what is asked of a model. Nothing of the answer to a quiet one is shown.
type prompt struct {
	req     llm.Request
	guessed int64
	quiet   bool
}

// infer writes the checkpoint and asks the model once, with retries and fallbacks
// (A-DUR-3, A-LLM-9, A-LLM-11). A non-nil end ends the run.
func (r *run) infer(ctx context.Context, choice llm.ToolChoice) (inferred, Body) {
	if end := r.keep(ctx); end != nil {
		return inferred{}, end
	}
	for {
		got, err := r.tries(ctx, prompt{req: r.request(r.choices[0], choice), guessed: r.c.guess()})
		if err == nil {
			return got, nil
		}
		if ctx.Err() != nil {
			r.keepPart(got.text, markInterrupted)
			return inferred{}, canceled(ctx)
		}
		if got.text != "" && (err.Retryable() || err.Kind == llm.KindMalformed) {
			got.cut = true
			return got, nil
		}
		if got.text == "" && r.fallback(err) {
			continue
		}
		r.keepPart(got.text, markCut)
		return inferred{}, r.providerEnd(ctx, err, got.text)
	}
}

// fallback goes on with the next configured model where the one in use is out of
// service; never for a refusal or a sign-in (A-LLM-11).
func (r *run) fallback(err *llm.Error) bool {
	switch err.Kind {
	case llm.KindOverloaded, llm.KindServer, llm.KindNetwork, llm.KindTimeout, llm.KindDisconnected:
	default:
		return false
	}
	if len(r.choices) < 2 {
		return false
	}
	r.emit(Notice{Code: "model_fallback", Text: fmt.Sprintf("%s does not answer (%v); going on with %s", r.choices[0].Model, err, r.choices[1].Model)})
	r.record(eventlog.ModelFallback, map[string]any{"from": r.choices[0].Model, "to": r.choices[1].Model, "reason": err.Error()})
	r.choices = r.choices[1:]
	return true
}

// tries sends the request until it is answered, text was shown, or trying again
// is of no use. Its error comes with the text that was shown.
func (r *run) tries(ctx context.Context, q prompt) (inferred, *llm.Error) {
	now := r.c.svc.cfg.Now
	first := now()
	counted := 0
	for attempt := 1; ; attempt++ {
		got, err := r.attempt(ctx, q, attempt)
		if err == nil || got.text != "" && !q.quiet || ctx.Err() != nil {
			return got, err
		}
		if err.Advice != llm.AdviceWait {
			counted++
		}
		delay, again := r.c.svc.cfg.Retry.Next(err, counted, now().Sub(first), r.jitter)
		if !again || r.overBudget() != nil {
			return got, err
		}
		r.emit(InferenceRetry{Model: r.choices[0].Model, Attempt: attempt + 1, Reason: err.Error(), BackoffMS: delay.Milliseconds()})
		if !pause(ctx, delay) {
			return got, err
		}
	}
}

// pause waits, and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt is one request. What it shows is told as it comes; what it cost is
// counted whether it succeeded or not (A-LOOP-16).
func (r *run) attempt(ctx context.Context, q prompt, number int) (inferred, *llm.Error) {
	with := r.choices[0]
	r.inferences++
	r.emit(InferenceStarted{Model: with.Model, Attempt: number, Turn: r.inferences})
	col := llm.NewCollector(llm.Origin{Provider: with.Provider.Name(), Model: with.Model})
	show := newShower(r)
	var failed error
	for event, err := range with.Provider.Stream(ctx, q.req) {
		if err != nil {
			failed = err
			break
		}
		col.Add(event)
		if !q.quiet {
			show.event(event, with)
		}
	}
	show.flush()
	r.charge(ctx, with, q, col)
	reply, err := col.Reply()
	if failed == nil {
		failed = err
	}
	if failed != nil {
		return inferred{text: col.Text()}, asProviderError(with, failed)
	}
	return inferred{reply: reply, text: reply.Message.Text()}, nil
}

func asProviderError(with Choice, err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return e
	}
	return &llm.Error{Kind: llm.KindUnset, Provider: with.Provider.Name(), Message: err.Error(), Err: err}
}

// request builds what is sent, from typed rows alone (A-LLM-3, P-WORK-2).
func (r *run) request(with Choice, choice llm.ToolChoice) llm.Request {
	messages := r.c.script.messages()
	if with.NoVision {
		messages = sightless(messages)
	}
	return llm.Request{Model: with.Model, System: r.c.system, Messages: messages, Tools: r.c.toolset(), ToolChoice: choice,
		MaxTokens: with.MaxTokens, Effort: with.Effort, Cache: with.Cache, SessionID: r.c.id}
}

// keepPart keeps the shown text of a reply that is not whole (A-SVC-8, A-LLM-10).
func (r *run) keepPart(text, mark string) {
	if text == "" {
		return
	}
	m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(text)}}
	with := r.choices[0]
	r.c.script.add(row{entry: entry{Message: m, Kind: entryReply, Mark: mark}, turn: r.number, provider: with.Provider.Name(), model: with.Model})
	if mark == markInterrupted {
		r.note("[the reply above was interrupted before it was whole]")
	}
}

// charge counts what a request cost. A provider that told nothing is estimated.
func (r *run) charge(ctx context.Context, with Choice, q prompt, col *llm.Collector) {
	u := Usage{Estimated: true, Input: q.guessed, Output: tokensOf(len(col.Text()))}
	if told := col.Usage(); told != nil {
		u = Usage{Input: told.Input, Output: told.Output, CacheRead: told.CacheRead, CacheWrite: told.CacheWrite, Reasoning: told.Reasoning}
	}
	micros := r.price(with, u, col.Usage())
	if micros != nil {
		usd := float64(*micros) / 1e6
		u.CostUSD = &usd
	}
	if !q.quiet {
		r.learn(col.Usage(), q.guessed)
	}
	r.spent.add(u, micros)
	r.emit(u)
	r.recordRequest(with, u)
	err := r.c.svc.cfg.Store.AddUsage(ctx, r.c.id, store.Usage{Turn: r.number, Step: r.inferences, Provider: with.Provider.Name(), Model: with.Model,
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning, CostMicros: micros, Estimated: u.Estimated})
	if err != nil {
		r.emit(Notice{Code: CodeStore, Text: "usage could not be kept: " + err.Error()})
	}
}

// price is the provider's own figure, else the table's, nil where neither knows (A-LLM-12).
func (r *run) price(with Choice, u Usage, told *llm.Usage) *int64 {
	if told != nil && told.CostMicros != nil {
		return told.CostMicros
	}
	if with.Price == nil {
		return nil
	}
	micros, known := with.Price(llm.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning})
	if !known {
		return nil
	}
	return &micros
}

// jitter draws from [0, 1).
func (r *run) jitter() float64 {
	var b [8]byte
	if _, err := io.ReadFull(r.c.svc.cfg.Rand, b[:]); err != nil {
		return 0.5
	}
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}
