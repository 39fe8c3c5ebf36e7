package admit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/state"
	"car/internal/engine/tool"
)

// Admit runs steps 1 to 8 of E-PIPE-1. A non-nil Rejection refuses the whole
// proposal: nothing of it may run. Otherwise single actions may be refused in
// the Admission, and the others wait for their questions and tickets. An error
// means that the log could not be written; nothing may run then either.
func (a *Admitter) Admit(ctx context.Context, p ir.Proposal, o Options) (*Admission, *Rejection, error) {
	digest, err := p.Digest()
	if err != nil {
		return nil, refuse("proposal is not representable as canonical JSON: " + err.Error()), nil
	}
	adm := &Admission{by: a, opts: o, proposal: p, digest: digest, items: make([]item, len(p.Actions))}
	if r := checkIDs(p.Actions); r != nil {
		return adm, r, nil
	}
	if _, err := ir.Levels(p.Actions); err != nil {
		return adm, refuse(err.Error()), nil
	}
	if err := checkReserved(p.Actions); err != nil {
		return adm, refuse(err.Error()), nil
	}
	for i, action := range p.Actions {
		adm.items[i].action, adm.items[i].generation = action, o.Generation
		if adm.items[i].digest, err = action.Digest(); err != nil {
			return adm, refuse(fmt.Sprintf("action '%s': %v", action.ID, err)), nil
		}
		if !adm.inherit(i) {
			adm.check(i)
		}
	}
	if o.Precheck != nil {
		if whole, err := o.Precheck(p); whole != nil || err != nil {
			return adm, whole, err
		}
	}
	return a.runGates(ctx, adm)
}

// inherit takes over what the generation before settled about the same action.
// Its questions are put together anew, by policy and gates.
func (adm *Admission) inherit(i int) bool {
	before := adm.opts.Before
	if before == nil || i >= len(before.items) || slices.Contains(adm.opts.Edited, i) || before.items[i].digest != adm.items[i].digest {
		return false
	}
	adm.items[i] = before.items[i]
	adm.items[i].questions, adm.items[i].checks = nil, nil
	return true
}

func refuse(reason string) *Rejection {
	return &Rejection{Stage: StageAdmission, Reason: reason, Event: eventlog.ActionRejected}
}

func checkIDs(actions []ir.Action) *Rejection {
	seen := make(map[ir.ActionID]bool, len(actions))
	for _, action := range actions {
		if seen[action.ID] {
			return refuse(fmt.Sprintf("duplicate action id '%s'", action.ID))
		}
		seen[action.ID] = true
	}
	for _, action := range actions {
		if action.FailureBehavior == ir.Retry && action.MaxRetries == ^uint32(0) {
			return refuse(fmt.Sprintf("action '%s' retry attempt count overflows u32", action.ID))
		}
	}
	return nil
}

// checkReserved refuses references to compensations that could not be kept: to
// nothing, to itself, to one that has a compensation of its own, or to one that
// another action depends on (B-COMP-4).
func checkReserved(actions []ir.Action) error {
	byID := make(map[ir.ActionID]ir.Action, len(actions))
	for _, a := range actions {
		byID[a.ID] = a
	}
	reserved := map[ir.ActionID]ir.ActionID{}
	for _, a := range actions {
		if a.Compensation == nil || a.Compensation.Type != "action_ref" {
			continue
		}
		target, found := byID[a.Compensation.ActionID]
		switch {
		case !found:
			return fmt.Errorf("action '%s' names unknown compensation '%s'", a.ID, a.Compensation.ActionID)
		case target.ID == a.ID:
			return fmt.Errorf("action '%s' names itself as its compensation", a.ID)
		case target.Compensation != nil:
			return fmt.Errorf("action '%s' names compensation '%s', which has one of its own", a.ID, target.ID)
		}
		reserved[target.ID] = a.ID
	}
	for _, a := range actions {
		for _, id := range append(slices.Clone(a.Dependencies), a.After...) {
			if by, ok := reserved[id]; ok {
				return fmt.Errorf("action '%s' waits for '%s', which is reserved as compensation for '%s'", a.ID, id, by)
			}
		}
	}
	return nil
}

// check is step 6 for one action: capability, validation, policy (E-EXEC-1).
func (adm *Admission) check(i int) {
	it := &adm.items[i]
	if reason := adm.opts.Capabilities.refuses(it.action); reason != "" {
		adm.Reject(i, Rejection{Stage: StageCapability, Reason: reason, Event: eventlog.ActionRejected})
		return
	}
	if reasons := adm.validate(it); len(reasons) > 0 {
		adm.Reject(i, Rejection{Stage: StageValidation, Reason: strings.Join(reasons, "; "), Event: eventlog.ActionRejected})
		return
	}
	if it.action.Type != ir.ToolCall {
		it.judgement = policy.Judgement{Verdict: policy.Allow, Tier: ir.ReadOnly, Reversibility: ir.Reversible}
		return
	}
	it.judgement = adm.by.cfg.Judge.Judge(it.action, it.effects)
	if it.judgement.Verdict == policy.Deny {
		adm.Reject(i, policyRejection(it.judgement))
		return
	}
	if spent := adm.by.cfg.Judge.Take(it.action); len(spent) > 0 {
		adm.Reject(i, policyRejection(policy.Judgement{Violations: spent}))
	}
}

