package state_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"car/internal/engine/ir"
	"car/internal/engine/state"
	"car/internal/engine/tool"
)

var (
	_ tool.State = (*state.Attempt)(nil)
	_ tool.State = state.Scoped{}
)

func set(t testing.TB, s interface{ Set(string, any) error }, key string, value any) {
	t.Helper()
	if err := s.Set(key, value); err != nil {
		t.Fatal(err)
	}
}

func seed(t testing.TB, values map[string]any) *state.Store {
	t.Helper()
	s := state.New()
	if _, err := s.SetBatch(values, "seed"); err != nil {
		t.Fatal(err)
	}
	return s
}

func commit(t testing.TB, a *state.Attempt) []state.Transition {
	t.Helper()
	landed, err := a.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return landed
}

var shallow = cmpopts.IgnoreUnexported(state.Transition{})

// E-STATE-1: each mutation is a transition that says what was, what is, who did it
// and at which version.
func TestMutationsAreTransitions(t *testing.T) {
	t.Parallel()
	s := state.New()
	first, err := s.Set("k", 1, "a1")
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Set("k", nil, "a2")
	if err != nil {
		t.Fatal(err)
	}
	third, gone, err := s.Delete("k", "a3")
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := s.Delete("k", "a4")
	if err != nil {
		t.Fatal(err)
	}
	want := []state.Transition{
		{Key: "k", New: 1.0, ActionID: "a1", Version: 1},
		{Key: "k", Old: 1.0, Existed: true, New: nil, ActionID: "a2", Version: 2},
		{Key: "k", Old: nil, Existed: true, ActionID: "a3", Version: 3},
	}
	if diff := cmp.Diff(want, []state.Transition{first, second, third}, shallow); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	if second.Deleted() || !third.Deleted() || !gone || again {
		t.Errorf("null is deleted: %v, deletion is: %v, found: %v, found again: %v", second.Deleted(), third.Deleted(), gone, again)
	}
	if s.Revision() != 3 || s.Version("k") != 0 {
		t.Errorf("revision %d, version %d: deleting nothing is no mutation", s.Revision(), s.Version("k"))
	}
}

// E-STATE-1: reads.
func TestReads(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"b": 2, "a": nil, "c": []string{"x"}})
	for key, want := range map[string]any{"a": nil, "b": 2.0, "c": []any{"x"}} {
		if got, ok := s.Get(key); !ok || !cmp.Equal(got, want) {
			t.Errorf("%s is %v, %v", key, got, ok)
		}
	}
	if _, ok := s.Get("d"); ok {
		t.Error("a key that is not there is there")
	}
	if keys := s.Keys(); !slices.Equal(keys, []string{"a", "b", "c"}) {
		t.Errorf("keys %v", keys)
	}
	if diff := cmp.Diff(map[string]uint64{"a": 1, "b": 2, "c": 3}, s.Versions()); diff != "" {
		t.Errorf("versions, batches landing in key order (-want +got):\n%s", diff)
	}
}

// E-EXEC-8, E-STATE-1: named behaviour "batch whole or absent".
func TestBatchIsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	s := state.New()
	landed, err := s.SetBatch(map[string]any{"a": 1, "b": math.NaN(), "c": 3}, "a1")
	if err == nil || !strings.Contains(err.Error(), "state['b']: number NaN") || landed != nil || len(s.Keys()) != 0 || s.Revision() != 0 {
		t.Errorf("landed %v of a bad batch, keys %v, %v", landed, s.Keys(), err)
	}
}

// A value in the store is nobody's to change afterwards.
func TestValuesAreCopies(t *testing.T) {
	t.Parallel()
	inner := []any{"x"}
	s := seed(t, map[string]any{"k": map[string]any{"list": inner}})
	tx := s.Begin()
	a := tx.Attempt("a1")
	set(t, a, "l", inner)
	inner[0] = "changed"
	commit(t, a)
	for key, want := range map[string]any{"k": map[string]any{"list": []any{"x"}}, "l": []any{"x"}} {
		if got, _ := s.Get(key); !cmp.Equal(got, want) {
			t.Errorf("%s became %v", key, got)
		}
	}
}

