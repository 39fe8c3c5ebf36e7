//go:build !race

package ir_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
)

// The speed promises (P) are of the program and not of the race detector. They are ratios and counts of allocations, which hold on any
// machine. A ratio of times takes the best of several rounds, so that a busy
// machine makes it slower to measure and not wrong.

// ratio compares the processor time of two functions. It stops once it is within
// most, and tries three times before it says that it is not.
func ratio(rounds int, most float64, f, per func()) float64 {
	got := math.Inf(1)
	for try := 0; try < 3 && got > most; try++ {
		got = min(got, tryRatio(rounds, f, per))
	}
	return got
}

// tryRatio takes the least of several rounds taken in turns, on one thread and
// without garbage collection, so that what else the machine does hardly counts.
func tryRatio(rounds int, f, per func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	best := [2]time.Duration{time.Hour, time.Hour}
	for range rounds {
		for i, g := range [2]func(){f, per} {
			runtime.GC()
			start := threadTime()
			g()
			best[i] = min(best[i], threadTime()-start)
		}
	}
	return float64(best[0]) / float64(max(best[1], 1))
}

// allocatedBytes is what one run of f allocates.
func allocatedBytes(f func()) int64 {
	const runs = 4
	var before, after runtime.MemStats
	f()
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc-before.TotalAlloc) / runs
}

func chain(n int) []ir.Action {
	return shape(n, func(i int) []ir.ActionID {
		if i == 0 {
			return nil
		}
		return []ir.ActionID{ir.ActionID(fmt.Sprint(i - 1))}
	})
}

func wide(n int) []ir.Action { return shape(n, func(int) []ir.ActionID { return nil }) }

func random(n int) []ir.Action {
	r := rand.New(rand.NewPCG(1, 2))
	return shape(n, func(i int) (deps []ir.ActionID) {
		for range min(i, 3) {
			deps = append(deps, ir.ActionID(fmt.Sprint(r.IntN(i))))
		}
		return deps
	})
}

// shape makes n actions that also read and write a handful of keys.
func shape(n int, deps func(i int) []ir.ActionID) []ir.Action {
	actions := make([]ir.Action, n)
	for i := range actions {
		actions[i] = ir.Action{
			ID: ir.ActionID(fmt.Sprint(i)), Type: ir.ToolCall, Dependencies: deps(i),
			StateDependencies: []string{fmt.Sprint("k", i%97)}, WriteSet: []string{fmt.Sprint("k", i%89)},
		}
	}
	return actions
}

// P-2: sorting a thousand actions costs at most 6 allocations each, and ten
// thousand at most 12 times a thousand.
func TestLevelsAreCheapAndLinear(t *testing.T) {
	for name, make := range map[string]func(int) []ir.Action{"chain": chain, "wide": wide, "random": random} {
		small, large := make(1000), make(10_000)
		sort := func(actions []ir.Action) func() {
			return func() {
				if _, err := ir.Levels(actions); err != nil {
					t.Fatal(err)
				}
			}
		}
		if per := testing.AllocsPerRun(5, sort(small)) / 1000; per > 6 {
			t.Errorf("%s: %.1f allocations an action", name, per)
		}
		if got := ratio(20, 12, sort(large), sort(small)); got > 12 {
			t.Errorf("%s: ten times the actions take %.1f times as long", name, got)
		}
	}
}

func proposalOf(n int) ir.Proposal {
	actions := make([]ir.Action, n)
	for i := range actions {
		actions[i] = ir.Action{
			ID: ir.ActionID(fmt.Sprintf("a%011d", i)), Type: ir.ToolCall, Tool: "write_file", MaxRetries: 3,
			Parameters:      map[string]any{"path": fmt.Sprintf("internal/room/file%d.go", i), "content": strings.Repeat("func f() { return \"x\" }\n", 20)},
			ExpectedEffects: map[string]any{"written": true},
		}
	}
	return ir.Proposal{ID: "p", Timestamp: testTime, Actions: actions}.Fill(testDefaults())
}

// P-4, D-26: a digest costs at most 6 times encoding and hashing, and grows with
// the proposal.
func TestDigestIsCheapAndLinear(t *testing.T) {
	small, big := proposalOf(50), proposalOf(500)
	digest := func() { mustDigest(t, small) }
	encodeAndHash := func() {
		text, err := json.Marshal(small)
		if err != nil {
			t.Fatal(err)
		}
		sha256.Sum256(text)
	}
	if got := ratio(20, 6, digest, encodeAndHash); got > 6 {
		t.Errorf("a digest takes %.1f times as long as encoding and hashing", got)
	}
	if got := ratio(10, 12, func() { mustDigest(t, big) }, digest); got > 12 {
		t.Errorf("ten times the actions take %.1f times as long", got)
	}
}

// P-8: rendering a MiB allocates at most twice its output, and truncating nothing
// but its result.
func TestRenderAllocatesItsOutput(t *testing.T) {
	text := strings.Repeat("a line of output with \"quotes\" and <tags>\n", 1<<20/42)
	records := make([]any, 20_000)
	for i := range records {
		records[i] = map[string]any{"path": fmt.Sprintf("internal/file%d.go", i), "line": float64(i), "text": "some matching text"}
	}
	for name, v := range map[string]any{
		"block":   map[string]any{"exit_code": 0.0, "output": text},
		"records": map[string]any{"matches": records},
		"nested":  map[string]any{"tree": map[string]any{"lines": []any{strings.Repeat("x", 1<<20)}}},
	} {
		out := int64(len(ir.Render(v)))
		if got := allocatedBytes(func() { ir.Render(v) }); got > 2*out {
			t.Errorf("%s: %d bytes allocated for %d", name, got, out)
		}
	}
	if got := allocatedBytes(func() { ir.TruncateKeepingEnds(text, 64<<10) }); got > 72<<10 {
		t.Errorf("truncating to 64 KiB allocated %d bytes", got)
	}
	if n := testing.AllocsPerRun(10, func() { ir.TruncateKeepingEnds("short", 512); ir.TruncateKeepingEnds(text, 100) }); n > 0 {
		t.Errorf("%v allocations where a part of the text is the result", n)
	}
}

// P-2.
func BenchmarkLevels1000(b *testing.B) {
	for name, actions := range map[string][]ir.Action{"chain": chain(1000), "wide": wide(1000), "random": random(1000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ir.Levels(actions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// P-4: one digest of a step with four calls.
func BenchmarkDigest(b *testing.B) {
	p := proposalOf(4)
	b.ReportAllocs()
	for b.Loop() {
		mustDigest(b, p)
	}
}

// E-IR-1: one decoding of a step with four calls.
func BenchmarkDecodeProposal(b *testing.B) {
	text, err := json.Marshal(proposalOf(4))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ir.DecodeProposal(text, ir.Defaults{}); err != nil {
			b.Fatal(err)
		}
	}
}

// P-8.
func BenchmarkRenderMiB(b *testing.B) {
	v := map[string]any{"exit_code": 0.0, "output": strings.Repeat("a line of output\n", 1<<20/17)}
	b.ReportAllocs()
	b.SetBytes(1 << 20)
	for b.Loop() {
		ir.Render(v)
	}
}
