package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"car/internal/engine/admit"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// ReplanConfig bounds replanning (E-REPLAN-1). It is read once a run.
type ReplanConfig struct {
	// MaxReplans is how many candidates may be asked for; 0 is off.
	MaxReplans int
	// Delay precedes each.
	Delay time.Duration
	// VerifyBeforeExecute refuses candidates with calls that cannot be valid.
	VerifyBeforeExecute bool
	// OnRejected also replans over refused actions, not only failed ones.
	OnRejected bool
}

// ReplanRequest is what a Replanner is told (E-REPLAN-2). Attempt counts from 1;
// StateSnapshot is the state it may see, after the rollback.
type ReplanRequest struct {
	ProposalID          ir.ProposalID  `json:"proposal_id"`
	Attempt             int            `json:"attempt"`
	FailedActions       []FailedAction `json:"failed_actions"`
	CompletedActionIDs  []ir.ActionID  `json:"completed_action_ids"`
	StateSnapshot       map[string]any `json:"state_snapshot"`
	ReplansRemaining    int            `json:"replans_remaining"`
	OriginalSource      string         `json:"original_source"`
	OriginalActionCount int            `json:"original_action_count"`
	OriginalContext     map[string]any `json:"original_context"`
}

// FailedAction is an action that a replan should do otherwise.
type FailedAction struct {
	ActionID   ir.ActionID    `json:"action_id"`
	Tool       string         `json:"tool"`
	Error      string         `json:"error"`
	Parameters map[string]any `json:"parameters"`
}

// Replanner proposes another way. An error ends replanning.
type Replanner func(ctx context.Context, r ReplanRequest) (ir.Proposal, error)

// maxCandidateActions bounds a replanned proposal (E-REPLAN-3).
const maxCandidateActions = 100

// replanning is the runtime's replanner. Safe for concurrent use.
type replanning struct {
	mu   sync.Mutex
	cfg  ReplanConfig
	call Replanner
}

// SetReplan installs a replanner, nil for none; it applies from the next proposal on.
func (r *Runtime) SetReplan(cfg ReplanConfig, call Replanner) {
	r.replanning.mu.Lock()
	defer r.replanning.mu.Unlock()
	r.replanning.cfg, r.replanning.call = cfg, call
}

func (p *replanning) now() (ReplanConfig, Replanner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cfg, p.call
}

// triggers reports a result that calls for another plan.
func (r *run) triggers(res ir.ActionResult) bool {
	return res.Status == ir.Failed || r.replanCfg.OnRejected && res.Status == ir.Rejected
}

// fell reports whether the run calls for another plan, and may have one at all:
// not after a terminal failure, a rollback that is not known to hold, or an end
// that somebody asked for.
func (r *run) fell(ctx context.Context) bool {
	ended := ctx.Err() != nil || closed(r.opts.Cancel) || r.stopped != "" || r.brokenNow() != nil || r.endedTerminally()
	return !ended && !r.undurable() && !r.nested && !r.candidate && slices.ContainsFunc(r.results, r.triggers)
}

// wantsReplan reports whether another plan will be asked for, which means that
// this one is taken back whatever its failure behaviour (E-REPLAN-1).
func (r *run) wantsReplan(ctx context.Context) bool {
	return r.replanner != nil && !r.gaveUp && r.replans < r.replanCfg.MaxReplans && r.fell(ctx)
}

// replan asks for candidates until one is admitted, and returns its run; nil when
// there will be none. A refused candidate runs nothing and costs an attempt.
func (r *run) replan(ctx context.Context) (*run, *admit.Rejection) {
	for r.replans < r.replanCfg.MaxReplans {
		r.replans++
		if r.replanCfg.Delay > 0 && r.rt.cfg.Sleep(ctx, r.replanCfg.Delay) != nil {
			return nil, nil
		}
		request := r.replanRequest()
		r.log(eventlog.Event{Kind: eventlog.ReplanAttempted, Data: map[string]any{"attempt": float64(r.replans), "failed_count": float64(len(request.FailedActions))}})
		candidate, err := r.callReplanner(ctx, request)
		if err != nil {
			r.gaveUp = true
			r.log(eventlog.Event{Kind: eventlog.ReplanExhausted, Data: map[string]any{"reason": "callback_error", "error": err.Error(), "attempt": float64(r.replans)}})
			return nil, nil
		}
		next, refusals := r.consider(ctx, candidate)
		if len(refusals) == 0 {
			r.logBranch(next)
			return next, nil
		}
		r.refuseCandidate(candidate, refusals)
	}
	return nil, nil
}

