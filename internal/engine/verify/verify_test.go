package verify_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/report"
)

// V-VERIFY-13, V-VERIFY-1, V-VERIFY-3: what the reference accepts.
func TestAccepts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p ir.Proposal
		o verify.Options
	}{
		"write_then_dependent_registered_call": {plan(write("a1", "x", 1.0), call("a2", "search", needs("x"))), verify.Options{ToolNames: []string{"search"}}},
		"well_typed_params":                    {plan(call("a1", "echo", params("message", "hi"))), verify.Options{Schemas: echo(t, echoParameters)}},
		"integer_and_union_types":              {plan(call("a1", "echo", params("message", "hi", "times", 5.0)), call("a2", "echo", params("message", "ho", "times", nil))), verify.Options{Schemas: echo(t, echoParameters)}},
		"empty_schema_constrains_nothing":      {plan(call("a1", "echo", params("anything", 1.0))), verify.Options{Schemas: echo(t, `{}`)}},
		"names_only_never_checks_params":       {plan(call("a1", "echo", params("message", 42.0))), verify.Options{ToolNames: []string{"echo"}}},
		"precondition_met_by_earlier_write":    {plan(write("a1", "ready", true), call("a2", "go", when("ready", "eq", true))), verify.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verify.Verify(c.p, c.o)
			want(t, r)
			holdsInvariants(t, r)
			if !r.Valid {
				t.Error("not valid")
			}
		})
	}
}

// V-VERIFY-13, V-VERIFY-4: what the reference refuses, in its words.
func TestRefuses(t *testing.T) {
	t.Parallel()
	schemas := verify.Options{Schemas: echo(t, echoParameters)}
	for name, c := range map[string]struct {
		p     ir.Proposal
		o     verify.Options
		issue string
	}{
		"wrong_type_names_parameter":                 {plan(call("a1", "echo", params("message", 42.0))), schemas, "error param_schema a1: tool 'echo': parameter 'message' has wrong type: expected string, got number"},
		"missing_required_names_parameter":           {plan(call("a1", "echo")), schemas, "error param_schema a1: tool 'echo': missing required parameter 'message'"},
		"unknown_tool_under_schemas":                 {plan(call("a1", "nope")), schemas, "error tool_existence a1: tool 'nope' is not registered"},
		"any_tool_under_empty_registry":              {plan(call("a1", "echo")), verify.Options{ToolNames: []string{}}, "error tool_existence a1: tool 'echo' is not registered"},
		"call_without_tool":                          {plan(call("a1", "")), verify.Options{}, "error tool_existence a1: tool_call action has no tool specified"},
		"unmet_precondition":                         {plan(call("a1", "go", when("ready", "eq", true))), verify.Options{}, "error preconditions a1: precondition will fail: ready eq true"},
		"missing_dependency":                         {plan(call("a1", "go", needs("ready"))), verify.Options{}, "error state_dependencies a1: state dependency 'ready' not available at this point"},
		"typo_in_undo_found_registered_clean":        {plan(call("a1", "echo", params("message", "x"), undo(ir.Compensation{Type: "tool", Tool: "ehco"}))), verify.Options{ToolNames: []string{"echo"}}, "error compensation_resolution a1: compensation names tool 'ehco', which is not registered"},
		"action_ref_resolves_without_registry":       {plan(call("a1", "go", undo(ir.Compensation{Type: "action_ref", ActionID: "a9"}))), verify.Options{}, "error compensation_resolution a1: compensation references action 'a9', which is not in this proposal"},
		"compensable_without_undo_is_one_DP_finding": {plan(call("a1", "go", func(a *ir.Action) { a.Reversibility = ir.Compensable })), verify.Options{}, "error compensation_resolution a1: action declares reversibility 'compensable' but no compensation"},
		"assertion_that_cannot_hold":                 {plan(write("a1", "x", 1.0), assert("a2", "x", 2.0)), verify.Options{}, "error preconditions a2: assertion will fail: 'x' does not equal what is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verify.Verify(c.p, c.o)
			want(t, r, c.issue)
			holdsInvariants(t, r)
			if r.Valid || r.Issues[0].Tier != report.DecisionProcedure || !record(t, r, r.Issues[0].Check).Ran {
				t.Errorf("valid %v, issue %+v", r.Valid, r.Issues[0])
			}
		})
	}
}

// V-VERIFY-13: an undo that is there is clean.
func TestGoodCompensations(t *testing.T) {
	t.Parallel()
	r := verify.Verify(plan(
		call("a1", "make", undo(ir.Compensation{Type: "tool", Tool: "unmake"})),
		call("a2", "build", undo(ir.Compensation{Type: "action_ref", ActionID: "a3"})),
		call("a3", "raze"),
	), verify.Options{ToolNames: []string{"make", "unmake", "build", "raze"}})
	want(t, r)
	if c := record(t, r, "compensation_resolution"); !c.Ran || c.Findings != 0 {
		t.Errorf("record %+v", c)
	}
}

