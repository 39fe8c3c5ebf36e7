package intent

import (
	"slices"

	"car/internal/engine/ir"
)

// Facts are what policy found out about an action.
type Facts struct {
	// Commands are the words of each parsed command.
	Commands [][]string
	// Paths are what it reads and changes, relative to where the spec lies.
	Paths        []string
	Hosts        []string
	Capabilities []Capability
	// UnknownCommands, UnknownPaths and UnknownHosts say that a list may lack something.
	UnknownCommands bool
	UnknownPaths    bool
	UnknownHosts    bool
	// Untrusted says that its output comes from elsewhere, whatever its tool is.
	Untrusted bool
}

// Action is an action as far as intent goes.
type Action struct {
	ID    ir.ActionID
	Tool  string
	Facts Facts
	// Tainted says that untrusted output may have steered it; InfluencedBy by what.
	Tainted      bool
	InfluencedBy []string
}

// ActionsFrom lowers a proposal (V-INTENT-1). An action is tainted when it descends
// from one whose output is untrusted, reads a tainted state key, or the author of
// the proposal is influenced. edges are those of the proposal.
func ActionsFrom(p ir.Proposal, edges []ir.Edge, facts map[ir.ActionID]Facts, untrusted []string, tainted map[string]bool, influences []string) []Action {
	actions := make([]Action, len(p.Actions))
	for i, a := range p.Actions {
		actions[i] = Action{ID: a.ID, Tool: a.Tool, Facts: facts[a.ID], InfluencedBy: slices.Clone(influences)}
		for _, key := range Reads(a) {
			if tainted[key] {
				actions[i].InfluencedBy = append(actions[i].InfluencedBy, "state key '"+key+"'")
			}
		}
		actions[i].Tainted = len(actions[i].InfluencedBy) > 0
	}
	later := make([][]int, len(actions))
	for _, e := range edges {
		if e.From >= 0 && e.To >= 0 && e.From < len(actions) && e.To < len(actions) {
			later[e.From] = append(later[e.From], e.To)
		}
	}
	// A precondition makes no edge of the proposal, and steers all the same.
	writer := map[string]int{}
	for i, a := range p.Actions {
		for _, key := range Reads(a) {
			if w, ok := writer[key]; ok {
				later[w] = append(later[w], i)
			}
		}
		for _, key := range a.WriteKeys() {
			writer[key] = i
		}
	}
	spread(actions, later, untrusted)
	return actions
}

// Reads are the state keys that an action reads, its preconditions included: being
// gated on a value is being steered by it.
func Reads(a ir.Action) []string {
	keys := append(a.ReadKeys(), a.StateDependencies...)
	for _, p := range a.Preconditions {
		keys = append(keys, p.Key)
	}
	return keys
}

// spread taints what descends from untrusted output, and names the nearest source.
func spread(actions []Action, later [][]int, untrusted []string) {
	from := make([]int, len(actions))
	var queue []int
	for i, a := range actions {
		from[i] = -1
		if a.Facts.Untrusted || slices.Contains(untrusted, a.Tool) {
			queue = append(queue, i)
			from[i] = i
		}
	}
	for done := 0; done < len(queue); done++ {
		i := queue[done]
		for _, j := range later[i] {
			if !slices.Contains(actions[j].InfluencedBy, source(actions[from[i]])) && (from[j] < 0 || from[j] == j) {
				actions[j].Tainted = true
				actions[j].InfluencedBy = append(actions[j].InfluencedBy, source(actions[from[i]]))
			}
			if from[j] < 0 {
				from[j] = from[i]
				queue = append(queue, j)
			}
		}
	}
}

func source(a Action) string { return a.Tool + " ('" + string(a.ID) + "')" }
