package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/engine/verify"
)

// lands is a tool that leaves exactly what its action declares, and beside it what
// its parameter "also" says.
func lands() hand {
	return hand{spec: tool.Spec{Name: "land", Effect: tool.Outward}, effects: reads, run: func(_ context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
		for _, writes := range []map[string]any{c.ExpectedEffects, c.Params["also"].(map[string]any)} {
			for _, key := range slices.Sorted(maps.Keys(writes)) {
				if err := e.State.Set(key, writes[key]); err != nil {
					return tool.Execution{}, err
				}
			}
		}
		return tool.Execution{Output: "ok"}, nil
	}}
}

// drawForeseeable makes a proposal in which nothing aborts: assertions that fail are
// skipped and calls do not fail.
func drawForeseeable(t *rapid.T) ir.Proposal {
	key := rapid.SampledFrom([]string{"k1", "k2", "k3", "k4"})
	value := rapid.SampledFrom([]any{nil, 1.0, 2.0, "a"})
	p := ir.Proposal{Source: "rapid"}
	n := rapid.IntRange(1, 6).Draw(t, "n")
	for i := range n {
		a := ir.Action{ID: ir.ActionID(fmt.Sprint("a", i)), FailureBehavior: rapid.SampledFrom([]ir.FailureBehavior{ir.Abort, ir.Skip, ir.Skip, ir.Skip}).Draw(t, "behaviour"),
			Type:              rapid.SampledFrom([]ir.ActionType{ir.ToolCall, ir.ToolCall, ir.ToolCall, ir.StateWrite, ir.StateRead, ir.Assertion}).Draw(t, "type"),
			ExpectedEffects:   rapid.MapOfN(key, value, 0, 2).Draw(t, "effects"),
			StateDependencies: rapid.SliceOfN(key, 0, 1).Draw(t, "needs")}
		if a.Type == ir.ToolCall {
			also := map[string]any{}
			a.Tool, a.WriteSet = "land", rapid.SliceOfN(key, 0, 2).Draw(t, "write_set")
			for _, k := range a.WriteSet {
				if _, declared := a.ExpectedEffects[k]; !declared && rapid.Bool().Draw(t, "writes it") {
					also[k] = value.Draw(t, "value")
				}
			}
			a.Parameters = map[string]any{"also": also}
		} else {
			v := value.Draw(t, "value")
			a.Parameters = map[string]any{"key": key.Draw(t, "key"), "value": v, "expected": v}
		}
		if a.Type == ir.Assertion {
			a.FailureBehavior = ir.Skip
		}
		if rapid.Bool().Draw(t, "gated") {
			a.Preconditions = []ir.Precondition{{Key: key.Draw(t, "key"), Operator: rapid.SampledFrom([]string{"eq", "neq", "exists", "not_exists", "gt"}).Draw(t, "operator"), Value: value.Draw(t, "value")}}
		}
		if i > 0 && rapid.IntRange(0, 2).Draw(t, "requires") == 0 {
			a.Dependencies = []ir.ActionID{ir.ActionID(fmt.Sprint("a", rapid.IntRange(0, i-1).Draw(t, "on")))}
		}
		if rapid.IntRange(0, 9).Draw(t, "undo") == 0 {
			a.Compensation = &ir.Compensation{Type: ir.CompensateByAction, ActionID: ir.ActionID(fmt.Sprint("a", rapid.IntRange(0, n-1).Draw(t, "by")))}
		}
		p.Actions = append(p.Actions, a)
	}
	return p.Fill(ir.Defaults{NewID: func() string { return "x" }})
}

