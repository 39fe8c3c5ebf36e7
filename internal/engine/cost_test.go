//go:build !race

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"car/internal/engine/ir"
)

// What is counted and timed here is meaningless under the race detector, which
// allocates and waits itself; what these proposals do, the property tests do too.

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
