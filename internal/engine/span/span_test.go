package span_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"car/internal/engine/span"
)

// counter is randomness that a test can foretell: 1, 2, 3, …
type counter byte

func (c *counter) Read(p []byte) (int, error) {
	*c++
	for i := range p {
		p[i] = byte(*c)
	}
	return len(p), nil
}

func recorder(t *testing.T, emit func([]span.Span) error) *span.Recorder {
	t.Helper()
	var ids counter
	now := time.Unix(100, 0)
	r, err := span.New(span.Config{Now: func() time.Time { now = now.Add(time.Second); return now }, Rand: &ids, Emit: emit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// E-LOG-4: the export is OTLP JSON, a trace a line, to the byte.
func TestExport(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := recorder(t, span.JSONLines(&out, "car"))
	root := r.Start("proposal.execute", span.Ref{}, span.Attr{Key: "proposal_id", Value: "p1"})
	child := r.Start("action.tool_call", root, span.Attr{Key: "action_id", Value: "a1"}, span.Attr{Key: "tool", Value: "shell"})
	r.End(child, span.Error)
	if out.Len() > 0 {
		t.Error("half a trace was written")
	}
	r.End(root, span.OK)
	want := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"car"}}]},"scopeSpans":[{"scope":{"name":"car/internal/engine"},"spans":[` +
		`{"traceId":"01010101010101010101010101010101","spanId":"0303030303030303","parentSpanId":"0202020202020202","name":"action.tool_call","kind":1,` +
		`"startTimeUnixNano":"102000000000","endTimeUnixNano":"103000000000","attributes":[{"key":"action_id","value":{"stringValue":"a1"}},{"key":"tool","value":{"stringValue":"shell"}}],"status":{"code":2}},` +
		`{"traceId":"01010101010101010101010101010101","spanId":"0202020202020202","name":"proposal.execute","kind":1,` +
		`"startTimeUnixNano":"101000000000","endTimeUnixNano":"104000000000","attributes":[{"key":"proposal_id","value":{"stringValue":"p1"}}],"status":{"code":1}}]}]}]}` + "\n"
	if out.String() != want {
		t.Errorf("got  %s\nwant %s", out.String(), want)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// E-LOG-4: the end of a trace ends what is open in it; an end comes once; what
// begins below a trace that has ended is a trace of its own.
func TestEverySpanEnds(t *testing.T) {
	t.Parallel()
	var traces [][]span.Span
	r := recorder(t, func(s []span.Span) error { traces = append(traces, s); return nil })
	root := r.Start("root", span.Ref{})
	left := r.Start("left open", root)
	below := r.Start("below it", left)
	done := r.Start("done", root)
	r.End(done, span.OK)
	r.End(done, span.Error)
	r.End(root, span.Error)
	r.End(root, span.OK)
	r.End(below, span.OK)
	var got []string
	for _, s := range traces[0] {
		got = append(got, s.Name+" "+s.Status.String())
		if s.End.Before(s.Start) || s.End.IsZero() || s.Trace != root.Trace {
			t.Errorf("%+v", s)
		}
	}
	if len(traces) != 1 || strings.Join(got, ", ") != "done ok, below it unset, left open unset, root error" {
		t.Errorf("%d traces, %v", len(traces), got)
	}
	late := r.Start("late", root)
	if late.Trace == root.Trace {
		t.Error("a trace that was handed on grows")
	}
	r.End(late, span.OK)
	if len(traces) != 2 || traces[1][0].Parent != (span.ID{}) {
		t.Errorf("%+v", traces[1:])
	}
}

// A trace that cannot be written stops nothing and is told; no recorder records nothing.
func TestTrouble(t *testing.T) {
	t.Parallel()
	r := recorder(t, func([]span.Span) error { return errors.New("no room") })
	r.End(r.Start("x", span.Ref{}), span.OK)
	if err := r.Close(); err == nil || err.Error() != "write spans: no room" {
		t.Errorf("%v", err)
	}
	var none *span.Recorder
	if ref := none.Start("x", span.Ref{}); ref != (span.Ref{}) {
		t.Errorf("%v", ref)
	}
	none.End(span.Ref{}, span.OK)
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	if _, err := span.New(span.Config{}); err == nil {
		t.Error("made without anything")
	}
}

// Spans of one trace may start and end at once.
func TestConcurrentSpans(t *testing.T) {
	t.Parallel()
	n := 0
	r := recorder(t, func(s []span.Span) error { n += len(s); return nil })
	root := r.Start("root", span.Ref{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				r.End(r.Start("child", root), span.OK)
			}
		})
	}
	wg.Wait()
	r.End(root, span.OK)
	if n != 81 {
		t.Errorf("%d spans", n)
	}
}
