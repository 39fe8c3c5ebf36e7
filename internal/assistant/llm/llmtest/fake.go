package llmtest

import (
	"context"
	"iter"
	"sync"
	"testing"
	"time"

	"car/internal/assistant/llm"
)

// Fake is a provider without a server: it plays plays and remembers requests. It is
// for tests of whatever drives providers. Safe for concurrent use.
type Fake struct {
	name  string
	plays []Play

	mu       sync.Mutex
	requests []llm.Request
}

// NewFake returns a fake that plays one play a request, the last one again and again.
func NewFake(name string, plays ...Play) *Fake { return &Fake{name: name, plays: plays} }

// Name is the name it was given.
func (f *Fake) Name() string { return f.name }

// Requests returns what it was asked so far.
func (f *Fake) Requests() []llm.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]llm.Request(nil), f.requests...)
}

func (f *Fake) next(r llm.Request) (Play, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	if len(f.plays) == 0 {
		return Play{}, false
	}
	return f.plays[min(len(f.requests), len(f.plays))-1], true
}

// Stream plays the next play.
func (f *Fake) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		fail := func(e *llm.Error) {
			e.Provider = f.name
			yield(nil, e)
		}
		if err := r.Check(); err != nil {
			fail(err.(*llm.Error))
			return
		}
		play, ok := f.next(r)
		if !ok {
			fail(&llm.Error{Kind: llm.KindInvalid, Message: "the fake has nothing to play"})
			return
		}
		if play.Fault.Kind == FaultRefuse {
			fail(Refusal(play.Fault))
			return
		}
		for _, e := range events(play, llm.Origin{Provider: f.name, Model: r.Model}) {
			if ctx.Err() != nil {
				fail(&llm.Error{Kind: llm.KindCanceled, Message: "canceled", Err: ctx.Err()})
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if e := cutShort(play.Fault); e != nil {
			fail(e)
		}
	}
}

// Refusal is the error that FaultRefuse means.
func Refusal(f Fault) *llm.Error {
	e := &llm.Error{Kind: f.Error, Message: "refused as " + f.Error.String(), RetryAfter: time.Duration(f.RetryAfterSeconds) * time.Second}
	switch f.Error {
	case llm.KindAuth:
		e.Reason = llm.AuthInvalidKey
	case llm.KindForbidden:
		e.Reason = llm.AuthForbidden
	case llm.KindPayment:
		e.Reason = llm.AuthPaymentRequired
	}
	return e
}

// cutShort is the error that a fault in the middle means, nil for none.
func cutShort(f Fault) *llm.Error {
	switch f.Kind {
	case FaultCut:
		return &llm.Error{Kind: llm.KindDisconnected, Message: "the reply ended before it was complete"}
	case FaultError:
		return &llm.Error{Kind: f.Error, Message: "the reply broke off", Status: 200}
	case FaultStall:
		return &llm.Error{Kind: llm.KindTimeout, Message: "the stream stalled"}
	}
	return nil
}

// events are the events of a play, up to its fault.
func events(p Play, o llm.Origin) []llm.Event {
	r := p.Reply
	list := []llm.Event{llm.Started{Model: o.Model, RequestID: "fake"}}
	for _, piece := range r.Pieces(r.Thinking) {
		list = append(list, llm.Thinking{Delta: piece})
	}
	if r.Thinking != "" {
		list = append(list, llm.Item{Part: llm.Part{Kind: llm.PartThinking, Text: r.Thinking, Raw: `{"fake":true}`, Origin: o}})
	}
	texts := r.Pieces(r.Text)
	if p.Fault.Kind != NoFault {
		texts = texts[:(len(texts)+1)/2]
	}
	for _, piece := range texts {
		list = append(list, llm.Text{Delta: piece})
	}
	if p.Fault.Kind != NoFault {
		return list
	}
	for i, c := range r.Calls {
		list = append(list, llm.ToolStart{Index: i, ID: c.ID, Name: c.Name})
		for _, piece := range r.Pieces(c.Args) {
			list = append(list, llm.ToolDelta{Index: i, Fragment: piece})
		}
	}
	if r.Usage != nil {
		list = append(list, *r.Usage)
	}
	return append(list, llm.Stop{Kind: r.StopKind(), Raw: r.StopKind().String()})
}

// FakeDriver drives the fake.
type FakeDriver struct{}

// Provider returns a fake.
func (FakeDriver) Provider(_ *testing.T, plays ...Play) llm.Provider {
	return NewFake("fake", plays...)
}
