package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"car/internal/engine/admit"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/span"
	"car/internal/engine/state"
	"car/internal/engine/tool"
)

// run is one proposal on its way through the engine.
type run struct {
	rt   *Runtime
	opts Options
	p    ir.Proposal
	adm  *admit.Admission
	tx   *state.Tx
	// shared says that the run only reads and has a reader's turn.
	shared bool

	byID map[ir.ActionID]int

	mu      sync.Mutex
	results []ir.ActionResult
	settled []bool // which results are final
	cost    ir.CostSummary
	// broken is the first record that could not be written; nothing starts after it.
	broken error

	// abort and stopped are read and written between levels or in sequential ones only.
	abort   *abortion
	stopped string

	// reserved is what the actions of the current level that may run will take, in
	// index order; spent, once set, skips everything after it.
	reserved reservation
	spent    bool

	// reused are the keys this run added to idempotency store and cache, guarded by mu.
	reused []ir.Digest
	// deduplicated marks results that another run brought; no rollback takes them back.
	deduplicated map[int]bool

	// original is the id that was proposed; an edit gives the next generation its own.
	original  ir.ProposalID
	lineage   []ir.LineageEntry
	preimages []ir.AcceptedPreimage
	rollback  *ir.Rollback

	// before is what each action was told of state, by index (E-EXEC-13).
	before map[int]map[string]any

	// reservedFor names the action that a compensation is kept for; it never runs forward.
	reservedFor   map[ir.ActionID]ir.ActionID
	completed     []int // indices in the order they ended, guarded by mu
	compensations []ir.Compensated
	// candidate is a plan among others: whatever falls short of success is taken back (E-PLAN-2).
	candidate bool
	// replans counts the candidates that were asked for, over all generations.
	replans   int
	replanCfg ReplanConfig
	replanner Replanner
	gaveUp    bool
	// word is a person's answer to every question of this run, given beforehand.
	word *admit.Decision
	// spans is nil where nobody follows; spanAbove is that of the run it belongs to.
	spans     *tracing
	spanAbove span.Ref
	// nested is a run inside another's turn: it takes none. quiet asks nobody.
	nested, quiet bool
	// proofs are the checks of the open actions, by index (E-PIPE-11).
	proofs map[int][]proof
}

// abortion is why the proposal's state goes back.
type abortion struct{ by ir.ActionID }

func newRun(rt *Runtime, p ir.Proposal, o Options) *run {
	r := &run{rt: rt, opts: o, p: p, original: p.ID, deduplicated: map[int]bool{}, before: map[int]map[string]any{}, results: make([]ir.ActionResult, len(p.Actions)), settled: make([]bool, len(p.Actions)),
		byID: make(map[ir.ActionID]int, len(p.Actions))}
	r.replanCfg, r.replanner = rt.replanning.now()
	r.reservedFor = map[ir.ActionID]ir.ActionID{}
	for i, a := range p.Actions {
		r.byID[a.ID] = i
		if a.Compensation != nil && a.Compensation.Type == "action_ref" {
			r.reservedFor[a.Compensation.ActionID] = a.ID
		}
		r.results[i] = ir.ActionResult{ActionID: a.ID, StateChanges: map[string]ir.StateChange{}}
	}
	return r
}

// execute takes the proposal through admission, its levels and its end.
func (r *run) execute(ctx context.Context) error {
	adm, whole, err := r.rt.admitter.Admit(ctx, r.p, r.admission(len(r.lineage)))
	if err != nil {
		r.rejectRest("nothing ran: " + err.Error())
		return err
	}
	r.adm = adm
	return r.perform(ctx, whole)
}

// perform runs an admitted generation, or settles one that was refused whole.
func (r *run) perform(ctx context.Context, whole *admit.Rejection) error {
	r.beginSpans()
	defer func() { r.endSpans(whole) }()
	if !r.opts.Scope.empty() {
		r.log(eventlog.Event{Kind: eventlog.SessionScope, Data: scopeData(r.opts.Scope)})
	}
	if whole != nil {
		r.refuseAll(*whole)
		return r.broken
	}
	r.accept()
	if limit := r.opts.Capabilities.MaxActions; limit > 0 && len(r.p.Actions) > limit {
		r.refuseAll(admit.Rejection{Stage: admit.StageProposalCapability, Event: eventlog.ActionRejected,
			Reason: fmt.Sprintf("capability denied: proposal has %d actions, max allowed is %d", len(r.p.Actions), limit)})
		return r.broken
	}
	levels, err := ir.Levels(r.p.Actions)
	if err != nil { // Admit has checked the graph
		return err
	}
	r.tx = r.rt.cfg.State.Begin()
	if !r.nested {
		r.shared = r.onlyReads()
		if err := r.rt.turns.take(ctx, r.shared); err != nil {
			r.skipRest("canceled: " + err.Error())
			r.tx.Rollback() // of nothing: it is only ended
			return r.broken
		}
		defer r.rt.turns.give(r.shared)
	}
	for _, level := range levels {
		r.level(ctx, level)
	}
	r.end(ctx)
	return r.broken
}

