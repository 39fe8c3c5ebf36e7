package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
)

// B077, P-SCALE-2: processes with sessions of their own share one new file; nobody
// sees "locked", one that is killed loses no ended turn, and its session goes on.
func TestB077ProcessesShareOneDatabase(t *testing.T) {
	t.Parallel()
	path, clk := newPath(t), newClock()
	const turns = 50
	workers := []*process{
		startChild(t, "turns", path, "a", fmt.Sprint(turns)),
		startChild(t, "turns", path, "b", fmt.Sprint(turns)),
	}
	victim := startChild(t, "turns", path, "c", "100000")
	victim.read(t, 10)
	victim.kill(t)
	for _, w := range workers {
		w.wait(t)
	}

	db := openAt(t, path, clk)
	for _, session := range []string{"a", "b"} {
		checkTurns(t, db, session, turns)
	}
	must(t, db.AcquireLease(t.Context(), "c"))
	r, err := db.Recover(t.Context(), "c")
	must(t, err)
	if len(r.Turns) > 1 {
		t.Errorf("%d turns were open, a session has one at a time", len(r.Turns))
	}
	ended, err := db.Turns(t.Context(), "c")
	must(t, err)
	if len(ended) < 10 {
		t.Errorf("%d turns are left of the killed process, it reported 10", len(ended))
	}
	if _, err := db.StartTurn(t.Context(), "c", "chat"); err != nil {
		t.Errorf("the session of the killed process does not go on: %v", err)
	}
	workers = []*process{startChild(t, "turns", path, "a", "5")}
	workers[0].wait(t)
	checkTurns(t, db, "a", turns+5)
}

func checkTurns(t *testing.T, db *store.DB, session string, turns int) {
	t.Helper()
	all, err := db.Turns(t.Context(), session)
	must(t, err)
	messages, err := db.Messages(t.Context(), session)
	must(t, err)
	done, err := db.InState(t.Context(), session, approval.Completed)
	must(t, err)
	if len(all) != turns || len(messages) != 3*turns || len(done) != turns {
		t.Errorf("session %s has %d turns, %d messages, %d effects, want %d, %d, %d",
			session, len(all), len(messages), len(done), turns, 3*turns, turns)
	}
	for i, m := range messages {
		if m.Seq != int64(i+1) {
			t.Fatalf("message %d of session %s has seq %d: a gap", i+1, session, m.Seq)
		}
	}
}

// A-SVC-11, P-SCALE-2: a second process is told who holds a session and writes
// nothing; when the holder dies the session is free at once.
func TestASessionHasOneWriter(t *testing.T) {
	t.Parallel()
	path, clk := newPath(t), &realClock{}
	p := startChild(t, "hold", path, "s1")
	p.read(t, 1)
	db := openAs(t, store.Config{Path: path, Now: clk.now, Holder: store.Self()})

	var busy *store.BusyError
	err := db.AcquireLease(t.Context(), "s1")
	if !errors.As(err, &busy) || busy.Holder.PID != p.cmd.Process.Pid || busy.Session != "s1" {
		t.Fatalf("acquire of a held session: %v, want a BusyError that names pid %d", err, p.cmd.Process.Pid)
	}
	if h, held, err := db.LeaseHolder(t.Context(), "s1"); err != nil || !held || h.PID != p.cmd.Process.Pid {
		t.Errorf("holder = %+v, %v, %v", h, held, err)
	}
	if err := db.CreateSession(t.Context(), store.Session{ID: "s1"}); !errors.As(err, &busy) {
		t.Errorf("a session that another process holds was written: %v", err)
	}
	e, err := effectOf("s1", "t1c1", "make")
	must(t, err)
	l, err := approval.New(approval.Config{Store: db, Now: clk.now})
	must(t, err)
	if err := l.BeforeDispatch(t.Context(), e); !errors.As(err, &busy) {
		t.Errorf("an effect of a session that another process holds began: %v", err)
	}
	p.kill(t)
	if err := db.AcquireLease(t.Context(), "s1"); err != nil {
		t.Errorf("the dead holder's session was not taken over: %v", err)
	}
	must(t, l.BeforeDispatch(t.Context(), e))
}

// realClock is for tests whose other process is on the system's clock.
type realClock struct{}

func (*realClock) now() time.Time { return time.Now() }