// B-COMP-4: an undo that the engine would refuse is found before it is sent.
func TestUnkeepableCompensations(t *testing.T) {
	t.Parallel()
	ref := func(id ir.ActionID) change { return undo(ir.Compensation{Type: "action_ref", ActionID: id}) }
	want(t, verify.Verify(plan(call("a1", "x", ref("a1"))), verify.Options{}),
		"error compensation_resolution a1: compensation references action 'a1', which is the action itself")
	want(t, verify.Verify(plan(call("a1", "x", ref("a2")), call("a2", "y", undo(ir.Compensation{Type: "tool", Tool: "z"}))), verify.Options{}),
		"error compensation_resolution a1: compensation references action 'a2', which has a compensation of its own")
	want(t, verify.Verify(plan(call("a1", "x", ref("a2")), call("a2", "y"), call("a3", "z", requires("a2"))), verify.Options{}),
		"error compensation_resolution a3: action waits for 'a2', which is reserved as compensation for 'a1' and never runs forward")
}

// B-COMP-4, V-VERIFY-3: what is kept as an undo does not run forward, so it gives
// nothing and nothing is said of its own conditions.
func TestReservedActionsLeaveNothing(t *testing.T) {
	t.Parallel()
	p := plan(call("a1", "make", undo(ir.Compensation{Type: "action_ref", ActionID: "a2"})), call("a2", "raze", effect("razed", true), when("broken", "exists", nil)), call("a3", "say", needs("razed")))
	want(t, verify.Verify(p, verify.Options{}), "error state_dependencies a3: state dependency 'razed' not available at this point")
	sim := verify.Simulate(p, verify.Options{})
	if len(sim.State) != 0 || len(sim.Blocked) != 2 || sim.Blocked[0].Because[0] != "reserved as compensation for 'a1'" {
		t.Errorf("simulation %+v", sim)
	}
}

// V-VERIFY-4, D-25: mutual readers; the first missing key is named, and the cycle.
func TestMutualDependencyNamesFirstMissingKey(t *testing.T) {
	t.Parallel()
	p := plan(call("a", "x", needs("k2"), effect("k1", 1.0)), call("b", "y", needs("k1"), effect("k2", 1.0)))
	r := verify.Verify(p, verify.Options{})
	want(t, r,
		"error dependency_cycles a: dependency cycle: a needs 'k2' from b, b needs 'k1' from a",
		"error state_dependencies a: state dependency 'k2' not available at this point")
	if blocking := verify.Blocking(r); len(blocking) != 0 {
		t.Errorf("a gate would block on %+v", blocking)
	}
	if w := r.Issues[0].Explain.Witness; !slices.Equal(w, []ir.ActionID{"a", "b"}) {
		t.Errorf("witness %v", w)
	}
	// A key that is there, or that somebody else gives, breaks the cycle.
	for _, r := range []verify.Result{
		verify.Verify(p, verify.Options{State: map[string]any{"k2": 0.0}}),
		verify.Verify(plan(p.Actions[0], p.Actions[1], call("c", "z", effect("k2", 2.0))), verify.Options{}),
	} {
		if slices.ContainsFunc(r.Issues, func(i verify.Issue) bool { return i.Check == "dependency_cycles" }) {
			t.Errorf("still a cycle: %q", messages(r))
		}
	}
}

// E-DAG-3, V-GEN-7: ids that the engine refuses are findings, and the rest of the plan is still looked at.
func TestBadIDs(t *testing.T) {
	t.Parallel()
	r := verify.Verify(plan(write("a", "x", 1.0), write("a", "y", 2.0), call("b", "t", requires("zz"), needs("q"))), verify.Options{})
	want(t, r, "error action_ids a: duplicate action id 'a'", "error action_ids b: action 'b' depends on unknown action 'zz'", "error state_dependencies b: state dependency 'q' not available at this point")
	if w := r.Issues[0].Explain.Witness; !slices.Equal(w, []ir.ActionID{"a", "a"}) {
		t.Errorf("witness %v", w)
	}
	r = verify.Verify(plan(write("a", "x", 1.0, after("c")), write("b", "y", 1.0, requires("a")), write("c", "z", 1.0, requires("b")), write("d", "w", 1.0, after("d"))), verify.Options{})
	want(t, r, "error action_ids a: dependency cycle: a -> c -> b -> a", "error action_ids d: dependency cycle: d -> d")
	if len(verify.Blocking(r)) != 2 {
		t.Error("a cycle of ids does not block")
	}
	sim := verify.Simulate(r0(), verify.Options{})
	if len(sim.Blocked) != 2 || !strings.Contains(sim.Blocked[0].Because[0], "duplicate action id 'a'") || len(sim.State) != 0 {
		t.Errorf("a proposal that is refused whole was simulated: %+v", sim)
	}
}

func r0() ir.Proposal { return plan(write("a", "x", 1.0), write("a", "y", 2.0)) }

