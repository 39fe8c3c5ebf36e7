package state_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/state"
)

// write lands one write of a proposal.
func write(t testing.TB, tx *state.Tx, by ir.ActionID, key string, value any) {
	t.Helper()
	a := tx.Attempt(by)
	set(t, a, key, value)
	commit(t, a)
}

func remove(t testing.TB, tx *state.Tx, by ir.ActionID, key string) {
	t.Helper()
	a := tx.Attempt(by)
	if err := a.Delete(key); err != nil {
		t.Fatal(err)
	}
	commit(t, a)
}

// E-STATE-1, named behaviour "abort in level 2 undoes level 1": exactly this
// proposal's writes come back, newest first, with the versions they had.
func TestRollbackUndoesThisProposal(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"changed": 1, "removed": "r", "kept": "k"})
	before, versions := s.Snapshot(""), s.Versions()
	tx := s.Begin()
	write(t, tx, "a1", "changed", 2)
	write(t, tx, "a1", "made", true)
	remove(t, tx, "a2", "removed")
	write(t, tx, "a2", "changed", 3)
	remove(t, tx, "a3", "made")
	write(t, tx, "a3", "made", "again")
	revision := s.Revision()
	undone := tx.Rollback()
	var order []string
	for _, tr := range undone.Restored {
		order = append(order, fmt.Sprintf("%s %s", tr.ActionID, tr.Key))
	}
	if want := []string{"a3 made", "a3 made", "a2 changed", "a2 removed", "a1 made", "a1 changed"}; !slices.Equal(order, want) {
		t.Errorf("undone in order %q, want %q", order, want)
	}
	if diff := cmp.Diff(before, s.Snapshot("")); diff != "" || len(undone.Conflicts) > 0 {
		t.Errorf("conflicts %v, state (-before +after):\n%s", undone.Conflicts, diff)
	}
	if diff := cmp.Diff(versions, s.Versions()); diff != "" {
		t.Errorf("versions (-before +after):\n%s", diff)
	}
	if s.Revision() <= revision {
		t.Error("a rollback is no mutation, so that nobody would check again")
	}
}

// E-STATE-1: a key that another proposal wrote since stays and is a conflict, and
// another proposal's keys are not touched.
func TestRollbackLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(*testing.T, *state.Tx){
		"set":               func(t *testing.T, tx *state.Tx) { write(t, tx, "b", "k", "theirs") },
		"set to the same":   func(t *testing.T, tx *state.Tx) { write(t, tx, "b", "k", "ours") },
		"deleted":           func(t *testing.T, tx *state.Tx) { remove(t, tx, "b", "k") },
		"deleted and reset": func(t *testing.T, tx *state.Tx) { remove(t, tx, "b", "k"); write(t, tx, "b", "k", "ours") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := seed(t, map[string]any{"k": "old"})
			ours, theirs := s.Begin(), s.Begin()
			write(t, ours, "a1", "k", "first")
			write(t, ours, "a1", "k", "ours")
			write(t, ours, "a1", "l", "ours")
			other(t, theirs)
			write(t, theirs, "b", "m", "theirs")
			want := s.Snapshot("")
			delete(want, "l")
			undone := ours.Rollback()
			if !slices.Equal(undone.Conflicts, []string{"k"}) || len(undone.Restored) != 1 || undone.Restored[0].Key != "l" {
				t.Errorf("undone %+v", undone)
			}
			if diff := cmp.Diff(want, s.Snapshot("")); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

// E-STATE-1: our own deletion is undone, and another's of a key that we made is a
// conflict, though both leave nothing to compare.
func TestDeletionsAreToldApart(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"k": "old"})
	ours, theirs := s.Begin(), s.Begin()
	remove(t, ours, "a", "k")
	write(t, ours, "a", "l", 1)
	remove(t, theirs, "b", "l")
	if undone := ours.Rollback(); len(undone.Restored) != 1 || !slices.Equal(undone.Conflicts, []string{"l"}) {
		t.Errorf("undone %+v", undone)
	}
	if got, _ := s.Get("k"); got != "old" {
		t.Errorf("k is %v", got)
	}
	if undone := theirs.Rollback(); len(undone.Restored) != 1 || len(undone.Conflicts) > 0 {
		t.Errorf("theirs undone %+v", undone)
	}
	if got, ok := s.Get("l"); ok {
		t.Errorf("both are rolled back and l is %v, a value that one of them made", got)
	}
}

