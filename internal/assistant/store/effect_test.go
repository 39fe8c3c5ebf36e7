package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
	"car/internal/engine/ir"
)

// A-APPR-6, A-APPR-7, A-DUR-1: each move is a row of its own that another
// connection sees, with who and why, and the exact scope comes back.
func TestAnEffectIsRecordedMoveByMove(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db, other := openAt(t, path, c), openAt(t, path, c)
	l, e := newLedger(t, db, c), anEffect(t, "s1", "t1c1", "git push origin HEAD:main")

	must(t, l.Propose(t.Context(), e))
	mustState(t, other, e.ID, approval.Proposed)
	must(t, l.Decide(t.Context(), e.ID, approval.Verdict{Approved: true, By: "user", Reason: "go on"}))
	mustState(t, other, e.ID, approval.Approved)
	must(t, l.BeforeDispatch(t.Context(), e))
	mustState(t, other, e.ID, approval.Dispatched)
	must(t, l.AfterDispatch(t.Context(), e.ID, approval.Outcome{Completed: true, Receipt: `{"exit_code":0}`}))
	got := mustState(t, other, e.ID, approval.Completed)

	want := e
	want.State, want.Receipt, want.Reason, want.Updated = approval.Completed, `{"exit_code":0}`, "go on", c.now()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the row differs from what was recorded (-want +got):\n%s", diff)
	}
	moves, err := other.Moves(t.Context(), e.ID)
	must(t, err)
	at := c.now()
	wantMoves := []approval.Move{
		{ID: e.ID, From: approval.StateUnset, To: approval.Proposed, By: "auto:full_access", At: at},
		{ID: e.ID, From: approval.Proposed, To: approval.Approved, By: "user", Reason: "go on", At: at},
		{ID: e.ID, From: approval.Approved, To: approval.Dispatched, By: "auto:full_access", At: at},
		{ID: e.ID, From: approval.Dispatched, To: approval.Completed, Receipt: `{"exit_code":0}`, At: at},
	}
	if diff := cmp.Diff(wantMoves, moves); diff != "" {
		t.Errorf("the log differs (-want +got):\n%s", diff)
	}
}

// A-APPR-6: nothing else moves, terminal states stay, and a list of moves is all or nothing.
func TestMovesThatAreNotTheMachinesAreRefused(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := openAt(t, newPath(t), c)
	l, e := newLedger(t, db, c), anEffect(t, "s1", "t1c1", "make")
	must(t, l.BeforeDispatch(t.Context(), e))
	must(t, l.AfterDispatch(t.Context(), e.ID, approval.Outcome{Completed: true}))

	for _, m := range []approval.Move{
		{ID: e.ID, From: approval.Completed, To: approval.Dispatched},
		{ID: e.ID, From: approval.StateUnset, To: approval.Proposed},
		{ID: e.ID, From: approval.Proposed, To: approval.Dispatched},
	} {
		if err := db.Apply(t.Context(), m); err == nil {
			t.Errorf("%s to %s was applied", m.From, m.To)
		}
	}
	var stateErr *approval.StateError
	err := db.Apply(t.Context(), approval.Move{ID: e.ID, From: approval.Dispatched, To: approval.Failed})
	if !errors.As(err, &stateErr) || stateErr.Is != approval.Completed || stateErr.Want != approval.Dispatched {
		t.Errorf("a second outcome: %v, want a StateError that says completed", err)
	}
	err = db.Apply(t.Context(), approval.Move{ID: "act_unknown", From: approval.Dispatched, To: approval.Failed})
	if !errors.As(err, &stateErr) || stateErr.Is != approval.StateUnset {
		t.Errorf("a move of nothing: %v, want a StateError", err)
	}

	open := anEffect(t, "s1", "t1c2", "make")
	must(t, l.Propose(t.Context(), open))
	err = db.Apply(t.Context(),
		approval.Move{ID: open.ID, From: approval.Proposed, To: approval.Approved},
		approval.Move{ID: e.ID, From: approval.Dispatched, To: approval.Failed})
	if err == nil {
		t.Error("a list with an impossible move was applied")
	}
	mustState(t, db, open.ID, approval.Proposed)
	mustState(t, db, e.ID, approval.Completed)
}

// A-APPR-6: a row cannot be born anywhere but at the end of its own moves.
func TestBeginFollowsTheMachine(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := openAt(t, newPath(t), c)
	e := anEffect(t, "s1", "t1c1", "make")
	step := func(from, to approval.State) approval.Move {
		return approval.Move{ID: e.ID, From: from, To: to, At: c.now()}
	}
	born := step(approval.StateUnset, approval.Proposed)
	for name, bad := range map[string]struct {
		state approval.State
		moves []approval.Move
	}{
		"no moves":       {approval.Proposed, nil},
		"a gap":          {approval.Dispatched, []approval.Move{born, step(approval.Approved, approval.Dispatched)}},
		"another end":    {approval.Approved, []approval.Move{born}},
		"a foreign move": {approval.Proposed, []approval.Move{{ID: "act_other", To: approval.Proposed}}},
	} {
		e.State = bad.state
		if err := db.Begin(t.Context(), e, bad.moves); err == nil {
			t.Errorf("%s: began", name)
		}
	}
	mustState(t, db, e.ID, approval.StateUnset)
}

