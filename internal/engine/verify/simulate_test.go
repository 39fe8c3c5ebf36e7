package verify_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/report"
)

func state(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func blocked(list []verify.Blocked) string {
	var out []string
	for _, b := range list {
		out = append(out, string(b.ActionID)+": "+strings.Join(b.Because, "; "))
	}
	return strings.Join(out, " | ")
}

// V-VERIFY-10, V-VERIFY-13: what lands, what is blocked and what that takes with it.
func TestSimulate(t *testing.T) {
	t.Parallel()
	deploy := plan(call("deploy", "deploy", when("tests_passed", "eq", true), effect("deployed", true)))
	chain := plan(call("build", "build", when("ready", "eq", true), effect("artifact", "app")), call("deploy", "deploy", needs("artifact"), effect("deployed", true)))
	for name, c := range map[string]struct {
		p         ir.Proposal
		o         verify.Options
		state     map[string]any
		unknown   string
		blocked   string
		undecided string
	}{
		"writes_simulate":               {plan(write("a1", "x", 10.0), write("a2", "y", nil)), verify.Options{}, state("x", 10.0, "y", nil), "", "", ""},
		"blocked_deploy_leaves_nothing": {deploy, verify.Options{State: state("tests_passed", false)}, state("tests_passed", false), "", "deploy: precondition failed: tests_passed eq true", ""},
		"passing_one_lands":             {deploy, verify.Options{State: state("tests_passed", true)}, state("tests_passed", true, "deployed", true), "", "", ""},
		"block_cascades_through_data":   {chain, verify.Options{}, state(), "", "build: precondition failed: ready eq true | deploy: missing state dependency 'artifact'", ""},
		"block_cascades_through_ids":    {plan(call("a", "x", needs("no")), write("b", "k", 1.0, requires("a")), write("c", "l", 1.0, after("a"))), verify.Options{}, state("l", 1.0), "", "a: missing state dependency 'no' | b: dependency 'a' did not succeed", ""},
		"inert effects are dropped":     {plan(write("a", "x", 1.0, effect("y", 2.0))), verify.Options{}, state("x", 1.0), "", "", ""},
		"unregistered and badly called tools leave nothing": {plan(call("a", "nope", effect("x", 1.0)), call("b", "echo", params("message", 3.0), effect("y", 1.0)), call("c", "echo", params("message", "m"), effect("z", 1.0))),
			verify.Options{Schemas: echo(t, echoParameters)}, state("z", 1.0), "", "a: unknown tool: nope | b: parameter 'message' has wrong type: expected string, got number", ""},
		"a call without tool never runs":          {plan(call("a", "", effect("x", 1.0))), verify.Options{}, state(), "", "a: tool_call requires 'tool'", ""},
		"a failed assertion takes its dependents": {plan(assert("a", "x", 1.0), write("b", "y", 1.0, requires("a"))), verify.Options{}, state(), "", "a: assertion failed: 'x' does not equal what is expected | b: dependency 'a' did not succeed", ""},
		"absent equals null for an assertion":     {plan(assert("a", "x", nil), write("b", "y", 1.0, requires("a"))), verify.Options{}, state("y", 1.0), "", "", ""},
		"state actions need a key":                {plan(made(ir.Action{ID: "a", Type: ir.StateRead}, nil)), verify.Options{}, state(), "", "a: state_read requires 'key' parameter", ""},
		"opaque writes make a key unknown": {plan(call("a", "x", writesSet("k")), call("b", "y", needs("k"), effect("l", 1.0)), call("c", "z", when("k", "eq", 2.0), effect("m", 1.0)), call("d", "w", needs("q", "k"))), verify.Options{State: state("k", 1.0)}, state(), "k l m",
			"d: missing state dependency 'q'; state dependency 'k' may be missing: action 'a' sets it at run time",
			"b: state dependency 'k' may be missing: action 'a' sets it at run time | c: precondition not decided: k eq 2: action 'a' sets it at run time"},
		"a declared write makes it known again": {plan(call("a", "x", writesSet("k")), write("b", "k", 3.0), call("c", "y", when("k", "eq", 3.0), requires("b"), effect("l", 1.0))), verify.Options{}, state("k", 3.0, "l", 1.0), "", "", ""},
		"an undecided success is an undecided dependency": {plan(call("a", "x", writesSet("k")), assert("b", "k", 1.0), write("c", "m", 1.0, requires("b"))), verify.Options{}, state(), "k m", "",
			"b: assertion on 'k' not decided: action 'a' sets it at run time | c: whether dependency 'b' succeeds is not decided"},
		"actions at the same time do not see each other": {plan(write("a", "x", 1.0, skip), call("b", "t", when("x", "not_exists", nil), effect("y", 1.0), skip)), verify.Options{}, state("x", 1.0, "y", 1.0), "", "", ""},
		"actions in turn do":                             {plan(write("a", "x", 1.0), call("b", "t", when("x", "not_exists", nil), effect("y", 1.0))), verify.Options{}, state("x", 1.0), "", "b: precondition failed: x not_exists", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := verify.Simulate(c.p, c.o)
			if !reflect.DeepEqual(s.State, c.state) || strings.Join(s.UnknownKeys, " ") != c.unknown || blocked(s.Blocked) != c.blocked || blocked(s.Undecided) != c.undecided {
				t.Errorf("state %v, unknown %v\nblocked   %s\nundecided %s", s.State, s.UnknownKeys, blocked(s.Blocked), blocked(s.Undecided))
			}
		})
	}
}