// V-VERIFY-5: findings come in the order of the checks' turns and of the walk.
func TestOrderOfFindings(t *testing.T) {
	t.Parallel()
	p := plan(
		call("z", "t", requires("b")), // walked last
		call("b", "", needs("m1", "m2"), when("p", "exists", nil), func(a *ir.Action) { a.Reversibility = ir.Compensable }),
		write("c", "k", 1.0, effect("inert", 1.0)),
		call("d", "same"), call("e", "same"),
	)
	r := verify.Verify(p, verify.Options{ToolNames: []string{"same"}, MaxActions: 2, Goal: condition(t, `{"type":"state_predicate","key":"g"}`)})
	want(t, r,
		"warning resource_bounds z: excessive actions: 5 (limit 2)",
		"warning loop_detection proposal: duplicate tool call: same (2x)",
		"error preconditions b: precondition will fail: p exists",
		"error state_dependencies b: state dependency 'm1' not available at this point",
		"error state_dependencies b: state dependency 'm2' not available at this point",
		"error tool_existence b: tool_call action has no tool specified",
		"error compensation_resolution b: action declares reversibility 'compensable' but no compensation",
		"warning inert_effects c: expected_effects on a state_write action are never applied at execution",
		"error tool_existence z: tool 't' is not registered",
		"error goal proposal: goal not reached in the simulated state: g eq null does not hold")
	holdsInvariants(t, r)
}

// V-VERIFY-9: what blocks is told by the check's name; what rests on declared effects or a proxy never does.
func TestBlocking(t *testing.T) {
	t.Parallel()
	p := plan(call("a1", "nope", when("x", "exists", nil)), call("a2", "go", needs("y")), call("a3", "go", params("n", 3.0)), call("a4", "go", params("n", 3.0)), call("a5", "go", params("n", 3.0)))
	r := verify.Verify(p, verify.Options{ToolNames: []string{"go"}, Goal: condition(t, `{"type":"state_predicate","key":"g"}`)})
	if len(r.Errors()) != 5 {
		t.Fatalf("issues %q", messages(r))
	}
	blocking := verify.Blocking(r)
	if len(blocking) != 1 || blocking[0].Check != "tool_existence" {
		t.Errorf("blocking: %+v", blocking)
	}
	if got := verify.Blocking(verify.Result{Issues: []verify.Issue{{Severity: report.Error, Check: "of tomorrow"}}}); len(got) != 1 {
		t.Error("an unknown check does not block")
	}
}

// V-VERIFY-2, V-GEN-3: the wire form; lists are never null, conflicts are triples.
func TestResultOnTheWire(t *testing.T) {
	t.Parallel()
	empty, err := json.Marshal(verify.Verify(ir.Proposal{}, verify.Options{}))
	if err != nil || strings.Contains(string(empty), "null") {
		t.Errorf("%v %s", err, empty)
	}
	r := verify.Verify(plan(call("a1", "x", effect("k", 1.0)), call("a2", "y", effect("k", 2.0))), verify.Options{})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"valid":true`, `"conflicts":[["a1","a2","k"]]`, `"execution_levels":[["a1","a2"]]`, `"simulated_state":{"k":2}`,
		`{"action_id":"a1","severity":"warning","message":"write conflict on 'k' with action a2 (no dependency declared)","tier":"decision_procedure","check":"write_conflicts","explain":{"because":[`,
		`"witness":["a1","a2"]`, `{"name":"resource_bounds","ran":true,"verifies":`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	var back verify.Result
	if err := json.Unmarshal(text, &back); err != nil || back.Conflicts[0] != r.Conflicts[0] {
		t.Errorf("read back: %v %+v", err, back.Conflicts)
	}
}

// V-VERIFY-13: one fault is one finding, whatever rests on it.
func TestOneFaultNoCascade(t *testing.T) {
	t.Parallel()
	p := plan(call("deploy", "deploy", when("tests_passed", "eq", true), effect("deployed", true)), call("notify", "notify", needs("deployed")))
	r := verify.Verify(p, verify.Options{State: map[string]any{"tests_passed": false}})
	want(t, r, "error preconditions deploy: precondition will fail: tests_passed eq true")
	e := r.Issues[0].Explain
	if !slices.Equal(e.Because, []string{"wanted: tests_passed eq true", "had: 'tests_passed' is false in the initial state"}) || !slices.Equal(e.Witness, []ir.ActionID{"deploy"}) {
		t.Errorf("explanation %+v", e)
	}
}

// V-GEN-5: what a model wrote is clipped in messages and exact in fields; parameter values never appear.
func TestForeignTextIsData(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 400)
	r := verify.Verify(plan(call(long, long, needs(long)), call("p", "echo", params("message", 7.0, "SECRET", "SECRET"))), verify.Options{Schemas: echo(t, echoParameters)})
	if len(r.Issues) != 3 || string(r.Issues[0].ActionID) != long {
		t.Fatalf("issues %q", messages(r))
	}
	for _, i := range r.Issues {
		if len(i.Message) > 400 || strings.Contains(i.Message, "SECRET") || strings.ContainsRune(i.Message, '\uFFFD') {
			t.Errorf("message of %d bytes: %s", len(i.Message), i.Message)
		}
	}
}
