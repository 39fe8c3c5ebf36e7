package assistant

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/admit"
	"car/internal/engine/ir"
)

// asker is the conversation as the engine's Approver: it puts questions to whoever
// is attached and hands their answers back (A-APPR-1). Ids are random and good for
// one answer; silence, cancel and a broken store deny.
type asker struct {
	c *Conversation

	mu   sync.Mutex
	open map[string]*question
	// check is set while a goal's check is what is asked about.
	check *checkAuthority
}

// checkAuthority is what a person said of the check of the goal in hand: one
// answer stands for the exact scope, as often as it runs (A-GOAL-3).
type checkAuthority struct {
	typed    bool
	approved map[ir.Digest]string // who said yes, by scope
	denied   bool
}

// question is one that waits. Its answer is buffered, so that nobody waits to give it.
type question struct {
	id       string
	pending  ApprovalPending
	scope    ir.Digest
	answered chan Answer
}

func newAsker(c *Conversation) *asker { return &asker{c: c, open: map[string]*question{}} }

var _ admit.Approver = (*asker)(nil)

// Approve asks all requests at once and returns when every one is decided.
func (a *asker) Approve(ctx context.Context, requests []admit.Request) ([]admit.Decision, error) {
	decisions := make([]admit.Decision, len(requests))
	asked := make([]*question, len(requests))
	for i, r := range requests {
		if by, ok := a.standing(r); ok {
			decisions[i] = admit.Decision{Kind: admit.AllowOnce, By: by}
			continue
		}
		q, err := a.ask(ctx, r)
		if err != nil {
			decisions[i] = admit.Decision{Kind: admit.Deny, By: "runtime", Reason: "the question could not be recorded: " + err.Error()}
			continue
		}
		asked[i] = q
	}
	var waits sync.WaitGroup
	for i, q := range asked {
		if q != nil {
			waits.Go(func() { decisions[i] = a.await(ctx, q, asked) })
		}
	}
	waits.Wait()
	return decisions, nil
}

// standing finds the answer that was given for a goal's check already.
func (a *asker) standing(r admit.Request) (by string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.check == nil || r.Action != checkAction {
		return "", false
	}
	if a.check.typed {
		return "user (typed with the command)", true
	}
	by, ok = a.check.approved[r.ScopeDigest]
	return by, ok
}

// ask records a question and shows it.
func (a *asker) ask(ctx context.Context, r admit.Request) (*question, error) {
	cfg := a.c.svc.cfg
	id, err := newApprovalID(cfg.Rand)
	if err != nil {
		return nil, err
	}
	expires := cfg.Now().Add(cfg.ApprovalWait)
	err = cfg.Store.Ask(ctx, store.Question{ID: id, Session: a.c.id, Action: r.Effect, Tier: r.Tier.String(), Reversibility: r.Reversibility.String(), Expires: expires})
	if err != nil {
		return nil, err
	}
	params := pending(r.Parameters)
	a.mu.Lock()
	if a.check != nil {
		params["purpose"] = checkAction
	}
	q := &question{id: id, scope: r.ScopeDigest, answered: make(chan Answer, 1), pending: ApprovalPending{
		ApprovalID: id, CallID: r.CallID, Tool: r.Tool, Params: params, ActionID: string(r.Effect), Scope: asMap(r.Scope),
		Tier: r.Tier, Reversibility: r.Reversibility, Reason: strings.Join(r.Reasons, "; "), Group: r.Group, ExpiresAt: expires,
		SessionRule: r.Rule, Commands: r.Commands, Preview: r.Preview}}
	a.open[id] = q
	a.c.emit(q.pending) // under the lock, so that no answer is told before its question
	a.mu.Unlock()
	if cfg.Answer != nil {
		if answer, decided := cfg.Answer(q.pending); decided {
			a.resolve(id, answer)
		}
	}
	return q, nil
}

// await returns the answer to a question, or denies it when the time is up or the
// run is over (A-APPR-9, A-SVC-8). beside are the questions asked with it.
func (a *asker) await(ctx context.Context, q *question, beside []*question) admit.Decision {
	expired := time.NewTimer(a.c.svc.cfg.ApprovalWait)
	defer expired.Stop()
	var answer Answer
	select {
	case answer = <-q.answered:
	case <-expired.C:
		answer = a.giveUp(q, "approval timed out")
	case <-ctx.Done():
		answer = a.giveUp(q, "canceled")
	}
	answer = a.record(context.WithoutCancel(ctx), q, answer)
	if answer.Kind == AnswerSession && q.pending.SessionRule != "" { // one answer for all that it covers (P-GUARD-3)
		for _, other := range beside {
			if other != nil && other.pending.SessionRule == q.pending.SessionRule && other.pending.Tier == q.pending.Tier && other.pending.Reason == q.pending.Reason {
				a.hand(other.id, answer)
			}
		}
	}
	if answer.Kind == AnswerDenyAndStop {
		a.c.stopRun(answer.By, answer.Reason)
		for _, other := range beside {
			if other != nil {
				a.hand(other.id, Answer{By: answer.By, Reason: "stopped by " + answer.By})
			}
		}
	}
	return answer.decision()
}

