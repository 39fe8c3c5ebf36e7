package approval_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
)

func now() time.Time { return time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC) }

// flaky is a real store whose writes can be made to fail.
type flaky struct {
	*store.DB
	broken atomic.Bool
}

var errDisk = errors.New("the disk is on fire")

func (f *flaky) Begin(ctx context.Context, e approval.Effect, moves []approval.Move) error {
	if f.broken.Load() {
		return errDisk
	}
	return f.DB.Begin(ctx, e, moves)
}

func (f *flaky) Apply(ctx context.Context, moves ...approval.Move) error {
	if f.broken.Load() {
		return errDisk
	}
	return f.DB.Apply(ctx, moves...)
}

func newLedger(t *testing.T) (*approval.Ledger, *flaky) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "car.db"), Now: now, Holder: store.Self()})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	f := &flaky{DB: db}
	l, err := approval.New(approval.Config{Store: f, Now: now})
	must(t, err)
	return l, f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func effect(t *testing.T, call, command string) approval.Effect {
	t.Helper()
	s := push()
	s.Parameters["command"] = command
	id, err := s.EffectID("s1", call, 1)
	must(t, err)
	return approval.Effect{ID: id, Session: "s1", CallID: call, Proposal: "p", Action: "a", Attempt: 1, Scope: s, AllowedBy: "person"}
}

func mustBe(t *testing.T, s *flaky, id approval.EffectID, want approval.State) approval.Effect {
	t.Helper()
	e, found, err := s.Effect(t.Context(), id)
	must(t, err)
	if e.State != want || found != (want != approval.StateUnset) {
		t.Errorf("effect %s is %q (found %v), want %q", id, e.State, found, want)
	}
	return e
}

// mustRefuse holds that an error is there, says text and reads as a sentence.
func mustRefuse(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want an error with %q", what, err, text)
	}
}

// A constructor names the field that is missing.
func TestNewNamesTheField(t *testing.T) {
	t.Parallel()
	_, err := approval.New(approval.Config{Now: now})
	mustRefuse(t, "no store", err, "Config.Store")
	_, err = approval.New(approval.Config{Store: &flaky{}})
	mustRefuse(t, "no clock", err, "Config.Now")
}

// A-APPR-7, E-PIPE-10: what was approved is dispatched once and ends once.
func TestApprovedIsDispatchedOnce(t *testing.T) {
	t.Parallel()
	l, s := newLedger(t)
	e := effect(t, "t1c1", "git push")
	must(t, l.Propose(t.Context(), e))
	mustRefuse(t, "dispatch before an answer", l.BeforeDispatch(t.Context(), e), "is proposed, not approved")
	must(t, l.Decide(t.Context(), e.ID, approval.Verdict{Approved: true, By: "user", Reason: "go"}))
	mustRefuse(t, "a second answer", l.Decide(t.Context(), e.ID, approval.Verdict{By: "user"}), "is approved, not proposed")
	mustRefuse(t, "the same question again", l.Propose(t.Context(), e), "cannot record action proposal: action "+string(e.ID)+" is already approved")
	must(t, l.BeforeDispatch(t.Context(), e))
	mustRefuse(t, "dispatch again", l.BeforeDispatch(t.Context(), e), "was dispatched before restart and is indeterminate; reconcile it before retrying")
	must(t, l.AfterDispatch(t.Context(), e.ID, approval.Outcome{Completed: true, Receipt: `{"exit_code":0}`}))
	mustRefuse(t, "a second outcome", l.AfterDispatch(t.Context(), e.ID, approval.Outcome{}), "is completed, not dispatched")
	mustRefuse(t, "dispatch when done", l.BeforeDispatch(t.Context(), e), "this durable action identity is terminal and cannot be replayed")
	if got := mustBe(t, s, e.ID, approval.Completed); got.Receipt != `{"exit_code":0}` || got.AllowedBy != "person" || got.Reason != "go" {
		t.Errorf("the row is %+v", got)
	}
}

// P-GUARD-1: the zero verdict denies and the zero outcome failed.
func TestSilenceRefuses(t *testing.T) {
	t.Parallel()
	l, s := newLedger(t)
	asked, ran := effect(t, "t1c1", "git push"), effect(t, "t1c2", "git push")
	must(t, l.Propose(t.Context(), asked))
	must(t, l.Decide(t.Context(), asked.ID, approval.Verdict{}))
	mustBe(t, s, asked.ID, approval.Denied)
	mustRefuse(t, "dispatch of a denied effect", l.BeforeDispatch(t.Context(), asked), "terminal")
	must(t, l.BeforeDispatch(t.Context(), ran))
	must(t, l.AfterDispatch(t.Context(), ran.ID, approval.Outcome{}))
	mustBe(t, s, ran.ID, approval.Failed)
}

