package engine_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/span"
)

// traced is a house that follows spans, and the traces so far: of each its spans as
// "name status(parent's name)", sorted.
func traced(t *testing.T, change func(*engine.Config, *house)) (*house, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var traces []string
	recorder, err := span.New(span.Config{Now: time.Now, Rand: rand.Reader, Emit: func(spans []span.Span) error {
		mu.Lock()
		defer mu.Unlock()
		names, lines := map[span.ID]string{}, []string{}
		for _, s := range spans {
			names[s.Span] = s.Name
			for _, a := range s.Attributes {
				if a.Key != "tool" {
					names[s.Span] += " " + a.Value
				}
			}
		}
		for _, s := range spans {
			line := names[s.Span] + " " + s.Status.String()
			if s.Parent != (span.ID{}) {
				line += " < " + names[s.Parent]
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		traces = append(traces, strings.Join(lines, "; "))
		return nil
	}})
	must(t, err)
	h := build(t, func(c *engine.Config, h *house) {
		c.Spans = recorder
		if change != nil {
			change(c, h)
		}
	})
	return h, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(traces) }
}

// E-LOG-4: a span for the proposal over one for each action, with its status, ended
// on every path; F-19, named behaviour "over max_actions rejects each and ends its span".
func TestSpans(t *testing.T) {
	t.Parallel()
	skip := `"failure_behavior":"skip"`
	for _, c := range []struct {
		name    string
		change  func(*engine.Config, *house)
		p       ir.Proposal
		options engine.Options
		want    string
	}{
		{"all well", nil, plan(t, call("read", ""), `"type":"state_write","parameters":{"key":"k"}`), engine.Options{},
			"action.state_write a2 ok < proposal.execute p1; action.tool_call a1 ok < proposal.execute p1; proposal.execute p1 ok"},
		{"aborted", nil, plan(t, call("read", ""), call("fail", `"dependencies":["a1"]`), call("read", `"dependencies":["a2"]`)), engine.Options{},
			"action.tool_call a1 ok < proposal.execute p1; action.tool_call a2 error < proposal.execute p1; action.tool_call a3 unset < proposal.execute p1; proposal.execute p1 error"},
		{"rejected and panicked", nil, plan(t, call("read", `"parameters":{"policy":"deny"},`+skip), call("panic", skip), call("nope", skip)), engine.Options{},
			"action.tool_call a1 error < proposal.execute p1; action.tool_call a2 unset < proposal.execute p1; action.tool_call a3 error < proposal.execute p1; proposal.execute p1 ok"},
		{"over max_actions", nil, plan(t, call("read", ""), call("read", "")), engine.Options{Capabilities: admit.Capabilities{MaxActions: 1}},
			"action.tool_call a1 error < proposal.execute p1; action.tool_call a2 error < proposal.execute p1; proposal.execute p1 error"},
		{"refused whole", nil, plan(t, call("read", `"dependencies":["a2"]`), call("read", `"dependencies":["a1"]`)), engine.Options{},
			"action.tool_call a1 error < proposal.execute p1; action.tool_call a2 error < proposal.execute p1; proposal.execute p1 error"},
		{"reused", nil, plan(t, call("write", `"idempotent":true`), call("write", `"idempotent":true,"dependencies":["a1"]`)), engine.Options{},
			"action.tool_call a1 ok < proposal.execute p1; action.tool_call a2 ok < proposal.execute p1; proposal.execute p1 ok"},
		{"cancelled", nil, plan(t, call("read", "")), engine.Options{Cancel: closedChannel()},
			"action.tool_call a1 unset < proposal.execute p1; proposal.execute p1 ok"},
		{"compensated", nil, plan(t, call("write", `"reversibility":"compensable","compensation":{"type":"tool","tool":"read","parameters":{}}`), call("fail", `"dependencies":["a1"]`)),
			engine.Options{Compensate: true},
			"action.tool_call a1 ok < proposal.execute p1; action.tool_call a1~undo ok < proposal.execute p1~undo; action.tool_call a2 error < proposal.execute p1; " +
				"proposal.execute p1 error; proposal.execute p1~undo ok < proposal.execute p1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, traces := traced(t, c.change)
			h.execute(t, c.p, c.options)
			if got := traces(); len(got) != 1 || got[0] != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n"), c.want)
			}
		})
	}
}

func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// E-LOG-4: every generation of a replanned proposal has its span, and so has a run
// that never got its turn or lost its record.
func TestSpansOfOtherPaths(t *testing.T) {
	t.Parallel()
	h, traces := traced(t, nil)
	next := plan(t, call("read", ""))
	next.ID = "p2"
	h.SetReplan(engine.ReplanConfig{MaxReplans: 1}, func(context.Context, engine.ReplanRequest) (ir.Proposal, error) { return next, nil })
	h.execute(t, plan(t, call("fail", "")), engine.Options{})
	want := []string{"action.tool_call a1 error < proposal.execute p1; proposal.execute p1 error", "action.tool_call a1 ok < proposal.execute p2; proposal.execute p2 ok"}
	if got := traces(); !slices.Equal(got, want) {
		t.Errorf("replanned: %q", got)
	}

	started, release := make(chan struct{}), make(chan struct{})
	h, traces = traced(t, func(_ *engine.Config, h *house) { h.tools["slow"] = blocking(started, release) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = h.Execute(context.Background(), plan(t, call("slow", "")), engine.Options{Session: "s", CallPrefix: "slow/"})
	}()
	<-started
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	_, err := h.Execute(ctx, plan(t, call("write", "")), engine.Options{Session: "s", CallPrefix: "late/"})
	must(t, err)
	if got := traces(); len(got) != 1 || got[0] != "action.tool_call a1 unset < proposal.execute p1; proposal.execute p1 ok" {
		t.Errorf("without a turn: %q", got)
	}
	close(release)
	<-done
	must(t, h.log.Close())
	if _, err := h.Execute(t.Context(), plan(t, call("read", "")), engine.Options{Session: "s", CallPrefix: "deaf/"}); err == nil {
		t.Error("ran without a record")
	}
	if got := traces(); len(got) != 3 || !strings.Contains(got[2], "proposal.execute p1 error") {
		t.Errorf("without a record: %q", got)
	}
}
