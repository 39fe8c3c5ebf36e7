package store_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
)

// A-SVC-4, A-EVT-1: one turn at a time, each with one end; the terminal event is
// shown from the row when the process ended before it was shown.
func TestATurnEndsOnce(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	newSession(t, db, "s1")
	n, err := db.StartTurn(t.Context(), "s1", "chat")
	must(t, err)
	var wrong *store.TurnError
	if _, err := db.StartTurn(t.Context(), "s1", "chat"); !errors.As(err, &wrong) || wrong.N != n || wrong.Is != store.TurnInProgress {
		t.Errorf("a second turn at once: %v, want a TurnError for turn %d", err, n)
	}
	started := c.now()
	c.advance(time.Minute)
	terminal := json.RawMessage(`{"kind":"done","text":"hi"}`)
	must(t, db.EndTurn(t.Context(), "s1", n, store.TurnCompleted, terminal))
	if err := db.EndTurn(t.Context(), "s1", n, store.TurnFailed, json.RawMessage(`{"kind":"error"}`)); !errors.As(err, &wrong) || wrong.Is != store.TurnCompleted {
		t.Errorf("a second end: %v, want a TurnError that says completed", err)
	}
	var missing *store.NotFoundError
	if err := db.EndTurn(t.Context(), "s1", 9, store.TurnFailed, nil); !errors.As(err, &missing) {
		t.Errorf("the end of no turn: %v", err)
	}
	for _, s := range []store.TurnStatus{store.TurnUnset, store.TurnInProgress} {
		if err := db.EndTurn(t.Context(), "s1", n, s, nil); err == nil {
			t.Errorf("a turn ended as %s", s)
		}
	}
	all, err := openAt(t, path, c).Turns(t.Context(), "s1")
	must(t, err)
	if len(all) != 1 || all[0].Status != store.TurnCompleted || string(all[0].Terminal) != string(terminal) ||
		!all[0].Started.Equal(started) || !all[0].Ended.Equal(c.now()) || all[0].Kind != "chat" {
		t.Errorf("turns = %+v", all)
	}
	if n, err := db.StartTurn(t.Context(), "s1", "goal"); err != nil || n != 2 {
		t.Errorf("the next turn is %d, %v", n, err)
	}
}

// A-DUR-5, A-GOAL-1, P-WORK-2, P-WORK-7: opening a session whose process ended
// closes its turn, offers its inputs, lists its open calls, reloads its goal and
// closes its questions; doing it twice changes nothing.
func TestRecoverClosesWhatWasOpen(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	newSession(t, db, "s1")
	n, err := db.StartTurn(t.Context(), "s1", "goal")
	must(t, err)
	ask := say("assistant", "look")
	ask.Calls = []store.Call{{ID: "t1c1", Tool: "shell", Args: "{}"}}
	appendAll(t, db, "s1", n, ask)
	_, err = db.AddInput(t.Context(), "s1", store.Steer, json.RawMessage(`{"text":"wait"}`))
	must(t, err)
	must(t, db.PutGoal(t.Context(), store.Goal{Session: "s1", Objective: "green", Check: "make test", MaxIterations: 10, Status: "running", LastIteration: 2, LastReason: "exit 1"}))
	e := anEffect(t, "s1", "t1c1", "make")
	must(t, newLedger(t, db, c).Propose(t.Context(), e))
	must(t, db.Ask(t.Context(), store.Question{ID: "q1", Session: "s1", Action: e.ID, Tier: "full_access", Reversibility: "irreversible", Expires: c.now().Add(time.Minute)}))

	again := openAt(t, path, c)
	must(t, again.AcquireLease(t.Context(), "s1"))
	r, err := again.Recover(t.Context(), "s1")
	must(t, err)
	if len(r.Turns) != 1 || r.Turns[0].Status != store.TurnIncomplete || len(r.Inputs) != 1 || !r.Inputs[0].Returned || len(r.Calls) != 1 || !r.Goal {
		t.Errorf("recovered %+v", r)
	}
	if first, err := again.Answer(t.Context(), "q1", "once", "user", ""); err != nil || first {
		t.Errorf("a question of the ended process was answered: %v, %v", first, err)
	}
	g, found, err := again.Goal(t.Context(), "s1")
	must(t, err)
	if !found || g.Status != "active" || g.LastIteration != 2 || g.LastReason != "exit 1" {
		t.Errorf("goal = %+v, want it active with its verdict", g)
	}
	mustState(t, again, e.ID, approval.Proposed)
	r, err = again.Recover(t.Context(), "s1")
	must(t, err)
	if len(r.Turns) != 0 || len(r.Inputs) != 1 || len(r.Calls) != 1 || r.Goal {
		t.Errorf("recovered again %+v, want the same input and call and nothing else", r)
	}
}

