package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// B-CONC-1: readers share, a writer is alone, a waiting writer precedes later
// readers, and a wait ends with its context without losing anybody's turn.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l turns
		var order []string
		ctx := t.Context()
		for range 2 {
			if err := l.take(ctx, true); err != nil {
				t.Fatal(err)
			}
		}
		queue := func(name string, shared bool) {
			go func() {
				if err := l.take(ctx, shared); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				l.give(shared)
			}()
			synctest.Wait()
		}
		queue("writer", false)
		queue("reader", true)
		given, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := l.take(given, false); err == nil {
			t.Error("a writer got in beside readers")
		}
		if len(order) != 0 {
			t.Errorf("%v ran before the readers were done", order)
		}
		l.give(true)
		l.give(true)
		synctest.Wait()
		if len(order) != 2 || order[0] != "writer" {
			t.Errorf("order %v", order)
		}
		if l.writing || l.readers != 0 || len(l.line) != 0 {
			t.Errorf("left behind: %+v", &l)
		}
	})
}

// B-CONC-1: whatever is taken, cancelled and given, a writer is never beside anybody.
func TestTurnsExclude(t *testing.T) {
	t.Parallel()
	var l turns
	var writers, readers atomic.Int32
	done := make(chan struct{})
	for i := range 16 {
		go func() {
			defer func() { done <- struct{}{} }()
			for j := range 200 {
				ctx, cancel := context.WithCancel(context.Background())
				if (i+j)%5 == 0 {
					cancel()
				}
				shared := (i+j)%3 != 0
				if l.take(ctx, shared) == nil {
					check(t, &writers, &readers, shared)
					l.give(shared)
				}
				cancel()
			}
		}()
	}
	for range 16 {
		<-done
	}
	if l.writing || l.readers != 0 || len(l.line) != 0 {
		t.Errorf("left behind: %+v", &l)
	}
}

func check(t *testing.T, writers, readers *atomic.Int32, shared bool) {
	mine := writers
	if shared {
		mine = readers
	}
	mine.Add(1)
	if w, r := writers.Load(), readers.Load(); w > 1 || w == 1 && r > 0 {
		t.Errorf("%d writers beside %d readers", w, r)
	}
	mine.Add(-1)
}