// E-PIPE-10: an effect that nobody is asked about leaves the whole path too.
func TestAutoAllowedLeavesTheWholePath(t *testing.T) {
	t.Parallel()
	l, s := newLedger(t)
	e := effect(t, "t1c1", "ls")
	e.AllowedBy = "auto:read_only"
	must(t, l.BeforeDispatch(t.Context(), e))
	mustBe(t, s, e.ID, approval.Dispatched)
	moves, err := s.Moves(t.Context(), e.ID)
	must(t, err)
	var path []string
	for _, m := range moves {
		path = append(path, m.From.String()+">"+m.To.String()+" by "+m.By)
	}
	want := ">proposed by auto:read_only, proposed>approved by auto:read_only, approved>dispatched by auto:read_only"
	if got := strings.Join(path, ", "); got != want {
		t.Errorf("the log says %s, want %s", got, want)
	}
	must(t, l.AfterDispatch(t.Context(), e.ID, approval.Outcome{Indeterminate: true, Completed: true, Reason: "killed"}))
	if got := mustBe(t, s, e.ID, approval.Indeterminate); got.Reason != "killed" {
		t.Errorf("the reason is %q", got.Reason)
	}
}

// A-APPR-8, P-GUARD-2: a yes is for the identical scope, checked again just before the run.
func TestAnApprovalIsForItsScope(t *testing.T) {
	t.Parallel()
	l, s := newLedger(t)
	e := effect(t, "t1c1", "git push")
	must(t, l.Propose(t.Context(), e))
	must(t, l.Decide(t.Context(), e.ID, approval.Verdict{Approved: true, By: "user"}))
	changed := e
	changed.Scope.Parameters = map[string]any{"command": "git push --force"}
	mustRefuse(t, "a changed command under the old identity", l.BeforeDispatch(t.Context(), changed), "is not the scope")
	mustBe(t, s, e.ID, approval.Approved)
	must(t, l.BeforeDispatch(t.Context(), e))
}

// A-APPR-7, G-APPR-2: a row that cannot be written is a refusal, in the words that
// a person looks for; nothing moved.
func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	l, s := newLedger(t)
	asked, approved, running := effect(t, "t1c1", "a"), effect(t, "t1c2", "b"), effect(t, "t1c3", "c")
	must(t, l.Propose(t.Context(), asked))
	must(t, l.Propose(t.Context(), approved))
	must(t, l.Decide(t.Context(), approved.ID, approval.Verdict{Approved: true}))
	must(t, l.BeforeDispatch(t.Context(), running))
	s.broken.Store(true)

	for want, err := range map[string]error{
		"cannot record action proposal: the disk is on fire":                   l.Propose(t.Context(), effect(t, "t2c1", "d")),
		"cannot durably record approval: the disk is on fire":                  l.Decide(t.Context(), asked.ID, approval.Verdict{Approved: true, ForSession: true}),
		"cannot persist approval scope: the disk is on fire":                   l.BeforeDispatch(t.Context(), approved),
		"durable action reconciliation failed: the disk is on fire":            second(l.Recover(t.Context(), "s1")),
		"cannot record the outcome of " + string(running.ID) + ": the disk is": l.AfterDispatch(t.Context(), running.ID, approval.Outcome{Completed: true}),
	} {
		mustRefuse(t, "a broken store", err, want)
		if !errors.Is(err, errDisk) {
			t.Errorf("%v does not lead to its cause", err)
		}
	}
	mustRefuse(t, "an auto-allowed effect", l.BeforeDispatch(t.Context(), effect(t, "t2c2", "e")), "cannot persist approval scope: the disk is on fire")
	mustBe(t, s, asked.ID, approval.Proposed)
	mustBe(t, s, approved.ID, approval.Approved)
	mustBe(t, s, running.ID, approval.Dispatched)
	if granted, err := l.Granted(t.Context(), "s1", mustDigest(t, asked.Scope)); err != nil || granted {
		t.Errorf("a decision that was not written grants: %v, %v", granted, err)
	}
}

func second[T any](_ T, err error) error { return err }

// A-APPR-11, A-APPR-12: "for the session" grants the identical scope to this session,
// only with a yes; the yes and its grant are one move.
func TestForSessionGrantsTheScope(t *testing.T) {
	t.Parallel()
	l, s := newLedger(t)
	refused, e := effect(t, "t1c1", "git fetch"), effect(t, "t1c2", "git push")
	must(t, l.Propose(t.Context(), refused))
	must(t, l.Decide(t.Context(), refused.ID, approval.Verdict{ForSession: true}))
	must(t, l.Propose(t.Context(), e))
	must(t, l.Decide(t.Context(), e.ID, approval.Verdict{Approved: true, ForSession: true, By: "user"}))
	for _, c := range []struct {
		session string
		scope   approval.Scope
		want    bool
	}{
		{"s1", e.Scope, true},
		{"s2", e.Scope, false},
		{"s1", refused.Scope, false},
		{"s1", effect(t, "t1c2", "git push ").Scope, false},
	} {
		if got, err := l.Granted(t.Context(), c.session, mustDigest(t, c.scope)); err != nil || got != c.want {
			t.Errorf("%s holds a yes for %v: %v, %v, want %v", c.session, c.scope.Parameters, got, err, c.want)
		}
	}
	err := l.Decide(t.Context(), e.ID, approval.Verdict{Approved: true, ForSession: true})
	mustRefuse(t, "a second yes", err, "is approved, not proposed")
	unknown := l.Decide(t.Context(), "act_unknown", approval.Verdict{Approved: true, ForSession: true})
	mustRefuse(t, "a yes to nothing", unknown, "has no record")
	mustBe(t, s, "act_unknown", approval.StateUnset)
}

