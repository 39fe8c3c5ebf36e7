package verify

import (
	"fmt"

	"car/internal/engine/verify/report"
)

// findRaces is read_races: a key that is read and written in one level whose actions
// run at the same time (V-BEYOND-3). Preconditions order nothing, so they are where
// this comes from.
func findRaces(r *run) []finding {
	var pairs []pair
	total := 0
	for _, level := range r.plan.Levels() {
		if level.Sequential {
			continue
		}
		fresh, n := r.racesIn(level.Actions, maxPairs-len(pairs))
		pairs = append(pairs, fresh...)
		total += n
	}
	if total > len(pairs) {
		r.notes = append(r.notes, fmt.Sprintf("%d more read(s) of a key that is written in the same level, not listed", total-len(pairs)))
	}
	r.sortPairs(pairs)
	var found []finding
	for _, p := range pairs {
		key, reader, writer := report.Clip(r.plan.Keys[p.key]), r.name(p.first), r.name(p.second)
		f := on(p.first, fmt.Sprintf("reads '%s' in the same level as action %s writes it (no dependency orders them)", key, writer),
			fmt.Sprintf("say which goes first: add '%s' to the dependencies of action '%s', or the other way round", writer, reader),
			fmt.Sprintf("level %d runs at the same time, in no fixed order", r.levelOf[p.first])).warn()
		found = append(found, f.between(p.first, p.second))
	}
	return found
}

// racesIn lists reader and writer of a level, up to a number, and counts them all.
func (r *run) racesIn(level []int, most int) (pairs []pair, total int) {
	readers, writers := map[int][]int{}, map[int][]int{}
	for _, i := range level {
		if _, reserved := r.plan.ReservedBy(i); reserved {
			continue
		}
		for _, key := range r.readsOf(i) {
			readers[key] = append(readers[key], i)
		}
		for _, key := range r.plan.Writes(i) {
			if w := writers[key]; len(w) == 0 || w[len(w)-1] != i {
				writers[key] = append(w, i)
			}
		}
	}
	for _, key := range r.keysByName(writers) {
		for _, i := range readers[key] {
			if len(pairs) >= most {
				total += len(writers[key])
				continue
			}
			for _, w := range writers[key] {
				if i != w && len(pairs) < most {
					pairs = append(pairs, pair{i, w, key})
				}
				if i != w {
					total++
				}
			}
		}
	}
	return pairs, total
}

// readsOf are the keys that an action looks at, each once: what it declares that it
// reads, and its preconditions.
func (r *run) readsOf(i int) []int {
	a := &r.p.Actions[i]
	seen := map[int]bool{}
	var keys []int
	add := func(name string) {
		if key, ok := r.plan.Key(name); ok && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	for _, name := range a.ReadKeys() {
		add(name)
	}
	for _, name := range a.StateDependencies {
		add(name)
	}
	for _, c := range a.Preconditions {
		add(c.Key)
	}
	return keys
}
