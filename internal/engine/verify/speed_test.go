//go:build !race

package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/montecarlo"
	planning "car/internal/engine/verify/plan"
	"car/internal/engine/verify/schema"
	"car/internal/engine/verify/txn"
	"car/internal/engine/verify/workflow"
)

// nearLinear fails where f's time grows by more than 2.3 when its size doubles (V-BENCH),
// averaged over three doublings, in processor time of one thread. The sizes take turns
// and the best of seven rounds counts; a machine that is busy gets three chances. Caches
// and the collector make even a map of n keys grow by more than two: where that grows by
// over two on this machine, f may by as much more. A quadratic f grows by four.
func nearLinear(t *testing.T, n int, prepare func(n int) func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	grown, limit := math.Inf(1), 2.3
	for try := 0; try < 3 && grown > limit; try++ {
		limit = 2.3 * max(1, growth(t, n, plainMap)/2)
		grown = growth(t, n, prepare)
		t.Logf("%d to %d: %.2f for each doubling, %.2f allowed", n, 8*n, grown, limit)
	}
	if grown > min(limit, 3) {
		t.Errorf("%.2f for each doubling", grown)
	}
}

func growth(t *testing.T, n int, prepare func(n int) func()) float64 {
	t.Helper()
	runs := [2]func(){prepare(n), prepare(8 * n)}
	best := [2]time.Duration{time.Hour, time.Hour}
	for range 7 {
		for i, f := range runs {
			start := threadTime()
			f()
			best[i] = min(best[i], threadTime()-start)
		}
	}
	return math.Cbrt(float64(best[1]) / float64(best[0]))
}

// plainMap is what linear work costs that touches about a KiB for each of n names, as
// actions and findings do.
func plainMap(n int) func() {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("name", i)
	}
	return func() {
		m := map[string][]*[16]int{}
		for range 4 {
			for i, name := range names {
				m[name] = append(m[name], &[16]int{i})
			}
		}
		for _, name := range names {
			m[name][0][1] = len(m[name])
		}
	}
}

