package engine

import (
	"slices"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/trajectory"
)

// viewOf is what an action was told of state before it ran: its dependencies, its
// effect keys and a state_write's key, those that are present (E-EXEC-13).
func (r *run) viewOf(a ir.Action) map[string]any {
	get := r.reader(a)
	seen := map[string]any{}
	for _, key := range slices.Concat(a.StateDependencies, a.WriteKeys()) {
		if value, present := get(key); present {
			seen[key] = value
		}
	}
	return seen
}

// trace is what this run came to, for learning from it (E-EXEC-12, E-TRAJ-1).
func (r *run) trace(started time.Time) trajectory.Trajectory {
	t := trajectory.Trajectory{ProposalID: r.original, Source: r.p.Source, ActionCount: len(r.p.Actions), ReplanAttempts: r.replans,
		Timestamp: started.UTC(), DurationMS: r.rt.cfg.Now().Sub(started).Milliseconds(), Outcome: r.outcome()}
	for i, res := range r.results {
		e := trajectory.Event{Kind: res.Status.String(), ActionID: res.ActionID, Tool: r.p.Actions[i].Tool, DurationMS: res.DurationMS,
			Data: trajectory.Data{Error: res.Error, Attempted: res.Attempts > 0, Reused: r.deduplicated[i]}, StateBefore: r.before[i]}
		if len(res.StateChanges) > 0 {
			e.StateAfter = map[string]any{}
			for key, c := range res.StateChanges {
				if c.Op == "set" {
					e.StateAfter[key] = c.Value
				}
			}
		}
		if res.Status != ir.Skipped {
			reward := 0.0
			if res.Status == ir.Succeeded {
				reward = 1
			}
			e.Reward = &reward
		}
		t.Events = append(t.Events, e)
	}
	return t
}

func (r *run) outcome() trajectory.Outcome {
	fell := slices.ContainsFunc(r.results, r.triggers) || len(r.preimages) == 0
	switch {
	case !fell && r.replans > 0:
		return trajectory.ReplanSuccess
	case !fell:
		return trajectory.Success
	case r.replans > 0 && !r.gaveUp && !r.endedTerminally():
		return trajectory.ReplanExhausted
	default:
		return trajectory.Failed
	}
}