// E-EXEC-8: an attempt reads its own writes, nobody else does before it succeeded,
// and they land as one batch attributed to it.
func TestAttemptIsBuffered(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"old": "o", "gone": 1})
	tx := s.Begin()
	a := tx.Attempt("a1")
	set(t, a, "new", 1)
	set(t, a, "new", 2)
	set(t, a, "old", nil)
	if err := a.Delete("gone"); err != nil {
		t.Fatal(err)
	}
	before := s.Revision()
	for key, want := range map[string]any{"new": 2.0, "old": nil} {
		if got, ok := a.Get(key); !ok || got != want {
			t.Errorf("the attempt reads %s as %v, %v", key, got, ok)
		}
	}
	if _, ok := a.Get("gone"); ok {
		t.Error("the attempt reads what it deleted")
	}
	if got, _ := tx.Get("old"); got != "o" {
		t.Errorf("others read %v before the attempt succeeded", got)
	}
	landed := commit(t, a)
	want := []state.Transition{
		{Key: "gone", Old: 1.0, Existed: true, ActionID: "a1", Version: before + 1},
		{Key: "new", New: 2.0, ActionID: "a1", Version: before + 2},
		{Key: "old", Old: "o", Existed: true, ActionID: "a1", Version: before + 3},
	}
	if diff := cmp.Diff(want, landed, shallow); diff != "" {
		t.Errorf("landed (-want +got):\n%s", diff)
	}
	changes := map[string]ir.StateChange{"gone": {Op: "delete"}, "new": {Op: "set", Value: 2.0}, "old": {Op: "set"}}
	if diff := cmp.Diff(changes, state.Changes(landed)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// E-IR-5: the net changes of a proposal, in whatever order its transitions stand.
func TestChangesAreNet(t *testing.T) {
	t.Parallel()
	s := state.New()
	var landed []state.Transition
	for _, value := range []any{1, nil, "last"} {
		tr, err := s.Set("k", value, "a")
		if err != nil {
			t.Fatal(err)
		}
		landed = append(landed, tr)
	}
	set, _ := s.Set("l", 1, "a")
	gone, _, _ := s.Delete("l", "a")
	landed = append(landed, set, gone)
	want := map[string]ir.StateChange{"k": {Op: "set", Value: "last"}, "l": {Op: "delete"}}
	for range 2 {
		if diff := cmp.Diff(want, state.Changes(landed)); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		slices.Reverse(landed)
	}
}

// E-EXEC-8, F-4: what a failed attempt wrote vanishes, and a tool that goes on
// after its attempt ended writes nothing.
func TestFailedAttemptVanishes(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"k": 1})
	tx := s.Begin()
	failed := tx.Attempt("a1")
	set(t, failed, "k", 2)
	failed.Discard()
	if err := failed.Set("k", 3); err != state.ErrEnded {
		t.Errorf("a write after the end: %v", err)
	}
	if landed, err := failed.Commit(); err != state.ErrEnded || landed != nil {
		t.Errorf("committing what was discarded: %v, %v", landed, err)
	}
	second := tx.Attempt("a1")
	if got, _ := second.Get("k"); got != 1.0 {
		t.Errorf("the next attempt reads %v", got)
	}
	set(t, second, "l", 1)
	commit(t, second)
	if _, err := second.Commit(); err != state.ErrEnded {
		t.Errorf("committing twice: %v", err)
	}
	if err := second.Delete("l"); err != state.ErrEnded {
		t.Errorf("deleting after the end: %v", err)
	}
	if landed, err := tx.Commit(); err != nil || len(landed) != 1 || landed[0].Key != "l" {
		t.Errorf("landed %v", landed)
	}
}

