package store_test

import (
	"errors"
	"testing"
	"time"

	"car/internal/assistant/store"
)

// twoHolders opens one file as two processes of one boot, of which the test says
// who lives.
func twoHolders(t *testing.T, clk *clock, alive func(pid int) bool) (first, second *store.DB) {
	t.Helper()
	path := newPath(t)
	open := func(pid int, boot string) *store.DB {
		return openAs(t, store.Config{Path: path, Now: clk.now, Holder: store.Holder{PID: pid, Boot: boot}, Alive: alive})
	}
	return open(100, "boot-1"), open(200, "boot-1")
}

func everybody(int) bool { return true }

// A-SVC-11: who beats keeps the session; who is silent for 20 s loses it.
func TestASilentHolderIsTakenOver(t *testing.T) {
	t.Parallel()
	clk := newClock()
	a, b := twoHolders(t, clk, everybody)
	must(t, a.AcquireLease(t.Context(), "s1"))
	for range 10 {
		clk.advance(store.LeaseBeat)
		must(t, a.BeatLease(t.Context(), "s1"))
	}
	clk.advance(store.LeaseStale)
	var busy *store.BusyError
	if err := b.AcquireLease(t.Context(), "s1"); !errors.As(err, &busy) || busy.Holder.PID != 100 || busy.Ago != store.LeaseStale {
		t.Fatalf("at %v of silence: %v, want a BusyError for pid 100", store.LeaseStale, err)
	}
	clk.advance(time.Nanosecond)
	must(t, b.AcquireLease(t.Context(), "s1"))

	var lost *store.LeaseLostError
	if err := a.BeatLease(t.Context(), "s1"); !errors.As(err, &lost) {
		t.Errorf("the beat of who lost the lease: %v, want a LeaseLostError", err)
	}
}

// P-SCALE-2: whoever was silent, lost the lease and wakes up again writes
// nothing, even after the next holder has left.
func TestALostLeaseStaysLost(t *testing.T) {
	t.Parallel()
	clk := newClock()
	a, b := twoHolders(t, clk, everybody)
	must(t, a.AcquireLease(t.Context(), "s1"))
	must(t, a.CreateSession(t.Context(), store.Session{ID: "s1"}))
	clk.advance(time.Minute)
	must(t, b.AcquireLease(t.Context(), "s1"))
	write := func(db *store.DB) error {
		_, err := db.AppendMessages(t.Context(), "s1", 1, say("user", "hello"))
		return err
	}
	var lost *store.LeaseLostError
	if err := write(a); !errors.As(err, &lost) {
		t.Errorf("a write of who lost the lease: %v, want a LeaseLostError", err)
	}
	must(t, write(b))
	must(t, b.ReleaseLease(t.Context(), "s1"))
	if err := write(a); !errors.As(err, &lost) {
		t.Errorf("a write of who lost the lease, after the next holder left: %v, want a LeaseLostError", err)
	}
	must(t, a.AcquireLease(t.Context(), "s1"))
	must(t, write(a))
	if messages, err := b.Messages(t.Context(), "s1"); err != nil || len(messages) != 2 {
		t.Errorf("%d messages, %v, want the two that were allowed", len(messages), err)
	}
}

// A-SVC-11: a dead process of this boot is stale at once; one of another boot or
// host cannot be asked and is judged by its beat.
func TestOnlyThisBootsDeadAreStaleAtOnce(t *testing.T) {
	t.Parallel()
	clk := newClock()
	path := newPath(t)
	nobody := func(int) bool { return false }
	open := func(pid int, boot string) *store.DB {
		return openAs(t, store.Config{Path: path, Now: clk.now, Holder: store.Holder{PID: pid, Boot: boot}, Alive: nobody})
	}
	must(t, open(100, "boot-1").AcquireLease(t.Context(), "s1"))
	var busy *store.BusyError
	for _, boot := range []string{"boot-2", ""} {
		if err := open(200, boot).AcquireLease(t.Context(), "s1"); !errors.As(err, &busy) {
			t.Errorf("boot %q: %v, want a BusyError", boot, err)
		}
	}
	must(t, open(200, "boot-1").AcquireLease(t.Context(), "s1"))
	must(t, open(100, "").AcquireLease(t.Context(), "s2"))
	if err := open(200, "").AcquireLease(t.Context(), "s2"); !errors.As(err, &busy) {
		t.Errorf("two processes that know no boot: %v, want a BusyError", err)
	}
}

// A-SVC-11: a clock that was set wrong once does not hold a session for years.
func TestABeatFromTheFutureIsStale(t *testing.T) {
	t.Parallel()
	clk := newClock()
	a, b := twoHolders(t, clk, everybody)
	clk.advance(24 * 365 * time.Hour)
	must(t, a.AcquireLease(t.Context(), "s1"))
	clk.advance(-24 * 365 * time.Hour)
	must(t, b.AcquireLease(t.Context(), "s1"))
}

// A-SVC-11: a session that was given up is free, for the one who acquires first.
func TestAReleasedLeaseIsFree(t *testing.T) {
	t.Parallel()
	clk := newClock()
	a, b := twoHolders(t, clk, everybody)
	must(t, a.AcquireLease(t.Context(), "s1"))
	must(t, a.AcquireLease(t.Context(), "s1"))
	must(t, b.ReleaseLease(t.Context(), "s1"))
	if err := b.AcquireLease(t.Context(), "s1"); err == nil {
		t.Fatal("a lease was taken from its holder by releasing it elsewhere")
	}
	must(t, a.ReleaseLease(t.Context(), "s1"))
	must(t, b.AcquireLease(t.Context(), "s1"))
}
