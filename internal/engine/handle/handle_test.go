package handle_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"car/internal/engine/handle"
	"car/internal/engine/ir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func registry(ended func(handle.Poll, handle.Owner)) *handle.Registry {
	n := 0
	return handle.New(func() string { n++; return fmt.Sprint("h", n) }, time.Now, ended)
}

func text(s string) ir.Chunk { return ir.Chunk{Kind: ir.ChunkText, Text: s} }

// E-DET-2: chunks come oldest first and once; the terminal state is seen once, then nothing.
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []handle.Poll
		r := registry(func(p handle.Poll, _ handle.Owner) { ended = append(ended, p) })
		next := make(chan struct{})
		id := r.Start("t", "a1", handle.Owner{}, func(_ context.Context, emit func(ir.Chunk)) {
			emit(text("1"))
			emit(text("2"))
			<-next
			emit(ir.Chunk{Kind: ir.ChunkDone, Result: "r"})
			emit(text("after the end"))
		})
		synctest.Wait()
		p, ok := r.Poll(id)
		if !ok || p.Status != ir.StreamRunning || len(p.Chunks) != 2 || p.Chunks[0].Text != "1" || p.ActionID != "a1" {
			t.Errorf("%+v %v", p, ok)
		}
		if p, _ := r.Poll(id); len(p.Chunks) != 0 {
			t.Errorf("polled twice: %+v", p)
		}
		close(next)
		synctest.Wait()
		if p, ok = r.Poll(id); !ok || p.Status != ir.StreamSucceeded || p.Result != "r" || len(p.Chunks) != 1 {
			t.Errorf("%+v %v", p, ok)
		}
		if _, ok := r.Poll(id); ok {
			t.Error("a consumed handle answered")
		}
		if len(ended) != 1 || ended[0].Status != ir.StreamSucceeded {
			t.Errorf("ended %+v", ended)
		}
	})
}

// E-DET-2: a broken or panicking stream is failed; drops are counted, oldest first.
func TestBadStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(nil)
		broken := r.Start("t", "a", handle.Owner{}, func(context.Context, func(ir.Chunk)) {})
		panics := r.Start("t", "a", handle.Owner{}, func(context.Context, func(ir.Chunk)) { panic("boom") })
		flood := r.Start("t", "a", handle.Owner{}, func(_ context.Context, emit func(ir.Chunk)) {
			for i := range 2000 {
				emit(text(fmt.Sprint(i)))
			}
			emit(ir.Chunk{Kind: ir.ChunkDone})
		})
		synctest.Wait()
		for _, id := range []string{broken, panics} {
			if p, _ := r.Poll(id); p.Status != ir.StreamFailed || p.Error == "" {
				t.Errorf("%+v", p)
			}
		}
		if p, _ := r.Poll(flood); p.Dropped != 977 || len(p.Chunks) != 1024 || p.Chunks[0].Text != "977" {
			t.Errorf("dropped %d, kept %d", p.Dropped, len(p.Chunks))
		}
	})
}

// E-DET-3: cancel seals and ends the context; it changes nothing that has ended; owners take theirs along.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(nil)
		waits := func(ctx context.Context, emit func(ir.Chunk)) {
			<-ctx.Done()
			emit(text("too late"))
		}
		mine := handle.Owner{Session: "s", Proposal: "p"}
		a := r.Start("t", "a", mine, waits)
		b := r.Start("t", "b", mine, waits)
		c := r.Start("t", "c", handle.Owner{Session: "s", Proposal: "other"}, waits)
		if !r.Cancel(a) || r.Cancel("unknown") {
			t.Error("cancel of a known and an unknown handle")
		}
		r.CancelOwned(mine)
		synctest.Wait()
		for id, want := range map[string]ir.StreamStatus{a: ir.StreamCancelled, b: ir.StreamCancelled, c: ir.StreamRunning} {
			if p, _ := r.Poll(id); p.Status != want || len(p.Chunks) != 0 {
				t.Errorf("%s: %+v", id, p)
			}
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// E-DET-2, E-DET-3: a slow watcher loses nothing by poll; an ended handle that nobody polls goes in time.
func TestWatchAndSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(nil)
		events, stop := r.Watch()
		id := r.Start("t", "a", handle.Owner{}, func(_ context.Context, emit func(ir.Chunk)) {
			for range 300 {
				emit(text("x"))
			}
			emit(ir.Chunk{Kind: ir.ChunkDone})
		})
		synctest.Wait()
		if len(events) != 256 {
			t.Errorf("watcher holds %d", len(events))
		}
		stop()
		stop()
		if p, _ := r.Poll(id); len(p.Chunks) != 301 {
			t.Errorf("poll has %d chunks", len(p.Chunks))
		}
		forgotten := r.Start("t", "a", handle.Owner{}, func(_ context.Context, emit func(ir.Chunk)) { emit(ir.Chunk{Kind: ir.ChunkDone}) })
		synctest.Wait()
		time.Sleep(15 * time.Minute) // a fake clock's: nothing waits
		if _, ok := r.Poll(forgotten); ok {
			t.Error("a forgotten handle was kept")
		}
	})
}
