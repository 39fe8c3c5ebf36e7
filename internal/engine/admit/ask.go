package admit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// gatePolicy is the name of policy's own questions in refusals.
const gatePolicy = "policy"

// yes is an approval bound to exactly what was shown.
type yes struct {
	by      string
	preview ir.Digest
	// to are the questions that it answers.
	to []question
}

// Asked is what came of a level's questions beside the actions' own fates.
type Asked struct {
	// Stop is set when the person ended the proposal; Reason is theirs.
	Stop   bool
	Reason string
	// Edits are parameters a person put in place of an action's, by index.
	Edits map[int]map[string]any
}

// pending is a question on its way, with what a yes would be bound to.
type pending struct {
	index   int
	row     approval.Effect
	request Request
}

// Ask puts every open question of the given actions at once, in their order
// (E-PIPE-7). Each action is then refused or approved; a question that cannot be
// recorded, answered or whose answer cannot be recorded refuses its action. The
// caller holds no lock.
func (adm *Admission) Ask(ctx context.Context, indices []int) (Asked, error) {
	var asked []pending
	for _, i := range indices {
		it := &adm.items[i]
		if it.rejection != nil || it.yes != nil || len(it.questions) == 0 {
			continue
		}
		p, ok, err := adm.prepare(ctx, i)
		if err != nil {
			return Asked{}, err
		}
		if ok {
			asked = append(asked, p)
		}
	}
	if len(asked) == 0 {
		return Asked{}, nil
	}
	return adm.settle(ctx, asked, adm.answers(ctx, asked))
}

// HasQuestions reports whether any of the actions still waits for an answer.
func (adm *Admission) HasQuestions(indices []int) bool {
	return slices.ContainsFunc(indices, func(i int) bool {
		it := &adm.items[i]
		return it.rejection == nil && it.yes == nil && len(it.questions) > 0
	})
}

// prepare makes the question of one action, unless a grant of the session answers it.
func (adm *Admission) prepare(ctx context.Context, i int) (pending, bool, error) {
	it := &adm.items[i]
	row, err := adm.row(it, 1)
	if err != nil {
		adm.refuseApproval(i, fmt.Sprintf("cannot persist approval scope: %v", err))
		return pending{}, false, nil
	}
	digest, err := row.Scope.Digest()
	if err != nil {
		adm.refuseApproval(i, fmt.Sprintf("cannot persist approval scope: %v", err))
		return pending{}, false, nil
	}
	grants, err := adm.by.cfg.Recorder.Grants(ctx, adm.opts.Session)
	if err != nil {
		adm.refuseApproval(i, fmt.Sprintf("cannot read session grants: %v", err))
		return pending{}, false, nil
	}
	policyOnly := !slices.ContainsFunc(it.questions, func(q question) bool { return q.gate != gatePolicy })
	by, granted := "grant:"+string(digest[:12]), slices.Contains(grants, "scope:"+string(digest))
	if !granted {
		if rule, ok := ruled(it, grants); ok {
			by, granted = "grant:"+rule, true
		}
	}
	if granted && policyOnly {
		it.yes = &yes{by: by, to: it.questions}
		return pending{}, false, adm.logApproval(i, row.ID, digest, Decision{Kind: AllowSession, By: it.yes.by}, true)
	}
	// Policy's questions are filed under the scope itself; a gate's have their own
	// fingerprint, and no earlier word about the call answers them.
	known, err := adm.decided(ctx, string(digest))
	switch {
	case err != nil:
		return pending{}, false, err
	case known != nil && !known.Approved:
		adm.refuseApproval(i, fmt.Sprintf("rejected by operator (gate: policy; fingerprint: %s)", digest))
		return pending{}, false, nil
	case known != nil && policyOnly:
		it.yes = &yes{by: "ledger:" + string(digest[:12]), to: it.questions}
		return pending{}, false, adm.logApplied(i, gatePolicy, *known)
	}
	if answered, err := adm.approvedBefore(ctx, i, row.ID, digest); answered || err != nil {
		return pending{}, false, err
	}
	request, err := adm.request(ctx, i, row, digest)
	if err != nil {
		adm.refuseApproval(i, "preview: "+faultText(err))
		return pending{}, false, nil
	}
	if err := adm.by.cfg.Recorder.Propose(ctx, row); err != nil {
		adm.refuseApproval(i, err.Error())
		return pending{}, false, nil
	}
	return pending{index: i, row: row, request: request}, true, nil
}

