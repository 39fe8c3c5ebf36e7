package engine

import (
	"encoding/json"

	"car/internal/engine/admit"
	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// log appends an event of this proposal. One that cannot be written ends the
// run: nothing starts after it, and Execute returns it.
func (r *run) log(e eventlog.Event) {
	e.ProposalID = r.p.ID
	if _, err := r.rt.cfg.Log.Append(e); err != nil {
		r.breakWith(err)
	}
}

// skip settles an action that does not get its turn.
func (r *run) skip(i int, stage, reason string) {
	r.update(i, func(res *ir.ActionResult) { res.Status, res.Error = ir.Skipped, reason })
	r.log(eventlog.Event{Kind: eventlog.ActionSkipped, ActionID: r.p.Actions[i].ID,
		Data: map[string]any{"stage": stage, "reason": reason, "attempted": false}})
	r.finish(i)
}

// reject settles an action that was refused before it could run.
func (r *run) reject(i int, why admit.Rejection) {
	r.update(i, func(res *ir.ActionResult) {
		res.Status, res.Error = ir.Rejected, why.Reason
		res.Tier = r.adm.Judgement(i).Tier.Needed()
		res.ErrorClass = ir.ClassRejectedByPolicy
		if why.Stage == admit.StageValidation {
			res.ErrorClass = ir.ClassValidation
		}
	})
	data := map[string]any{"stage": string(why.Stage), "reason": why.Reason, "attempted": false}
	if j := r.adm.Judgement(i); j.Tier != ir.TierUnset {
		data["tier"], data["reversibility"] = j.Tier.String(), j.Reversibility.String()
	}
	if len(why.Violations) > 0 {
		data["violations"] = jsonValue(why.Violations)
	}
	r.log(eventlog.Event{Kind: why.Event, ActionID: r.p.Actions[i].ID, Data: data})
	r.finish(i)
}

// refuseAll settles a proposal of which nothing may run: every action rejected,
// no cost, one boundary event, a rejected lineage entry (E-PIPE-1).
func (r *run) refuseAll(why admit.Rejection) {
	r.lineage = []ir.LineageEntry{{ProposalID: r.p.ID, ProposalDigest: r.digest(), Status: ir.LineageRejected, RejectionReason: why.Reason}}
	r.preimages = nil
	for i := range r.p.Actions {
		reason := why
		if r.adm != nil {
			if own := r.adm.Rejected(i); own != nil {
				reason = *own
			}
		}
		r.update(i, func(res *ir.ActionResult) {
			res.Status, res.Error, res.ErrorClass = ir.Rejected, reason.Reason, ir.ClassRejectedByPolicy
		})
		if why.Stage == admit.StageProposalCapability {
			r.log(eventlog.Event{Kind: why.Event, ActionID: r.p.Actions[i].ID,
				Data: map[string]any{"stage": string(why.Stage), "reason": why.Reason, "attempted": false}})
		}
		r.mu.Lock()
		r.settled[i] = true
		res := r.results[i]
		r.mu.Unlock()
		r.opts.Observer.Started(r.p.Actions[i], ir.TierUnset)
		r.endSpan(i, res.Status)
		r.opts.Observer.Finished(res)
	}
	data := map[string]any{"affected_actions": []any{}, "rolled_back_changes": map[string]any{}, "changes_semantics": "proposal_rejected_no_state_commit",
		"attempted": false, "stage": "proposal_rejection", "rejection_reason": why.Reason}
	if d := r.digest(); d != "" {
		data["proposal_digest"], data["proposal"] = string(d), jsonValue(r.p)
	}
	r.log(eventlog.Event{Kind: eventlog.StateRollback, Data: data})
}

func (r *run) digest() ir.Digest {
	if r.adm == nil {
		return ""
	}
	return r.adm.Digest()
}

// rejectRest settles what has no result yet, when not even a record can be written.
func (r *run) rejectRest(reason string) {
	for i := range r.results {
		if !r.isSettled(i) {
			r.update(i, func(res *ir.ActionResult) { res.Status, res.Error = ir.Rejected, reason })
			r.finish(i)
		}
	}
}

// logOutcome writes how an attempted action ended, with what it changed.
func (r *run) logOutcome(i, n int, last dispatch.Attempt) {
	a, res := r.p.Actions[i], r.results[i]
	data := map[string]any{"attempt": float64(n), "attempted": last.Dispatched, "stage": "dispatch",
		"ok": last.Err == nil, "expected_effects": a.ExpectedEffects, "tier": res.Tier.String(), "allowed_by": res.AllowedBy}
	eventlog.Meter{DurationMS: float64(res.DurationMS), Timed: true}.Put(data)
	if a.Type == ir.ToolCall {
		data["tool"], data["tool_source"] = a.Tool, r.adm.Source(i).String()
	}
	if d, err := a.ParamsDigest(); err == nil {
		data["params_digest"] = string(d)
	}
	if len(last.Changes) > 0 {
		data["file_changes"] = jsonValue(last.Changes)
	}
	kind := eventlog.ActionSucceeded
	switch {
	case last.Err == nil:
		if n, ok := resultCount(res.Output, r.adm.Spec(i).CountField); ok {
			data["result_count"] = n
		}
		if out, ok := res.Output.(map[string]any); ok && out["exit_code"] != nil {
			data["exit_code"] = out["exit_code"]
			data["ok"] = r.worked(i)
		}
	case res.Status == ir.Rejected:
		kind = eventlog.ActionRejected
		data["stage"], data["reason"] = "admission", last.Err.Error()
	case res.Status == ir.Skipped:
		kind = eventlog.ActionSkipped
		data["stage"], data["reason"] = "failure_behavior", last.Err.Error()
	default:
		kind = eventlog.ActionFailed
		data["error"], data["error_class"] = last.Err.Error(), res.ErrorClass.String()
		if last.Terminal {
			data["terminal"] = true
		}
		if last.Integrity {
			data["stage"], data["reason"] = "output_validation", last.Err.Error()
			data["external_effect_status"] = "may_have_occurred_not_undone"
		}
	}
	r.log(eventlog.Event{Kind: kind, ActionID: a.ID, Data: data})
}

// resultCount is how much a call found: the length of a list, or the member that
// the tool counts in.
func resultCount(output any, field string) (float64, bool) {
	switch out := output.(type) {
	case []any:
		return float64(len(out)), true
	case map[string]any:
		n, ok := out[field].(float64)
		return n, ok
	}
	return 0, false
}

func scopeData(s Scope) map[string]any {
	data := map[string]any{}
	if s.CallerID != "" {
		data["caller_id"] = s.CallerID
	}
	if s.TenantID != "" {
		data["tenant_id"] = s.TenantID
	}
	if len(s.Claims) > 0 {
		data["claims"] = s.Claims
	}
	return data
}

// jsonValue is a typed value as decoded JSON, for event data.
func jsonValue(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}
