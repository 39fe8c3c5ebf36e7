package verify

import (
	"slices"

	"car/internal/engine/ir"
)

// Bounds on the search for witnesses, so that explaining stays cheaper than finding.
const (
	// maxGuess is the largest guess that is replayed as it is.
	maxGuess = 8
	// maxShrink is the largest part of a plan that is shrunk step by step, and
	// maxShrinks how often that is done for one plan.
	maxShrink  = 48
	maxShrinks = 16
)

// addWitnesses isolates findings: each keeps a smallest part of the plan that shows
// the same finding alone, so that an author can look at that and nothing else
// (V-BEYOND-5). Where none is found within the bounds, none is claimed.
func (r *run) addWitnesses(found []finding) {
	shrinks := 0
	for at := range found {
		f := &found[at]
		if !f.isolate {
			continue
		}
		if len(f.witness) <= maxGuess && r.shows(f, f.witness) {
			if !f.minimal {
				f.witness = r.shrink(f, f.witness)
			}
			continue
		}
		around := r.around(f)
		f.witness = nil
		if shrinks < maxShrinks && len(around) <= maxShrink && r.shows(f, around) {
			shrinks++
			f.witness = r.shrink(f, around)
		}
	}
}

// around is the part of a plan to look for a witness in: all of a small one, else
// everything that had its turn up to the finding's last action.
func (r *run) around(f *finding) []int {
	last := 0
	for _, i := range f.witness {
		last = max(last, r.levelOf[i])
	}
	var indices []int
	for i := range r.p.Actions {
		if len(r.p.Actions) <= maxShrink || r.levelOf[i] <= last || f.about == proposalWide {
			indices = append(indices, i)
		}
	}
	return indices
}

// shrink takes actions away, one after another, until the rest does not show the
// finding without any of them. One pass is not enough: what was needed beside one
// action may not be needed without it.
func (r *run) shrink(f *finding, indices []int) []int {
	for before := -1; before != len(indices); {
		before = len(indices)
		for at := len(indices) - 1; at >= 0; at-- {
			if rest := slices.Delete(slices.Clone(indices), at, at+1); r.shows(f, rest) {
				indices = rest
			}
		}
	}
	return indices
}

// Part is a proposal of some actions of another, by index, ascending. Order on
// actions that are left out is left out too, so that a witness can be replayed alone.
func Part(p ir.Proposal, indices []int) ir.Proposal {
	kept := make(map[ir.ActionID]bool, len(indices))
	for _, i := range indices {
		kept[p.Actions[i].ID] = true
	}
	gone := func(id ir.ActionID) bool { return !kept[id] }
	actions := make([]ir.Action, len(indices))
	for at, i := range indices {
		a := p.Actions[i]
		if slices.ContainsFunc(a.Dependencies, gone) {
			a.Dependencies = slices.DeleteFunc(slices.Clone(a.Dependencies), gone)
		}
		if slices.ContainsFunc(a.After, gone) {
			a.After = slices.DeleteFunc(slices.Clone(a.After), gone)
		}
		actions[at] = a
	}
	p.Actions = actions
	return p
}

// shows replays a part of the plan with the finding's check alone and looks for it.
func (r *run) shows(f *finding, indices []int) bool {
	about := slices.Index(indices, f.about)
	if f.about != proposalWide && about < 0 {
		return false
	}
	replay := newRun(Part(r.p, indices), r.o, r.registry, []*check{f.check})
	return slices.ContainsFunc(replay.findings(), func(g finding) bool {
		return g.check == f.check && g.about == about && g.severity == f.severity && g.message == f.message
	})
}
