package verify

import (
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// findCycles is dependency_cycles: actions that wait for state which only they
// provide, so that no order lets any of them run. Everything that some order lets
// run is marked first; of what is left, each strongly connected set is a finding.
// Nodes are the actions, then the keys: an action leads to the keys it needs and a
// key to those that write it.
func findCycles(r *run) []finding {
	stuck := r.stuck()
	if stuck == nil {
		return nil
	}
	n := len(r.p.Actions)
	var edges []ir.Edge
	for i := range n {
		if !stuck[i] {
			continue
		}
		for _, key := range r.dependencyKeys(i) {
			edges = append(edges, ir.Edge{From: i, To: n + key})
		}
		for _, key := range r.plan.Writes(i) {
			edges = append(edges, ir.Edge{From: n + key, To: i})
		}
	}
	var found []finding
	for _, cycle := range dag.New(n+len(r.plan.Keys), edges).Cycles() {
		var actions []int
		for at := 0; at < len(cycle); at += 2 {
			actions = append(actions, cycle[at])
		}
		f := on(cycle[0], r.cycleText(cycle), "let one of the keys be in the initial state, or take one of these dependencies away",
			"no order of the actions provides any of these keys before it is needed")
		f.witness = sorted(actions...)
		found = append(found, f)
	}
	return found
}

// cycleText names the links of a cycle of actions and keys, in turns.
func (r *run) cycleText(cycle []int) string {
	const maxLinks = 16
	var links []string
	for at := 0; at < len(cycle); at += 2 {
		if len(links) == maxLinks {
			links = append(links, fmt.Sprintf("and %d more", len(cycle)/2-maxLinks))
			break
		}
		key := report.Clip(r.plan.Keys[cycle[at+1]-len(r.p.Actions)])
		links = append(links, fmt.Sprintf("%s needs '%s' from %s", r.name(cycle[at]), key, r.name(cycle[(at+2)%len(cycle)])))
	}
	return "dependency cycle: " + strings.Join(links, ", ")
}

// dependencyKeys are the numbers of an action's state dependencies.
func (r *run) dependencyKeys(i int) []int {
	var keys []int
	for _, name := range r.p.Actions[i].StateDependencies {
		key, _ := r.plan.Key(name)
		keys = append(keys, key)
	}
	return keys
}

// stuck are the actions that no order lets run, or nil where there are none. It
// takes time linear in the dependencies.
func (r *run) stuck() []bool {
	n := len(r.p.Actions)
	has := make([]bool, len(r.plan.Keys))
	waiting := make([][]int32, len(r.plan.Keys)) // actions that wait for a key
	lacks := make([]int, n)
	var ready []int
	left := 0
	for i := range n {
		if _, reserved := r.plan.ReservedBy(i); reserved {
			lacks[i] = -1
			continue
		}
		for _, key := range r.dependencyKeys(i) {
			if _, given := r.o.State[r.plan.Keys[key]]; !given {
				lacks[i]++
				waiting[key] = append(waiting[key], int32(i))
			}
		}
		left++
		if lacks[i] == 0 {
			ready = append(ready, i)
		}
	}
	for ; len(ready) > 0; left-- {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, key := range r.plan.Writes(i) {
			if has[key] {
				continue
			}
			has[key] = true
			for _, j := range waiting[key] {
				if lacks[j]--; lacks[j] == 0 {
					ready = append(ready, int(j))
				}
			}
		}
	}
	if left == 0 {
		return nil
	}
	stuck := make([]bool, n)
	for i := range n {
		stuck[i] = lacks[i] > 0
	}
	return stuck
}
