//go:build !race

package verify_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/schema"
)

// nearLinear fails where f's time grows by more than 2.3 when its size doubles,
// averaged over three doublings, in processor time of one thread (V-BENCH). The sizes
// take turns and the best of seven rounds counts; a machine that is busy gets three
// chances, which a quadratic f fails all the same: it grows by four.
func nearLinear(t *testing.T, n int, prepare func(n int) func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runs := [2]func(){prepare(n), prepare(8 * n)}
	grown := math.Inf(1)
	for try := 0; try < 3 && grown > 2.3; try++ {
		best := [2]time.Duration{time.Hour, time.Hour}
		for range 7 {
			for i, f := range runs {
				start := threadTime()
				f()
				best[i] = min(best[i], threadTime()-start)
			}
		}
		t.Logf("%d: %v, %d: %v", n, best[0], 8*n, best[1])
		grown = math.Cbrt(float64(best[1]) / float64(best[0]))
	}
	if grown > 2.3 {
		t.Errorf("%.2f for each doubling", grown)
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

// V-BENCH, V-GEN-6: verify and simulate grow near linearly to 10,000 actions, whatever the shape.
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
	} {
		t.Run(name, func(t *testing.T) { nearLinear(t, 1250, f) })
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
