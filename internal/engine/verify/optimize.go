package verify

import (
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// Optimization is a proposal without dependencies that no action fulfils (V-VERIFY-12).
type Optimization struct {
	Proposal     ir.Proposal `json:"proposal"`
	Pruned       []Pruned    `json:"pruned"`
	LevelsBefore int         `json:"levels_before"`
	LevelsAfter  int         `json:"levels_after"`
	// HoldsIf are the keys that have to be in the state for the new proposal to do
	// what the old one does: a dependency is a gate, and taking it away can let an
	// action run that was blocked (V-GAP-4). Sorted; empty means it always does.
	HoldsIf []string `json:"holds_if"`
	report.Scope
}

// Pruned is a dependency that was taken away.
type Pruned struct {
	ActionID ir.ActionID `json:"action_id"`
	Key      string      `json:"key"`
}

// Optimize drops each state dependency that no action writes. It keeps everything
// else, reorders and removes nothing. What it drops still has to be in the state:
// see HoldsIf, or use OptimizeFor.
func Optimize(p ir.Proposal) Optimization {
	o := prune(p, func(string) bool { return true })
	seen := map[string]bool{}
	for _, pruned := range o.Pruned {
		if !seen[pruned.Key] {
			seen[pruned.Key] = true
			o.HoldsIf = append(o.HoldsIf, pruned.Key)
		}
	}
	slices.Sort(o.HoldsIf)
	return o
}

// OptimizeFor is Optimize for a known state: it drops only what the state holds, so
// that from that state the new proposal does what the old one does.
func OptimizeFor(p ir.Proposal, state map[string]any) Optimization {
	return prune(p, func(key string) bool { _, held := state[key]; return held })
}

func prune(p ir.Proposal, may func(key string) bool) Optimization {
	written := map[string]bool{}
	for _, a := range p.Actions {
		for _, key := range a.WriteKeys() {
			written[key] = true
		}
	}
	o := Optimization{Proposal: p, Pruned: []Pruned{}, HoldsIf: []string{}, Scope: report.Scope{Tier: report.DecisionProcedure,
		CannotVerify: []string{"state that a tool reads or writes without declaring it"}}}
	o.Proposal.Actions = slices.Clone(p.Actions)
	for i := range o.Proposal.Actions {
		a := &o.Proposal.Actions[i]
		kept := make([]string, 0, len(a.StateDependencies))
		for _, key := range a.StateDependencies {
			if written[key] || !may(key) {
				kept = append(kept, key)
				continue
			}
			o.Pruned = append(o.Pruned, Pruned{a.ID, key})
		}
		if len(kept) < len(a.StateDependencies) {
			a.StateDependencies = kept
		}
	}
	o.LevelsBefore, o.LevelsAfter = levelCount(p.Actions), levelCount(o.Proposal.Actions)
	return o
}

func levelCount(actions []ir.Action) int {
	g, _ := dag.Of(actions)
	return len(g.Levels())
}