// A-DUR-4, P-WORK-6: what is found in flight is indeterminate, of this session
// only, once; it never runs again by itself.
func TestRecoverMarksWhatWasInFlight(t *testing.T) {
	t.Parallel()
	l, s := newLedger(t)
	flying, open := effect(t, "t1c1", "make"), effect(t, "t1c2", "make")
	foreign := flying
	foreign.Session = "s2"
	var err error
	foreign.ID, err = foreign.Scope.EffectID("s2", "t1c1", 1)
	must(t, err)
	must(t, l.BeforeDispatch(t.Context(), flying))
	must(t, l.BeforeDispatch(t.Context(), foreign))
	must(t, l.Propose(t.Context(), open))

	stuck, err := l.Recover(t.Context(), "s1")
	must(t, err)
	if len(stuck) != 1 || stuck[0].ID != flying.ID || stuck[0].State != approval.Indeterminate || stuck[0].Reason != approval.RestartReason {
		t.Errorf("recovered %+v, want the one in flight", stuck)
	}
	mustBe(t, s, flying.ID, approval.Indeterminate)
	mustBe(t, s, foreign.ID, approval.Dispatched)
	mustBe(t, s, open.ID, approval.Proposed)
	if again, err := l.Recover(t.Context(), "s1"); err != nil || len(again) != 0 {
		t.Errorf("recovered again %d, %v, want nothing", len(again), err)
	}
	mustRefuse(t, "the same call again", l.BeforeDispatch(t.Context(), flying), "is indeterminate; reconcile it before retrying")
	retry := flying
	retry.Attempt = 2
	retry.ID, err = retry.Scope.EffectID("s1", "t1c1", 2)
	must(t, err)
	must(t, l.BeforeDispatch(t.Context(), retry))
}

// P-WORK-6, D-10: however many ask at once, one dispatches.
func TestOneOfManyDispatches(t *testing.T) {
	t.Parallel()
	l, _ := newLedger(t)
	approved, auto := effect(t, "t1c1", "git push"), effect(t, "t1c2", "ls")
	must(t, l.Propose(t.Context(), approved))
	must(t, l.Decide(t.Context(), approved.ID, approval.Verdict{Approved: true}))
	for _, e := range []approval.Effect{approved, auto} {
		var group sync.WaitGroup
		var dispatched atomic.Int32
		for range 8 {
			group.Go(func() {
				if l.BeforeDispatch(t.Context(), e) == nil {
					dispatched.Add(1)
				}
			})
		}
		group.Wait()
		if n := dispatched.Load(); n != 1 {
			t.Errorf("%d of 8 dispatched effect %s, want 1", n, e.CallID)
		}
	}
}

// A-APPR-8, A-DUR-4, P-GUARD-2: a yes that no process used stands for exactly its
// effect, with what was shown, for 15 minutes; a used, refused or old one does not.
func TestAYesStandsUntilItIsUsed(t *testing.T) {
	t.Parallel()
	l, f := newLedger(t)
	ctx := t.Context()
	e := effect(t, "c1", "make")
	standing := func(l *approval.Ledger) (approval.Verdict, bool) {
		t.Helper()
		v, found, err := l.Standing(ctx, e.ID)
		must(t, err)
		return v, found
	}
	if _, found := standing(l); found {
		t.Error("what nobody proposed stands")
	}
	must(t, l.Propose(ctx, e))
	if _, found := standing(l); found {
		t.Error("a question stands as its answer")
	}
	must(t, l.Decide(ctx, e.ID, approval.Verdict{Approved: true, By: "user", Preview: "abc", Gates: []string{"policy"}}))
	if v, found := standing(l); !found || !v.Approved || v.By != "user" || v.Preview != "abc" || len(v.Gates) != 1 {
		t.Errorf("stands %v as %+v", found, v)
	}
	for wait, want := range map[time.Duration]bool{15 * time.Minute: true, 15*time.Minute + 1: false, -time.Second: false} {
		later, err := approval.New(approval.Config{Store: f, Now: func() time.Time { return now().Add(wait) }})
		must(t, err)
		if _, found := standing(later); found != want {
			t.Errorf("after %s it stands: %v", wait, found)
		}
	}
	must(t, l.BeforeDispatch(ctx, e))
	if _, found := standing(l); found {
		t.Error("a used yes stands")
	}
	must(t, l.AfterDispatch(ctx, e.ID, approval.Outcome{Reason: "no"}))
	row, _, err := f.Effect(ctx, e.ID)
	must(t, err)
	if row.Receipt != "" {
		t.Errorf("the outcome's receipt is %q", row.Receipt)
	}
	e = effect(t, "c2", "make")
	must(t, l.Propose(ctx, e))
	must(t, l.Decide(ctx, e.ID, approval.Verdict{By: "user", Preview: "abc"}))
	if _, found := standing(l); found {
		t.Error("a no stands as a yes")
	}
}