// wide is a plan of n actions over n/5 keys: writers, readers, ordered and not, with conditions.
func wide(n int) ir.Proposal {
	var p ir.Proposal
	for i := range n {
		key := func(k int) string { return fmt.Sprint("k", k%(n/5)) }
		a := call(fmt.Sprint("a", i), "echo", params("message", fmt.Sprint(i)), effect(key(i), float64(i)), skip)
		switch i % 5 {
		case 1:
			a = write(fmt.Sprint("a", i), key(i), float64(i), skip)
		case 2, 3:
			a.StateDependencies = []string{key(i - 2)}
			a.Dependencies = []ir.ActionID{ir.ActionID(fmt.Sprint("a", i-1))}
		case 4:
			a.Preconditions = []ir.Precondition{{Key: key(i - 3), Operator: "gte", Value: 0.0}, {Key: key(i + 9), Operator: "exists"}}
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

// manySteps is a plan of n steps, each on the one before and on a key of its own.
func manySteps(n int, order planning.Order) planning.Request {
	r := planning.Request{Order: order, Goal: []planning.Condition{planning.Fact(fmt.Sprint("k", n-1))}}
	for i := range n {
		s := planning.Step{ID: ir.ActionID(fmt.Sprint(i)), Adds: []planning.Effect{{Key: fmt.Sprint("k", i), Value: 1.0}, {Key: fmt.Sprint("shared", i%(n/4)), Value: 1.0}}}
		if i > 0 {
			s.Preconditions = []planning.Condition{planning.Fact(fmt.Sprint("k", i-1))}
			r.Edges = append(r.Edges, [2]ir.ActionID{ir.ActionID(fmt.Sprint(i - 1)), s.ID})
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}

// stages is a workflow of n nodes and 3n edges that lead on, with 20 rules.
func stages(n int) (workflow.Graph, []workflow.Policy) {
	g := workflow.Graph{Start: "0"}
	var rules []workflow.Policy
	for i := range n {
		g.Nodes = append(g.Nodes, workflow.Node{ID: fmt.Sprint(i)})
		for _, step := range []int{1, 2, 17} {
			if i+step < n {
				g.Edges = append(g.Edges, workflow.Edge{From: fmt.Sprint(i), To: fmt.Sprint(i + step)})
			}
		}
	}
	for i := range 4 {
		a, b := fmt.Sprint(n/5*i+1), fmt.Sprint(n/5*(i+1))
		rules = append(rules, workflow.Policy{Type: workflow.Precedes, First: a, Then: b}, workflow.Policy{Type: workflow.AlwaysFollowedBy, First: a, Then: b},
			workflow.Policy{Type: workflow.NeverAfter, First: b, Then: a}, workflow.Policy{Type: workflow.Required, Node: a}, workflow.Policy{Type: workflow.AtMostOnce, Node: b})
	}
	return g, rules
}

// V-BENCH, V-GEN-6: everything grows near linearly to 10,000 actions, steps or stages, whatever the shape.
func TestNearLinear(t *testing.T) {
	set := schema.NewSet([]ir.ToolSchema{{Name: "echo", Parameters: json.RawMessage(echoParameters)}})
	o := verify.Options{State: map[string]any{}, Schemas: set, MaxActions: -1}
	for i := range 200 {
		o.State[fmt.Sprint("k", i)] = 0.0
	}
	chain := func(n int) ir.Proposal {
		var p ir.Proposal
		for i := range n {
			p.Actions = append(p.Actions, write(fmt.Sprint("a", i), "k", float64(i), needs(fmt.Sprint("missing", i))))
		}
		return p
	}
	for name, f := range map[string]func(n int) func(){
		"verify wide":  func(n int) func() { p := wide(n); return func() { verify.Verify(p, o) } },
		"verify chain": func(n int) func() { p := chain(n); return func() { verify.Verify(p, o) } },
		"simulate":     func(n int) func() { p := wide(n); return func() { verify.Simulate(p, o) } },
		"optimize":     func(n int) func() { p := wide(n); return func() { verify.Optimize(p) } },
		"transaction":  func(n int) func() { p := wide(n); return func() { txn.Check(p, txn.View{}) } },
		"montecarlo": func(n int) func() {
			p, cfg := wide(n), montecarlo.DefaultConfig()
			cfg.Trials = 100
			return func() { montecarlo.Run(context.Background(), p, montecarlo.Input{State: o.State}, cfg) }
		},
		"plan in order": func(n int) func() { r := manySteps(n, planning.Total); return func() { planning.Check(r) } },
		"workflow": func(n int) func() {
			g, rules := stages(n)
			return func() { workflow.Check(g); workflow.CheckPolicies(g, rules) }
		},
	} {
		t.Run(name, func(t *testing.T) { nearLinear(t, 1250, f) })
	}
}

func BenchmarkWorkflow(b *testing.B) {
	g, rules := stages(10_000)
	for b.Loop() {
		workflow.CheckPolicies(g, rules)
	}
}

func BenchmarkMonteCarlo(b *testing.B) {
	p := wide(50)
	for b.Loop() {
		if _, err := montecarlo.Run(b.Context(), p, montecarlo.Input{State: map[string]any{"k1": 1.0}}, montecarlo.DefaultConfig()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	o := verify.Options{State: map[string]any{}, Schemas: schema.NewSet([]ir.ToolSchema{{Name: "echo", Parameters: json.RawMessage(echoParameters)}}), MaxActions: -1}
	for i := range 200 {
		o.State[fmt.Sprint("k", i)] = 0.0
	}
	for _, n := range []int{1000, 10_000} {
		p := wide(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				verify.Verify(p, o)
			}
		})
	}
}

func BenchmarkSimulate(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		p := wide(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				verify.Simulate(p, verify.Options{})
			}
		})
	}
}
