//go:build !race

package eventlog_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// typical is an event as most are: an action's outcome.
func typical() eventlog.Event {
	return eventlog.Event{Kind: eventlog.ActionSucceeded, ActionID: "a1b2c3d4e5f6", ProposalID: "f6e5d4c3b2a1", Data: map[string]any{
		"attempt": 1, "attempted": true, "stage": "dispatch", "tool": "read_file", "tool_source": "builtin", "ok": true, "duration_ms": 12,
		"params_digest": ir.DigestBytes(nil), "expected_effects": map[string]any{},
	}}
}

// P-3: appending takes as long at the end of a long log as at its start. The least
// of many small batches leaves out the moments in which a slice grows, and a second
// and third try what else the machine did.
func TestAppendDoesNotSlowDown(t *testing.T) {
	for name, c := range map[string]eventlog.Config{"memory": {}, "chained": {Chain: true}, "trimmed": {MaxEvents: 1000}} {
		ratio := math.Inf(1)
		for try := 0; try < 3 && ratio > 1.2; try++ {
			l := open(t, c)
			const batches, size = 40, 300
			early := leastBatch(t, l, batches, size)
			leastBatch(t, l, 2*batches, size)
			ratio = min(ratio, float64(leastBatch(t, l, batches, size))/float64(early))
		}
		if ratio > 1.2 {
			t.Errorf("%s: a late append takes %.2f times as long as an early one", name, ratio)
		}
	}
}

func leastBatch(t *testing.T, l *eventlog.Log, batches, size int) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	least := time.Hour
	e := eventlog.Event{Kind: eventlog.ActionValidated, ActionID: "a"}
	for range batches {
		start := threadTime()
		for range size {
			if _, err := l.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		least = min(least, threadTime()-start)
	}
	return least
}

// P-3.
func BenchmarkAppend(b *testing.B) {
	for name, c := range map[string]eventlog.Config{
		"memory": {}, "file": {Path: journalPath(b)}, "chained": {Chain: true}, "chained_file": {Path: journalPath(b), Chain: true},
	} {
		b.Run(name, func(b *testing.B) {
			l, e := open(b, c), typical()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Append(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Q-BENCH: a query over 100,000 events.
func BenchmarkQuery100k(b *testing.B) {
	l, e := open(b, eventlog.Config{}), typical()
	for range 100_000 {
		if _, err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	q := eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionSucceeded}, DataMatches: map[string]string{"tool": "shell"}}
	b.ResetTimer()
	for b.Loop() {
		if n := len(l.Query(q)); n != 0 {
			b.Fatal(n)
		}
	}
}

// Q-BENCH: opening and verifying a session of 10,000 events.
func BenchmarkReopen10k(b *testing.B) {
	c := eventlog.Config{Path: journalPath(b), Chain: true, Now: clock()}
	l, e := open(b, c), typical()
	for range 10_000 {
		if _, err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	l.Close()
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			l, err := eventlog.Open(c)
			if err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if v, err := eventlog.VerifyFile(c.Path, ""); err != nil || v.Verified != 10_000 {
				b.Fatal(v, err)
			}
		}
	})
}