func (r *run) replanRequest() ReplanRequest {
	q := ReplanRequest{ProposalID: r.p.ID, Attempt: r.replans, StateSnapshot: r.rt.cfg.State.Snapshot(r.opts.Scope.TenantID),
		ReplansRemaining: r.replanCfg.MaxReplans - r.replans, OriginalSource: r.p.Source, OriginalActionCount: len(r.p.Actions), OriginalContext: r.p.Context}
	for i, res := range r.results {
		a := r.p.Actions[i]
		switch {
		case r.triggers(res):
			q.FailedActions = append(q.FailedActions, FailedAction{a.ID, a.Tool, res.Error, a.Parameters})
		case res.RolledBack:
			q.CompletedActionIDs = append(q.CompletedActionIDs, a.ID)
		}
	}
	return q
}

func (r *run) callReplanner(ctx context.Context, q ReplanRequest) (p ir.Proposal, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("replanner panicked: %v", panicked)
		}
	}()
	return r.replanner(ctx, q)
}

// consider admits a candidate as the next generation, or says why not (E-REPLAN-3).
func (r *run) consider(ctx context.Context, p ir.Proposal) (*run, []string) {
	p = p.Fill(ir.Defaults{NewID: r.rt.cfg.NewID, Now: r.rt.cfg.Now})
	if r.opts.StableID && p.ID != r.original {
		return nil, []string{fmt.Sprintf("replan proposal id `%s` does not retain authenticated proposal id `%s`", p.ID, r.original)}
	}
	if len(p.Actions) > maxCandidateActions {
		return nil, []string{fmt.Sprintf("candidate has %d actions, more than %d", len(p.Actions), maxCandidateActions)}
	}
	next := newRun(r.rt, p, r.opts)
	next.original, next.lineage, next.preimages = r.original, r.lineage, r.preimages
	next.replans, next.replanCfg, next.replanner = r.replans, r.replanCfg, r.replanner
	if next.opts.CallPrefix != "" {
		next.opts.CallPrefix += fmt.Sprintf("replan%d/", r.replans)
	}
	adm, whole, err := r.rt.admitter.Admit(ctx, p, next.admission(len(r.lineage)))
	switch {
	case err != nil:
		r.breakWith(err)
		return nil, []string{err.Error()}
	case whole != nil:
		if whole.Reason == candidateConflict {
			return nil, []string{whole.Reason}
		}
		return nil, []string{"admission gate blocked replan: " + whole.Reason}
	}
	next.adm = adm
	if !r.replanCfg.VerifyBeforeExecute {
		return next, nil
	}
	var refusals []string
	for i := range p.Actions {
		if why := adm.Rejected(i); why != nil && why.Stage == admit.StageValidation {
			refusals = append(refusals, fmt.Sprintf("action '%s': %s", p.Actions[i].ID, why.Reason))
		}
	}
	return next, refusals
}

func (r *run) refuseCandidate(p ir.Proposal, refusals []string) {
	errs := make([]any, len(refusals))
	for i, text := range refusals {
		errs[i] = text
	}
	entry := ir.LineageEntry{Generation: len(r.lineage), ProposalID: p.ID, Status: ir.LineageRejected, RejectionReason: refusals[0]}
	if d, err := p.Digest(); err == nil {
		entry.ProposalDigest = d
	}
	r.lineage = append(r.lineage, entry)
	r.log(eventlog.Event{Kind: eventlog.ReplanRejected, Data: map[string]any{"errors": errs, "attempt": float64(r.replans)}})
}

// logBranch tells that the run goes another way, and which plan it left.
func (r *run) logBranch(next *run) {
	ids := make([]any, len(r.p.Actions))
	for i, a := range r.p.Actions {
		ids[i] = string(a.ID)
	}
	r.log(eventlog.Event{Kind: eventlog.BranchDecision, Data: map[string]any{
		"branch": "replan", "reason": "actions failed; requesting a revised plan", "attempt": float64(r.replans)}})
	r.log(eventlog.Event{Kind: eventlog.AlternativeRejected, Data: map[string]any{
		"alternative": ids, "reason": "plan superseded by replan after action failure"}})
	r.log(eventlog.Event{Kind: eventlog.ReplanProposalReceived, Data: map[string]any{
		"attempt": float64(r.replans), "proposal_id": string(next.p.ID), "proposal_digest": string(next.digest()),
		"proposal": jsonValue(next.p), "new_action_count": float64(len(next.p.Actions))}})
}

// noteExhausted records that the attempts are spent and the last one failed (E-REPLAN-4).
func (r *run) noteExhausted() {
	if r.replans > 0 && !r.gaveUp && r.replans >= r.replanCfg.MaxReplans && slices.ContainsFunc(r.results, r.triggers) {
		r.log(eventlog.Event{Kind: eventlog.ReplanExhausted, Data: map[string]any{"attempts": float64(r.replans)}})
	}
}

// errNoCandidate is why an empty plan did not run.
var errNoCandidate = errors.New("no candidate was given")
