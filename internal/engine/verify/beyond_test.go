package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/schema"
)

// V-BEYOND-1: a key that a tool writes with no declared value is unknown: reading it warns, and is no false error.
func TestUnknownReads(t *testing.T) {
	t.Parallel()
	p := plan(call("a", "fetch", writesSet("page", "page", "size")), call("b", "parse", needs("page"), when("size", "gt", 3.0)), assert("c", "page", "x", needs("page")))
	r := verify.Verify(p, verify.Options{State: state("page", "old")})
	want(t, r,
		"warning unknown_reads b: state dependency 'page' may be missing: action a writes it with no declared effect",
		"warning unknown_reads b: precondition on 'size' cannot be decided: action a sets it at run time",
		"warning unknown_reads c: state dependency 'page' may be missing: action a writes it with no declared effect",
		"warning unknown_reads c: assertion on 'page' cannot be decided: action a sets it at run time")
	if _, known := r.SimulatedState["page"]; known {
		t.Error("a value that was overwritten at run time is still known")
	}
	if e := r.Issues[0].Explain; !slices.Equal(e.Witness, []ir.ActionID{"a", "b"}) || !strings.Contains(e.Fix, "expected_effects of action 'a'") {
		t.Errorf("explanation %+v", e)
	}
	// A declared write makes the key known again.
	p.Actions = slices.Insert(p.Actions, 1, write("w", "page", "new"), write("v", "size", 9.0))
	want(t, verify.Verify(plan(p.Actions[:4]...), verify.Options{}))
}

// V-BEYOND-1: a key missing after calls that declare nothing stays an error, which names them and the field to use.
func TestOpaqueCallsAreNamed(t *testing.T) {
	t.Parallel()
	r := verify.Verify(plan(call("a", "fetch"), call("b", "parse", needs("page"), after("a"))), verify.Options{})
	want(t, r, "error state_dependencies b: state dependency 'page' not available at this point")
	e := r.Issues[0].Explain
	if len(e.Because) != 2 || !strings.Contains(e.Because[1], "action 'a' calls 'fetch' and declares nothing of what it writes") || !strings.Contains(e.Because[1], "write_set") {
		t.Errorf("because %q", e.Because)
	}
}

// V-BEYOND-5: a dependency that comes too late says who, and how to order it.
func TestLateProducer(t *testing.T) {
	t.Parallel()
	r := verify.Verify(plan(call("a", "use", needs("k")), write("b", "k", 1.0)), verify.Options{})
	want(t, r, "error state_dependencies a: state dependency 'k' not available at this point")
	if e := r.Issues[0].Explain; e.Because[0] != "action 'b' writes 'k' only later" || e.Fix != "action 'b' writes 'k' but waits for action 'a'; undo one of the two" {
		t.Errorf("explanation %+v", e)
	}
	r = verify.Verify(plan(call("a", "use", when("k", "exists", nil)), call("b", "give", effect("k", 1.0))), verify.Options{})
	if e := r.Issues[0].Explain; e.Fix != "add 'b' to the dependencies of action 'a', so that it runs first" {
		t.Errorf("explanation %+v", e)
	}
}

// V-BEYOND-2: writers conflict unless a path orders them; to list the key excuses nobody.
func TestWriteConflicts(t *testing.T) {
	t.Parallel()
	a, b, c := call("a", "t", effect("k", 1.0)), call("b", "u", effect("k", 2.0)), call("c", "v", effect("k", 3.0))
	pair := func(first, second string) string {
		return fmt.Sprintf("warning write_conflicts %s: write conflict on 'k' with action %s (no dependency declared)", first, second)
	}
	with := func(a ir.Action, changes ...change) ir.Action { return made(a, changes) }
	for name, x := range map[string]struct {
		p    ir.Proposal
		want []string
	}{
		"two_writers_conflict":           {plan(a, b), []string{pair("a", "b")}},
		"three":                          {plan(a, b, c), []string{pair("a", "b"), pair("a", "c"), pair("b", "c")}},
		"a path orders":                  {plan(a, call("x", "w", requires("a")), with(b, after("x"))), nil},
		"one of three is apart":          {plan(a, with(b, requires("a")), c), []string{pair("a", "c"), pair("b", "c")}},
		"state writes follow each other": {plan(write("a", "k", 1.0), write("b", "k", 2.0)), nil},
		"listing the key excuses nobody": {plan(with(a, needs("k")), with(b, func(a *ir.Action) { a.ReadSet = []string{"x"} })), []string{pair("a", "b")}},
		"reading it from the other does": {plan(a, with(b, needs("k"))), nil},
		"an opaque write is a write":     {plan(call("a", "t", writesSet("k")), b), []string{pair("a", "b")}},
		"forward order":                  {plan(with(a, requires("b")), b), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verify.Verify(x.p, verify.Options{State: state("k", 0.0)})
			got := slices.DeleteFunc(messages(r), func(m string) bool { return !strings.Contains(m, "write_conflicts") })
			if !slices.Equal(got, x.want) {
				t.Errorf("got %q, want %q", got, x.want)
			}
			holdsInvariants(t, r)
		})
	}
}

