package dispatch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
)

// E-RATE-1: full at start, one token a call, the sixth of five waits its share;
// the end of a wait leaves no debt; zero fails at once.
func TestBuckets(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	var waits []time.Duration
	fail := false
	b := &buckets{byTool: map[string]*bucket{}, now: func() time.Time { return now }, sleep: func(_ context.Context, d time.Duration) error {
		if fail {
			return errors.New("canceled")
		}
		waits = append(waits, d)
		now = now.Add(d)
		return nil
	}}
	limit := &ir.RateLimit{MaxCalls: 5, IntervalSecs: 10}
	for range 7 {
		if err := b.take(t.Context(), "t", limit); err != nil {
			t.Fatal(err)
		}
	}
	if len(waits) != 2 || waits[0] != 2*time.Second || waits[1] != 2*time.Second {
		t.Errorf("waits %v", waits)
	}
	fail = true
	if err := b.take(t.Context(), "t", limit); err == nil {
		t.Error("a cancelled wait gave a token")
	}
	fail = false
	if err := b.take(t.Context(), "t", limit); err != nil || len(waits) != 3 || waits[2] != 2*time.Second {
		t.Errorf("after a cancelled wait: %v, %v", err, waits)
	}
	if err := b.take(t.Context(), "none", &ir.RateLimit{IntervalSecs: 1}); err == nil || !strings.Contains(err.Error(), "allows no calls") {
		t.Errorf("zero: %v", err)
	}
	if err := b.take(t.Context(), "free", nil); err != nil {
		t.Error(err)
	}
}
