package goal_test

import (
	"fmt"
	"strings"
	"testing"

	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/model"
)

// V-GOAL-1: every condition decodes; what is wrong is named with its path.
func TestDecode(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"all_of","conditions":[`, 34) + `{"type":"plan_achieved"}` + strings.Repeat(`]}`, 34)
	for text, want := range map[string]string{
		`{"type":"state_predicate","key":"k"}`:                                                           "",
		`{"type":"state_predicate","key":"k","operator":"gt","value":3}`:                                 "",
		`{"type":"any_of","conditions":[{"type":"state_consistent"},{"type":"tool_receipts_grounded"}]}`: "",
		`{"type":"command","id":"c","expect_exit":2}`:                                                    "",
		`{"type":"model_judge","id":"j","criteria":"x"}`:                                                 "",
		`{"goal":"do it","condition":{"type":"plan_achieved"},"governor":{"max_turns":3}}`:               "",
		`{"type":"nope"}`:   `type: unknown condition "nope" (one of state_predicate, all_of, any_of, tool_receipts_grounded, plan_achieved, state_consistent, command, model_judge)`,
		`{}`:                `type: unknown condition ""`,
		`{"type":"all_of"}`: "conditions: at least one is needed",
		`{"type":"all_of","conditions":[{"type":"plan_achieved"},{"type":"command"}]}`: "conditions[1].id: required",
		`{"condition":{"type":"any_of","conditions":[{"type":"state_predicate"}]}}`:    "condition.conditions[0].key: required",
		`{"type":"command","id":"c","expect_exit":"x"}`:                                "decode goal: expect_exit: string does not fit, a whole number is needed",
		`[]`:                      "an object is needed",
		`{"type":"a","type":"b"}`: "duplicate name",
		deep:                      "conditions are nested over 32 deep",
		`{`:                       "",
	} {
		_, err := goal.Decode([]byte(text))
		switch {
		case want == "" && text != `{` && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)), text == `{` && err == nil:
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
	c, err := goal.Decode([]byte(`{"type":"all_of","conditions":[{"type":"state_predicate","key":"k","value":3}]}`))
	if err != nil || c.Operator != "" || c.Conditions[0].Operator != "eq" || c.Conditions[0].Value != 3.0 {
		t.Errorf("%v %+v", err, c)
	}
}

// V-MC-5, V-VERIFY-4: what a state tells; the rest is named and never met.
func TestDecide(t *testing.T) {
	t.Parallel()
	look := func(key string) (any, model.Presence) {
		switch key {
		case "yes":
			return true, model.Present
		case "open":
			return nil, model.Unknown
		default:
			return nil, model.Absent
		}
	}
	const yes, no, open, command = `{"type":"state_predicate","key":"yes","value":true}`, `{"type":"state_predicate","key":"no","value":true}`, `{"type":"state_predicate","key":"open"}`, `{"type":"command","id":"c"}`
	list := func(kind string, parts ...string) string {
		return fmt.Sprintf(`{"type":%q,"conditions":[%s]}`, kind, strings.Join(parts, ","))
	}
	for text, want := range map[string]string{
		yes:                              "2 [] ",
		no:                               "0 [] no eq true does not hold",
		open:                             "1 [open] state key 'open' is set at run time",
		command:                          "1 [c] command 'c' cannot be decided from state",
		`{"type":"plan_achieved"}`:       "1 [plan_achieved] plan_achieved 'plan_achieved' cannot be decided from state",
		list("all_of", yes, yes):         "2 [] ",
		list("all_of", yes, command):     "1 [c] command 'c' cannot be decided from state",
		list("all_of", command, no, yes): "0 [c] no eq true does not hold",
		list("any_of", no, yes):          "2 [] ",
		list("any_of", no, command):      "1 [c] command 'c' cannot be decided from state",
		list("any_of", no, no):           "0 [] no eq true does not hold",
		list("any_of", list("all_of", no, command), open): "1 [c open] state key 'open' is set at run time",
	} {
		c, err := goal.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f := goal.Decide(c, look)
		if got := fmt.Sprint(f.Answer, " ", f.Open, " ", f.Reason); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	// What was built in Go and would not decode is unmet.
	loop := goal.Condition{Type: goal.AnyOf}
	for range 100 {
		loop = goal.Condition{Type: goal.AnyOf, Conditions: []goal.Condition{loop}}
	}
	for _, c := range []goal.Condition{{Type: goal.AllOf}, {Type: goal.AnyOf}, loop} {
		if f := goal.Decide(c, look); f.Answer != goal.Unmet || f.Reason == "" {
			t.Errorf("%+v", f)
		}
	}
}

// V-MC-5: what no state decides is listed once, in order.
func TestUnderivable(t *testing.T) {
	t.Parallel()
	c, err := goal.Decode([]byte(`{"type":"all_of","conditions":[{"type":"model_judge","id":"j"},{"type":"state_predicate","key":"k"},{"type":"any_of","conditions":[{"type":"plan_achieved"},{"type":"model_judge","id":"j"}]}]}`))
	if got := goal.Underivable(c); err != nil || strings.Join(got, " ") != "j plan_achieved" {
		t.Errorf("%v %v", err, got)
	}
	if got := goal.Underivable(goal.Condition{Type: goal.StatePredicate}); got == nil || len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// V-BEYOND-7: any text either fails to decode or is decided the same twice.
func FuzzGoal(f *testing.F) {
	f.Add(`{"type":"all_of","conditions":[{"type":"state_predicate","key":"k","operator":"contains","value":["x"]}]}`)
	f.Add(`{"condition":{"type":"any_of","conditions":[{"type":"command","id":"c"}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := goal.Decode([]byte(text))
		if err != nil {
			return
		}
		look := func(key string) (any, model.Presence) { return key, model.Presence(len(key) % 3) }
		if a, b := fmt.Sprintf("%+v", goal.Decide(c, look)), fmt.Sprintf("%+v", goal.Decide(c, look)); a != b {
			t.Fatalf("%s, then %s", a, b)
		}
		goal.Underivable(c)
	})
}