// onlyReads reports a proposal that may share its turn: it reads state and calls
// tools whose authors say that they only read (B-CONC-1).
func (r *run) onlyReads() bool {
	for i, a := range r.p.Actions {
		switch {
		case len(a.ExpectedEffects) > 0 || a.Compensation != nil:
			return false
		case a.Type == ir.StateRead || a.Type == ir.Assertion:
		case a.Type != ir.ToolCall || a.InvocationMode != ir.OneShot:
			return false
		case r.adm.Rejected(i) == nil && r.adm.Spec(i).Effect != tool.Read:
			return false
		}
	}
	return true
}

// skipRest settles everything that did not get its turn.
func (r *run) skipRest(reason string) {
	for i := range r.p.Actions {
		if !r.isSettled(i) {
			r.skip(i, "cancellation", reason)
		}
	}
}

// admission is how a generation of this proposal is judged.
func (r *run) admission(generation int) admit.Options {
	return admit.Options{
		Session: r.opts.Session, Tenant: r.opts.Scope.TenantID, CallPrefix: r.opts.CallPrefix, Turn: r.opts.Turn,
		RefuseAction: r.opts.Refusal == RefuseAction, Capabilities: r.opts.Capabilities,
		Generation: generation, Precheck: r.precheck, Before: r.adm, AskNobody: r.quiet, Word: r.word,
	}
}

// accept records the generation that runs (E-PIPE-8).
func (r *run) accept() {
	n := len(r.lineage)
	r.lineage = append(r.lineage, ir.LineageEntry{Generation: n, ProposalID: r.p.ID, ProposalDigest: r.adm.Digest(), Status: ir.LineageAccepted})
	r.preimages = append(r.preimages, ir.AcceptedPreimage{Generation: n, ProposalDigest: r.adm.Digest(), Proposal: r.p})
	r.log(eventlog.Event{Kind: eventlog.ProposalReceived, Data: map[string]any{
		"source": r.p.Source, "action_count": float64(len(r.p.Actions)), "proposal": jsonValue(r.p), "proposal_digest": string(r.adm.Digest()),
	}})
}

// level runs actions that may run together (E-DAG-4).
func (r *run) level(ctx context.Context, level []int) {
	if ir.LevelRunsSequentially(r.p.Actions, level) {
		for _, i := range level {
			r.together(ctx, []int{i})
		}
		return
	}
	r.together(ctx, level)
}

// together brings actions to their end: state checks, questions, attempts.
func (r *run) together(ctx context.Context, indices []int) {
	open := r.checked(ctx, indices)
	if len(open) == 0 {
		return
	}
	r.admitChecks(ctx, open)
	asked, err := r.asked(ctx, open)
	if err != nil {
		r.breakWith(err)
	}
	var group errgroup.Group
	group.SetLimit(r.rt.cfg.MaxParallel)
	for _, i := range open {
		group.Go(func() error {
			r.attemptAll(ctx, i)
			return nil
		})
	}
	_ = group.Wait() // attempts report through their results
	if asked.Stop {
		r.stopped = asked.Reason
	}
}

// asked puts the questions of a group with the turn given back meanwhile, so that
// a person who thinks holds up no other proposal. If state moved, what was
// checked before is checked again (B-CONC-2).
func (r *run) asked(ctx context.Context, open []int) (admit.Asked, error) {
	if !r.adm.HasQuestions(open) && !r.checksAsk(open) {
		return admit.Asked{}, nil
	}
	if r.nested {
		return r.askAll(ctx, open) // refuses them all, at once
	}
	seen := r.rt.cfg.State.Revision()
	r.rt.turns.give(r.shared)
	asked, err := r.askAll(ctx, open)
	// The turn comes back even when ctx has ended: what was decided is still recorded.
	if taken := r.rt.turns.take(context.WithoutCancel(ctx), r.shared); taken != nil {
		return asked, errors.Join(err, taken)
	}
	if r.rt.cfg.State.Revision() != seen {
		for _, i := range open {
			r.checkState(i)
		}
	}
	return asked, err
}

// askAll puts the questions of the checks, then those of what they guard. A person
// who changes a call changes what guards it too.
func (r *run) askAll(ctx context.Context, open []int) (admit.Asked, error) {
	asked, err := r.askChecks(ctx, open)
	if err != nil || asked.Stop {
		r.rejectOpen(open, asked)
		return asked, err
	}
	before := r.adm
	if asked, err = r.ask(ctx, open); err != nil || asked.Stop || r.adm == before {
		return asked, err
	}
	r.admitChecks(ctx, open)
	return r.askChecks(ctx, open)
}

