package admit

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"car/internal/engine/approval"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// Ticket is the right to attempt one action once: for one digest, generation and
// attempt, at the Admitter that issued it (E-PIPE-9). Only Admission.Draw makes
// one that is worth anything; the zero Ticket is worth nothing.
type Ticket struct{ stub *stub }

// AllowedBy says who allowed the attempt: "auto:<tier>", "person:<who>", "grant:<digest>".
func (t Ticket) AllowedBy() string {
	if t.stub == nil {
		return ""
	}
	return t.stub.grant.AllowedBy
}

// stub is what a ticket stands for. issuer and grant are fixed; spent is set once.
type stub struct {
	issuer *Admitter
	grant  Grant
	spent  atomic.Bool
}

// Grant is what a redeemed ticket allows, all of it.
type Grant struct {
	Action     ir.Action
	Digest     ir.Digest
	Proposal   ir.ProposalID
	Generation int
	Attempt    int
	Tool       tool.Tool
	Spec       tool.Spec
	Source     ir.ToolSource
	Call       tool.Call
	Effects    tool.Effects
	Judgement  policy.Judgement
	// AllowedBy says who allowed it; Approved that a person or grant said yes to it.
	AllowedBy string
	Approved  bool
	// PreviewDigest is of the preview a yes was given to, empty where none was shown.
	PreviewDigest ir.Digest
	// Row is the intent row to write first; nil for an action that only reads.
	Row *approval.Effect
}

// The reasons a ticket is refused.
var (
	ErrNoTicket      = errors.New("no ticket: the action was not admitted")
	ErrForeignTicket = errors.New("ticket was issued by another admitter")
	ErrSpentTicket   = errors.New("ticket was already used")
)

// Redeem spends a ticket and says what it allows. It answers once.
func (a *Admitter) Redeem(t Ticket) (Grant, error) {
	switch {
	case t.stub == nil:
		return Grant{}, ErrNoTicket
	case t.stub.issuer != a:
		return Grant{}, ErrForeignTicket
	case !t.stub.spent.CompareAndSwap(false, true):
		return Grant{}, ErrSpentTicket
	}
	return t.stub.grant, nil
}

// Draw issues the ticket for one attempt of the action at index i. Every retry
// draws its own. An approved action that is not idempotent gets one (law 4).
func (adm *Admission) Draw(i, attempt int) (Ticket, error) {
	it := &adm.items[i]
	switch {
	case it.rejection != nil:
		return Ticket{}, fmt.Errorf("action '%s' was refused: %s", it.action.ID, it.rejection.Reason)
	case len(it.questions) > 0 && it.yes == nil:
		return Ticket{}, fmt.Errorf("action '%s' was not approved", it.action.ID)
	case it.yes != nil && attempt > 1 && !it.action.Idempotent:
		return Ticket{}, fmt.Errorf("action '%s' was approved for one attempt", it.action.ID)
	case it.digest == "":
		return Ticket{}, fmt.Errorf("action '%s' has no digest", it.action.ID)
	}
	g := Grant{
		Action: it.action, Digest: it.digest, Proposal: adm.proposal.ID, Generation: adm.opts.Generation, Attempt: attempt,
		Tool: it.tool, Spec: it.spec, Source: adm.Source(i), Call: adm.call(it, attempt), Effects: it.effects, Judgement: it.judgement,
		AllowedBy: "auto:" + it.judgement.Tier.Needed().String(),
	}
	if it.yes != nil {
		g.AllowedBy, g.Approved, g.PreviewDigest = it.yes.by, true, it.yes.preview
	}
	if it.action.Type == ir.ToolCall && !it.effects.OnlyReads() {
		row, err := adm.row(it, attempt)
		if err != nil {
			return Ticket{}, err
		}
		row.AllowedBy = g.AllowedBy
		g.Row = &row
	}
	return Ticket{&stub{issuer: adm.by, grant: g}}, nil
}

// Attempts is how many attempts the action at index i may have (E-FAIL-2).
func (adm *Admission) Attempts(i int) int {
	it := &adm.items[i]
	if it.action.FailureBehavior != ir.Retry || it.yes != nil && !it.action.Idempotent {
		return 1
	}
	return int(it.action.MaxRetries) + 1
}

func timeoutOf(it *item) time.Duration {
	if it.action.TimeoutMS > 0 {
		return time.Duration(min(it.action.TimeoutMS, uint64(24*time.Hour/time.Millisecond))) * time.Millisecond
	}
	return it.spec.Timeout
}
