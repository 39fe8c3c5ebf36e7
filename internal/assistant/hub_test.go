package assistant

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A-EVT-4, A-EVT-8: publishing never waits for a reader; a reader who sleeps a
// second an event gets all of the text, joined, and every other event once.
func TestSlowReaderDelaysNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHub("s1", time.Now)
		events, leave := h.subscribe(0)
		defer leave()
		start := time.Now()
		var want strings.Builder
		h.publish(1, ToolCall{CallID: "first"})
		for i := range 10000 {
			piece := fmt.Sprintf("t%d ", i)
			want.WriteString(piece)
			h.publish(1, Token{Delta: piece})
			if i == 5000 {
				h.publish(1, Notice{Code: "between"})
			}
			if i%100 == 0 {
				h.publish(1, ToolProgress{CallID: "first", Tail: piece})
			}
		}
		h.publish(1, Done{Text: "end"})
		if took := time.Since(start); took != 0 {
			t.Errorf("publishing took %s", took)
		}
		var got strings.Builder
		kinds, last := map[Kind]int{}, uint64(0)
		for e := range events {
			time.Sleep(time.Second)
			if e.Seq <= last {
				t.Fatalf("event %d came after %d", e.Seq, last)
			}
			last = e.Seq
			kinds[e.Body.Kind()]++
			if token, ok := e.Body.(Token); ok {
				got.WriteString(token.Delta)
			}
			if e.Body.Kind().Terminal() {
				break
			}
		}
		if kinds[KindNotice] != 1 || kinds[KindToolCall] != 1 || kinds[KindDone] != 1 {
			t.Errorf("events %v", kinds)
		}
		if got.String() != want.String() {
			t.Errorf("%d bytes of text, want %d", got.Len(), want.Len())
		}
	})
}

// A-EVT-4: adjacent pieces of text, of reasoning and of one call's progress are
// joined when the queue is long; other events stay apart.
func TestOnlyAdjacentPiecesAreJoined(t *testing.T) {
	t.Parallel()
	s := &subscriber{wake: make(chan struct{}, 1)}
	for i := range queueLimit {
		s.push(Event{Seq: uint64(i + 1), Body: Notice{Code: "fill"}})
	}
	for i, b := range []Body{Token{"a"}, Token{"b"}, Thinking{"c"}, Thinking{"d"}, Token{"e"}, ToolProgress{CallID: "1", Tail: "x"}, ToolProgress{CallID: "1", Tail: "y"},
		ToolProgress{CallID: "2", Tail: "z"}, Usage{Input: 1}, Usage{Input: 2}} {
		s.push(Event{Seq: uint64(queueLimit + i + 1), Body: b})
	}
	var got []string
	for _, q := range s.queue[queueLimit:] {
		got = append(got, fmt.Sprintf("%d %v", q.Seq-queueLimit, q.whole().Body))
	}
	want := "2 {ab} 4 {cd} 5 {e} 7 {1 y 0} 8 {2 z 0} 9 {1 0 0 0 0 <nil> false} 10 {2 0 0 0 0 <nil> false}"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("queued\n got %s\nwant %s", s, want)
	}
}

// A-EVT-4: a reader who is 10,000 events behind is told and let go, and can come
// back for what it missed as far as it is kept.
func TestReaderTooFarBehindIsLetGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHub("s1", time.Now)
		events, leave := h.subscribe(0)
		defer leave()
		for range lagLimit + 10 {
			h.publish(1, Notice{Code: "n"})
		}
		var last Event
		for e := range events {
			last = e
		}
		if n, ok := last.Body.(Notice); !ok || n.Code != "lagged" || last.Seq != 0 {
			t.Errorf("the last event is %+v", last)
		}
		h.publish(1, Done{})
		back, leave2 := h.subscribe(lagLimit + 8)
		defer leave2()
		for want := uint64(lagLimit + 9); want <= lagLimit+11; want++ {
			if e := <-back; e.Seq != want {
				t.Errorf("got event %d, want %d", e.Seq, want)
			}
		}
		old, leave3 := h.subscribe(0)
		defer leave3()
		if n, ok := (<-old).Body.(Notice); !ok || n.Code != "lagged" {
			t.Error("a gap was not told")
		}
		if e := <-old; lagLimit+11-e.Seq+1 < ringSize {
			t.Errorf("only the last %d events are kept", lagLimit+11-e.Seq+1)
		}
		h.close(time.Second)
	})
}

// A-SVC-12: closing lets readers read what they were sent, does not wait for ever
// for one that sleeps, and later readers get what is kept.
func TestHubCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHub("s1", time.Now)
		reader, _ := h.subscribe(0)
		sleeper, _ := h.subscribe(0)
		for range 3 {
			h.publish(1, Notice{})
		}
		read := make(chan int)
		go func() {
			n := 0
			for range reader {
				n++
			}
			read <- n
		}()
		start := time.Now()
		h.close(2 * time.Second)
		if n := <-read; n != 3 {
			t.Errorf("the reader got %d events", n)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("closing took %s", took)
		}
		if _, open := <-sleeper; open {
			t.Error("the sleeper's channel is open")
		}
		h.publish(1, Notice{})
		late, leave := h.subscribe(1)
		leave()
		n := 0
		for range late {
			n++
		}
		if n != 2 {
			t.Errorf("a late reader got %d events", n)
		}
	})
}

// A-EVT-4: text that is joined for a sleeping reader costs no more than its length.
func BenchmarkJoining(b *testing.B) {
	s := &subscriber{wake: make(chan struct{}, 1)}
	for i := range queueLimit {
		s.push(Event{Seq: uint64(i), Body: Notice{}})
	}
	e := Event{Body: Token{Delta: "word "}}
	for b.Loop() {
		s.push(e)
	}
}