// CheckState refuses the action at index i if state does not let it run now:
// preconditions, declared dependencies, require_state rules, what the rules added at
// run time and the gates that judge by what has happened say against it (E-EXEC-2).
func (adm *Admission) CheckState(i int, get func(key string) (any, bool), added []policy.Violation) {
	it := &adm.items[i]
	var reasons []string
	for _, c := range it.action.Preconditions {
		value, present := get(c.Key)
		if !c.Holds(value, present) {
			reasons = append(reasons, unmet(c))
		}
	}
	for _, key := range it.action.StateDependencies {
		if _, present := get(key); !present {
			reasons = append(reasons, fmt.Sprintf("missing state dependency '%s'", key))
		}
	}
	if len(reasons) > 0 {
		adm.Reject(i, Rejection{Stage: StageValidation, Reason: strings.Join(reasons, "; "), Event: eventlog.ActionRejected})
		return
	}
	v := append(adm.by.cfg.Judge.CheckState(it.action, get), added...)
	if v = append(v, adm.by.would(adm.Happening(i, Started))...); len(v) > 0 {
		adm.Reject(i, policyRejection(policy.Judgement{Violations: v}))
	}
}

// unmet words a precondition that does not hold, with its author's description.
func unmet(c ir.Precondition) string {
	text := fmt.Sprintf("precondition failed: %s %s", c.Key, c.Operator)
	if c.Description != "" {
		text += " (" + c.Description + ")"
	}
	return text
}

// policyRejection words a denial: every violation joined, else the reason that decided (E-EXEC-2, G-POL-4).
func policyRejection(j policy.Judgement) Rejection {
	texts := make([]string, 0, len(j.Violations))
	for _, v := range j.Violations {
		texts = append(texts, fmt.Sprintf("policy '%s': %s", v.PolicyName, v.Reason))
	}
	reason := strings.Join(texts, "; ")
	if reason == "" {
		reason = j.Message()
	} else if len(j.Reasons) > 0 && j.Reasons[0].WayOut != "" {
		reason += "\n" + j.Reasons[0].WayOut
	}
	return Rejection{Stage: StagePolicy, Reason: "denied by policy: " + reason, Event: eventlog.PolicyViolation, Violations: j.Violations}
}

// validate lists what is wrong with an action that needs no state to see.
func (adm *Admission) validate(it *item) []string {
	switch it.action.Type {
	case ir.ToolCall:
		return adm.validateCall(it)
	case ir.StateWrite, ir.StateRead, ir.Assertion:
		if key, ok := it.action.Parameters["key"].(string); !ok || key == "" {
			return []string{fmt.Sprintf("%s requires 'key' parameter", it.action.Type)}
		}
		return nil
	default:
		return []string{"action has no type"}
	}
}

func (adm *Admission) validateCall(it *item) []string {
	if it.action.Tool == "" {
		return []string{"tool_call requires 'tool'"}
	}
	t, ok := adm.by.cfg.Tools.Lookup(it.action.Tool)
	if !ok {
		return []string{fmt.Sprintf("unknown tool: %s", it.action.Tool)}
	}
	it.tool, it.spec = t, t.Spec()
	rules, err := adm.by.schemaOf(it.spec)
	if err != nil {
		return []string{err.Error()}
	}
	if findings := rules.Check(it.action.Parameters); len(findings) > 0 {
		return findings
	}
	effects, err := t.Effects(adm.call(it, 1))
	if err != nil {
		return []string{faultText(err)}
	}
	it.effects = effects
	return nil
}

// faultText is an error as a model may read it.
func faultText(err error) string {
	var f *tool.Fault
	if errors.As(err, &f) {
		return f.Text
	}
	return err.Error()
}

// call is the action as its tool sees it.
func (adm *Admission) call(it *item, attempt int) tool.Call {
	return tool.Call{
		Tool: it.action.Tool, Params: it.action.Parameters, Action: it.action.ID, Proposal: adm.proposal.ID,
		CallID: adm.opts.CallPrefix + string(it.action.ID), Session: adm.opts.Session, Tenant: adm.opts.Tenant, Turn: adm.opts.Turn, Attempt: attempt,
		Timeout: timeoutOf(it), ExpectedEffects: it.action.ExpectedEffects, Returns: it.spec.Returns, Mode: it.action.InvocationMode,
	}
}

// key is where the store keeps a key that an action names (E-SESS-2, E-SESS-3).
func (adm *Admission) key(a ir.Action, key string) string {
	if a.Type == ir.ToolCall {
		return key
	}
	return state.TenantKey(adm.opts.Tenant, key)
}

// refuses says why the capabilities forbid an action, or nothing.
func (c Capabilities) refuses(a ir.Action) string {
	if a.Type == ir.ToolCall {
		if slices.Contains(c.DeniedTools, a.Tool) || len(c.AllowedTools) > 0 && !slices.Contains(c.AllowedTools, a.Tool) {
			return fmt.Sprintf("capability denied: tool '%s' not allowed", a.Tool)
		}
		return ""
	}
	key, ok := a.Parameters["key"].(string)
	if ok && len(c.AllowedStateKeys) > 0 && !slices.Contains(c.AllowedStateKeys, key) {
		return fmt.Sprintf("capability denied: state key '%s' not allowed", key)
	}
	return ""
}
