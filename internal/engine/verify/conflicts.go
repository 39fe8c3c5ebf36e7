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
const maxPairs = 1000

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
	more, partial := 0, false
	for _, key := range r.keysByName(r.writers) {
		found := r.plan.Graph.Unordered(r.writers[key], r.writers[key], maxPairs-len(pairs))
		for _, p := range found.List {
			pairs = append(pairs, pair{p[0], p[1], key})
		}
		more += found.More
		partial = partial || found.Partial
	}
	switch {
	case partial:
		r.notes = append(r.notes, fmt.Sprintf("%d or more further write conflicts: the plan is too large for all writers of a key to be compared", more))
	case more > 0:
		r.notes = append(r.notes, fmt.Sprintf("%d further write conflicts, not listed", more))
	}
	r.sortPairs(pairs)
	var found []finding
	for _, p := range pairs {
		r.conflicts = append(r.conflicts, Conflict{r.p.Actions[p.first].ID, r.p.Actions[p.second].ID, r.plan.Keys[p.key]})
		found = append(found, r.conflict(p))
	}
	return found
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
