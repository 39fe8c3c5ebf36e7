package plan_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/plan"
	"car/internal/engine/verify/report"
)

func decode(t testing.TB, text string) plan.Request {
	t.Helper()
	r, err := plan.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func check(t testing.TB, r plan.Request) plan.Report {
	t.Helper()
	rep, err := plan.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Tier != report.DecisionProcedure || rep.AchievesGoal && !rep.Applicable {
		t.Errorf("%+v", rep)
	}
	return rep
}

// defects are a report's as "kind step key by cause".
func defects(r plan.Report) string {
	var out []string
	for _, d := range r.Defects {
		out = append(out, strings.TrimSpace(strings.Join(strings.Fields(fmt.Sprint(d.Kind, " ", d.StepID, " ", d.Key, " ", d.ClobberedBy, " ", d.CausedBy)), " ")))
	}
	return strings.Join(out, "; ")
}

const cargo = `{"initial":["cargo at sfo","plane at sfo"],"goal":["cargo at jfk"],"steps":[
 {"id":"load","preconditions":["cargo at sfo","plane at sfo"],"add_effects":["cargo in plane"],"del_effects":["cargo at sfo"]},
 {"id":"fly","preconditions":["plane at sfo"],"add_effects":["plane at jfk"],"del_effects":["plane at sfo"]},
 {"id":"unload","preconditions":["cargo in plane","plane at jfk"],"add_effects":["cargo at jfk"],"del_effects":["cargo in plane"]}]}`

// V-PLAN-2, V-PLAN-3: load_fly_unload, in the order and in no order.
func TestLoadFlyUnload(t *testing.T) {
	t.Parallel()
	r := decode(t, cargo)
	rep := check(t, r)
	if !rep.Applicable || !rep.AchievesGoal || len(rep.Defects) > 0 || !reflect.DeepEqual(rep.FinalState, map[string]any{"plane at jfk": true, "cargo at jfk": true}) {
		t.Errorf("%+v", rep)
	}
	if !slices.Equal(rep.Links, []plan.Link{{Step: "load", Key: "cargo at sfo"}, {Step: "load", Key: "plane at sfo"}, {Step: "fly", Key: "plane at sfo"},
		{Step: "unload", Key: "cargo in plane", From: "load"}, {Step: "unload", Key: "plane at jfk", From: "fly"}, {Key: "cargo at jfk", From: "unload"}}) {
		t.Errorf("links %+v", rep.Links)
	}
	r.Steps[0], r.Steps[1] = r.Steps[1], r.Steps[0]
	rep = check(t, r)
	if got := defects(rep); rep.Applicable || rep.AchievesGoal || got != "clobbered_precondition load plane at sfo fly; unsatisfied_precondition unload cargo in plane load; unachieved_goal cargo at jfk unload" {
		t.Errorf("fly first: %s", got)
	}
}

// V-PLAN-2: delete_names_culprit, white_knight_restores, absent_key_is_false, caused_by marks what a repair removes.
func TestTotalOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"delete_names_culprit":  {`{"initial":["f"],"steps":[{"id":"a","del_effects":["f"]},{"id":"b","preconditions":["f"]}]}`, "clobbered_precondition b f a"},
		"white_knight_restores": {`{"initial":["f"],"steps":[{"id":"a","del_effects":["f"]},{"id":"w","add_effects":["f"]},{"id":"b","preconditions":["f"]}]}`, ""},
		"absent_key_is_false":   {`{"steps":[{"id":"a","preconditions":["f"]},{"id":"b","preconditions":[{"key":"g","operator":"not_exists"}]}]}`, "unsatisfied_precondition a f"},
		"added after deleted":   {`{"steps":[{"id":"a","add_effects":["f"],"del_effects":["f"]},{"id":"b","preconditions":["f"]}]}`, ""},
		"values":                {`{"initial":{"n":1},"steps":[{"id":"a","preconditions":[{"key":"n","operator":"lt","value":2}],"add_effects":[{"key":"n","value":2}]},{"id":"b","preconditions":[{"key":"n","operator":"lt","value":2}]}],"goal":[{"key":"n","value":2}]}`, "clobbered_precondition b n a"},
		"a step that cannot be taken leaves nothing": {`{"steps":[{"id":"a","preconditions":["x"],"add_effects":["y"]},{"id":"b","preconditions":["y"],"add_effects":["z"]}],"goal":["z"]}`,
			"unsatisfied_precondition a x; unsatisfied_precondition b y a; unachieved_goal z b"},
		"redundant_is_info":                   {`{"steps":[{"id":"a","add_effects":["x"]},{"id":"b","preconditions":["x"],"add_effects":["y"]},{"id":"c","add_effects":["z"]}],"goal":["z"]}`, "redundant_step a; redundant_step b"},
		"nothing is redundant without a goal": {`{"steps":[{"id":"a"}]}`, ""},
		"ids":                                 {`{"steps":[{"id":"a"},{"id":"a"}],"edges":[["a","q"]]}`, "duplicate_step a; unknown_step q"},
		"an order that is broken":             {`{"steps":[{"id":"a"},{"id":"b"}],"edges":[["b","a"]]}`, "cyclic_order a"},
		"an order that is kept":               {`{"steps":[{"id":"a"},{"id":"b"}],"edges":[["a","b"]]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rep := check(t, decode(t, c.text))
			if got := defects(rep); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if name == "redundant_is_info" && (rep.Defects[0].Severity != report.Info || !rep.AchievesGoal) {
				t.Errorf("%+v", rep)
			}
		})
	}
}

// V-PLAN-2, V-PLAN-3: threat_only_in_partial, and the other defects of a plan in no total order.
func TestPartialOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"threat_only_in_partial":             {`{"order":"partial","initial":["f"],"steps":[{"id":"use","preconditions":["f"]},{"id":"spoil","del_effects":["f"]}]}`, "unordered_threat use f spoil"},
		"an edge mends it":                   {`{"order":"partial","initial":["f"],"steps":[{"id":"use","preconditions":["f"]},{"id":"spoil","del_effects":["f"]}],"edges":[["use","spoil"]]}`, ""},
		"an edge clobbers":                   {`{"order":"partial","initial":["f"],"steps":[{"id":"use","preconditions":["f"]},{"id":"spoil","del_effects":["f"]}],"edges":[["spoil","use"]]}`, "clobbered_precondition use f spoil"},
		"a maker that need not come first":   {`{"order":"partial","steps":[{"id":"use","preconditions":["f"]},{"id":"make","add_effects":["f"]}]}`, "unsatisfied_precondition use f"},
		"a white knight after every spoiler": {`{"order":"partial","steps":[{"id":"spoil","del_effects":["f"]},{"id":"knight","add_effects":["f"]},{"id":"use","preconditions":["f"]}],"edges":[["spoil","knight"],["knight","use"]]}`, ""},
		"a goal is after all":                {`{"order":"partial","steps":[{"id":"make","add_effects":["f"]},{"id":"spoil","del_effects":["f"]}],"goal":["f"]}`, "unachieved_goal f spoil"},
		"nobody":                             {`{"order":"partial","steps":[{"id":"use","preconditions":["f"]}]}`, "unsatisfied_precondition use f"},
		"a circle":                           {`{"order":"partial","steps":[{"id":"a"},{"id":"b"}],"edges":[["a","b"],["b","a"]]}`, "cyclic_order a"},
		"redundant":                          {`{"order":"partial","steps":[{"id":"a","add_effects":["x"]},{"id":"b","add_effects":["f"]}],"goal":["f"]}`, "redundant_step a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if rep := check(t, decode(t, c.text)); defects(rep) != c.want || rep.FinalState != nil {
				t.Errorf("%s, want %s; final state %v", defects(rep), c.want, rep.FinalState)
			}
		})
	}
}

// drawRequest makes a plan of up to seven steps over three keys.
func drawRequest(t *rapid.T) plan.Request {
	key := rapid.SampledFrom([]string{"f", "g", "h"})
	condition := func() plan.Condition {
		return plan.Condition{Precondition: ir.Precondition{Key: key.Draw(t, "key"), Operator: rapid.SampledFrom([]string{"exists", "not_exists", "eq", "neq"}).Draw(t, "operator"), Value: rapid.SampledFrom([]any{1.0, 2.0}).Draw(t, "wanted")}}
	}
	r := plan.Request{Order: plan.Partial, Initial: rapid.MapOfN(key, rapid.SampledFrom([]any{1.0, 2.0}), 0, 2).Draw(t, "initial")}
	n := rapid.IntRange(1, 7).Draw(t, "n")
	for i := range n {
		s := plan.Step{ID: ir.ActionID(fmt.Sprint("s", i))}
		if rapid.IntRange(0, 2).Draw(t, "conditions") == 0 {
			s.Preconditions = append(s.Preconditions, condition())
		}
		for range rapid.IntRange(0, 1).Draw(t, "adds") {
			s.Adds = append(s.Adds, plan.Effect{Key: key.Draw(t, "key"), Value: rapid.SampledFrom([]any{1.0, 2.0}).Draw(t, "value")})
		}
		s.Deletes = rapid.SliceOfN(key, 0, 1).Draw(t, "deletes")
		r.Steps = append(r.Steps, s)
	}
	for range rapid.IntRange(0, 10).Draw(t, "edges") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		if a < b {
			r.Edges = append(r.Edges, [2]ir.ActionID{r.Steps[a].ID, r.Steps[b].ID})
		}
	}
	for range rapid.IntRange(0, 1).Draw(t, "goals") {
		r.Goal = append(r.Goal, condition())
	}
	return r
}

// V-PLAN-3: partial_equals_all_orders: what is said of all orders is so of each, and what is denied fails in one.
func TestPartialEqualsAllOrders(t *testing.T) {
	t.Parallel()
	agreed := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		rep, err := plan.Check(r)
		if err != nil {
			t.Fatal(err)
		}
		applicable, achieves := true, true
		for _, order := range linearisations(r) {
			one := r
			one.Order, one.Edges, one.Steps = plan.Total, nil, order
			single, err := plan.Check(one)
			if err != nil {
				t.Fatal(err)
			}
			applicable, achieves = applicable && single.Applicable, achieves && single.AchievesGoal
		}
		if rep.Applicable != applicable || rep.AchievesGoal != achieves {
			t.Fatalf("all orders: %v, %v; each: %v, %v; %s", rep.Applicable, rep.AchievesGoal, applicable, achieves, defects(rep))
		}
		agreed[applicable]++
	})
	if agreed[true] < 5 || agreed[false] < 5 {
		t.Errorf("%v: the test says nothing", agreed)
	}
}

// linearisations are all orders of the steps that the edges allow.
func linearisations(r plan.Request) [][]plan.Step {
	var all [][]plan.Step
	var visit func(taken []plan.Step, left []plan.Step)
	visit = func(taken, left []plan.Step) {
		if len(left) == 0 {
			all = append(all, slices.Clone(taken))
		}
		for i, s := range left {
			if !slices.ContainsFunc(r.Edges, func(e [2]ir.ActionID) bool {
				return e[1] == s.ID && slices.ContainsFunc(left, func(o plan.Step) bool { return o.ID == e[0] })
			}) {
				visit(append(slices.Clone(taken), s), slices.Delete(slices.Clone(left), i, i+1))
			}
		}
	}
	visit(nil, r.Steps)
	return all
}

// V-PLAN-3: progression against a plain one, final state included.
func TestTotalEqualsProgression(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		r.Order, r.Edges = plan.Total, nil
		rep, err := plan.Check(r)
		if err != nil {
			t.Fatal(err)
		}
		state := map[string]any{}
		for k, v := range r.Initial {
			state[k] = v
		}
		met := func(conditions []plan.Condition) bool {
			return !slices.ContainsFunc(conditions, func(c plan.Condition) bool { v, ok := state[c.Key]; return !c.Holds(v, ok) })
		}
		applicable := true
		for _, s := range r.Steps {
			if !met(s.Preconditions) {
				applicable = false
				continue
			}
			for _, key := range s.Deletes {
				delete(state, key)
			}
			for _, e := range s.Adds {
				state[e.Key] = e.Value
			}
		}
		if rep.Applicable != applicable || rep.AchievesGoal != (applicable && met(r.Goal)) || !reflect.DeepEqual(rep.FinalState, state) {
			t.Fatalf("%+v, want applicable %v, state %v", rep, applicable, state)
		}
	})
}

// V-PLAN-1: a proposal as a plan says what verify says of it, and names what it leaves out.
func TestFromProposal(t *testing.T) {
	t.Parallel()
	p := ir.Proposal{Actions: []ir.Action{
		{ID: "make", Type: ir.StateWrite, Parameters: map[string]any{"key": "x", "value": 1.0}},
		{ID: "late", Type: ir.ToolCall, Tool: "t", StateDependencies: []string{"x"}, WriteSet: []string{"w"}, Compensation: &ir.Compensation{Type: ir.CompensateByAction, ActionID: "undo"}},
		{ID: "undo", Type: ir.ToolCall, Tool: "u", StateDependencies: []string{"never"}},
		{ID: "seen", Type: ir.Assertion, Parameters: map[string]any{"key": "gone"}},
		{ID: "said", Type: ir.ToolCall, Tool: "s", ExpectedEffects: map[string]any{"y": 2.0, "a": 1.0}, Preconditions: []ir.Precondition{{Key: "x", Operator: "eq", Value: 1.0}}},
	}}
	total := check(t, plan.FromProposal(p, nil, []plan.Condition{plan.Fact("y")}, plan.Total))
	if got := defects(total); got != "redundant_step seen; redundant_step late" {
		t.Errorf("total: %s", got)
	}
	if !slices.ContainsFunc(total.CannotVerify, func(s string) bool {
		return strings.Contains(s, "'w', which action 'late' writes with no declared value")
	}) {
		t.Errorf("cannot verify %q", total.CannotVerify)
	}
	partial := check(t, plan.FromProposal(p, nil, nil, plan.Partial))
	if got := defects(partial); got != "unsatisfied_precondition said x" {
		t.Errorf("partial: %s", got)
	}
	// In turn, it is what Simulate says.
	if sim := verify.Simulate(p, verify.Options{}); len(sim.Blocked) != 1 || !total.Applicable || !reflect.DeepEqual(sim.State, total.FinalState) {
		t.Errorf("%+v, simulated %+v", total, sim)
	}
}

// V-PLAN-1: the shapes that a request may have, and what is wrong with others, by path.
func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"steps":[{"id":"a","preconditions":["f",{"key":"g"},{"key":"h","operator":"gt","value":1,"description":"d"}],"add_effects":["f",{"key":"g","value":null}],"del_effects":["f",{"key":"g"}]}],"goal":[],"order":"total","edges":[]}`: "",
		`{"initial":{"a":null},"steps":null}`:        "",
		`{"order":"some"}`:                           `decode plan: order: unknown order "some" (one of total, partial)`,
		`{"steps":[{}]}`:                             "decode plan: steps[0].id: required",
		`{"steps":[{"id":"a","add_effects":[{}]}]}`:  "decode plan: steps[0].add_effects[0].key: required",
		`{"steps":[{"id":"a","preconditions":[3]}]}`: "decode plan: steps[0].preconditions[0]: number does not fit, an object is needed",
		`{"steps":[{"id":3}]}`:                       "decode plan: steps[0].id: number does not fit, a string is needed",
		`{"steps":{}}`:                               "decode plan: steps: object does not fit, an array is needed",
		`{"edges":[["a"]]}`:                          "decode plan: edges[0]: a pair of step ids is needed, not 1",
		`{"initial":7}`:                              "decode plan: initial: number does not fit, an array is needed",
		`{"goal":[{"key":"k","operator":5}]}`:        "decode plan: goal[0].operator: number does not fit, a string is needed",
		`{"goal":[],"goal":[]}`:                      `decode plan: duplicate name "goal"`,
		`[]`:                                         "decode plan: array does not fit, an object is needed",
	} {
		_, err := plan.Decode([]byte(text))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	r := decode(t, `{"initial":["f",{"key":"g","value":3},{"key":"h"}]}`)
	if !reflect.DeepEqual(r.Initial, map[string]any{"f": true, "g": 3.0, "h": true}) {
		t.Errorf("initial %v", r.Initial)
	}
}

// V-PLAN-3, V-GEN-6: a partial order that cannot be decided in bounds is an error, and one that can is quick.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := plan.Request{Order: plan.Partial, Steps: make([]plan.Step, 4097)}
	for i := range r.Steps {
		r.Steps[i].ID = ir.ActionID(fmt.Sprint(i))
	}
	if _, err := plan.Check(r); err == nil || !strings.Contains(err.Error(), "4097 steps has too many orders") {
		t.Errorf("error %v", err)
	}
	for i := range r.Steps {
		r.Steps[i].Adds = []plan.Effect{{Key: "k", Value: 1.0}}
		r.Steps[i].Preconditions = []plan.Condition{{Precondition: ir.Precondition{Key: "k", Operator: "neq", Value: 2.0}}}
	}
	r.Steps = r.Steps[:1000]
	if rep, err := plan.Check(r); err != nil || !rep.Applicable {
		t.Errorf("a thousand writers of one key: %v", err)
	}
	r.Steps = r.Steps[:4000]
	if _, err := plan.Check(r); err == nil || !strings.Contains(err.Error(), "order them, or check one order") {
		t.Errorf("error %v", err)
	}
}

