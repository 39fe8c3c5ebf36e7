package admit

import (
	"context"

	"car/internal/engine/approval"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// Judge answers what policy makes of one action (G-POL, G-TIER). It is safe for
// concurrent use. *policy.Policy is one.
type Judge interface {
	// Judge is pure but for file facts.
	Judge(a ir.Action, e tool.Effects) policy.Judgement
	// Take takes one call from every rate budget that governs the action, or none
	// and the violations.
	Take(a ir.Action) []policy.Violation
	// CheckState lists the require_state rules that the action does not meet now.
	CheckState(a ir.Action, get func(key string) (any, bool)) []policy.Violation
}

// Gate gives an opinion on a whole proposal before any of it runs (E-PIPE-3).
// An error, a panic or silence beyond its own time limit is a rejection. A gate
// changes nothing.
type Gate interface {
	// Name is a short stable word for the log.
	Name() string
	Check(ctx context.Context, v View) (Opinion, error)
}

// View is the one consistent picture that every gate of a pass sees. Gates must
// not change it.
type View struct {
	Session  string
	Tenant   string
	Proposal ir.Proposal
	// Judged holds policy's judgement by action, for the actions that are still open.
	Judged map[ir.ActionID]policy.Judgement
	// Effects holds what each open tool call declared.
	Effects map[ir.ActionID]tool.Effects
	// Sources say who the tool of an open action comes from.
	Sources map[ir.ActionID]ir.ToolSource
	// Key is where the store keeps a key that an action names; the actions of a tenant
	// have their own.
	Key func(a ir.Action, key string) string
}

// Opinion is what a gate says. The zero value rejects the whole proposal.
type Opinion struct {
	Verdict policy.Verdict
	// Blocked are the actions a rejection names; empty is the whole proposal.
	Blocked []ir.ActionID
	Reason  string
	// Escalations are the questions of an Ask.
	Escalations []Escalation
	// Checks have to succeed before an action that is not rejected may run.
	Checks []Check
}

// Check is a call that proves something before an action runs (E-PIPE-11). The
// engine makes an action of it, judged, asked, ticketed and recorded like any other;
// one that needs full access proves nothing.
type Check struct {
	// Action is the one it guards.
	Action ir.ActionID
	// Name is what people call it; Text is what it runs, for the receipt.
	Name       string
	Text       string
	Tool       string
	Parameters map[string]any
}

// Escalation is a question about some actions that a person may answer.
type Escalation struct {
	Actions []ir.ActionID
	// Fingerprint is what an approval of it is filed under.
	Fingerprint string
	Reason      string
}

// Approver asks whoever may decide (E-PIPE-7). One answer a request, in order; an
// error or a missing answer is a denial. It obeys ctx and is called without any lock held.
type Approver interface {
	Approve(ctx context.Context, requests []Request) ([]Decision, error)
}

// Request is one question: an action, exactly what it would do, and why it asks.
type Request struct {
	Session    string
	Effect     approval.EffectID
	Action     ir.ActionID
	CallID     string
	Tool       string
	Parameters map[string]any
	Scope      approval.Scope
	// ScopeDigest is what a yes is bound to, together with PreviewDigest.
	ScopeDigest   ir.Digest
	PreviewDigest ir.Digest
	Tier          ir.Tier
	Reversibility ir.Reversibility
	// Reasons say which rule, gate or posture asks, one sentence each.
	Reasons  []string
	Commands []ir.CommandView
	Preview  []ir.Block
	Targets  []string
	// Group is shared by requests of a level that need the same authority (P-GUARD-3).
	Group string
	// Rule is what "for this session" would cover beyond exactly this call, in words; empty
	// is nothing (A-APPR-12).
	Rule string
}

// DecisionKind is what was decided; the zero value denies.
type DecisionKind uint8

// The decisions (A-APPR-11).
const (
	Deny DecisionKind = iota
	DenyAndStop
	AllowOnce
	AllowSession
	Edit
)

// Decision is an answer. By names who decided; Reason is what the model reads of
// a refusal. Parameters belong to Edit.
type Decision struct {
	Kind       DecisionKind
	By         string
	Reason     string
	Parameters map[string]any
}

// Ledger finds a person's standing word about a fingerprint (E-PIPE-5). The
// store behind approval.Book is one.
type Ledger interface {
	Decision(ctx context.Context, fingerprint string) (approval.Decision, bool, error)
}

// Recorder keeps the durable rows around every effect (E-PIPE-10).
// *approval.Ledger is one. An error of any method is a refusal to go on.
type Recorder interface {
	// Propose writes the question before it is asked.
	Propose(ctx context.Context, e approval.Effect) error
	// Decide writes the answer before it is used.
	Decide(ctx context.Context, id approval.EffectID, d approval.Verdict) error
	// BeforeDispatch writes the intent before the effect starts.
	BeforeDispatch(ctx context.Context, e approval.Effect) error
	// AfterDispatch writes the outcome before the result leaves the engine.
	AfterDispatch(ctx context.Context, id approval.EffectID, o approval.Outcome) error
	// Standing finds a yes for exactly this effect that no process has used.
	Standing(ctx context.Context, id approval.EffectID) (approval.Verdict, bool, error)
	// Grants lists what the session holds a standing yes for: exact scopes as "scope:"
	// and their digest, and rules as Verdict.Rule gave them.
	Grants(ctx context.Context, session string) ([]string, error)
}
