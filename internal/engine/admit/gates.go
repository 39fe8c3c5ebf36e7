package admit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// The gates whose place is fixed (G-GATE-2).
const (
	// StaticVerification comes first: what is malformed is not worth a question.
	StaticVerification = "static_verification"
	// PermissionTiers is the name that policy's own questions are logged under.
	PermissionTiers = "permission_tiers"
)

// runGates is step 8: every gate gives its opinion and every opinion is logged,
// allow included (E-PIPE-3, G-GATE-1).
func (a *Admitter) runGates(ctx context.Context, adm *Admission) (*Admission, *Rejection, error) {
	tiers := adm.askPolicy()
	gates := a.inForce()
	if len(gates) == 0 {
		return adm, nil, nil
	}
	place := 0
	if gates[0].Name() == StaticVerification {
		place = 1
	}
	var whole *Rejection
	view := adm.view()
	for k := range len(gates) + 1 {
		if k == place {
			if err := a.logGate(adm, PermissionTiers, tiers); err != nil {
				return adm, nil, err
			}
		}
		if k == len(gates) {
			break
		}
		refused, err := a.hear(ctx, adm, gates[k], view)
		if err != nil {
			return adm, nil, err
		}
		if whole == nil {
			whole = refused
		}
	}
	adm.dropOutgrown()
	return adm, whole, nil
}

// hear takes one gate's opinion into an admission. A rejection refuses the whole proposal.
func (a *Admitter) hear(ctx context.Context, adm *Admission, g Gate, v View) (*Rejection, error) {
	opinion := a.consult(ctx, g, v)
	if err := a.logGate(adm, g.Name(), opinion); err != nil {
		return nil, err
	}
	for _, c := range opinion.Checks {
		for i := range adm.items {
			if adm.items[i].action.ID == c.Action {
				adm.items[i].checks = append(adm.items[i].checks, c)
			}
		}
	}
	switch opinion.Verdict {
	case policy.Allow:
		return nil, nil
	case policy.Ask:
		return nil, adm.escalate(ctx, g.Name(), opinion)
	default:
		return adm.block(g.Name(), opinion), nil
	}
}

// askPolicy turns policy's own asks into questions, so that they are put with the
// gates', and says what came of it in the words of a gate.
func (adm *Admission) askPolicy() Opinion {
	o := Opinion{Verdict: policy.Allow}
	var asks []string
	for i := range adm.items {
		it := &adm.items[i]
		if it.rejection == nil && it.judgement.Verdict == policy.Ask {
			it.questions = append(it.questions, question{gate: gatePolicy, reason: it.judgement.Message()})
			asks = append(asks, string(it.action.ID))
		}
	}
	if len(asks) > 0 {
		o.Verdict, o.Reason = policy.Ask, "asks about "+strings.Join(asks, ", ")
	}
	return o
}

// dropOutgrown takes back a yes of an earlier generation where the gates now ask
// something that it did not answer.
func (adm *Admission) dropOutgrown() {
	for i := range adm.items {
		it := &adm.items[i]
		if it.yes != nil && slices.ContainsFunc(it.questions, func(q question) bool { return !slices.Contains(it.yes.to, q) }) {
			it.yes = nil
		}
	}
}

func (adm *Admission) view() View {
	v := View{Session: adm.opts.Session, Tenant: adm.opts.Tenant, Proposal: adm.proposal, Key: adm.key,
		Judged: make(map[ir.ActionID]policy.Judgement), Effects: make(map[ir.ActionID]tool.Effects), Sources: make(map[ir.ActionID]ir.ToolSource)}
	for i, it := range adm.items {
		if it.rejection == nil {
			v.Judged[it.action.ID] = it.judgement
			v.Effects[it.action.ID] = it.effects
			v.Sources[it.action.ID] = adm.Source(i)
		}
	}
	return v
}

// consult asks one gate within its own time. Whatever goes wrong rejects (P-GUARD-1).
func (a *Admitter) consult(ctx context.Context, g Gate, v View) Opinion {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.GateTimeout)
	defer cancel()
	answer := make(chan Opinion, 1)
	// A gate that ignores ctx is left behind: its answer no longer counts, and the buffer lets it end.
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answer <- Opinion{Reason: fmt.Sprintf("gate panicked: %v", p)}
			}
		}()
		opinion, err := g.Check(ctx, v)
		if err != nil {
			opinion = Opinion{Reason: "gate did not answer: " + err.Error()}
		}
		answer <- opinion
	}()
	select {
	case opinion := <-answer:
		return sane(opinion)
	case <-ctx.Done():
		return Opinion{Reason: fmt.Sprintf("gate did not answer within %s", a.cfg.GateTimeout)}
	}
}

