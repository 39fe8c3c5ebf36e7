package txn_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
	"car/internal/engine/verify/txn"
)

func plan(t *testing.T, actions ...string) ir.Proposal {
	t.Helper()
	p, err := ir.DecodeProposal([]byte(`{"actions":[`+strings.Join(actions, ",")+`]}`), ir.Defaults{NewID: func() string { return "p" }, Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func act(id, more string) string {
	return `{"id":"` + id + `","type":"tool_call","tool":"t",` + more + `}`
}

var world = txn.View{
	Version: func(key string) uint64 { return map[string]uint64{"k": 5}[key] },
	Value:   func(key string) (any, bool) { v, ok := map[string]any{"k": 1.0, "null": nil}[key]; return v, ok },
}

func check(t *testing.T, v txn.View, actions ...string) string {
	t.Helper()
	r := txn.Check(plan(t, actions...), v)
	if r.Consistent != (len(r.Conflicts) == 0) || r.Tier != report.DecisionProcedure || len(r.CannotVerify) == 0 {
		t.Errorf("%+v", r)
	}
	var out []string
	for _, c := range r.Conflicts {
		if c.Explanation == "" || c.Resolution == "" {
			t.Errorf("%+v", c)
		}
		out = append(out, string(c.Kind)+" "+c.Key)
	}
	for range r.Unchecked {
		out = append(out, "unchecked")
	}
	return strings.Join(out, ", ")
}

// V-TXN-1, V-TXN-2: unordered_writers, dependency_orders, transitive_order,
// read_beside_write, derived_reads, explicit_reads_win, effect_is_always_a_write.
func TestPairs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		actions []string
		want    string
	}{
		"unordered writers":         {[]string{act("a", `"write_set":["k"]`), act("b", `"expected_effects":{"k":1}`)}, "write_write k"},
		"a dependency orders":       {[]string{act("a", `"write_set":["k"]`), act("b", `"write_set":["k"],"dependencies":["a"]`)}, ""},
		"order is transitive":       {[]string{act("a", `"write_set":["k"]`), act("m", `"after":["a"]`), act("b", `"write_set":["k"],"after":["m"]`)}, ""},
		"read beside write":         {[]string{act("r", `"read_set":["k"]`), act("w", `"write_set":["k"]`)}, "read_write k"},
		"a later reader is ordered": {[]string{act("w", `"write_set":["k"]`), act("r", `"state_dependencies":["k"]`)}, ""},
		"derived reads":             {[]string{act("r", `"state_dependencies":["k"]`), act("w", `"write_set":["k"]`)}, "read_write k"},
		"explicit reads win":        {[]string{act("r", `"state_dependencies":["k"],"read_set":["other"]`), act("w", `"write_set":["k"]`)}, ""},
		"kinds, then keys":          {[]string{act("r", `"read_set":["a"]`), act("x", `"write_set":["b","a"]`), act("y", `"write_set":["b"]`)}, "write_write b, read_write a"},
	} {
		if got := check(t, world, c.actions...); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// V-TXN-2: stale_and_future_version, expected_null_versus_absent, and what cannot be judged.
func TestAssumptions(t *testing.T) {
	t.Parallel()
	believes := func(text string) string { return act("a", `"assumptions":[`+text+`]`) }
	for name, c := range map[string]struct {
		actions []string
		want    string
	}{
		"fresh":              {[]string{believes(`{"key":"k","read_version":5,"expected_value":1}`)}, ""},
		"stale":              {[]string{believes(`{"key":"k","read_version":4}`)}, "stale_assumption k"},
		"from the future":    {[]string{believes(`{"key":"k","read_version":6}`)}, "stale_assumption k"},
		"another value":      {[]string{believes(`{"key":"k","expected_value":2}`)}, "stale_assumption k"},
		"null is a value":    {[]string{believes(`{"key":"null","expected_value":null}`)}, ""},
		"absent is not null": {[]string{believes(`{"key":"gone","expected_value":null}`)}, "stale_assumption gone"},
		"nothing asked":      {[]string{believes(`{"key":"gone"}`)}, ""},
		"written first":      {[]string{act("w", `"write_set":["k"]`), act("a", `"after":["w"],"assumptions":[{"key":"k","read_version":1}]`)}, "unchecked"},
	} {
		if got := check(t, world, c.actions...); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := check(t, txn.View{}, believes(`{"key":"k","read_version":1}`)); got != "unchecked" {
		t.Errorf("without versions: %q", got)
	}
	blind := txn.View{Version: world.Version}
	if got := check(t, blind, believes(`{"key":"k","expected_value":1}`)); got != "unchecked" {
		t.Errorf("without values: %q", got)
	}
}

// V-TXN-1: a tenant's copy is another key; labels are snake case.
func TestTenantsAndLabels(t *testing.T) {
	t.Parallel()
	v := world
	v.Key = func(a ir.Action, key string) string { return string(a.ID) + "/" + key }
	if got := check(t, v, act("a", `"write_set":["k"]`), act("b", `"write_set":["k"]`)); got != "" {
		t.Error(got)
	}
	text, err := json.Marshal([]txn.Kind{txn.StaleAssumption, txn.WriteWrite, txn.ReadWrite})
	if err != nil || string(text) != `["stale_assumption","write_write","read_write"]` {
		t.Errorf("%s %v", text, err)
	}
}

// V-TXN-1: foreign_ordering: keys are resolved, the order stays that of the plan as written.
func TestForeignOrdering(t *testing.T) {
	t.Parallel()
	v := world
	v.Key = func(a ir.Action, key string) string {
		if a.ID == "w" {
			return "tenant/" + key
		}
		return key
	}
	// r reads what w writes by its name, so w is first, though the two never meet.
	if got := check(t, v, act("w", `"write_set":["k"]`), act("r", `"state_dependencies":["k"],"write_set":["tenant/k"]`)); got != "" {
		t.Error(got)
	}
	// Two names for one key meet.
	if got := check(t, v, act("w", `"write_set":["k"]`), act("r", `"read_set":["tenant/k"]`)); got != "read_write tenant/k" {
		t.Error(got)
	}
}

// V-TXN-1: predicted_marked: a write that is foreseen and not declared is a hazard, and said to be foreseen.
func TestPredictedMarked(t *testing.T) {
	t.Parallel()
	v := world
	v.Predicts = func(a ir.Action) []string {
		if a.ID == "a" {
			return []string{"k", "declared"}
		}
		return nil
	}
	r := txn.Check(plan(t, act("a", `"write_set":["declared"]`), act("b", `"write_set":["k","declared"]`)), v)
	if len(r.Conflicts) != 2 || r.Conflicts[0].Key != "declared" || r.Conflicts[0].Predicted || !r.Conflicts[1].Predicted || !strings.Contains(r.Conflicts[1].Explanation, "(foreseen, not declared)") {
		t.Errorf("%+v", r.Conflicts)
	}
}

// V-TXN-1: explanations say who, resolutions what to do; the wire form.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(txn.Check(plan(t, act("r", `"read_set":["k"]`), act("w", `"write_set":["k"],"assumptions":[{"key":"k","read_version":4}]`)), world))
	want := `{"consistent":false,"conflicts":[{"kind":"stale_assumption","key":"k","actions":["w"],"explanation":"'w' read 'k' at version 4; it is at version 5 now","resolution":"read 'k' again and plan from what it holds now"},` +
		`{"kind":"read_write","key":"k","actions":["r","w"],"explanation":"'r' and 'w' read and write 'k', and nothing says which is first","resolution":"add a dependency between 'r' and 'w', or give 'k' one owner"}],` +
		`"unchecked":[],"tier":"decision_procedure","cannot_verify":["access that is not declared","changes between the check and the run"]}`
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\n%s", err, text, want)
	}
	if text, err := json.Marshal(txn.Check(ir.Proposal{}, txn.View{})); err != nil || !strings.HasPrefix(string(text), `{"consistent":true,"conflicts":[],"unchecked":[],`) {
		t.Errorf("%v %s", err, text)
	}
}

// V-TXN-2: pairs against comparing every two actions, on random proposals, those with bad ids included.
func TestPairsEqualComparison(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"k", "l"})
		var p ir.Proposal
		for i := range rapid.IntRange(0, 8).Draw(t, "n") {
			a := ir.Action{ID: ir.ActionID(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "id")), Type: ir.ToolCall, Tool: "t",
				ReadSet: rapid.SliceOfN(key, 0, 1).Draw(t, "reads"), WriteSet: rapid.SliceOfN(key, 0, 1).Draw(t, "writes")}
			if i > 0 && rapid.Bool().Draw(t, "after") {
				a.After = []ir.ActionID{p.Actions[rapid.IntRange(0, i-1).Draw(t, "of")].ID}
			}
			p.Actions = append(p.Actions, a)
		}
		g, _ := dag.Of(p.Actions)
		want := 0
		for i, a := range p.Actions {
			for j := i + 1; j < len(p.Actions); j++ {
				b := p.Actions[j]
				if g.Reaches(i, j) || g.Reaches(j, i) {
					continue
				}
				for _, k := range []string{"k", "l"} {
					aw, bw := slices.Contains(a.WriteSet, k), slices.Contains(b.WriteSet, k)
					if aw && bw || aw && slices.Contains(b.ReadSet, k) || bw && slices.Contains(a.ReadSet, k) {
						want++
					}
				}
			}
		}
		if r := txn.Check(p, txn.View{}); len(r.Conflicts) != want {
			t.Fatalf("%d conflicts, want %d: %+v", len(r.Conflicts), want, r.Conflicts)
		}
	})
}

// V-TXN-2: many pairs of one key are bounded.
func TestPairsAreBounded(t *testing.T) {
	t.Parallel()
	var actions []string
	for i := range 100 {
		actions = append(actions, act("a"+string(rune('0'+i/10))+string(rune('0'+i%10)), `"write_set":["k"]`))
	}
	r := txn.Check(plan(t, actions...), world)
	if len(r.Conflicts) != 1000 || !slices.Equal(r.Unchecked, []string{"3950 further pairs on 'k', not listed"}) || slices.ContainsFunc(r.Conflicts, func(c txn.Conflict) bool { return len(c.Actions) != 2 }) {
		t.Errorf("%d conflicts, unchecked %q", len(r.Conflicts), r.Unchecked)
	}
}
