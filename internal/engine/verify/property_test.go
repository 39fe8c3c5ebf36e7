package verify_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/report"
	"car/internal/engine/verify/schema"
)

// drawPlan makes any proposal: few keys and tools, so that everything meets; now and
// then ids that are doubled, unknown or in a cycle.
func drawPlan(t *rapid.T, most int, wild bool) ir.Proposal {
	n := rapid.IntRange(0, most).Draw(t, "n")
	key := rapid.SampledFrom([]string{"k1", "k2", "k3", "k4"})
	value := rapid.SampledFrom([]any{nil, 1.0, 2.0, "a", true})
	id := func(label string, last int) ir.ActionID {
		return ir.ActionID(fmt.Sprint("a", rapid.IntRange(0, last).Draw(t, label)))
	}
	p := ir.Proposal{ID: "p"}
	for i := range n {
		a := ir.Action{ID: ir.ActionID(fmt.Sprint("a", i)), Type: rapid.SampledFrom([]ir.ActionType{ir.ToolCall, ir.ToolCall, ir.ToolCall, ir.StateWrite, ir.StateRead, ir.Assertion}).Draw(t, "type"),
			FailureBehavior: rapid.SampledFrom([]ir.FailureBehavior{ir.Abort, ir.Skip, ir.Skip}).Draw(t, "behaviour"), MaxRetries: 1}
		switch a.Type {
		case ir.ToolCall:
			a.Tool = rapid.SampledFrom([]string{"t", "u", "v"}).Draw(t, "tool")
			a.Parameters = map[string]any{"n": rapid.SampledFrom([]any{1.0, 2.0, 3.0, "x"}).Draw(t, "parameter")}
			a.WriteSet = rapid.SliceOfN(key, 0, 1).Draw(t, "write_set")
		case ir.StateWrite:
			a.Parameters = map[string]any{"key": key.Draw(t, "key"), "value": value.Draw(t, "value")}
		default:
			a.Parameters = map[string]any{"key": key.Draw(t, "key"), "expected": value.Draw(t, "value")}
		}
		a.ExpectedEffects = rapid.MapOfN(key, value, 0, 2).Draw(t, "effects")
		a.StateDependencies = rapid.SliceOfN(key, 0, 1).Draw(t, "needs")
		for range rapid.IntRange(0, 1).Draw(t, "conditions") {
			a.Preconditions = append(a.Preconditions, ir.Precondition{Key: key.Draw(t, "key"), Operator: rapid.SampledFrom([]string{"eq", "neq", "exists", "not_exists", "gt", "odd"}).Draw(t, "operator"), Value: value.Draw(t, "value")})
		}
		last := i - 1
		if wild && rapid.IntRange(0, 9).Draw(t, "wild") == 0 {
			last = n
			if rapid.Bool().Draw(t, "doubled") {
				a.ID = "a0"
			}
		}
		if last >= 0 && rapid.IntRange(0, 2).Draw(t, "requires") == 0 {
			a.Dependencies = []ir.ActionID{id("on", last)}
		}
		if last >= 0 && rapid.IntRange(0, 2).Draw(t, "after") == 0 {
			a.After = []ir.ActionID{id("behind", last)}
		}
		if rapid.IntRange(0, 9).Draw(t, "undo") == 0 {
			a.Reversibility = ir.Compensable
			if rapid.Bool().Draw(t, "by action") {
				a.Compensation = &ir.Compensation{Type: ir.CompensateByAction, ActionID: id("undone by", n)}
			}
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

func drawState(t *rapid.T) map[string]any {
	return rapid.MapOfN(rapid.SampledFrom([]string{"k1", "k2", "k3", "k4", "other"}), rapid.SampledFrom([]any{nil, 1.0, 2.0, "a", true}), 0, 4).Draw(t, "state")
}

func drawOptions(t *rapid.T) verify.Options {
	o := verify.Options{State: drawState(t), MaxActions: rapid.SampledFrom([]int{0, 3, -1}).Draw(t, "limit")}
	switch rapid.IntRange(0, 2).Draw(t, "registry") {
	case 1:
		o.ToolNames = []string{"t", "u"}
	case 2:
		o.Schemas = schema.NewSet([]ir.ToolSchema{{Name: "t", Parameters: json.RawMessage(`{"properties":{"n":{"type":"number","maximum":2}}}`)}, {Name: "u"}})
	}
	if rapid.Bool().Draw(t, "goal") {
		o.Goal = &goal.Condition{Type: goal.StatePredicate, Key: "k1", Operator: "eq", Value: 1.0}
	}
	return o
}

// V-BEYOND-6: evidence_invariants, inputs_unchanged, and V-GEN-6: whatever is asked is answered.
func TestAnyPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawPlan(t, 9, true), drawOptions(t)
		before, stateBefore := asText(t, p), asText(t, o.State)
		r := verify.Verify(p, o)
		holdsInvariants(t, r)
		verify.Simulate(p, o)
		verify.Optimize(p)
		verify.Equivalent(p, p, verify.EquivalenceOptions{Derive: true})
		if asText(t, p) != before || asText(t, o.State) != stateBefore {
			t.Fatal("an input was changed")
		}
		if n := 0; !r.Valid {
			return
		} else if n = len(verify.Blocking(r)); n > 0 {
			t.Fatalf("%d issues block a valid proposal", n)
		}
	})
}