// sane turns an opinion that says nothing usable into a rejection.
func sane(o Opinion) Opinion {
	switch {
	case o.Verdict == policy.Ask && len(o.Escalations) == 0:
		return Opinion{Reason: "gate asked without a question"}
	case o.Verdict != policy.Allow && o.Verdict != policy.Ask && o.Reason == "":
		o.Reason = "gate gave no reason"
	}
	return o
}

// block applies a hard reject. The rejection it returns refuses the whole proposal.
func (adm *Admission) block(name string, o Opinion) *Rejection {
	reason := fmt.Sprintf("%s (gate: %s)", o.Reason, name)
	named := func(id ir.ActionID) bool { return len(o.Blocked) == 0 || slices.Contains(o.Blocked, id) }
	others := fmt.Sprintf("proposal blocked by admission gate: %s", name)
	for i := range adm.items {
		switch {
		case named(adm.items[i].action.ID):
			adm.Reject(i, Rejection{Stage: StageAdmission, Reason: reason, Event: eventlog.ActionRejected})
		case !adm.opts.RefuseAction:
			adm.Reject(i, Rejection{Stage: StageAdmission, Reason: others, Event: eventlog.ActionRejected})
		}
	}
	if adm.opts.RefuseAction {
		return nil
	}
	return &Rejection{Stage: StageAdmission, Reason: reason, Event: eventlog.ActionRejected}
}

// escalate puts a gate's questions to the open actions they name, unless a person
// has decided about the fingerprint before (E-PIPE-5).
func (adm *Admission) escalate(ctx context.Context, name string, o Opinion) error {
	for _, e := range o.Escalations {
		known, err := adm.decided(ctx, e.Fingerprint)
		if err != nil {
			return err
		}
		for i := range adm.items {
			it := &adm.items[i]
			if it.rejection != nil || len(e.Actions) > 0 && !slices.Contains(e.Actions, it.action.ID) {
				continue
			}
			switch {
			case known == nil:
				it.questions = append(it.questions, question{name, e.Reason, e.Fingerprint})
			case known.Approved:
				err = adm.logApplied(i, name, *known)
			default:
				adm.refuseApproval(i, fmt.Sprintf("rejected by operator (gate: %s; fingerprint: %s)", name, e.Fingerprint))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// decided is the standing word about a fingerprint, nil where there is none that
// counts. A ledger that cannot be read leaves the question open.
func (adm *Admission) decided(ctx context.Context, fingerprint string) (*approval.Decision, error) {
	if adm.by.cfg.Ledger == nil || fingerprint == "" {
		return nil, nil
	}
	d, found, err := adm.by.cfg.Ledger.Decision(ctx, fingerprint)
	if err != nil || !found || d.Approved && !d.RequiredTier.Covers(ir.FullAccess) {
		return nil, nil
	}
	return &d, nil
}

func (adm *Admission) logApplied(i int, gate string, d approval.Decision) error {
	_, err := adm.by.cfg.Log.Append(eventlog.Event{Kind: eventlog.ApprovalRecorded, ProposalID: adm.proposal.ID, ActionID: adm.items[i].action.ID,
		Data: map[string]any{"fingerprint": d.Fingerprint, "gate": gate, "approval": d.Word(), "reviewer": d.Reviewer, "applied": true}})
	if err != nil {
		return fmt.Errorf("log applied approval: %w", err)
	}
	return nil
}

func (a *Admitter) logGate(adm *Admission, name string, o Opinion) error {
	data := map[string]any{"gate": name, "phase": "admission", "decision": decisionWord(o.Verdict)}
	if o.Reason != "" {
		data["reason"] = o.Reason
	}
	if len(o.Blocked) > 0 {
		data["blocked"] = texts(o.Blocked)
	}
	var prints []string
	for _, e := range o.Escalations {
		prints = append(prints, e.Fingerprint)
	}
	if len(prints) > 0 {
		data["fingerprint"] = strings.Join(prints, ",")
	}
	_, err := a.cfg.Log.Append(eventlog.Event{Kind: eventlog.AdmissionGateDecision, ProposalID: adm.proposal.ID, Data: data})
	if err != nil {
		return fmt.Errorf("log decision of gate %s: %w", name, err)
	}
	return nil
}

func decisionWord(v policy.Verdict) string {
	switch v {
	case policy.Allow:
		return "allow"
	case policy.Ask:
		return "needs_approval"
	default:
		return "reject"
	}
}

func texts(ids []ir.ActionID) []any {
	out := make([]any, 0, len(ids))
	for _, id := range ids {
		out = append(out, string(id))
	}
	return out
}
