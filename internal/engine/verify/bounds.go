package verify

import (
	"fmt"
	"math"
)

func (r *run) limit() int {
	switch {
	case r.o.MaxActions == 0:
		return DefaultMaxActions
	case r.o.MaxActions < 0:
		return math.MaxInt
	default:
		return r.o.MaxActions
	}
}

// findExcess is resource_bounds: more actions than the limit.
func findExcess(r *run) []finding {
	n, limit := len(r.p.Actions), r.limit()
	if n <= limit {
		return nil
	}
	f := on(0, fmt.Sprintf("excessive actions: %d (limit %d)", n, limit), fmt.Sprintf("split the proposal: %d actions at most in each", limit),
		fmt.Sprintf("the proposal has %d actions", n), fmt.Sprintf("the limit is %d", limit)).warn()
	f.witness = nil
	for i := range limit + 1 {
		f.witness = append(f.witness, i)
	}
	return []finding{f}
}

func boundsVerify(r *run) string {
	if r.o.MaxActions < 0 {
		return "no limit on the number of actions was asked for"
	}
	return fmt.Sprintf("the number of actions is within the limit (%d)", r.limit())
}
