package dag

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// Fault is why the engine would refuse a proposal for its ids alone (E-DAG-3).
type Fault struct {
	// Index is the action at fault; the lowest of a cycle.
	Index int
	// Cycle lists the actions of a cycle, from the lowest index, each followed by one
	// that it waits for.
	Cycle []int
	// Doubles are the two actions that share an id.
	Doubles []int
	Text    string
}

// Of is the order between actions, as ir.Edges knows it. A proposal that the engine
// would refuse for its ids has faults; its graph is what is left without them, so
// that everything else about the plan can still be said: a doubled id belongs to its
// first action, an unknown one orders nothing, and of a cycle of ids those are left
// out that lead back.
func Of(actions []ir.Action) (*Graph, []Fault) {
	if edges, err := ir.Edges(actions); err == nil {
		if g := New(len(actions), edges); g.acyclic() {
			return g, nil
		}
	}
	mended, faults := mend(actions)
	edges, err := ir.Edges(mended)
	if err != nil { // mend has taken every cause away
		return New(len(actions), nil), append(faults, Fault{Text: report.Clip(err.Error())})
	}
	g := New(len(actions), edges)
	for _, cycle := range g.Cycles() {
		slices.Reverse(cycle[1:]) // each followed by one it waits for, as the engine says it
		faults = append(faults, Fault{Index: cycle[0], Cycle: cycle, Text: cycleText(actions, cycle)})
	}
	return g.withoutCycles(), faults
}

func (g *Graph) acyclic() bool {
	for _, l := range g.level {
		if l == none {
			return false
		}
	}
	return true
}

// mend gives doubled ids names of their own and drops ids that nobody has.
func mend(actions []ir.Action) ([]ir.Action, []Fault) {
	var faults []Fault
	known := make(map[ir.ActionID]int, len(actions))
	mended := make([]ir.Action, len(actions))
	for i, a := range actions {
		mended[i] = a
		if first, double := known[a.ID]; double {
			faults = append(faults, Fault{Index: i, Doubles: []int{first, i}, Text: fmt.Sprintf("duplicate action id '%s'", report.Clip(a.ID))})
			mended[i].ID = ir.ActionID(fmt.Sprintf("\x00%d", i))
			continue
		}
		known[a.ID] = i
	}
	for i := range mended {
		a := &mended[i]
		keep := func(ids []ir.ActionID) (kept []ir.ActionID) {
			for _, id := range ids {
				if _, ok := known[id]; ok {
					kept = append(kept, id)
					continue
				}
				faults = append(faults, Fault{Index: i, Text: fmt.Sprintf("action '%s' depends on unknown action '%s'", report.Clip(actions[i].ID), report.Clip(id))})
			}
			return kept
		}
		a.Dependencies = keep(a.Dependencies)
		a.After = keep(a.After)
	}
	return mended, faults
}

// withoutCycles leaves out the edges that lead back inside a strongly connected part.
func (g *Graph) withoutCycles() *Graph {
	component := g.Components()
	var kept []ir.Edge
	for _, e := range g.edges {
		if e.From < e.To || component[e.From] != component[e.To] {
			kept = append(kept, e)
		}
	}
	return New(g.n, kept)
}

// maxNamed bounds how many names of a cycle a text lists.
const maxNamed = 32

func cycleText(actions []ir.Action, cycle []int) string {
	var names []string
	for _, i := range cycle {
		if len(names) == maxNamed {
			names = append(names, fmt.Sprintf("… (%d more)", len(cycle)-maxNamed))
			break
		}
		names = append(names, report.Clip(actions[i].ID))
	}
	return fmt.Sprintf("dependency cycle: %s -> %s", strings.Join(names, " -> "), report.Clip(actions[cycle[0]].ID))
}
