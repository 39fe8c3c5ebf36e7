package eventlog_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine/eventlog"
)

func seqs(events []eventlog.Event) []uint64 {
	list := make([]uint64, 0, len(events))
	for _, e := range events {
		list = append(list, e.Seq)
	}
	return list
}

// E-LOG-2: what is asked for is ANDed, newest first; named behaviour "bounds half-open".
func TestQuery(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{})
	for _, e := range []eventlog.Event{
		{Kind: eventlog.ProposalReceived, ProposalID: "p1", Data: map[string]any{"action_count": 2}},
		{Kind: eventlog.ActionSucceeded, ProposalID: "p1", ActionID: "a1", Data: map[string]any{"tool": "shell", "ok": true, "attempt": 1}},
		{Kind: eventlog.ActionFailed, ProposalID: "p1", ActionID: "a2", Data: map[string]any{"tool": "shell", "ok": false, "error": nil, "list": []string{"x"}}},
		{Kind: eventlog.ActionSucceeded, ProposalID: "p2", ActionID: "a1", Data: map[string]any{"tool": "read_file", "ok": true}},
		{Kind: eventlog.StateCommitted, ProposalID: "p2"},
	} {
		appendTo(t, l, e)
	}
	at := func(n int) time.Time { return testTime.Add(time.Duration(n-1) * time.Second) }
	for _, c := range []struct {
		name string
		q    eventlog.Query
		want []uint64
	}{
		{"everything", eventlog.Query{}, []uint64{5, 4, 3, 2, 1}},
		{"a kind", eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionSucceeded}}, []uint64{4, 2}},
		{"two kinds", eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionFailed, eventlog.StateCommitted}}, []uint64{5, 3}},
		{"an action", eventlog.Query{ActionID: "a1"}, []uint64{4, 2}},
		{"a proposal", eventlog.Query{ProposalID: "p2"}, []uint64{5, 4}},
		{"since is inclusive", eventlog.Query{Since: at(4)}, []uint64{5, 4}},
		{"until is exclusive", eventlog.Query{Until: at(3)}, []uint64{2, 1}},
		{"between", eventlog.Query{Since: at(2), Until: at(4)}, []uint64{3, 2}},
		{"nothing between", eventlog.Query{Since: at(2), Until: at(2)}, nil},
		{"text", eventlog.Query{DataMatches: map[string]string{"tool": "shell"}}, []uint64{3, 2}},
		{"boolean as text", eventlog.Query{DataMatches: map[string]string{"ok": "true"}}, []uint64{4, 2}},
		{"number as text", eventlog.Query{DataMatches: map[string]string{"action_count": "2"}}, []uint64{1}},
		{"null as text", eventlog.Query{DataMatches: map[string]string{"error": "null"}}, []uint64{3}},
		{"list as text", eventlog.Query{DataMatches: map[string]string{"list": `["x"]`}}, []uint64{3}},
		{"two data", eventlog.Query{DataMatches: map[string]string{"tool": "shell", "ok": "true"}}, []uint64{2}},
		{"an absent member", eventlog.Query{DataMatches: map[string]string{"nope": ""}}, nil},
		{"the newest", eventlog.Query{Limit: 2}, []uint64{5, 4}},
		{"the newest that fits", eventlog.Query{ActionID: "a1", Limit: 1}, []uint64{4}},
		{"all at once", eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionSucceeded}, ProposalID: "p1", ActionID: "a1", Since: at(1), Until: at(9), DataMatches: map[string]string{"attempt": "1"}, Limit: 3}, []uint64{2}},
	} {
		got := l.Query(c.q)
		if diff := cmp.Diff(c.want, seqs(got), cmp.Transformer("all", func(s []uint64) string { return fmt.Sprint(s) })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		c.q.Limit = 0
		if n := l.Count(c.q); n != len(l.Query(c.q)) {
			t.Errorf("%s: counted %d", c.name, n)
		}
	}
}

// Style 3.4: a follower reads history by index and then what comes, misses nothing
// however slow it is, and does not delay the one who appends.
func TestFollowIsLosslessAndDelaysNobody(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{Now: time.Now})
	for range 3 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
	}
	first, gate := make(chan struct{}), make(chan struct{})
	var got []uint64
	var wg sync.WaitGroup
	wg.Go(func() {
		for e := range l.Follow(t.Context(), 2) {
			got = append(got, e.Seq)
			if e.Seq == 2 {
				close(first)
				<-gate // stuck for as long as all the others are appended
			}
			if e.Seq == 1000 {
				return
			}
		}
	})
	<-first
	for range 997 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	close(gate)
	wg.Wait()
	if len(got) != 999 || got[0] != 2 || got[998] != 1000 {
		t.Errorf("%d events, from %v", len(got), got[:min(len(got), 3)])
	}
}

// Style 3.4: a follower that waits gets each event as it comes.
func TestFollowWakes(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{Now: time.Now})
	got := make(chan uint64)
	go func() {
		for e := range l.Follow(t.Context(), 1) {
			got <- e.Seq
		}
		close(got)
	}()
	for want := range uint64(200) {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
		if seq := <-got; seq != want+1 {
			t.Fatalf("event %d, want %d", seq, want+1)
		}
	}
	l.Close()
	if seq, more := <-got; more {
		t.Errorf("event %d after the log closed", seq)
	}
}

// Style 3.4: every follower sees every event once and in order while they are appended.
func TestManyFollowers(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{Now: time.Now})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			want := uint64(1)
			for e := range l.Follow(t.Context(), 0) {
				if e.Seq != want {
					t.Errorf("event %d where %d was next", e.Seq, want)
					return
				}
				want++
			}
			if want != 301 {
				t.Errorf("the log closed after %d events", want-1)
			}
		})
	}
	for range 300 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	l.Close()
	wg.Wait()
}

// A follower that waits for events to come ends with its context, with the log, or
// when it has had enough.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{Now: time.Now})
	appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for range l.Follow(ctx, 1) {
		seen++
		cancel()
	}
	for range l.Follow(ctx, 1) {
		t.Error("an event after the context was done")
	}
	for range l.Follow(t.Context(), 1) {
		seen++
		break
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range l.Follow(t.Context(), 2) {
			t.Error("an event that is not there")
		}
	}()
	l.Close()
	<-done
	for range l.Follow(t.Context(), 1) {
		seen++
	}
	if seen != 3 {
		t.Errorf("%d events", seen)
	}
}