// V-VERIFY-10, V-GEN-3: the wire form.
func TestSimulationOnTheWire(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(verify.Simulate(plan(), verify.Options{}))
	if err != nil || !strings.HasPrefix(string(text), `{"state":{},"unknown_keys":[],"blocked":[],"undecided":[],"tier":"decision_procedure","cannot_verify":["`) {
		t.Errorf("%v %s", err, text)
	}
}

// V-VERIFY-11, V-VERIFY-13, V-GAP-9: gate_makes_plans_differ, write_order_is_equivalent, other_value_is_not.
func TestEquivalent(t *testing.T) {
	t.Parallel()
	gated := plan(call("a", "deploy", when("ok", "eq", true), effect("deployed", true)))
	ungated := plan(call("b", "deploy", effect("deployed", true)))
	for name, c := range map[string]struct {
		left, right ir.Proposal
		o           verify.EquivalenceOptions
		equivalent  bool
		tested      int
		derived     int
		keys        string
	}{
		"gate_makes_plans_differ":             {gated, ungated, verify.EquivalenceOptions{States: []map[string]any{state("ok", false)}}, false, 1, 0, "deployed"},
		"write_order_is_equivalent":           {plan(write("a", "x", 1.0), write("b", "y", 2.0)), plan(write("c", "y", 2.0), write("d", "x", 1.0)), verify.EquivalenceOptions{}, true, 2, 0, ""},
		"other_value_is_not":                  {plan(write("a", "x", 1.0)), plan(write("a", "x", 9.0)), verify.EquivalenceOptions{}, false, 1, 0, "x"},
		"an empty list means the defaults":    {plan(write("a", "x", 1.0)), plan(), verify.EquivalenceOptions{States: []map[string]any{}}, false, 1, 0, "x"},
		"silence where only one state agrees": {gated, ungated, verify.EquivalenceOptions{States: []map[string]any{state("ok", true)}}, true, 1, 0, ""},
		"derived states find the gate":        {gated, ungated, verify.EquivalenceOptions{States: []map[string]any{state("ok", true)}, Derive: true}, false, 3, 2, "deployed"},
		"unknown is not known":                {plan(call("a", "x", writesSet("k"))), plan(call("a", "x", effect("k", 1.0))), verify.EquivalenceOptions{}, false, 1, 0, "k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := verify.Equivalent(c.left, c.right, c.o)
			keys := ""
			if e.Counterexample != nil {
				keys = strings.Join(e.Counterexample.Keys, " ")
			}
			if e.Equivalent != c.equivalent || e.StatesTested != c.tested || e.Derived != c.derived || keys != c.keys || e.Tier != report.Sampled {
				t.Errorf("got %v, %d tested, %d derived, differing %q", e.Equivalent, e.StatesTested, e.Derived, keys)
			}
		})
	}
}

