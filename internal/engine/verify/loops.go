package verify

import (
	"fmt"
	"math"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// findLoops is loop_detection: one tool called again and again with the same
// parameters. Tools are compared by their whole name, parameters by value.
func findLoops(r *run) []finding {
	var found []finding
	for _, calls := range r.identicalCalls() {
		tool, n := report.Clip(r.p.Actions[calls[0]].Tool), len(calls)
		if n < 2 {
			continue
		}
		f := on(proposalWide, fmt.Sprintf("repeated identical tool call: %s (%dx) — likely loop", tool, n), "give the calls different parameters, or keep one of them",
			fmt.Sprintf("%d calls of '%s' have the same parameters", n, tool))
		if n == 2 {
			f.message = fmt.Sprintf("duplicate tool call: %s (2x)", tool)
			f = f.warn()
		}
		f.witness = calls
		found = append(found, f)
	}
	return found
}

// identicalCalls groups calls, by first occurrence.
func (r *run) identicalCalls() [][]int {
	type bucket struct {
		tool        string
		fingerprint uint64
	}
	var groups [][]int
	buckets := map[bucket][]int{} // which groups, so that only likely equals are compared
	for i := range r.p.Actions {
		a := &r.p.Actions[i]
		if _, reserved := r.plan.ReservedBy(i); reserved || !isCall(a) || a.Tool == "" {
			continue
		}
		b := bucket{a.Tool, fingerprint(a.Parameters, 0)}
		at := -1
		for _, g := range buckets[b] {
			if first := r.p.Actions[groups[g][0]].Parameters; len(first)+len(a.Parameters) == 0 || ir.Equal(first, a.Parameters) {
				at = g
				break
			}
		}
		if at < 0 {
			at = len(groups)
			groups = append(groups, nil)
			buckets[b] = append(buckets[b], at)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// FNV-1a.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func fnv(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

// fingerprint is equal for values that ir.Equal calls equal. It looks 64 levels deep.
func fingerprint(v any, depth int) uint64 {
	if depth > 64 {
		return 0
	}
	switch v := v.(type) {
	case nil:
		return 1
	case bool:
		if v {
			return 2
		}
		return 3
	case float64:
		return (math.Float64bits(v+0) ^ 4) * fnvPrime // -0 becomes 0, which it equals
	case string:
		return fnv(fnvOffset, v)
	case []any:
		h := uint64(5)
		for _, item := range v {
			h = (h ^ fingerprint(item, depth+1)) * fnvPrime
		}
		return h
	case map[string]any:
		h := uint64(6)
		for name, item := range v {
			h += fnv(fnvOffset, name) * (fingerprint(item, depth+1) | 1)
		}
		return h
	default:
		plain, err := ir.Clone(v)
		if err != nil {
			return 7
		}
		return fingerprint(plain, depth)
	}
}