// V-BEYOND-2, V-BEYOND-5: the explanation says what the two orders leave, and what settles it today.
func TestConflictExplained(t *testing.T) {
	t.Parallel()
	e := verify.Verify(plan(call("a", "t", effect("k", 1.0)), call("b", "u", effect("k", 2.0))), verify.Options{}).Issues[0].Explain
	if !slices.Equal(e.Because, []string{"if 'b' ends last, 'k' is 2; if 'a' ends last, it is 1", "level 0 runs in the order of the proposal, so today 'b' ends last; nothing in the plan says so"}) {
		t.Errorf("because %q", e.Because)
	}
	e = verify.Verify(plan(call("a", "t", effect("k", 1.0)), write("x", "y", 1.0), call("b", "u", effect("k", 1.0), requires("x"))), verify.Options{}).Issues[0].Explain
	if !slices.Contains(e.Because, "both write equal values, so either order leaves the same") || !slices.Contains(e.Because, "levels run one after another, so today level 1 ends last; nothing in the plan says so") {
		t.Errorf("because %q", e.Because)
	}
}

// V-BEYOND-2, V-GEN-6: a thousand pairs are listed and the rest counted, however many writers there are.
func TestConflictsAreBounded(t *testing.T) {
	t.Parallel()
	var p ir.Proposal
	for i := range 10_000 {
		p.Actions = append(p.Actions, call(fmt.Sprintf("a%05d", i), "t", params("n", float64(i)), effect("k", float64(i))))
	}
	r := verify.Verify(p, verify.Options{MaxActions: -1})
	if len(r.Conflicts) != 1000 || !slices.Contains(r.Evidence.UntestedRegions, "49994000 further write conflicts, not listed") {
		t.Errorf("%d conflicts", len(r.Conflicts))
	}
	holdsInvariants(t, r)
}

// V-BEYOND-3: what is read and written at the same time is a race; levels that run in turn have none.
func TestReadRaces(t *testing.T) {
	t.Parallel()
	p := plan(call("a", "t", when("k", "exists", nil), skip), call("b", "u", effect("k", 1.0), skip), call("c", "v", needs("k"), effect("k", 2.0), skip))
	r := verify.Verify(p, verify.Options{State: state("k", 0.0)})
	race := "warning read_races a: reads 'k' in the same level as action b writes it (no dependency orders them)"
	want(t, r, race)
	if e := r.Issues[0].Explain; !slices.Equal(e.Witness, []ir.ActionID{"a", "b"}) {
		t.Errorf("witness %v", e.Witness)
	}
	p.Actions[1].FailureBehavior = ir.Abort
	want(t, verify.Verify(p, verify.Options{State: state("k", 0.0)}))
	var wide ir.Proposal
	for i := range 2_000 {
		wide.Actions = append(wide.Actions, call(fmt.Sprint(i), "t", params("n", float64(i)), when("k", "exists", nil), effect(fmt.Sprint("k", i), 1.0), skip))
	}
	wide.Actions = append(wide.Actions, write("w", "k", 1.0, skip))
	r = verify.Verify(wide, verify.Options{State: state("k", 0.0), MaxActions: -1})
	if record(t, r, "read_races").Findings != 1000 || !slices.Contains(r.Evidence.UntestedRegions, "1000 more read(s) of a key that is written in the same level, not listed") {
		t.Errorf("%d races", record(t, r, "read_races").Findings)
	}
}

