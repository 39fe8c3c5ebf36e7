package store_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"car/internal/engine/approval"
)

// A-DUR-4, A-DUR-5, P-WORK-6, B007: killed at each point of an effect's life, the
// next process knows where it stood, and nothing that may have run runs again.
func TestB007KilledAtEachPointOfAnEffect(t *testing.T) {
	t.Parallel()
	const (
		notKnown = "action was dispatched before restart and is indeterminate; reconcile it before retrying"
		terminal = "this durable action identity is terminal and cannot be replayed"
	)
	for _, c := range []struct {
		point     string
		found     approval.State
		recovered int
		after     approval.State
		// again is what another try is told; empty runs it, once.
		again string
		lines int
	}{
		{"proposed", approval.Proposed, 0, approval.Proposed, "action %s is proposed, not approved", 0},
		{"denied", approval.Denied, 0, approval.Denied, terminal, 0},
		{"approved", approval.Approved, 0, approval.Approved, "", 0},
		{"dispatched", approval.Dispatched, 1, approval.Indeterminate, notKnown, 0},
		{"done", approval.Dispatched, 1, approval.Indeterminate, notKnown, 1},
		{"completed", approval.Completed, 0, approval.Completed, terminal, 1},
	} {
		t.Run(c.point, func(t *testing.T) {
			t.Parallel()
			path, file, clk := newPath(t), filepath.Join(t.TempDir(), "ledger.txt"), newClock()
			p := startChild(t, "until", path, file, c.point)
			p.read(t, 1)
			p.kill(t)

			db := openAt(t, path, clk)
			must(t, db.AcquireLease(t.Context(), "s1"))
			e, err := effectOf("s1", "t1c1", "append")
			must(t, err)
			mustState(t, db, e.ID, c.found)
			l := newLedger(t, db, clk)
			stuck, err := l.Recover(t.Context(), "s1")
			must(t, err)
			if len(stuck) != c.recovered {
				t.Errorf("recovered %d effects, want %d", len(stuck), c.recovered)
			}
			if again, err := l.Recover(t.Context(), "s1"); err != nil || len(again) != 0 {
				t.Errorf("a second recovery found %d, %v, want nothing", len(again), err)
			}
			got := mustState(t, db, e.ID, c.after)
			if c.after == approval.Indeterminate && got.Reason != approval.RestartReason {
				t.Errorf("reason %q, want %q", got.Reason, approval.RestartReason)
			}
			if c.point == "completed" && got.Receipt != `{"ok":true}` {
				t.Errorf("the receipt is %q, want the stored one", got.Receipt)
			}
			refusedAgain(t, l, e, c.again)
			if c.again == "" {
				refusedAgain(t, l, e, notKnown)
			}
			if n := len(readLines(t, file)); n != c.lines {
				t.Errorf("the file has %d lines, want %d", n, c.lines)
			}
		})
	}
}

func refusedAgain(t *testing.T, l *approval.Ledger, e approval.Effect, want string) {
	t.Helper()
	err := l.BeforeDispatch(t.Context(), e)
	switch {
	case want == "" && err != nil:
		t.Errorf("an approved effect was refused after the restart: %v", err)
	case want != "" && err == nil:
		t.Errorf("the effect was dispatched again, want %q", want)
	case want != "":
		var exists *approval.ExistsError
		var state *approval.StateError
		if errors.As(err, &state) {
			want = state.Error()
		}
		if !errors.As(err, &exists) && state == nil || err.Error() != want {
			t.Errorf("refused with %v, want %q", err, want)
		}
	}
}

// P-WORK-6, A-DUR-6: killed anywhere, also inside a transaction, no effect ran
// without its intent row, no line is there twice, and at most one is in doubt.
func TestKilledAnywhereNoEffectIsUnrecorded(t *testing.T) {
	t.Parallel()
	for after := range 6 {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			t.Parallel()
			path, file, clk := newPath(t), filepath.Join(t.TempDir(), "ledger.txt"), newClock()
			p := startChild(t, "effects", path, file)
			p.read(t, 3+7*after)
			p.kill(t)

			db := openAt(t, path, clk)
			stuck, err := newLedger(t, db, clk).Recover(t.Context(), "s1")
			must(t, err)
			if len(stuck) > 1 {
				t.Errorf("%d effects were in flight, the process ran one at a time", len(stuck))
			}
			lines := readLines(t, file)
			for _, id := range lines {
				e, found, err := db.Effect(t.Context(), approval.EffectID(id))
				must(t, err)
				if !found || e.State != approval.Completed && e.State != approval.Indeterminate {
					t.Errorf("effect %s ran and its row says %q (found %v)", id, e.State, found)
				}
			}
			if unique := slices.Compact(slices.Sorted(slices.Values(lines))); len(unique) != len(lines) {
				t.Errorf("%d lines, %d different: an effect ran twice", len(lines), len(unique))
			}
			done, err := db.InState(t.Context(), "s1", approval.Completed)
			must(t, err)
			if len(done) > len(lines) {
				t.Errorf("%d effects are completed, %d ran", len(done), len(lines))
			}
		})
	}
}