// A transaction ends once; nothing lands after it.
func TestEndedTransaction(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"k": 1})
	tx := s.Begin()
	late := tx.Attempt("late")
	set(t, late, "k", 3)
	write(t, tx, "a", "k", 2)
	for range 2 {
		if landed, err := tx.Commit(); len(landed) != 1 || err != nil {
			t.Errorf("committed %v, %v", landed, err)
		}
	}
	if undone := tx.Rollback(); len(undone.Restored)+len(undone.Conflicts) > 0 {
		t.Errorf("a committed proposal was undone: %+v", undone)
	}
	if _, err := late.Commit(); err != state.ErrEnded {
		t.Errorf("a write after the end: %v", err)
	}
	if got, _ := s.Get("k"); got != 2.0 {
		t.Errorf("k is %v", got)
	}
	tx = s.Begin()
	write(t, tx, "a", "k", 9)
	tx.Rollback()
	if undone := tx.Rollback(); len(undone.Restored) > 0 {
		t.Errorf("undone twice: %+v", undone)
	}
}

// E-STATE-1: nobody sees a rollback half done.
func TestRollbackIsOneStep(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"x": 0, "y": 0})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if snap := s.Snapshot(""); snap["x"] != snap["y"] {
					t.Errorf("half a batch or half a rollback: %v", snap)
					return
				}
			}
		}
	})
	for i := range 500 {
		tx := s.Begin()
		a := tx.Attempt("a")
		set(t, a, "x", i)
		set(t, a, "y", i)
		commit(t, a)
		tx.Rollback()
	}
	close(stop)
	wg.Wait()
}

// step is one move of a random history.
type step struct {
	proposal int
	key      string
	deletes  bool
}

// E-STATE-1 as a law: however proposals interleave and in whatever order they end,
// what stands is what the seed and those that were not rolled back wrote, the newest
// of each key, and committing changes nothing.
func TestInterleavedProposals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := state.New()
		if _, err := s.SetBatch(map[string]any{"a": "seed", "b": "seed"}, "seed"); err != nil {
			t.Fatal(err)
		}
		const proposals = 3
		var txs [proposals]*state.Tx
		for i := range txs {
			txs[i] = s.Begin()
		}
		model := newModel(s)
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			st := step{rapid.IntRange(0, proposals-1).Draw(t, "proposal"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"), rapid.Bool().Draw(t, "deletes")}
			model.write(t, txs[st.proposal], st)
		}
		order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")
		for _, i := range order {
			if rapid.Bool().Draw(t, "commits") {
				before := s.Snapshot("")
				txs[i].Commit()
				if diff := cmp.Diff(before, s.Snapshot("")); diff != "" {
					t.Fatalf("committing changed state:\n%s", diff)
				}
				continue
			}
			undone := txs[i].Rollback()
			model.rollback(t, i, undone)
		}
	})
}

// model says of each key who wrote the values that stood there, oldest first. A
// rollback takes a proposal's writes out, wherever they lie; those that lie under
// another's are conflicts.
type model struct {
	store *state.Store
	stack map[string][]entry
	count int
}

type entry struct {
	proposal int
	value    any
	present  bool
}

func newModel(s *state.Store) *model {
	m := &model{store: s, stack: map[string][]entry{"c": {{proposal: -1}}}}
	for key, value := range s.Snapshot("") {
		m.stack[key] = []entry{{-1, value, true}}
	}
	return m
}

func (m *model) top(key string) entry { return m.stack[key][len(m.stack[key])-1] }

func (m *model) write(t *rapid.T, tx *state.Tx, st step) {
	m.count++
	a := tx.Attempt(ir.ActionID(fmt.Sprint(st.proposal)))
	value := fmt.Sprintf("p%d w%d", st.proposal, m.count)
	err := error(nil)
	if st.deletes {
		err = a.Delete(st.key)
	} else {
		err = a.Set(st.key, value)
	}
	landed, commitErr := a.Commit()
	if err != nil || commitErr != nil {
		t.Fatal(err, commitErr)
	}
	if st.deletes && !m.top(st.key).present {
		if len(landed) > 0 {
			t.Fatalf("deleting nothing landed %v", landed)
		}
		return
	}
	m.stack[st.key] = append(m.stack[st.key], entry{st.proposal, value, !st.deletes})
	m.check(t)
}

func (m *model) rollback(t *rapid.T, proposal int, undone state.Undone) {
	conflicts := map[string]bool{}
	for key, stack := range m.stack {
		for stack[len(stack)-1].proposal == proposal {
			stack = stack[:len(stack)-1]
		}
		ours := func(e entry) bool { return e.proposal == proposal }
		if slices.ContainsFunc(stack, ours) {
			conflicts[key] = true
		}
		m.stack[key] = slices.DeleteFunc(stack, ours)
	}
	if want := slices.Sorted(maps.Keys(conflicts)); !slices.Equal(undone.Conflicts, want) {
		t.Fatalf("conflicts %v, want %v", undone.Conflicts, want)
	}
	m.check(t)
}

func (m *model) check(t *rapid.T) {
	want := map[string]any{}
	for key := range m.stack {
		if e := m.top(key); e.present {
			want[key] = e.value
		}
	}
	if diff := cmp.Diff(want, m.store.Snapshot("")); diff != "" {
		t.Fatalf("state (-model +store):\n%s", diff)
	}
}