func asText(t interface{ Fatal(...any) }, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// V-BEYOND-5: each witness shows its finding alone, and does not once any of its actions is taken away.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	isolated := 0
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawPlan(t, 9, false), drawOptions(t)
		index := map[ir.ActionID]int{}
		for i, a := range p.Actions {
			index[a.ID] = i
		}
		for _, issue := range verify.Verify(p, o).Issues {
			if issue.Check == "action_ids" || issue.Check == "loop_detection" {
				continue
			}
			var witness []int
			for _, id := range issue.Explain.Witness {
				witness = append(witness, index[id])
			}
			if len(witness) == 0 && issue.ActionID != "proposal" {
				t.Fatalf("no witness for %+v", issue)
			}
			isolated++
			shows := func(indices []int) bool {
				return slices.ContainsFunc(verify.Verify(verify.Part(p, indices), o).Issues, func(other verify.Issue) bool {
					return other.Check == issue.Check && other.ActionID == issue.ActionID && (other.Message == issue.Message || issue.Check == "resource_bounds")
				})
			}
			if !shows(witness) {
				t.Fatalf("%v alone do not show %s", issue.Explain.Witness, issue.Message)
			}
			for at := range witness {
				if shows(slices.Delete(slices.Clone(witness), at, at+1)) {
					t.Fatalf("%v show %s without %d of them", issue.Explain.Witness, issue.Message, at)
				}
			}
		}
	})
	if isolated < 100 {
		t.Errorf("only %d witnesses were looked at", isolated)
	}
}

// V-BEYOND-6: optimize_preserves_simulate where the state holds what it names, and always for a state.
func TestOptimizePreservesSimulate(t *testing.T) {
	t.Parallel()
	same := func(t *rapid.T, a, b ir.Proposal, o verify.Options) {
		x, y := verify.Simulate(a, o), verify.Simulate(b, o)
		if !reflect.DeepEqual(x, y) {
			t.Fatalf("from %v:\n%+v\n%+v", o.State, x, y)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawPlan(t, 9, false), verify.Options{State: drawState(t)}
		if o.State == nil {
			o.State = map[string]any{}
		}
		same(t, p, verify.OptimizeFor(p, o.State).Proposal, o)
		opt := verify.Optimize(p)
		if opt.LevelsBefore != opt.LevelsAfter {
			t.Fatal("pruning changed a level")
		}
		for _, key := range opt.HoldsIf {
			o.State[key] = 1.0
		}
		same(t, p, opt.Proposal, o)
	})
}

// V-BEYOND-6: clean_verdict_simulates_unblocked.
func TestCleanVerdictSimulatesUnblocked(t *testing.T) {
	t.Parallel()
	clean := 0
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawPlan(t, 4, false), drawOptions(t)
		o.MaxActions = -1
		for i := range p.Actions {
			p.Actions[i].Reversibility, p.Actions[i].Compensation = ir.Irreversible, nil
			p.Actions[i].WriteSet = nil
			if p.Actions[i].Type != ir.ToolCall {
				p.Actions[i].ExpectedEffects = nil
			}
		}
		r := verify.Verify(p, o)
		if len(r.Issues) > 0 {
			return
		}
		clean++
		sim := verify.Simulate(p, o)
		if len(sim.Blocked)+len(sim.Undecided) > 0 || !reflect.DeepEqual(sim.State, r.SimulatedState) {
			t.Fatalf("a clean plan simulates as %+v, not %v", sim, r.SimulatedState)
		}
	})
	if clean < 10 {
		t.Errorf("only %d plans were clean", clean)
	}
}

