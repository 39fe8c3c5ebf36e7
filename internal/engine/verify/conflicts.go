package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// maxPairs bounds the pairs that one check lists; the rest are counted (V-BEYOND-2).
// maxWork bounds the edges that all comparisons of one plan may look at.
const (
	maxPairs = 1000
	maxWork  = 1 << 22
)

// pair is two actions and the key between them.
type pair struct{ first, second, key int }

func (r *run) sortPairs(pairs []pair) {
	slices.SortFunc(pairs, func(a, b pair) int {
		if c := a.first - b.first; c != 0 {
			return c
		}
		if c := a.second - b.second; c != 0 {
			return c
		}
		return strings.Compare(r.plan.Keys[a.key], r.plan.Keys[b.key])
	})
}

// keysByName are the keys that several actions write, in the order of their names.
func (r *run) keysByName(keys map[int][]int) []int {
	return slices.SortedFunc(maps.Keys(keys), func(a, b int) int { return strings.Compare(r.plan.Keys[a], r.plan.Keys[b]) })
}

// findConflicts is write_conflicts: writers of one key that nothing orders, however
// far apart. To list the key among what is read orders nobody by itself.
func findConflicts(r *run) []finding {
	var pairs []pair
	skipped := 0
	for _, key := range r.keysByName(r.writers) {
		unordered, left := r.unordered(key, maxPairs-len(pairs))
		pairs = append(pairs, unordered...)
		skipped += left
	}
	if skipped > 0 {
		r.notes = append(r.notes, fmt.Sprintf("up to %d more pair(s) of writers of one key, not compared after the first %d conflicts", skipped, len(pairs)))
	}
	r.sortPairs(pairs)
	var found []finding
	for _, p := range pairs {
		r.conflicts = append(r.conflicts, Conflict{r.p.Actions[p.first].ID, r.p.Actions[p.second].ID, r.plan.Keys[p.key]})
		found = append(found, r.conflict(p))
	}
	return found
}

// unordered lists pairs of writers of a key of which neither reaches the other, up
// to a number, and counts the pairs that it did not compare. Writers that follow each
// other form chains; only pairs across chains need to be compared.
func (r *run) unordered(key, most int) (pairs []pair, skipped int) {
	writers := slices.Clone(r.writers[key])
	if len(writers) < 2 {
		return nil, 0
	}
	slices.SortStableFunc(writers, func(a, b int) int { return r.levelOf[a] - r.levelOf[b] })
	chain := make([]int, len(writers))
	g := r.plan.Graph
	for at := 1; at < len(writers); at++ {
		chain[at] = chain[at-1]
		if g.Work() > maxWork || !g.Reaches(writers[at-1], writers[at]) {
			chain[at]++
		}
	}
	if chain[len(chain)-1] == 0 {
		return nil, 0
	}
	for a := range writers {
		for b := a + 1; b < len(writers); b++ {
			if chain[a] == chain[b] {
				continue
			}
			if len(pairs) >= most || g.Work() > maxWork {
				return pairs, skipped + uncompared(chain, a, b)
			}
			if !g.Reaches(writers[a], writers[b]) {
				pairs = append(pairs, pair{min(writers[a], writers[b]), max(writers[a], writers[b]), key})
			}
		}
	}
	return pairs, skipped
}

// uncompared counts the pairs across chains from (a, b) on, in the order of the loops.
func uncompared(chain []int, a, b int) int {
	n := len(chain)
	// ends[c] is one past the last of chain c, and chains are contiguous.
	count := 0
	next := n
	ends := make([]int, n)
	for at := n - 1; at >= 0; at-- {
		if at+1 < n && chain[at+1] != chain[at] {
			next = at + 1
		}
		ends[at] = next
	}
	count += n - max(b, ends[a])
	for at := a + 1; at < n; at++ {
		count += n - ends[at]
	}
	return count
}

func (r *run) conflict(p pair) finding {
	key := report.Clip(r.plan.Keys[p.key])
	f := on(p.first, fmt.Sprintf("write conflict on '%s' with action %s (no dependency declared)", key, r.name(p.second)),
		fmt.Sprintf("say which goes first: add '%s' to the dependencies of action '%s', or the other way round", r.name(p.first), r.name(p.second)))
	first, second := r.leaves(p.first, p.key), r.leaves(p.second, p.key)
	f.because = append(f.because, fmt.Sprintf("if '%s' ends last, '%s' is %s; if '%s' ends last, it is %s", r.name(p.second), key, second, r.name(p.first), first))
	if first == second && first != undeclared {
		f.because = append(f.because, "both write equal values, so either order leaves the same")
	}
	switch a, b := r.levelOf[p.first], r.levelOf[p.second]; {
	case a != b:
		f.because = append(f.because, fmt.Sprintf("levels run one after another, so today level %d ends last; nothing in the plan says so", max(a, b)))
	case ir.LevelRunsSequentially(r.p.Actions, r.plan.Levels()[a].Actions):
		f.because = append(f.because, fmt.Sprintf("level %d runs in the order of the proposal, so today '%s' ends last; nothing in the plan says so", a, r.name(p.second)))
	}
	return f.warn().between(p.first, p.second)
}

const undeclared = "a value that is not declared"

// leaves words the value that an action writes to a key.
func (r *run) leaves(i, key int) string {
	name := r.plan.Keys[key]
	a := &r.p.Actions[i]
	if v, ok := a.ExpectedEffects[name]; ok && isCall(a) {
		return report.ClipValue(v)
	}
	if written, ok := a.StateKey(); ok && written == name {
		return report.ClipValue(a.Parameters["value"])
	}
	return undeclared
}
