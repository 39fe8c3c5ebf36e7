package montecarlo

import (
	"context"
	"fmt"
	"math"
)

// decision is one call in a walk of the exact method: its outcomes are success at
// each attempt that can, then failure.
type decision struct {
	call     int
	outcome  int
	outcomes int
}

// enumerate goes through every combination of outcomes (V-MC-7). Each walk follows the
// decisions of the last but its final undecided one, which takes its next outcome; no
// recursion, and only outcomes that can be.
func (r *run) enumerate(ctx context.Context) error {
	var script []decision
	for leaves := 0; ; leaves++ {
		if leaves == maxLeaves {
			return fmt.Errorf("the plan has over %d outcomes; sample them", maxLeaves)
		}
		if leaves%every == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		at, weight := 0, 1.0
		r.walk(func(i int) (bool, int) {
			if at == len(script) {
				script = append(script, decision{call: i, outcomes: r.outcomes(i)})
			}
			d := script[at]
			at++
			succeeded, tries, p := r.outcome(i, d.outcome)
			weight *= p
			return succeeded, tries
		})
		r.tally.add(weight)
		script = script[:at]
		for len(script) > 0 && script[len(script)-1].outcome+1 == script[len(script)-1].outcomes {
			script = script[:len(script)-1]
		}
		if len(script) == 0 {
			return nil
		}
		script[len(script)-1].outcome++
	}
}

// outcomes counts how a call can end: surely one way, or at any attempt.
func (r *run) outcomes(i int) int {
	if r.rates[i] <= 0 || r.rates[i] >= 1 {
		return 1
	}
	return r.attempts[i] + 1
}

// outcome is one of a call's outcomes with its probability.
func (r *run) outcome(i, n int) (succeeded bool, tries int, p float64) {
	rate, attempts := r.rates[i], r.attempts[i]
	switch {
	case rate <= 0:
		return false, attempts, 1
	case rate >= 1:
		return true, 1, 1
	case n == attempts:
		return false, attempts, math.Pow(1-rate, float64(attempts))
	default:
		return true, n + 1, math.Pow(1-rate, float64(n)) * rate
	}
}
