package montecarlo

import "car/internal/engine/ir"

// golden is the step of SplitMix64.
const golden = 0x9E3779B97F4A7C15

// mix is the finaliser of SplitMix64: every bit of the input reaches every bit of
// the result.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// nameOf is FNV-1a of an action's id.
func nameOf(id ir.ActionID) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

// draw is a number from 0 up to 1 that depends on nothing but its arguments (V-MC-3).
func draw(seed, trial, name, attempt uint64) float64 {
	x := mix(mix(mix(seed)^trial)^name) ^ attempt
	return float64(mix(x)>>11) / (1 << 53)
}