// V-BEYOND-5: a name that is nearly right is told from one that is not.
func TestNearestTool(t *testing.T) {
	t.Parallel()
	for wrong, because := range map[string]string{"serch": "did you mean 'search'?", "seacrh": "did you mean 'search'?", "read-file": "did you mean 'read_file'?", "deploy": "2 tools are registered, none by this name", strings.Repeat("s", 100): "2 tools are registered, none by this name"} {
		for _, o := range []verify.Options{{ToolNames: []string{"search", "read_file"}}, {Schemas: schema.NewSet([]ir.ToolSchema{{Name: "search"}, {Name: "read_file"}})}} {
			r := verify.Verify(plan(call("a", wrong)), o)
			if len(r.Issues) != 1 || !slices.Equal(r.Issues[0].Explain.Because, []string{because}) {
				t.Errorf("%s: %+v", wrong, r.Issues[0].Explain)
			}
		}
	}
}

// V-VERIFY-4: the goal is asked of what the engine would leave, and of nothing it cannot know.
func TestGoalCheck(t *testing.T) {
	t.Parallel()
	deployed := condition(t, `{"type":"state_predicate","key":"deployed","operator":"eq","value":true}`)
	good := call("d", "deploy", effect("deployed", true))
	want(t, verify.Verify(plan(good), verify.Options{Goal: deployed}))
	r := verify.Verify(plan(made(good, []change{when("ok", "exists", nil)})), verify.Options{Goal: deployed})
	want(t, r, "error preconditions d: precondition will fail: ok exists", "error goal proposal: goal not reached in the simulated state: deployed eq true does not hold")
	if e := r.Issues[1].Explain; !slices.Equal(e.Because, []string{"'deployed' is absent", "action 'd' would write it and does not run"}) {
		t.Errorf("because %q", e.Because)
	}
	r = verify.Verify(plan(good, call("u", "undeploy", requires("d"), effect("deployed", false))), verify.Options{Goal: deployed, State: state("deployed", true)})
	if e := r.Issues[len(r.Issues)-1].Explain; !slices.Equal(e.Witness, []ir.ActionID{"u"}) || e.Because[0] != "'deployed' is false, set by action 'u'" {
		t.Errorf("explanation %+v", e)
	}
	both := condition(t, `{"type":"all_of","conditions":[{"type":"state_predicate","key":"deployed","value":true},{"type":"command","id":"goal_check"},{"type":"model_judge","id":"j","criteria":"nice"}]}`)
	r = verify.Verify(plan(good), verify.Options{Goal: both})
	want(t, r, "warning goal proposal: goal cannot be decided before execution: goal_check, j")
	if !r.Valid || len(verify.Blocking(r)) != 0 {
		t.Error("what cannot be decided refuses")
	}
	r = verify.Verify(plan(), verify.Options{Goal: both})
	want(t, r, "error goal proposal: goal not reached in the simulated state: deployed eq true does not hold")
}

// V-SCHEMA-4, V-SCHEMA-5, V-SCHEMA-6: a schema that cannot be used warns once and is named in the scope; an undo's parameters are checked too.
func TestSchemasInVerify(t *testing.T) {
	t.Parallel()
	broken := echo(t, `{"required":["message"],"properties":{"message":{"pattern":"(?=x)"}}}`)
	r := verify.Verify(plan(call("a", "echo"), call("b", "echo", params("message", 1.0))), verify.Options{Schemas: broken})
	want(t, r,
		"warning param_schema a: tool 'echo': parameter schema cannot be used (pattern '(?=x)' is not RE2); only required and type were checked",
		"error param_schema a: tool 'echo': missing required parameter 'message'")
	if c := record(t, r, "param_schema"); !strings.HasSuffix(c.CannotVerify, "; anything beyond required and type for: echo") {
		t.Errorf("cannot verify %q", c.CannotVerify)
	}
	r = verify.Verify(plan(call("a", "echo", params("message", "m"), undo(ir.Compensation{Type: "tool", Tool: "echo"}))), verify.Options{Schemas: echo(t, echoParameters)})
	want(t, r, "error compensation_resolution a: compensation tool 'echo': missing required parameter 'message'")
}