// approvedBefore answers an action by the yes that a person gave to exactly this
// effect in a process that ended before it could run (A-APPR-8, A-DUR-4). Policy
// and gates have had their say again by now, and what would change is compared
// with what was shown then.
func (adm *Admission) approvedBefore(ctx context.Context, i int, id approval.EffectID, digest ir.Digest) (bool, error) {
	v, found, err := adm.by.cfg.Recorder.Standing(ctx, id)
	if err != nil {
		adm.refuseApproval(i, fmt.Sprintf("cannot read earlier approvals: %v", err))
		return true, nil
	}
	if !found {
		return false, nil
	}
	for _, q := range adm.items[i].questions {
		if !slices.Contains(v.Gates, q.gate) {
			adm.refuseApproval(i, fmt.Sprintf("what was approved before the restart raises a new question (gate: %s; %s); call it again, and it is asked", q.gate, q.reason))
			return true, nil
		}
	}
	adm.items[i].yes = &yes{by: "person:" + v.By, preview: v.Preview, to: adm.items[i].questions}
	return true, adm.logApproval(i, id, digest, Decision{Kind: AllowOnce, By: v.By, Reason: v.Reason}, true)
}

func (adm *Admission) request(ctx context.Context, i int, row approval.Effect, digest ir.Digest) (Request, error) {
	it := &adm.items[i]
	r := Request{
		Session: adm.opts.Session, Effect: row.ID, Action: it.action.ID, CallID: row.CallID, Tool: it.action.Tool,
		Parameters: it.action.Parameters, Scope: row.Scope, ScopeDigest: digest,
		Tier: it.judgement.Tier.Needed(), Reversibility: it.judgement.Reversibility,
		Commands: it.judgement.Commands, Targets: it.judgement.Targets,
		Group: it.judgement.Tier.Needed().String() + ":" + it.action.Tool,
	}
	if rule, ok := ruleOf(it); ok {
		r.Rule = rule.String()
	}
	for _, q := range it.questions {
		r.Reasons = append(r.Reasons, q.reason)
	}
	if adm.by.cfg.Previews == nil || it.tool == nil {
		return r, nil
	}
	blocks, err := adm.by.cfg.Previews.Preview(ctx, it.tool, adm.call(it, 1), it.effects, it.judgement)
	if err != nil {
		return Request{}, err
	}
	r.Preview = blocks
	r.PreviewDigest, err = PreviewDigest(blocks)
	return r, err
}

// answers asks the Approver, and turns silence, errors and short answers into denials.
func (adm *Admission) answers(ctx context.Context, asked []pending) []Decision {
	decisions := make([]Decision, len(asked))
	if adm.opts.Word != nil {
		for i := range decisions {
			decisions[i] = *adm.opts.Word
		}
		return decisions
	}
	if adm.by.cfg.Approver == nil || adm.opts.AskNobody {
		for i, p := range asked {
			decisions[i] = Decision{By: "nobody", Reason: adm.unanswered(p)}
		}
		return decisions
	}
	requests := make([]Request, len(asked))
	for i, p := range asked {
		requests[i] = p.request
	}
	got, err := adm.by.cfg.Approver.Approve(ctx, requests)
	for i := range decisions {
		switch {
		case err != nil:
			decisions[i] = Decision{By: "nobody", Reason: "approval did not answer: " + err.Error()}
		case i >= len(got):
			decisions[i] = Decision{By: "nobody", Reason: "approval did not answer"}
		default:
			decisions[i] = got[i]
		}
	}
	return decisions
}

// unanswered says what an approval would have to be of, where nobody can be asked.
func (adm *Admission) unanswered(p pending) string {
	var parts []string
	for _, q := range adm.items[p.index].questions {
		fingerprint := q.fingerprint
		if q.gate == gatePolicy {
			fingerprint = string(p.request.ScopeDigest)
		}
		parts = append(parts, fmt.Sprintf("requires human approval (gate: %s; %s); approve fingerprint '%s' then re-run", q.gate, q.reason, fingerprint))
	}
	return strings.Join(parts, "; ")
}

