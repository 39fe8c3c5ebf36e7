package engine

import (
	"context"

	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/idem"
	"car/internal/engine/ir"
)

// recall answers an action from what is remembered: the result of an idempotent
// call (E-IDEM-1), or one still good in its tool's cache (E-CACHE-1). Neither
// draws a ticket. known says that the action is settled; otherwise the claim, if
// there is one, must be ended by remember.
func (r *run) recall(ctx context.Context, i int) (claim *idem.Claim, known bool, err error) {
	a := r.p.Actions[i]
	if a.Type != ir.ToolCall || a.InvocationMode != ir.OneShot || !a.Idempotent && r.adm.Spec(i).CacheTTL <= 0 {
		return nil, false, nil
	}
	key, err := idem.KeyOf(r.opts.Scope.TenantID, a)
	if err != nil {
		return nil, false, err
	}
	if a.Idempotent {
		claim, found, err := r.rt.cfg.Idem.Claim(ctx, key)
		if err != nil || found == nil {
			return claim, false, err
		}
		r.settleKnown(i, found.Output, eventlog.Event{Kind: eventlog.ActionDeduplicated, Data: map[string]any{
			"cached_action_id": string(found.Action), "attempted": false, "stage": "idempotency_cache", "tool": a.Tool, "tool_source": r.adm.Source(i).String(),
		}})
		return nil, true, nil
	}
	output, found := r.rt.cache.Get(key)
	if found {
		r.settleKnown(i, output, eventlog.Event{Kind: eventlog.ActionSucceeded, Data: map[string]any{
			"attempted": false, "stage": "result_cache", "tool": a.Tool, "tool_source": r.adm.Source(i).String(), "ok": true,
		}})
	}
	return nil, found, nil
}

// settleKnown gives an action a result that was there before: nothing ran, so
// nothing changed and nothing of it is ever rolled back.
func (r *run) settleKnown(i int, output any, e eventlog.Event) {
	r.mu.Lock()
	r.deduplicated[i] = true
	r.mu.Unlock()
	r.update(i, func(res *ir.ActionResult) {
		res.Status, res.Output, res.Tier = ir.Succeeded, output, r.adm.Judgement(i).Tier.Needed()
	})
	e.ActionID = r.p.Actions[i].ID
	eventlog.Meter{Timed: true}.Put(e.Data)
	if n, ok := resultCount(output, r.adm.Spec(i).CountField); ok {
		e.Data["result_count"] = n
	}
	r.log(e)
	r.tellReused(i, output)
	r.finish(i)
}

// remember keeps what an attempt brought, for the next call like it.
func (r *run) remember(i int, claim *idem.Claim, last dispatch.Attempt) {
	a := r.p.Actions[i]
	if claim != nil && last.Err != nil {
		claim.Drop()
	}
	if last.Err != nil {
		return
	}
	if claim != nil {
		claim.Keep(idem.Result{Action: a.ID, Output: last.Execution.Output})
		r.noteReusable(claim.Key())
		return
	}
	ttl := r.adm.Spec(i).CacheTTL
	changed := len(last.Execution.StateChanges) > 0 || len(r.results[i].StateChanges) > 0
	if ttl <= 0 || changed || a.Type != ir.ToolCall || a.InvocationMode != ir.OneShot {
		return
	}
	if key, err := idem.KeyOf(r.opts.Scope.TenantID, a); err == nil {
		r.rt.cache.Put(key, last.Execution.Output, ttl)
		r.noteReusable(key)
	}
}

func (r *run) noteReusable(key ir.Digest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reused = append(r.reused, key)
}