// A-APPR-10, G-APPR-2: a question is good for one answer, and who, when and why stay.
func TestAQuestionHasOneAnswer(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	e := anEffect(t, "s1", "t1c1", "make")
	q := store.Question{ID: "q1", Session: "s1", Action: e.ID, Tier: "full_access", Reversibility: "compensable", Expires: c.now().Add(time.Minute)}
	if err := db.Ask(t.Context(), q); err == nil {
		t.Error("a question was asked before its effect was proposed")
	}
	must(t, newLedger(t, db, c).Propose(t.Context(), e))
	must(t, db.Ask(t.Context(), q))
	q.Asked = c.now()
	c.advance(time.Second)
	for i, want := range []bool{true, false} {
		if first, err := db.Answer(t.Context(), "q1", []string{"once", "deny"}[i], "user", "go"); err != nil || first != want {
			t.Errorf("answer %d counts: %v, %v, want %v", i+1, first, err, want)
		}
	}
	if first, err := db.Answer(t.Context(), "q9", "once", "user", ""); err != nil || first {
		t.Errorf("an answer to nothing counts: %v, %v", first, err)
	}
	all, err := openAt(t, path, c).Questions(t.Context(), "s1")
	must(t, err)
	q.Decided, q.Decision, q.By, q.Reason = c.now(), "once", "user", "go"
	if len(all) != 1 || all[0] != q {
		t.Errorf("questions = %+v, want %+v", all, q)
	}
}

// A-GOAL-1: one goal a session; clearing forgets it.
func TestASessionHasOneGoal(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := openAt(t, newPath(t), c)
	newSession(t, db, "s1")
	g := store.Goal{Session: "s1", Objective: "green", Check: "make test", MaxIterations: 10, Status: "active"}
	must(t, db.PutGoal(t.Context(), g))
	g.Status, g.LastIteration, g.LastMet, g.LastGrounded, g.TerminalKind, g.TerminalMessage = "met", 3, true, true, "done", "ok"
	must(t, db.PutGoal(t.Context(), g))
	g.Updated = c.now()
	if got, found, err := db.Goal(t.Context(), "s1"); err != nil || !found || got != g {
		t.Errorf("goal = %+v, %v, %v, want %+v", got, found, err, g)
	}
	must(t, db.ClearGoal(t.Context(), "s1"))
	if _, found, err := db.Goal(t.Context(), "s1"); err != nil || found {
		t.Errorf("a cleared goal is there: %v, %v", found, err)
	}
}

// P-TRUE-6, A-LLM-12: tokens add up; a cost is told only when every price is known.
func TestUsageAddsUp(t *testing.T) {
	t.Parallel()
	db := openAt(t, newPath(t), newClock())
	newSession(t, db, "s1")
	price := int64(1500)
	must(t, db.AddUsage(t.Context(), "s1", store.Usage{Turn: 1, Step: 1, Provider: "p", Model: "m", Input: 10, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1, CostMicros: &price}))
	must(t, db.AddUsage(t.Context(), "s1", store.Usage{Turn: 1, Step: 2, Input: 5, CostMicros: &price}))
	one, err := db.UsageOf(t.Context(), "s1", 1)
	must(t, err)
	if one.Requests != 2 || one.Input != 15 || one.Output != 2 || one.CacheRead != 3 || one.CacheWrite != 4 || one.Reasoning != 1 ||
		one.CostMicros == nil || *one.CostMicros != 3000 || one.Estimated {
		t.Errorf("turn 1: %+v", one)
	}
	must(t, db.AddUsage(t.Context(), "s1", store.Usage{Turn: 2, Step: 1, Input: 1, Estimated: true}))
	all, err := db.UsageOf(t.Context(), "s1", 0)
	must(t, err)
	if all.Requests != 3 || all.Input != 16 || all.CostMicros != nil || !all.Estimated {
		t.Errorf("session with an unknown price: %+v, want no cost", all)
	}
	none, err := db.UsageOf(t.Context(), "s1", 9)
	must(t, err)
	if none.Requests != 0 || none.Input != 0 {
		t.Errorf("a turn without requests: %+v", none)
	}
}
