//go:build !race

package state_test

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"car/internal/engine/state"
)

func filled(t testing.TB, n int) *state.Store {
	values := make(map[string]any, n)
	for i := range n {
		values[fmt.Sprint("key", i)] = i
	}
	return seed(t, values)
}

// oneKey is a proposal that writes one key and is committed or rolled back.
func oneKey(t testing.TB, s *state.Store, commits bool) {
	tx := s.Begin()
	a := tx.Attempt("a")
	set(t, a, "key1", 2)
	commit(t, a)
	if commits {
		tx.Commit()
		return
	}
	tx.Rollback()
}

// P-5: a proposal costs what it touches: on 100,000 keys as much as on 10,
// committed or rolled back.
func TestAProposalCostsWhatItTouches(t *testing.T) {
	small, large := filled(t, 10), filled(t, 100_000)
	for _, commits := range []bool{true, false} {
		few := testing.AllocsPerRun(100, func() { oneKey(t, small, commits) })
		many := testing.AllocsPerRun(100, func() { oneKey(t, large, commits) })
		if many > few {
			t.Errorf("commits %v: %v allocations on many keys, %v on few", commits, many, few)
		}
		ratio := math.Inf(1)
		for try := 0; try < 3 && ratio > 1.2; try++ {
			ratio = min(ratio, timeRatio(func() { oneKey(t, large, commits) }, func() { oneKey(t, small, commits) }))
		}
		if ratio > 1.2 {
			t.Errorf("commits %v: %.2f times as long on many keys", commits, ratio)
		}
	}
}

// timeRatio compares the processor time of two functions: the least of many rounds
// taken in turns, on one thread and without garbage collection.
func timeRatio(f, per func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	best := [2]time.Duration{time.Hour, time.Hour}
	for range 200 {
		for i, g := range [2]func(){f, per} {
			start := threadTime()
			for range 50 {
				g()
			}
			best[i] = min(best[i], threadTime()-start)
		}
	}
	return float64(best[0]) / float64(max(best[1], 1))
}

// P-5.
func BenchmarkOneKeyProposal(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		s := filled(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				oneKey(b, s, false)
			}
		})
	}
}
