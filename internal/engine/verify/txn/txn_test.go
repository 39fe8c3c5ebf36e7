package txn_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
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
	r, err := txn.Check(plan(t, actions...), v)
	if err != nil {
		t.Fatal(err)
	}
	if r.Consistent != (len(r.Conflicts) == 0) || r.Tier == "" {
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

// V-TXN-2: many pairs of one key are bounded.
func TestPairsAreBounded(t *testing.T) {
	t.Parallel()
	var actions []string
	for i := range 100 {
		actions = append(actions, act("a"+string(rune('0'+i/10))+string(rune('0'+i%10)), `"write_set":["k"]`))
	}
	r, err := txn.Check(plan(t, actions...), world)
	if err != nil || len(r.Conflicts) != 1000 || slices.ContainsFunc(r.Conflicts, func(c txn.Conflict) bool { return len(c.Actions) != 2 }) {
		t.Errorf("%d conflicts, %v", len(r.Conflicts), err)
	}
}