// rejectOpen refuses what nobody got to answer.
func (r *run) rejectOpen(open []int, asked admit.Asked) {
	for _, i := range open {
		reason := "nobody answered"
		if asked.Stop {
			reason = asked.Reason
		}
		r.adm.Reject(i, admit.Rejection{Stage: admit.StageApproval, Event: eventlog.ActionRejected, Reason: reason})
	}
}

// checkState judges what the action at index i needs of state, as it is now.
func (r *run) checkState(i int) {
	get := r.reader(r.p.Actions[i])
	r.adm.CheckState(i, get, r.rt.rules.violations(r.opts.PolicySession, r.p.Actions[i], get))
}

// checked settles the actions whose turn finds them refused or skipped, and
// returns the others.
func (r *run) checked(ctx context.Context, indices []int) []int {
	var open []int
	r.reserved = reservation{}
	for _, i := range indices {
		r.beginSpan(i)
		r.opts.Observer.Started(r.p.Actions[i], r.adm.Judgement(i).Tier.Needed())
		if stage, reason := r.skips(ctx, i); reason != "" {
			r.skip(i, stage, reason)
			continue
		}
		if r.adm.Rejected(i) == nil {
			r.checkState(i)
		}
		if rejection := r.adm.Rejected(i); rejection != nil {
			r.reject(i, *rejection)
			continue
		}
		r.reserve(i)
		r.before[i] = r.viewOf(r.p.Actions[i])
		r.log(eventlog.Event{Kind: eventlog.ActionValidated, ActionID: r.p.Actions[i].ID})
		open = append(open, i)
	}
	return open
}

// reader reads state where an action runs: a state action under its tenant's
// names, a tool call under the shared ones (E-SESS-2, E-SESS-3).
func (r *run) reader(a ir.Action) func(key string) (any, bool) {
	tenant := r.opts.Scope.TenantID
	if a.Type == ir.ToolCall {
		tenant = ""
	}
	return r.tx.Attempt(a.ID).Of(tenant).Get
}

// skips says why an action does not get its turn: cancel, then abort, then what it depends on (E-EXEC-10).
func (r *run) skips(ctx context.Context, i int) (stage, reason string) {
	a := r.p.Actions[i]
	if by, reserved := r.reservedFor[a.ID]; reserved {
		return "dependency", fmt.Sprintf("reserved as compensation for '%s'", by)
	}
	switch {
	case r.brokenNow() != nil:
		return "cancellation", "canceled: " + r.brokenNow().Error()
	case ctx.Err() != nil:
		return "cancellation", "canceled: " + context.Cause(ctx).Error()
	case closed(r.opts.Cancel):
		return "cancellation", "canceled: cancellation requested by caller"
	case r.stopped != "":
		return "cancellation", "canceled: stopped by " + r.stopped
	case r.overBudget(i):
		return "cost_budget", "cost budget exceeded"
	case r.abort != nil:
		return "dependency_abort", "skipped due to earlier abort"
	}
	for _, id := range a.Dependencies {
		if !r.worked(r.byID[id]) {
			return "dependency", fmt.Sprintf("dependency '%s' did not succeed", id)
		}
	}
	if r.opts.Refusal == RefuseAction && r.consequential(i) && r.earlierFailure(i) {
		return "dependency", "an earlier call of this step did not succeed"
	}
	return "", ""
}

// consequential actions are held back once an earlier call of the step did not succeed (E-FAIL-6).
func (r *run) consequential(i int) bool {
	j := r.adm.Judgement(i)
	return r.adm.Rejected(i) == nil && (j.Reversibility == ir.Irreversible || j.Tier.Needed() == ir.FullAccess)
}

func (r *run) earlierFailure(i int) bool {
	if first, ok := r.byID[r.opts.AfterFailure]; ok && i >= first {
		return true
	}
	for j := range i {
		if r.isSettled(j) && !r.worked(j) {
			return true
		}
	}
	return false
}

// worked reports a success that its dependents may build on (E-DAG-5): a shell
// that exited with another code than 0 succeeded, but did not work.
func (r *run) worked(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	res := r.results[i]
	if res.Status != ir.Succeeded {
		return false
	}
	out, ok := res.Output.(map[string]any)
	if !ok {
		return true
	}
	code, ok := out["exit_code"].(float64)
	return !ok || code == 0
}

func (r *run) isSettled(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settled[i]
}

func (r *run) brokenNow() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

func (r *run) breakWith(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = errors.Join(r.broken, err)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// result assembles what Execute returns.
func (r *run) result() ir.ProposalResult {
	return ir.ProposalResult{
		ProposalID: r.p.ID, OriginalProposalID: r.original, FinalProposal: r.p, ReplanLineage: r.lineage,
		AcceptedPreimages: r.preimages, Results: r.results, Cost: r.cost, Rollback: r.rollback, Compensations: r.compensations,
	}
}