// V-BEYOND-6: simulate_agrees_with_executor: what Simulate knows is what the engine
// leaves, where nothing races; with races, the engine leaves what some order leaves.
func TestSimulateAgreesWithExecutor(t *testing.T) {
	h := build(t, func(c *engine.Config, h *house) { h.tools["land"] = lands() })
	round, quiet, raced := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawForeseeable(t)
		round++
		p.ID = ir.ProposalID(fmt.Sprint("p", round))
		start := rapid.MapOfN(rapid.SampledFrom([]string{"k1", "k2", "k3", "other"}), rapid.SampledFrom([]any{nil, 1.0, "a"}), 0, 3).Draw(t, "state")
		if err := h.state.Replace(start); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Execute(context.Background(), p, engine.Options{Session: "s", CallPrefix: string(p.ID) + "/"}); err != nil {
			t.Fatal(err)
		}
		left := h.state.Snapshot("")
		racing := slices.ContainsFunc(verify.Verify(p, verify.Options{State: start}).Issues, func(i verify.Issue) bool {
			return i.Check == "read_races" || i.Check == "write_conflicts"
		})
		if racing {
			raced++
			if orders := allOrders(p, start); !slices.ContainsFunc(orders, func(s map[string]any) bool { return maps.EqualFunc(s, left, ir.Equal) }) {
				t.Fatalf("the engine left %v, no order leaves that: %v", left, orders)
			}
			return
		}
		quiet++
		sim := verify.Simulate(p, verify.Options{State: start})
		for key, value := range sim.State {
			if got, ok := left[key]; !ok || !ir.Equal(got, value) {
				t.Fatalf("simulated %s as %v, the engine left %v", key, value, left)
			}
		}
		for key := range left {
			if _, known := sim.State[key]; !known && !slices.Contains(sim.UnknownKeys, key) {
				t.Fatalf("simulated %s as absent, the engine left %v", key, left)
			}
		}
	})
	if quiet < 5 || raced < 5 {
		t.Errorf("%d plans without races, %d with: the test says nothing", quiet, raced)
	}
}

// allOrders is what a proposal may leave, over every order in which the actions of
// each concurrent level can end: an executor so plain that it can be seen to be right.
func allOrders(p ir.Proposal, start map[string]any) []map[string]any {
	levels, err := ir.Levels(p.Actions)
	undone := map[ir.ActionID]bool{}
	for _, a := range p.Actions {
		if a.Compensation != nil {
			undone[a.Compensation.ActionID] = true
		}
	}
	refused := slices.ContainsFunc(p.Actions, func(a ir.Action) bool {
		chained := a.Compensation != nil && (a.Compensation.ActionID == a.ID || slices.ContainsFunc(p.Actions, func(b ir.Action) bool { return b.ID == a.Compensation.ActionID && b.Compensation != nil }))
		return chained || slices.ContainsFunc(a.Dependencies, func(id ir.ActionID) bool { return undone[id] })
	})
	if err != nil || refused {
		return []map[string]any{start}
	}
	worlds := []world{{maps.Clone(start), map[ir.ActionID]bool{}}}
	for _, level := range levels {
		var next []world
		for _, w := range worlds {
			next = append(next, w.through(p.Actions, level, undone)...)
		}
		worlds = next
	}
	var ends []map[string]any
	for _, w := range worlds {
		ends = append(ends, w.state)
	}
	return ends
}

type world struct {
	state  map[string]any
	worked map[ir.ActionID]bool
}

func (w world) through(actions []ir.Action, level []int, undone map[ir.ActionID]bool) []world {
	if ir.LevelRunsSequentially(actions, level) {
		for _, i := range level {
			if w.open(actions[i], undone) {
				w = w.after(actions[i])
			}
		}
		return []world{w}
	}
	var open []int
	for _, i := range level {
		if w.open(actions[i], undone) {
			open = append(open, i)
		}
	}
	var ends []world
	var visit func(w world, left []int)
	visit = func(w world, left []int) {
		if len(left) == 0 {
			ends = append(ends, w)
		}
		for at, i := range left {
			visit(w.after(actions[i]), slices.Delete(slices.Clone(left), at, at+1))
		}
	}
	visit(w, open)
	return ends
}

func (w world) open(a ir.Action, undone map[ir.ActionID]bool) bool {
	for _, key := range a.StateDependencies {
		if _, ok := w.state[key]; !ok {
			return false
		}
	}
	for _, c := range a.Preconditions {
		if v, ok := w.state[c.Key]; !c.Holds(v, ok) {
			return false
		}
	}
	return !undone[a.ID] && !slices.ContainsFunc(a.Dependencies, func(id ir.ActionID) bool { return !w.worked[id] })
}

func (w world) after(a ir.Action) world {
	next := world{maps.Clone(w.state), maps.Clone(w.worked)}
	key, _ := a.StateKey()
	switch a.Type {
	case ir.ToolCall:
		maps.Copy(next.state, a.ExpectedEffects)
		maps.Copy(next.state, a.Parameters["also"].(map[string]any))
	case ir.StateWrite:
		next.state[key] = a.Parameters["value"]
	case ir.Assertion:
		if !ir.Equal(w.state[key], a.Parameters["expected"]) {
			return next
		}
	}
	next.worked[a.ID] = true
	return next
}