// giveUp denies a question that nobody answered; an answer that was first stands.
func (a *asker) giveUp(q *question, reason string) Answer {
	a.hand(q.id, Answer{By: "runtime", Reason: reason})
	return <-q.answered
}

// record writes an answer before it counts, and tells it; one that cannot be
// written is a denial (A-APPR-7).
func (a *asker) record(ctx context.Context, q *question, answer Answer) Answer {
	first, err := a.c.svc.cfg.Store.Answer(ctx, q.id, answer.Kind.String(), answer.By, answer.Reason)
	if err == nil && !first {
		err = errors.New("it has an answer already")
	}
	if err != nil {
		answer = Answer{By: "runtime", Reason: "cannot durably record approval: " + err.Error()}
	}
	a.mu.Lock()
	if a.check != nil {
		a.noteCheck(q, answer)
	}
	a.mu.Unlock()
	a.c.emit(ApprovalResolved{ApprovalID: q.id, Decision: answer.Kind.String(), By: answer.By, Reason: answer.Reason})
	return answer
}

// resolve takes a person's answer. false means that the question did not wait.
func (a *asker) resolve(id string, answer Answer) bool {
	if answer.By == "" {
		answer.By = "user"
	}
	if answer.Reason == "" && (answer.Kind == AnswerDeny || answer.Kind == AnswerDenyAndStop) {
		answer.Reason = "declined by user"
	}
	return a.hand(id, answer)
}

// hand gives an answer to whoever waits for it, once.
func (a *asker) hand(id string, answer Answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q, ok := a.open[id]
	if ok {
		delete(a.open, id)
		q.answered <- answer
	}
	return ok
}

// noteCheck remembers what was said of a goal's check. a.mu is held.
func (a *asker) noteCheck(q *question, answer Answer) {
	switch answer.Kind {
	case AnswerOnce, AnswerSession:
		a.check.approved[q.scope] = answer.By
	default:
		a.check.denied = true
	}
}

// forCheck says that until done is called, a goal's check is what is asked about.
func (a *asker) forCheck(authority *checkAuthority) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.check = authority
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.check = nil
	}
}

// decision is the answer in the engine's words.
func (a Answer) decision() admit.Decision {
	d := admit.Decision{By: a.By, Reason: a.Reason}
	switch a.Kind {
	case AnswerOnce:
		d.Kind = admit.AllowOnce
	case AnswerSession:
		d.Kind = admit.AllowSession
	case AnswerEdit:
		d.Kind, d.Parameters = admit.Edit, a.Params
	case AnswerDenyAndStop:
		d.Kind = admit.DenyAndStop
	default:
		d.Kind = admit.Deny
	}
	return d
}

// newApprovalID draws 128 random bits.
func newApprovalID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("approval id: %w", err)
	}
	return "appr_" + hex.EncodeToString(b[:]), nil
}

// asMap is a value as plain JSON, for an event.
func asMap(v any) map[string]any {
	b, err := json.Marshal(v)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		return map[string]any{"error": err.Error()}
	}
	return m
}

// DenyUnattended answers every question of a session at once where nobody can be
// asked; the reason names the ways out that lead out (A-CLI-4). granted is what the
// run was given beforehand: a question that all of it left open, as for work that
// would be lost, is answered by no flag.
func DenyUnattended(session string, granted ir.Tier) func(ApprovalPending) (Answer, bool) {
	return func(p ApprovalPending) (Answer, bool) {
		ways := ""
		switch {
		case granted == ir.FullAccess:
			ways = "no flag stands for this one; "
		case p.Tool == "shell":
			ways = fmt.Sprintf("a person can allow it with --allow '<words the command begins with>' or --tier %s, or ", p.Tier.Needed())
		default:
			ways = fmt.Sprintf("a person can allow it with --tier %s, or ", p.Tier.Needed())
		}
		return Answer{Kind: AnswerDeny, By: "unattended", Reason: fmt.Sprintf(
			"needs approval and nobody is attached to give it; %sgo on in a terminal with car --resume %s", ways, session)}, true
	}
}
