package llmtest

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"car/internal/assistant/llm"
)

// Outcome is what one range over a stream gave.
type Outcome struct {
	Events []llm.Event
	Reply  llm.Reply
	Err    *llm.Error
}

// Observe streams a request to its end. Its error names the first breach of the
// contract of llm.Provider; the provider's own error is Outcome.Err.
func Observe(ctx context.Context, p llm.Provider, r llm.Request) (Outcome, error) {
	var o Outcome
	c := llm.NewCollector(llm.Origin{Provider: p.Name(), Model: r.Model})
	g := grammar{}
	for e, err := range p.Stream(ctx, r) {
		if breach := g.next(e, err); breach != nil {
			return o, breach
		}
		if err != nil {
			if !errors.As(err, &o.Err) {
				return o, fmt.Errorf("the error is a %T, not an *llm.Error: %w", err, err)
			}
			continue
		}
		o.Events = append(o.Events, e)
		c.Add(e)
	}
	if !g.ended {
		return o, errors.New("the stream ended with neither a stop nor an error")
	}
	if o.Err == nil {
		var err error
		if o.Reply, err = c.Reply(); err != nil {
			return o, err
		}
		return o, nil
	}
	if o.Err.Kind == llm.KindUnset || o.Err.Message == "" || o.Err.Provider != p.Name() {
		return o, fmt.Errorf("the error lacks a kind, a message or the provider's name: %+v", *o.Err)
	}
	if text := c.Text(); text != "" {
		o.Reply.Message = llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(text)}}
	}
	return o, nil
}

// grammar is the order in which events may come.
type grammar struct {
	started, ended bool
	calls          int
}

func (g *grammar) next(e llm.Event, err error) error {
	if g.ended {
		return fmt.Errorf("%T %v after the end", e, err)
	}
	if err != nil {
		g.ended = true
		if e != nil {
			return fmt.Errorf("the error comes with an event %T", e)
		}
		return nil
	}
	if _, first := e.(llm.Started); first == g.started {
		return fmt.Errorf("%T comes where Started should, or Started comes twice", e)
	}
	g.started = true
	switch e := e.(type) {
	case nil:
		return errors.New("a nil event")
	case llm.Text:
		return delta(e.Delta)
	case llm.Thinking:
		return delta(e.Delta)
	case llm.ToolStart:
		if e.Index != g.calls || e.Name == "" {
			return fmt.Errorf("call %d with name %q opened as number %d", e.Index, e.Name, g.calls)
		}
		g.calls++
	case llm.ToolDelta:
		if e.Index < 0 || e.Index >= g.calls || e.Fragment == "" {
			return fmt.Errorf("fragment %q for call %d of %d", e.Fragment, e.Index, g.calls)
		}
	case llm.Item:
		if k := e.Part.Kind; k != llm.PartThinking && k != llm.PartOpaque {
			return fmt.Errorf("an item of kind %s", k)
		}
	case llm.Stop:
		g.ended = true
		if (e.Kind == llm.StopToolUse) != (g.calls > 0) && e.Kind != llm.StopLength && e.Kind != llm.StopRefusal {
			return fmt.Errorf("stop %s with %d calls", e.Kind, g.calls)
		}
	}
	return nil
}

func delta(text string) error {
	if text == "" || !utf8.ValidString(text) {
		return fmt.Errorf("delta %q is empty or no UTF-8", text)
	}
	return nil
}
