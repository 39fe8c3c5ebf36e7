package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// many is a proposal of n actions made by f.
func many(n int, f func(i int) ir.Action) ir.Proposal {
	p := ir.Proposal{ID: "p", Source: "bench"}
	for i := range n {
		a := f(i)
		a.ID = ir.ActionID(fmt.Sprintf("a%d", i))
		p.Actions = append(p.Actions, a)
	}
	return p.Fill(ir.Defaults{NewID: func() string { return "x" }, Now: time.Now})
}

func reading(i int) ir.Action {
	return ir.Action{Type: ir.ToolCall, Tool: "read", FailureBehavior: ir.Skip, Parameters: map[string]any{"n": float64(i)}}
}

func writing1(i int) ir.Action {
	return ir.Action{Type: ir.StateWrite, Parameters: map[string]any{"key": fmt.Sprintf("k%d", i), "value": float64(i)}}
}

// timed is the fastest of some runs, which is what a busy machine disturbs least.
func timed(b testing.TB, runs int, f func()) time.Duration {
	b.Helper()
	best := time.Hour
	for range runs {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

func run(tb testing.TB, h *house, p ir.Proposal) ir.ProposalResult {
	tb.Helper()
	r, err := h.Execute(context.Background(), p, engine.Options{Session: "s", CallPrefix: "x/"})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// P-1: an admitted read costs a bounded number of allocations, and 1,000
// independent actions cost each no more than a third above that of 100.
func BenchmarkActions(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h, p := build(b, nil), many(n, reading)
			b.ReportAllocs()
			for b.Loop() {
				run(b, h, p)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/action")
		})
	}
}

// P-7: readers overlap across proposals and within a level.
func TestConcurrencyPays(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	wait := func(d time.Duration) hand {
		return hand{spec: tool.Spec{Effect: tool.Read}, effects: reads, run: func(ctx context.Context, _ tool.Call, _ tool.Env) (tool.Execution, error) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
			return tool.Execution{Output: "ok"}, nil
		}}
	}
	h.tools["long"], h.tools["short"] = wait(200*time.Millisecond), wait(40*time.Millisecond)
	eight := timed(t, 3, func() {
		done := make(chan struct{})
		for range 8 {
			go func() {
				run(t, h, many(1, func(int) ir.Action { return ir.Action{Type: ir.ToolCall, Tool: "long"} }))
				done <- struct{}{}
			}()
		}
		for range 8 {
			<-done
		}
	})
	if eight > time.Second { // one after the other they take 1.6 s

		t.Errorf("eight read-only proposals of 200 ms took %v", eight)
	}
	wide := timed(t, 3, func() {
		run(t, h, many(64, func(i int) ir.Action {
			return ir.Action{Type: ir.ToolCall, Tool: "short", FailureBehavior: ir.Skip, Parameters: map[string]any{"i": float64(i)}}
		}))
	})
	if wide > 1300*time.Millisecond { // one after the other they take 2.56 s

		t.Errorf("64 actions of 40 ms at width 16 took %v", wide)
	}
}