// A-APPR-8: an identity seen before is told apart by where it stands.
func TestBeginKnowsWhatItSaw(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := openAt(t, newPath(t), c)
	l, e := newLedger(t, db, c), anEffect(t, "s1", "t1c1", "make")
	must(t, l.BeforeDispatch(t.Context(), e))
	e.State = approval.Proposed
	err := db.Begin(t.Context(), e, []approval.Move{{ID: e.ID, To: approval.Proposed, At: c.now()}})
	var exists *approval.ExistsError
	if !errors.As(err, &exists) || exists.Is != approval.Dispatched {
		t.Errorf("begin again: %v, want an ExistsError that says dispatched", err)
	}
	if moves, err := db.Moves(t.Context(), e.ID); err != nil || len(moves) != 3 {
		t.Errorf("the refused begin left rows: %d moves, %v", len(moves), err)
	}
}

// A-APPR-7, P-WORK-6: nothing begins after a cancel, but an outcome is written,
// because it happened.
func TestAnOutcomeOutlivesItsContext(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := openAt(t, newPath(t), c)
	l := newLedger(t, db, c)
	ctx, cancel := context.WithCancel(t.Context())
	running, later := anEffect(t, "s1", "t1c1", "make"), anEffect(t, "s1", "t1c2", "make")
	must(t, l.BeforeDispatch(ctx, running))
	cancel()
	if err := l.BeforeDispatch(ctx, later); !errors.Is(err, context.Canceled) {
		t.Errorf("an effect began under a cancelled context: %v", err)
	}
	mustState(t, db, later.ID, approval.StateUnset)
	must(t, l.AfterDispatch(ctx, running.ID, approval.Outcome{Reason: "canceled"}))
	mustState(t, db, running.ID, approval.Failed)
}

// A-DUR-4: what is found in flight is listed by session, oldest first.
func TestInStateListsOneSessionInOrder(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := openAt(t, newPath(t), c)
	l := newLedger(t, db, c)
	var want []approval.EffectID
	for _, call := range []string{"t1c9", "t1c1", "t1c5"} {
		e := anEffect(t, "s1", call, "make")
		must(t, l.BeforeDispatch(t.Context(), e))
		want = append(want, e.ID)
	}
	must(t, l.BeforeDispatch(t.Context(), anEffect(t, "s2", "t1c1", "make")))
	must(t, l.Propose(t.Context(), anEffect(t, "s1", "t2c1", "make")))
	found, err := db.InState(t.Context(), "s1", approval.Dispatched)
	must(t, err)
	var got []approval.EffectID
	for _, e := range found {
		got = append(got, e.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in flight (-want +got):\n%s", diff)
	}
	all, err := db.EffectsOf(t.Context(), "s1", "")
	must(t, err)
	ofCall, err := db.EffectsOf(t.Context(), "s1", "t1c1")
	must(t, err)
	if len(all) != 4 || len(ofCall) != 1 || ofCall[0].ID != want[1] {
		t.Errorf("effects of the session: %d, of the call: %v", len(all), ofCall)
	}
}

// A-APPR-12, P-GUARD-3: a grant holds for its session and scope, survives a
// restart, and ends when it is taken back.
func TestGrants(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	scope := grantSession(t, db, c, "t1c1")
	grantSession(t, db, c, "t1c2")

	again := openAt(t, path, c)
	for session, want := range map[string]bool{"s1": true, "s2": false} {
		if got, err := again.Granted(t.Context(), session, scope); err != nil || got != want {
			t.Errorf("granted in %s = %v, %v, want %v", session, got, err, want)
		}
	}
	grants, err := again.Grants(t.Context(), "s1")
	must(t, err)
	if len(grants) != 1 || grants[0].Rule != "scope:"+string(scope) {
		t.Fatalf("grants = %+v, want one for the scope", grants)
	}
	must(t, again.RevokeGrant(t.Context(), grants[0].ID))
	if got, err := db.Granted(t.Context(), "s1", scope); err != nil || got {
		t.Errorf("a revoked grant still holds: %v, %v", got, err)
	}
	grantSession(t, db, c, "t1c3")
	if got, err := again.Granted(t.Context(), "s1", scope); err != nil || !got {
		t.Errorf("a new grant after a revoked one: %v, %v", got, err)
	}
}

// grantSession says yes to one call for the rest of the session.
func grantSession(t *testing.T, db *store.DB, c *clock, call string) ir.Digest {
	t.Helper()
	l, e := newLedger(t, db, c), anEffect(t, "s1", call, "make")
	must(t, l.Propose(t.Context(), e))
	must(t, l.Decide(t.Context(), e.ID, approval.Verdict{Approved: true, By: "user", ForSession: true}))
	scope, err := e.Scope.Digest()
	must(t, err)
	return scope
}

func outcomeOK() approval.Outcome {
	return approval.Outcome{Completed: true, Receipt: `{"exit_code":0}`}
}

func denied() approval.Verdict { return approval.Verdict{By: "user", Reason: "no"} }

func proposeAnother(t *testing.T, db *store.DB, c *clock) approval.EffectID {
	t.Helper()
	e := anEffect(t, "s1", "t9c9", "another")
	must(t, newLedger(t, db, c).Propose(t.Context(), e))
	return e.ID
}
