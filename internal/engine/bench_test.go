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

// P-1: the allocations of an admitted read, and those that each further action of
// a level adds. Two thirds are the library's canonical JSON, twice an action: in
// the proposal's digest and in the action's own (D-26).
func TestAllocationsOfAnAction(t *testing.T) {
	h := build(t, nil)
	count := func(p ir.Proposal) float64 { return testing.AllocsPerRun(20, func() { run(t, h, p) }) }
	one, hundred, thousand := count(many(1, reading)), count(many(100, reading)), count(many(1000, reading))
	t.Logf("%.0f for one action, %.0f each of 100, %.0f each of 1,000", one, hundred/100, thousand/1000)
	if one > 600 || hundred/100 > 450 || thousand/1000 > 1.3*hundred/100 {
		t.Errorf("%.0f for one action, %.0f each of 100, %.0f each of 1,000", one, hundred/100, thousand/1000)
	}
}

// P-5: what a proposal costs does not depend on how much state there is.
func TestCostIsIndependentOfState(t *testing.T) {
	h := build(t, nil)
	fill := func(n int) {
		for i := range n {
			if _, err := h.state.Set(fmt.Sprintf("s%d", i), float64(i), "fill"); err != nil {
				t.Fatal(err)
			}
		}
	}
	n := 0
	one := func() {
		p := many(1, writing1)
		n++
		p.ID = ir.ProposalID(fmt.Sprint("p", n))
		run(t, h, p)
	}
	abort := func() {
		p := many(2, func(i int) ir.Action {
			if i == 0 {
				return writing1(0)
			}
			return ir.Action{Type: ir.Assertion, Parameters: map[string]any{"key": "never", "expected": true}}
		})
		if r := run(t, h, p); r.Rollback == nil {
			t.Fatal("did not abort")
		}
	}
	fill(10)
	smallCommit, smallAbort := timed(t, 300, one), timed(t, 300, abort)
	fill(100_000)
	bigCommit, bigAbort := timed(t, 300, one), timed(t, 300, abort)
	t.Logf("commit %v and %v, abort %v and %v", smallCommit, bigCommit, smallAbort, bigAbort)
	if bigCommit > 2*smallCommit || bigAbort > 2*smallAbort {
		t.Errorf("with 100,000 keys a commit takes %v (%v with 10), an abort %v (%v)", bigCommit, smallCommit, bigAbort, smallAbort)
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

// D-28: thousands of state actions run, abort and roll back whole, each at the
// cost it has among a tenth as many. An idle machine takes under two seconds for 10,000.
func TestTenThousandActions(t *testing.T) {
	abort := func(n int) time.Duration {
		h := build(t, nil)
		p := many(n, func(i int) ir.Action {
			if i == n-1 {
				return ir.Action{Type: ir.Assertion, Parameters: map[string]any{"key": "never", "expected": true}}
			}
			return writing1(i)
		})
		return timed(t, 1, func() {
			r := run(t, h, p)
			if r.Rollback == nil || len(h.state.Keys()) != 0 || r.Cost.ActionsExecuted != n {
				t.Errorf("rollback %+v, %d keys left, cost %+v", r.Rollback, len(h.state.Keys()), r.Cost)
			}
		})
	}
	few, many := min(abort(1000), abort(1000)), abort(10_000)
	t.Logf("1,000 in %v, 10,000 in %v", few, many)
	if many > 40*few {
		t.Errorf("10,000 actions took %v, 1,000 took %v", many, few)
	}
}
