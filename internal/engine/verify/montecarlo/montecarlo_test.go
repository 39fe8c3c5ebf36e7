package montecarlo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/montecarlo"
	"car/internal/engine/verify/report"
)

func call(id, tool, effect string, needs ...string) ir.Action {
	return ir.Action{ID: ir.ActionID(id), Type: ir.ToolCall, Tool: tool, ExpectedEffects: map[string]any{effect: true}, StateDependencies: needs}
}

func plan(actions ...ir.Action) ir.Proposal { return ir.Proposal{ID: "p", Actions: actions} }

func want(key string) *goal.Condition {
	return &goal.Condition{Type: goal.StatePredicate, Key: key, Operator: "eq", Value: true}
}

func run(t testing.TB, p ir.Proposal, in montecarlo.Input, change func(*montecarlo.Config)) montecarlo.Result {
	t.Helper()
	cfg := montecarlo.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	r, err := montecarlo.Run(context.Background(), p, in, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exact(c *montecarlo.Config) { c.Method = montecarlo.Exact }

// chain is build, then test, then deploy.
func chain() ir.Proposal {
	return plan(call("build", "b", "built"), call("test", "t", "tested", "built"), call("deploy", "d", "deployed", "tested"), call("other", "o", "apart"))
}

var rates = map[string]float64{"b": 0.9, "t": 0.5, "d": 0.8, "o": 0.3}

// V-MC-3, V-GEN-2: same_seed_same_bytes, and another seed gives others.
func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	in := montecarlo.Input{Rates: rates, Goal: want("deployed"), State: map[string]any{"a": 1.0, "b": []any{}, "c": nil}}
	first := text(t, run(t, chain(), in, nil))
	for range 20 {
		if again := text(t, run(t, chain(), in, nil)); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
	if other := text(t, run(t, chain(), in, func(c *montecarlo.Config) { c.Seed = 7 })); other == first {
		t.Error("the seed does not matter")
	}
}

// V-MC-3: action_order_irrelevant: a moved or added action leaves every other draw alone.
func TestActionOrderIrrelevant(t *testing.T) {
	t.Parallel()
	p := chain()
	outcome := func(p ir.Proposal, id ir.ActionID) montecarlo.ActionOutcome {
		for _, o := range run(t, p, montecarlo.Input{Rates: rates}, nil).ActionOutcomes {
			if o.ActionID == id {
				return o
			}
		}
		return montecarlo.ActionOutcome{}
	}
	moved := plan(p.Actions[3], p.Actions[0], call("new", "b", "x"), p.Actions[1], p.Actions[2])
	for _, id := range []ir.ActionID{"build", "test", "deploy", "other"} {
		if a, b := outcome(p, id), outcome(moved, id); a != b {
			t.Errorf("%s: %+v, moved %+v", id, a, b)
		}
	}
	if a, b := outcome(plan(call("x", "b", "k")), "x"), outcome(plan(call("y", "b", "k")), "y"); a.PFailed == b.PFailed {
		t.Error("two actions have the same luck")
	}
}

// V-MC-2: rate_one_equals_simulate: sure tools leave what Simulate says.
func TestRateOneEqualsSimulate(t *testing.T) {
	t.Parallel()
	p := plan(call("a", "t", "x"), call("b", "t", "y", "missing"), ir.Action{ID: "c", Type: ir.StateWrite, Parameters: map[string]any{"key": "z", "value": 3.0}},
		ir.Action{ID: "d", Type: ir.Assertion, Parameters: map[string]any{"key": "z", "expected": 4.0}, Dependencies: []ir.ActionID{"c"}}, ir.Action{ID: "e", Type: ir.StateRead, Parameters: map[string]any{"key": "z"}, Dependencies: []ir.ActionID{"d"}})
	r := run(t, p, montecarlo.Input{Rates: map[string]float64{"t": 1}, State: map[string]any{"s": 1.0}}, nil)
	state := map[string]any{}
	for _, k := range r.StateDistribution {
		if k.PPresent != 1 || len(k.Values) != 1 || k.Values[0].Probability != 1 {
			t.Errorf("%+v is not certain", k)
		}
		state[k.Key] = k.Values[0].Value
	}
	if sim := verify.Simulate(p, verify.Options{State: map[string]any{"s": 1.0}}); !reflect.DeepEqual(state, sim.State) {
		t.Errorf("%v, simulated %v", state, sim.State)
	}
	var ends []string
	for _, o := range r.ActionOutcomes {
		ends = append(ends, fmt.Sprint(o.ActionID, o.PRejected, o.PFailed, o.PEffectsLanded))
	}
	if got := strings.Join(ends, " "); got != "a0 0 1 b1 0 0 c0 0 1 d0 1 0 e1 0 0" || r.PAllEffectsLanded != 0 || r.ActionsExecuted.Mean != 3 || r.ToolCalls.Max != 1 {
		t.Errorf("%s, executed %+v, calls %+v", got, r.ActionsExecuted, r.ToolCalls)
	}
}

// V-MC-2, V-MC-4: rate_zero_rejects_dependents, with the blast radius of what failed.
func TestRateZeroRejectsDependents(t *testing.T) {
	t.Parallel()
	r := run(t, chain(), montecarlo.Input{Rates: map[string]float64{"b": 0, "t": 1, "d": 1, "o": 1}, Goal: want("deployed")}, nil)
	if *r.PGoalReached != 0 || r.PGoalCI95[0] != 0 || r.PGoalCI95[1] <= 0 || r.PGoalCI95[1] > 0.005 {
		t.Errorf("goal %v, interval %v", *r.PGoalReached, *r.PGoalCI95)
	}
	build, other := r.ActionOutcomes[0], r.ActionOutcomes[3]
	if build.PFailed != 1 || build.MeanBlastRadius != 2 || r.ActionOutcomes[1].PRejected != 1 || r.ActionOutcomes[2].PRejected != 1 || other.PEffectsLanded != 1 || other.MeanBlastRadius != 0 {
		t.Errorf("outcomes %+v", r.ActionOutcomes)
	}
}

// V-MC-1, V-MC-2: retries_raise_success, from the configuration or from the plan.
func TestRetriesRaiseSuccess(t *testing.T) {
	t.Parallel()
	p := plan(call("a", "t", "x"))
	p.Actions[0].FailureBehavior, p.Actions[0].MaxRetries = ir.Retry, 2
	in := montecarlo.Input{Rates: map[string]float64{"t": 0.5}, Goal: want("x")}
	for _, c := range []struct {
		change func(*montecarlo.Config)
		p      float64
		calls  float64
	}{
		{exact, 0.5, 1}, {func(c *montecarlo.Config) { exact(c); c.RetryAttempts = 1 }, 0.75, 1.5}, {func(c *montecarlo.Config) { exact(c); c.RetryFromPlan = true }, 0.875, 1.75},
	} {
		r := run(t, p, in, c.change)
		if math.Abs(*r.PGoalReached-c.p) > 1e-12 || math.Abs(r.ToolCalls.Mean-c.calls) > 1e-12 {
			t.Errorf("goal %v, calls %+v; want %v and %v", *r.PGoalReached, r.ToolCalls, c.p, c.calls)
		}
	}
	once, thrice := run(t, p, in, nil), run(t, p, in, func(c *montecarlo.Config) { c.RetryFromPlan = true })
	if *thrice.PGoalReached <= *once.PGoalReached+0.2 {
		t.Errorf("with retries %v, without %v", *thrice.PGoalReached, *once.PGoalReached)
	}
}

// V-MC-4, V-MC-5: null_without_goal, undecidable_listed.
func TestGoals(t *testing.T) {
	t.Parallel()
	r := run(t, chain(), montecarlo.Input{Rates: rates}, nil)
	if got := text(t, r); r.PGoalReached != nil || !strings.Contains(got, `"p_goal_reached":null,"p_goal_ci95":null,"goal_underivable_conditions":[]`) {
		t.Errorf("without a goal: %s", got)
	}
	both := &goal.Condition{Type: goal.AllOf, Conditions: []goal.Condition{*want("apart"), {Type: goal.Command, ID: "c"}, {Type: goal.PlanAchieved}}}
	r = run(t, chain(), montecarlo.Input{Rates: map[string]float64{"o": 1}, Goal: both}, nil)
	if *r.PGoalReached != 0 || !slices.Equal(r.GoalUnderivableConditions, []string{"c", "plan_achieved"}) {
		t.Errorf("goal %v beside %v", *r.PGoalReached, r.GoalUnderivableConditions)
	}
	either := &goal.Condition{Type: goal.AnyOf, Conditions: both.Conditions}
	if r := run(t, chain(), montecarlo.Input{Rates: map[string]float64{"o": 1}, Goal: either}, nil); *r.PGoalReached != 1 {
		t.Errorf("any of: %v", *r.PGoalReached)
	}
}

// V-MC-4: what rests on unknown keys is taken as satisfied and named.
func TestUndecidedActions(t *testing.T) {
	t.Parallel()
	fetch := call("fetch", "f", "done")
	fetch.WriteSet = []string{"page"}
	r := run(t, plan(fetch, call("parse", "p", "parsed", "page")), montecarlo.Input{Rates: map[string]float64{"f": 1, "p": 1}, Goal: want("parsed")}, nil)
	if *r.PGoalReached != 1 || !slices.Equal(r.UndecidedActions, []ir.ActionID{"parse"}) {
		t.Errorf("goal %v, undecided %v", *r.PGoalReached, r.UndecidedActions)
	}
	for _, k := range r.StateDistribution {
		if k.Key == "page" && (k.PUnknown != 1 || k.PPresent != 0 || len(k.Values) != 0) {
			t.Errorf("page: %+v", k)
		}
	}
}

// V-MC-4: values by probability, then canonical JSON, equal ones together, 16 at most; keys sorted, absent ones left out.
func TestStateDistribution(t *testing.T) {
	t.Parallel()
	var p ir.Proposal
	for i := range 20 {
		a := call(fmt.Sprint("a", i), fmt.Sprint("t", i), "k")
		a.ExpectedEffects["k"] = float64(i % 18)
		a.ExpectedEffects["never"], a.Preconditions = 1.0, nil
		if i > 0 {
			a.After = []ir.ActionID{ir.ActionID(fmt.Sprint("a", i-1))}
			delete(a.ExpectedEffects, "never")
		}
		p.Actions = append(p.Actions, a)
	}
	p.Actions[0].StateDependencies = []string{"gone"}
	r := run(t, p, montecarlo.Input{State: map[string]any{"z": 1.0}}, func(c *montecarlo.Config) { c.Trials = 20_000; c.DefaultSuccessRate = 0.2 })
	if len(r.StateDistribution) != 2 || r.StateDistribution[0].Key != "k" || r.StateDistribution[1].Key != "z" {
		t.Fatalf("%+v", r.StateDistribution)
	}
	k := r.StateDistribution[0]
	if len(k.Values) != 16 || k.Values[0].Value != 1.0 || !slices.IsSortedFunc(k.Values, func(a, b montecarlo.ValueFrequency) int {
		return int(math.Copysign(1, b.Probability-a.Probability)) * map[bool]int{true: 0, false: 1}[a.Probability == b.Probability]
	}) {
		t.Errorf("%+v", k.Values)
	}
}

// V-MC-1, V-MC-6: clamped_and_default_rates, laplace_one_of_one_is_two_thirds, and where each came from.
func TestRates(t *testing.T) {
	t.Parallel()
	h := montecarlo.History{WindowDays: 30, Trajectories: 4, Counts: map[string]montecarlo.Count{"a": {1, 1}, "b": {0, 8}, "c": {5, 5}, "n": {0, 0}}}
	p := montecarlo.ResolveRates([]string{"d", "c", "a", "b", "a", "e", "n"}, h, map[string]float64{"c": 7, "e": -1, "unused": 0.5}, 0.4)
	var got []string
	for _, r := range p.Tools {
		got = append(got, fmt.Sprintf("%s %.4f %s", r.Tool, r.Rate, r.Source))
	}
	if strings.Join(got, ", ") != "a 0.6667 trajectories, b 0.1000 trajectories, c 1.0000 caller, d 0.4000 default, e 0.0000 caller, n 0.4000 default" || !slices.Equal(p.OverriddenByCaller, []string{"c"}) {
		t.Errorf("%q, overridden %v", got, p.OverriddenByCaller)
	}
	if wire := text(t, p); !strings.Contains(wire, `{"tool":"a","rate":0.6666666666666666,"source":"trajectories","succeeded":1,"dispatched":1}`) || !strings.Contains(wire, `{"tool":"d","rate":0.4,"source":"default","succeeded":null,"dispatched":null}`) {
		t.Error(wire)
	}
}

// V-MC-1, V-MC-7: what would make a result meaningless is an error.
func TestErrors(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	var wide ir.Proposal
	for i := range 25 {
		wide.Actions = append(wide.Actions, call(fmt.Sprint(i), "t", fmt.Sprint(i)))
	}
	for name, c := range map[string]struct {
		p      ir.Proposal
		in     montecarlo.Input
		change func(*montecarlo.Config)
		words  string
	}{
		"no trials":         {chain(), montecarlo.Input{}, func(c *montecarlo.Config) { c.Trials = 0 }, "trials: 0 is outside 1..1000000"},
		"too many trials":   {chain(), montecarlo.Input{}, func(c *montecarlo.Config) { c.Trials = 1_000_001 }, "trials: 1000001"},
		"no default":        {chain(), montecarlo.Input{}, func(c *montecarlo.Config) { c.DefaultSuccessRate = nan }, "NaN is no rate"},
		"no rate":           {chain(), montecarlo.Input{Rates: map[string]float64{"b": nan}}, func(*montecarlo.Config) {}, "rate of tool 'b': NaN"},
		"negative retries":  {chain(), montecarlo.Input{}, func(c *montecarlo.Config) { c.RetryAttempts = -1 }, "retry_attempts"},
		"too many outcomes": {wide, montecarlo.Input{}, exact, "over 1048576 outcomes; sample them"},
		"too many actions":  {plan(make([]ir.Action, 10_001)...), montecarlo.Input{}, exact, "10001 actions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := montecarlo.DefaultConfig()
			c.change(&cfg)
			if _, err := montecarlo.Run(context.Background(), c.p, c.in, cfg); err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("error %v, want %q", err, c.words)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	if _, err := montecarlo.Run(ctx, chain(), montecarlo.Input{}, montecarlo.DefaultConfig()); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("a cancelled run: %v", err)
	}
}

// V-MC-7, V-GEN-3: the exact method decides; sampling is sampled.
func TestTiers(t *testing.T) {
	t.Parallel()
	if r := run(t, chain(), montecarlo.Input{Rates: rates, Goal: want("deployed")}, exact); r.Tier != report.DecisionProcedure || math.Abs(*r.PGoalReached-0.36) > 1e-12 || r.PGoalCI95 != nil || r.Trials != 0 || r.ToolCalls.Max != 4 || r.ToolCalls.Min != 2 {
		t.Errorf("%+v", r)
	}
	if r := run(t, chain(), montecarlo.Input{Rates: rates}, nil); r.Tier != report.Sampled || len(r.CannotVerify) == 0 || r.Trials != 1000 {
		t.Errorf("%+v", r)
	}
}

// drawPlan makes a plan of a few calls that rest on each other.
func drawPlan(t *rapid.T) (ir.Proposal, montecarlo.Input) {
	key := rapid.SampledFrom([]string{"k1", "k2", "k3"})
	var p ir.Proposal
	for i := range rapid.IntRange(1, 6).Draw(t, "n") {
		a := call(fmt.Sprint("a", i), rapid.SampledFrom([]string{"t", "u", "v"}).Draw(t, "tool"), key.Draw(t, "effect"), rapid.SliceOfN(key, 0, 1).Draw(t, "needs")...)
		a.FailureBehavior = rapid.SampledFrom([]ir.FailureBehavior{ir.Abort, ir.Skip, ir.Retry}).Draw(t, "behaviour")
		if i > 0 && rapid.Bool().Draw(t, "requires") {
			a.Dependencies = []ir.ActionID{ir.ActionID(fmt.Sprint("a", rapid.IntRange(0, i-1).Draw(t, "on")))}
		}
		if rapid.IntRange(0, 2).Draw(t, "gated") == 0 {
			a.Preconditions = []ir.Precondition{{Key: key.Draw(t, "key"), Operator: rapid.SampledFrom([]string{"exists", "not_exists"}).Draw(t, "operator")}}
		}
		p.Actions = append(p.Actions, a)
	}
	in := montecarlo.Input{Goal: want("k1"), State: rapid.MapOfN(key, rapid.Just[any](false), 0, 2).Draw(t, "state"), Rates: map[string]float64{}}
	for _, tool := range []string{"t", "u", "v"} {
		in.Rates[tool] = rapid.SampledFrom([]float64{0, 0.2, 0.5, 0.9, 1}).Draw(t, "rate")
	}
	return p, in
}

// V-BEYOND-6, V-MC-7: converges_to_exact, montecarlo_within_4.5_sigma_of_exact.
func TestConvergesToExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, in := drawPlan(t)
		retries := rapid.IntRange(0, 2).Draw(t, "retries")
		ask := func(m montecarlo.Method) montecarlo.Result {
			cfg := montecarlo.DefaultConfig()
			cfg.Method, cfg.RetryAttempts, cfg.Trials = m, retries, 2000
			r, err := montecarlo.Run(context.Background(), p, in, cfg)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		truth, sampled := ask(montecarlo.Exact), ask(montecarlo.Sample)
		close := func(what string, p, q float64) {
			if sigma := math.Sqrt(p * (1 - p) / 2000); math.Abs(p-q) > 4.5*sigma+1e-9 {
				t.Fatalf("%s: exact %v, sampled %v", what, p, q)
			}
		}
		close("goal", *truth.PGoalReached, *sampled.PGoalReached)
		close("all landed", truth.PAllEffectsLanded, sampled.PAllEffectsLanded)
		for i, o := range truth.ActionOutcomes {
			s := sampled.ActionOutcomes[i]
			close("rejected", o.PRejected, s.PRejected)
			close("failed", o.PFailed, s.PFailed)
			close("landed", o.PEffectsLanded, s.PEffectsLanded)
			if sum := o.PRejected + o.PFailed + o.PEffectsLanded; math.Abs(sum-1) > 1e-9 || s.MeanBlastRadius < 0 || s.MeanBlastRadius > float64(len(p.Actions)) {
				t.Fatalf("outcomes add up to %v, blast %v", sum, s.MeanBlastRadius)
			}
		}
	})
}

// V-MC-2, V-MC-4: the exact method against every combination of outcomes, each simulated as a plan of its own.
func TestExactEqualsEnumeration(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, in := drawPlan(t)
		cfg := montecarlo.DefaultConfig()
		cfg.Method = montecarlo.Exact
		r, err := montecarlo.Run(context.Background(), p, in, cfg)
		if err != nil {
			t.Fatal(err)
		}
		reached := 0.0
		for luck := range 1 << len(p.Actions) {
			weight := 1.0
			names := []string{}
			world := plan(slices.Clone(p.Actions)...)
			for i := range world.Actions {
				rate := in.Rates[world.Actions[i].Tool]
				world.Actions[i].Tool = fmt.Sprint("tool", i)
				if luck&(1<<i) != 0 {
					weight *= rate
					names = append(names, world.Actions[i].Tool)
				} else {
					weight *= 1 - rate
				}
			}
			// A tool that is not registered leaves nothing, as a call that fails does.
			if v, ok := verify.Simulate(world, verify.Options{State: in.State, ToolNames: names}).State["k1"]; ok && v == true {
				reached += weight
			}
		}
		if math.Abs(reached-*r.PGoalReached) > 1e-9 {
			t.Fatalf("enumerated %v, exact %v", reached, *r.PGoalReached)
		}
	})
}

// B-COMP-4: what is kept as an undo is rejected in every trial and spoils nothing.
func TestReservedActions(t *testing.T) {
	t.Parallel()
	p := plan(call("a", "t", "x"), call("b", "t", "y"))
	p.Actions[0].Compensation = &ir.Compensation{Type: ir.CompensateByAction, ActionID: "b"}
	r := run(t, p, montecarlo.Input{Rates: map[string]float64{"t": 1}}, nil)
	if r.PAllEffectsLanded != 1 || r.ActionOutcomes[1].PRejected != 1 {
		t.Errorf("%+v", r)
	}
}
