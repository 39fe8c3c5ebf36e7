package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
)

// P-SCALE-2, A-SVC-11: whatever is written to a session that another process
// holds is refused, and the holder is named.
func TestEveryWriteAsksForTheLease(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	mine := openAt(t, path, c)
	must(t, mine.AcquireLease(t.Context(), "s1"))
	newSession(t, mine, "s1")
	turn, err := mine.StartTurn(t.Context(), "s1", "chat")
	must(t, err)
	input, err := mine.AddInput(t.Context(), "s1", store.Queue, json.RawMessage(`{}`))
	must(t, err)
	e := anEffect(t, "s1", "t1c1", "make")
	must(t, newLedger(t, mine, c).Propose(t.Context(), e))
	must(t, mine.Ask(t.Context(), store.Question{ID: "q1", Session: "s1", Action: e.ID}))

	other := openAt(t, path, c)
	l, ctx, empty := newLedger(t, other, c), t.Context(), json.RawMessage(`{}`)
	for name, write := range map[string]func() error{
		"propose":    func() error { return l.Propose(ctx, anEffect(t, "s1", "t1c2", "make")) },
		"decide":     func() error { return l.Decide(ctx, e.ID, approval.Verdict{Approved: true}) },
		"grant":      func() error { return other.AddGrant(ctx, "s1", "scope:d") },
		"ask":        func() error { return other.Ask(ctx, store.Question{ID: "q2", Session: "s1", Action: e.ID}) },
		"answer":     func() error { _, err := other.Answer(ctx, "q1", "once", "user", ""); return err },
		"append":     func() error { _, err := other.AppendMessages(ctx, "s1", 1, say("user", "hi")); return err },
		"start turn": func() error { _, err := other.StartTurn(ctx, "s1", "chat"); return err },
		"end turn":   func() error { return other.EndTurn(ctx, "s1", turn, store.TurnCompleted, empty) },
		"add input":  func() error { _, err := other.AddInput(ctx, "s1", store.Queue, empty); return err },
		"return":     func() error { _, err := other.ReturnInputs(ctx, "s1"); return err },
		"withdraw":   func() error { return other.WithdrawInput(ctx, "s1", input) },
		"usage":      func() error { return other.AddUsage(ctx, "s1", store.Usage{Input: 1}) },
		"compact":    func() error { return other.AddCompaction(ctx, "s1", 1, 1, empty) },
		"put goal":   func() error { return other.PutGoal(ctx, store.Goal{Session: "s1"}) },
		"clear goal": func() error { return other.ClearGoal(ctx, "s1") },
		"put blob":   func() error { _, err := other.PutBlob(ctx, "s1", "image/png", []byte("x")); return err },
		"set model":  func() error { return other.SetModel(ctx, "s1", "m") },
		"recover":    func() error { _, err := other.Recover(ctx, "s1"); return err },
		"delete":     func() error { return other.DeleteSession(ctx, "s1") },
		"create":     func() error { return other.CreateSession(ctx, store.Session{ID: "s1"}) },
		"fork onto":  func() error { return other.Fork(ctx, "s1", 0, store.Session{ID: "s1"}) },
	} {
		var busy *store.BusyError
		if err := write(); !errors.As(err, &busy) || busy.Holder != store.Self() {
			t.Errorf("%s: %v, want a BusyError that names the holder", name, err)
		}
	}
	mustState(t, mine, e.ID, approval.Proposed)
	if first, err := mine.Answer(ctx, "q1", "once", "user", ""); err != nil || !first {
		t.Errorf("the refused answer took the question: %v, %v", first, err)
	}
	must(t, other.Rename(ctx, "s1", "a title changes nothing that is said"))
}

// A-APPR-7, P-WORK-6, P-WORK-7: what has happened is recorded though its context
// has ended; a permission is not.
func TestWhatHappenedIsRecordedAfterACancel(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := openAt(t, newPath(t), c)
	must(t, db.AcquireLease(t.Context(), "s1"))
	newSession(t, db, "s1")
	turn, err := db.StartTurn(t.Context(), "s1", "chat")
	must(t, err)
	addInput(t, db, store.Queue, "typed")
	l, open, refused := newLedger(t, db, c), anEffect(t, "s1", "t1c1", "make"), anEffect(t, "s1", "t1c2", "make")
	must(t, l.Propose(t.Context(), open))
	must(t, l.Propose(t.Context(), refused))
	must(t, db.Ask(t.Context(), store.Question{ID: "q1", Session: "s1", Action: refused.ID}))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Decide(ctx, open.ID, approval.Verdict{Approved: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("an approval after a cancel: %v, want it refused", err)
	}
	mustState(t, db, open.ID, approval.Proposed)
	must(t, l.Decide(ctx, refused.ID, denied()))
	if first, err := db.Answer(ctx, "q1", "deny", "user", "canceled"); err != nil || !first {
		t.Errorf("the answer: %v, %v", first, err)
	}
	must(t, db.AddUsage(ctx, "s1", store.Usage{Turn: turn, Input: 7}))
	if back, err := db.ReturnInputs(ctx, "s1"); err != nil || len(back) != 1 {
		t.Errorf("back in the editor: %v, %v", back, err)
	}
	must(t, db.EndTurn(ctx, "s1", turn, store.TurnCanceled, json.RawMessage(`{"kind":"error","code":"canceled"}`)))
	must(t, db.ReleaseLease(ctx, "s1"))
	mustState(t, db, refused.ID, approval.Denied)
}