// V-VERIFY-11: each operator has a state that meets it and one that does not, and the bound holds.
func TestDerivedStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operator string
		value    any
	}{{"eq", 1.0}, {"neq", "a"}, {"gt", 3.0}, {"lt", 3.0}, {"gte", 3.0}, {"lte", 3.0}, {"exists", nil}, {"not_exists", nil}, {"contains", "x"}, {"eq", true}, {"eq", nil}} {
		gated := plan(call("a", "t", when("k", c.operator, c.value), effect("done", true)))
		for _, other := range []ir.Proposal{plan(), plan(call("a", "t", effect("done", true)))} {
			e := verify.Equivalent(gated, other, verify.EquivalenceOptions{States: []map[string]any{{"unrelated": 1.0}}, Derive: true})
			if always := c.operator == "neq" && len(other.Actions) == 0; e.Equivalent && !always {
				t.Errorf("%s %v was not told from a plan of %d actions", c.operator, c.value, len(other.Actions))
			}
		}
	}
	var wide ir.Proposal
	for i := range 100 {
		wide.Actions = append(wide.Actions, call(string(rune('a'+i)), "t", needs(strings.Repeat("k", i+1))))
	}
	if e := verify.Equivalent(wide, wide, verify.EquivalenceOptions{Derive: true}); !e.Equivalent || e.Derived != 64 || e.StatesTested != 66 {
		t.Errorf("%d derived, %d tested", e.Derived, e.StatesTested)
	}
}

// V-VERIFY-12, V-VERIFY-13, V-GAP-4: phantom_pruned, real_kept, optimize_can_remove_a_gate.
func TestOptimize(t *testing.T) {
	t.Parallel()
	p := plan(write("a1", "x", 1.0), call("a2", "t", needs("phantom", "x", "other", "phantom"), writesSet("w"), effect("y", 1.0)), call("a3", "u", needs("w", "y", "other")))
	before := clone(t, p)
	o := verify.Optimize(p)
	if !slices.Equal(o.Proposal.Actions[1].StateDependencies, []string{"x"}) || !slices.Equal(o.Proposal.Actions[2].StateDependencies, []string{"w", "y"}) {
		t.Errorf("left %v and %v", o.Proposal.Actions[1].StateDependencies, o.Proposal.Actions[2].StateDependencies)
	}
	if !slices.Equal(o.HoldsIf, []string{"other", "phantom"}) || o.LevelsBefore != 3 || o.LevelsAfter != 3 || len(o.Pruned) != 4 || o.Pruned[0] != (verify.Pruned{ActionID: "a2", Key: "phantom"}) {
		t.Errorf("%+v", o)
	}
	if !reflect.DeepEqual(p, before) {
		t.Error("the proposal was changed")
	}
	if verify.Equivalent(p, o.Proposal, verify.EquivalenceOptions{}).Equivalent {
		t.Error("a gate was removed and nothing tells")
	}
	held := state("other", 1.0, "phantom", nil)
	if !verify.Equivalent(p, o.Proposal, verify.EquivalenceOptions{States: []map[string]any{held}}).Equivalent {
		t.Error("where holds_if holds, the plans differ")
	}
	of := verify.OptimizeFor(p, state("other", 1.0))
	if !slices.Equal(of.Proposal.Actions[1].StateDependencies, []string{"phantom", "x", "phantom"}) || len(of.HoldsIf) != 0 {
		t.Errorf("for a state: %+v", of)
	}
	whole := verify.Optimize(plan(write("a", "x", 1.0)))
	if text, err := json.Marshal(whole); err != nil || !strings.Contains(string(text), `"pruned":[],"levels_before":1,"levels_after":1,"holds_if":[]`) {
		t.Errorf("%v %s", err, text)
	}
}

// clone is a proposal of its own, for telling whether another was changed.
func clone(t testing.TB, p ir.Proposal) ir.Proposal {
	t.Helper()
	c := p
	c.Actions = slices.Clone(p.Actions)
	for i := range c.Actions {
		a := &c.Actions[i]
		a.Parameters, a.ExpectedEffects = maps.Clone(a.Parameters), maps.Clone(a.ExpectedEffects)
		a.StateDependencies, a.Dependencies, a.After = slices.Clone(a.StateDependencies), slices.Clone(a.Dependencies), slices.Clone(a.After)
		a.WriteSet, a.ReadSet, a.Preconditions = slices.Clone(a.WriteSet), slices.Clone(a.ReadSet), slices.Clone(a.Preconditions)
	}
	return c
}