// V-PLAN-2, V-GEN-3: the wire form.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(check(t, decode(t, `{"initial":["f"],"steps":[{"id":"a","del_effects":["f"]},{"id":"b","preconditions":["f"]}]}`)))
	want := `{"applicable":false,"achieves_goal":false,"defects":[{"kind":"clobbered_precondition","severity":"error","step_id":"b","key":"f","message":"precondition of 'b' f exists does not hold: 'f' is absent after 'a'; it held until 'a'","clobbered_by":"a"}],"links":[],"tier":"decision_procedure","cannot_verify":["effects that depend on the state they meet","time and resources","a world that changes by itself"]}`
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\n%s", err, text, want)
	}
}

// V-BEYOND-7: any text decodes and is checked the same twice, or is refused.
func FuzzPlan(f *testing.F) {
	f.Add(cargo)
	f.Add(`{"order":"partial","initial":{"k":[1]},"steps":[{"id":"a","preconditions":[{"key":"k","operator":"contains","value":1}],"del_effects":["k"]},{"id":"b","add_effects":["k"]}],"edges":[["a","b"],["b","a"]],"goal":["k"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := plan.Decode([]byte(text))
		if err != nil {
			return
		}
		one, err := plan.Check(r)
		two, _ := plan.Check(r)
		if !reflect.DeepEqual(one, two) {
			t.Fatalf("%+v, then %+v", one, two)
		}
		if err == nil && one.AchievesGoal && !one.Applicable {
			t.Fatal("an inapplicable plan achieves its goal")
		}
	})
}