// V-BEYOND-6: verdict_stable_under_reordering: neighbours that share no key and no id may change places.
func TestVerdictStableUnderReordering(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawPlan(t, 8, false), drawOptions(t)
		o.MaxActions = -1
		for i := range p.Actions {
			p.Actions[i].Compensation = nil // of two that name one undo, the last has it
		}
		q := ir.Proposal{ID: p.ID, Actions: slices.Clone(p.Actions)}
		for range 20 {
			if len(q.Actions) < 2 {
				return
			}
			at := rapid.IntRange(0, len(q.Actions)-2).Draw(t, "at")
			if apart(q.Actions[at], q.Actions[at+1]) {
				q.Actions[at], q.Actions[at+1] = q.Actions[at+1], q.Actions[at]
			}
		}
		a, b := verify.Verify(p, o), verify.Verify(q, o)
		if x, y := asSet(a), asSet(b); !slices.Equal(x, y) {
			t.Fatalf("reordered:\n%s\n%s", strings.Join(x, "\n"), strings.Join(y, "\n"))
		}
		if !reflect.DeepEqual(a.SimulatedState, b.SimulatedState) {
			t.Fatalf("reordered: %v, %v", a.SimulatedState, b.SimulatedState)
		}
	})
}

// apart reports two actions that no key joins, so that neither sees where the other stands.
func apart(a, b ir.Action) bool {
	keys := func(a ir.Action) map[string]bool {
		m := map[string]bool{}
		for _, k := range append(append(a.ReadKeys(), a.WriteKeys()...), a.StateDependencies...) {
			m[k] = true
		}
		for _, c := range a.Preconditions {
			m[c.Key] = true
		}
		return m
	}
	other := keys(b)
	for k := range keys(a) {
		if other[k] {
			return false
		}
	}
	return true
}

// asSet is what a verdict says, whatever the order it says it in.
func asSet(r verify.Result) []string {
	var set []string
	for _, i := range r.Issues {
		text := fmt.Sprint(i.Check, i.ActionID, i.Message)
		if i.Check == "write_conflicts" { // named from the one that stands first
			words := strings.Fields(text)
			slices.Sort(words)
			text = strings.Join(words, " ")
			text = strings.ReplaceAll(text, "write_conflicts", "")
		}
		if i.Check == "dependency_cycles" { // told from the one that stands first
			text = "a cycle"
		}
		set = append(set, text)
	}
	for _, level := range r.ExecutionLevels {
		ids := slices.Clone(level)
		slices.Sort(ids)
		set = append(set, fmt.Sprint("level", ids))
	}
	slices.Sort(set)
	return set
}

// V-GEN-2: the same input gives the same bytes, whatever the order of maps and the number of processors.
func TestSameBytes(t *testing.T) {
	p := plan(
		call("a", "echo", params("z", 1.0, "y", 2.0, "x", 3.0, "message", 4.0), effect("k1", 1.0), effect("k2", 2.0), effect("k3", 3.0), effect("k4", 4.0)),
		call("b", "echo", params("message", "m"), effect("k4", 1.0), effect("k3", 2.0), effect("k2", 3.0), effect("k1", 4.0)),
		call("c", "x", needs("k9", "k8")), call("d", "x", needs("k7"), effect("k8", 1.0), effect("k9", 1.0)), write("e", "k7", 1.0, requires("c")),
	)
	o := verify.Options{State: state("s1", 1.0, "s2", 2.0, "s3", 3.0), Goal: condition(t, `{"type":"any_of","conditions":[{"type":"state_predicate","key":"g"},{"type":"state_predicate","key":"k1","value":9}]}`),
		Schemas: echo(t, `{"additionalProperties":false,"properties":{"message":{"type":"string"}},"propertyNames":{"pattern":"^m"},"patternProperties":{"^q":{}}}`)}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	first := ""
	for round := range 50 {
		runtime.GOMAXPROCS(1 + round%4)
		text := asText(t, []any{verify.Verify(p, o), verify.Simulate(p, o), verify.Optimize(p), verify.Equivalent(p, plan(), verify.EquivalenceOptions{Derive: true})})
		if first == "" {
			first = text
		}
		if text != first {
			t.Fatalf("round %d differs:\n%s\n%s", round, text, first)
		}
	}
	if len(report.Clip(strings.Repeat("x", 1000))) != 256 {
		t.Error("clipped text is not 256 bytes")
	}
}