// E-EXEC-8: named behaviour "siblings' writes not attributed".
func TestSiblingsAreNotAttributed(t *testing.T) {
	t.Parallel()
	s := state.New()
	tx := s.Begin()
	var wg sync.WaitGroup
	landed := make([][]state.Transition, 16)
	for i := range landed {
		wg.Go(func() {
			a := tx.Attempt(ir.ActionID(fmt.Sprint(i)))
			for k := range 5 {
				if err := a.Set(fmt.Sprintf("%d/%d", i, k), k); err != nil {
					t.Error(err)
				}
			}
			var err error
			if landed[i], err = a.Commit(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, ts := range landed {
		for k, tr := range ts {
			if len(ts) != 5 || tr.ActionID != ir.ActionID(fmt.Sprint(i)) || tr.Key != fmt.Sprintf("%d/%d", i, k) || k > 0 && tr.Version != ts[k-1].Version+1 {
				t.Errorf("action %d landed %+v", i, ts)
				break
			}
		}
	}
	if n := len(tx.Transitions()); n != 80 {
		t.Errorf("%d transitions in all", n)
	}
}

// E-JCS-2, E-EXEC-8: what is no JSON is an error at once and spoils nothing else.
func TestAttemptRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	a := state.New().Begin().Attempt("a1")
	set(t, a, "good", 1)
	if err := a.Set("bad", map[string]any{"x": math.Inf(1)}); err == nil || err.Error() != "state['bad']: x: number +Inf is not finite" {
		t.Errorf("got %v", err)
	}
	if landed := commit(t, a); len(landed) != 1 || landed[0].Key != "good" {
		t.Errorf("landed %v", landed)
	}
}

// E-SESS-2: tenants see shared keys and their own; named behaviours "A's keys
// invisible to B", "one tenant cannot spell another".
func TestTenants(t *testing.T) {
	t.Parallel()
	s := seed(t, map[string]any{"shared": 1, "k": "shared k"})
	tx := s.Begin()
	a := tx.Attempt("a1")
	set(t, a.Of("A"), "k", "A's k")
	set(t, a.Of("A:x"), "k", "A:x's k")
	set(t, a.Of("A"), "x:k", "A's x:k")
	if got, ok := a.Of("A").Get("k"); !ok || got != "A's k" {
		t.Errorf("A reads its own write as %v", got)
	}
	if got, _ := a.Get("k"); got != "shared k" {
		t.Errorf("the shared key became %v", got)
	}
	for _, spelled := range []string{"tenant:A:k", "tenant:", state.TenantKey("A", "k")} {
		if err := a.Set(spelled, "stolen"); err == nil || !strings.Contains(err.Error(), "belongs to a tenant") {
			t.Errorf("writing %q: %v", spelled, err)
		}
		if err := a.Delete(spelled); err == nil {
			t.Errorf("deleting %q is fine", spelled)
		}
		if got, ok := a.Get(spelled); ok {
			t.Errorf("the attempt reads %q as %v", spelled, got)
		}
		if got, ok := tx.Get(spelled); ok {
			t.Errorf("the proposal reads %q as %v", spelled, got)
		}
	}
	commit(t, a)
	for tenant, want := range map[string]any{"A": "A's k", "A:x": "A:x's k", "": "shared k"} {
		if got, _ := tx.GetOf(tenant, "k"); got != want {
			t.Errorf("tenant %q reads k as %v, want %v", tenant, got, want)
		}
	}
	for tenant, want := range map[string]map[string]any{
		"": {"shared": 1.0, "k": "shared k"}, "B": {"shared": 1.0, "k": "shared k"},
		"A": {"shared": 1.0, "k": "A's k", "x:k": "A's x:k"}, "A:x": {"shared": 1.0, "k": "A:x's k"},
	} {
		if diff := cmp.Diff(want, s.Snapshot(tenant)); diff != "" {
			t.Errorf("what tenant %q sees (-want +got):\n%s", tenant, diff)
		}
	}
	if keys := s.Keys(); !slices.Equal(keys, []string{"k", "shared"}) {
		t.Errorf("unscoped keys %v", keys)
	}
	if len(s.Versions()) != 2 {
		t.Errorf("unscoped versions %v", s.Versions())
	}
	if undone := tx.Rollback(); len(undone.Restored) != 3 {
		t.Errorf("rolled back %v", undone)
	}
}