// settle records every answer before it is used.
func (adm *Admission) settle(ctx context.Context, asked []pending, decisions []Decision) (Asked, error) {
	out := Asked{Edits: map[int]map[string]any{}}
	// A cancelled turn still writes its refusals: they are what happened.
	record := context.WithoutCancel(ctx)
	for k, p := range asked {
		d := decisions[k]
		if ctx.Err() != nil {
			d = Decision{By: "nobody", Reason: "canceled"}
		}
		allowed := d.Kind == AllowOnce || d.Kind == AllowSession
		verdict := approval.Verdict{Approved: allowed, By: d.By, Reason: d.Reason, ForSession: d.Kind == AllowSession, Preview: p.request.PreviewDigest, Gates: gatesOf(adm.items[p.index].questions)}
		if rule, ok := ruleOf(&adm.items[p.index]); ok && verdict.ForSession {
			verdict.Rule = rule.stored()
		}
		if err := adm.by.cfg.Recorder.Decide(record, p.row.ID, verdict); err != nil {
			adm.refuseApproval(p.index, err.Error())
			continue
		}
		if err := adm.logApproval(p.index, p.row.ID, p.request.ScopeDigest, d, false); err != nil {
			return out, err
		}
		switch {
		case allowed:
			adm.items[p.index].yes = &yes{by: "person:" + d.By, preview: p.request.PreviewDigest, to: adm.items[p.index].questions}
		case d.Kind == Edit:
			out.Edits[p.index] = d.Parameters
		default:
			adm.refuseApproval(p.index, declined(d))
		}
		if d.Kind == DenyAndStop {
			out.Stop, out.Reason = true, declined(d)
		}
	}
	return out, nil
}

// gatesOf names who asks, each once.
func gatesOf(questions []question) []string {
	var gates []string
	for _, q := range questions {
		if !slices.Contains(gates, q.gate) {
			gates = append(gates, q.gate)
		}
	}
	return gates
}

// declined is the reason a model reads of a refusal (A-SVC-9).
func declined(d Decision) string {
	if d.Reason == "" {
		return "declined by user"
	}
	return d.Reason
}

func (adm *Admission) refuseApproval(i int, reason string) {
	adm.Reject(i, Rejection{Stage: StageApproval, Reason: reason, Event: eventlog.ActionRejected})
}

func (adm *Admission) logApproval(i int, id approval.EffectID, digest ir.Digest, d Decision, applied bool) error {
	it := &adm.items[i]
	word := "rejected"
	if d.Kind == AllowOnce || d.Kind == AllowSession {
		word = "approved"
	}
	data := map[string]any{"fingerprint": string(digest), "effect_id": string(id), "approval": word, "reviewer": d.By, "reason": d.Reason,
		"tier": it.judgement.Tier.Needed().String(), "reversibility": it.judgement.Reversibility.String()}
	if applied {
		data["applied"] = true
	}
	_, err := adm.by.cfg.Log.Append(eventlog.Event{Kind: eventlog.ApprovalRecorded, ProposalID: adm.proposal.ID, ActionID: it.action.ID, Data: data})
	if err != nil {
		return fmt.Errorf("log approval of %s: %w", it.action.ID, err)
	}
	return nil
}

// row is the effect row of one attempt: its scope, and the identity that follows from it.
func (adm *Admission) row(it *item, attempt int) (approval.Effect, error) {
	call := adm.call(it, attempt)
	scope := approval.Scope{
		Tool: it.action.Tool, ToolVersion: it.spec.Version, Parameters: it.action.Parameters,
		RepositoryRoot: adm.by.cfg.Where.Root, Cwd: adm.by.cfg.Where.Root,
		Environment: environment(it), CredentialCapabilities: approval.CapabilitiesOf(it.judgement.Runs),
		Substrate: adm.by.cfg.Substrate, EnvDigest: adm.by.cfg.EnvDigest,
	}
	scope.Target, scope.TargetSource = target(it)
	// A person may edit a call back to what was refused before: each generation asks anew.
	asked := call.CallID
	if it.generation > 0 {
		asked = fmt.Sprintf("%s~%d", asked, it.generation)
	}
	id, err := scope.EffectID(adm.opts.Session, asked, attempt)
	if err != nil {
		return approval.Effect{}, err
	}
	return approval.Effect{ID: id, Session: adm.opts.Session, CallID: call.CallID, Proposal: adm.proposal.ID,
		Action: it.action.ID, Attempt: attempt, Scope: scope}, nil
}

// PreviewDigest is the identity of a preview, compared again just before the attempt.
func PreviewDigest(blocks []ir.Block) (ir.Digest, error) {
	if len(blocks) == 0 {
		return "", nil
	}
	return ir.DigestOf(blocksValue(blocks))
}

// blocksValue is what a person saw, as JSON values.
func blocksValue(blocks []ir.Block) []any {
	out := make([]any, 0, len(blocks))
	for _, b := range blocks {
		rows := make([]any, 0, len(b.Rows))
		for _, row := range b.Rows {
			rows = append(rows, strings.Join(row, "\x1f"))
		}
		out = append(out, map[string]any{"kind": b.Kind.String(), "title": b.Title, "text": b.Text, "rows": rows})
	}
	return out
}
