package engine

import (
	"car/internal/engine/admit"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/state"
	"car/internal/engine/verify/txn"
)

// TransactionMode says what a hazard between a proposal's actions, or between
// them and the state they share, leads to (E-PIPE-2). Off is the default.
type TransactionMode uint8

// Warn logs each hazard and goes on; Strict logs and refuses the proposal.
const (
	TransactionsOff TransactionMode = iota
	TransactionsWarn
	TransactionsStrict
)

// The words of a strict refusal, of a proposal and of a replanned candidate.
const (
	strictConflict    = "transactional conflict with current shared state (strict mode); see TransactionConflict events for details and resolution"
	candidateConflict = "transactional conflict with current state"
)

// precheck is the transaction check of a generation. A tool call's declared
// writes count in the shared copy of a key, a state action's where it runs.
func (r *run) precheck(p ir.Proposal) (*admit.Rejection, error) {
	mode := r.rt.cfg.Transactions
	if mode == TransactionsOff {
		return nil, nil
	}
	tenant := r.opts.Scope.TenantID
	found := txn.Check(p, txn.View{Version: r.rt.cfg.State.Version, Value: r.rt.cfg.State.Get, Key: func(a ir.Action, key string) string {
		if a.Type == ir.ToolCall {
			return key
		}
		return state.TenantKey(tenant, key)
	}})
	for _, c := range found.Conflicts {
		actions := make([]any, len(c.Actions))
		for i, id := range c.Actions {
			actions[i] = string(id)
		}
		_, err := r.rt.cfg.Log.Append(eventlog.Event{Kind: eventlog.TransactionConflict, ProposalID: p.ID, Data: map[string]any{
			"kind": string(c.Kind), "key": c.Key, "actions": actions, "explanation": c.Explanation, "resolution": c.Resolution}})
		if err != nil {
			return nil, err
		}
	}
	if mode != TransactionsStrict || found.Consistent {
		return nil, nil
	}
	reason := strictConflict
	if r.replans > 0 {
		reason = candidateConflict
	}
	return &admit.Rejection{Stage: admit.StageAdmission, Reason: reason, Event: eventlog.ActionRejected}, nil
}
