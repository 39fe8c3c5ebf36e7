package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"car/internal/engine/ir"
)

// buckets limit how often each tool may be attempted (E-RATE-1). Safe for concurrent use.
type buckets struct {
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error

	mu     sync.Mutex
	byTool map[string]*bucket
}

// bucket is one tool's tokens. Whoever holds turn is first in line; the others
// wait for it in their order, so that nobody overtakes.
type bucket struct {
	turn chan struct{}
	// Owned by the holder of turn.
	tokens float64
	at     time.Time
}

// take waits for a token. It fails at once where no calls are allowed, and when
// ctx ends, without leaving a debt.
func (b *buckets) take(ctx context.Context, tool string, limit *ir.RateLimit) error {
	if limit == nil {
		return nil
	}
	if limit.MaxCalls == 0 || limit.IntervalSecs <= 0 {
		return fmt.Errorf("the rate limit of '%s' allows no calls", tool)
	}
	k := b.of(tool, limit)
	select {
	case <-k.turn:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the rate limit of '%s': %w", tool, context.Cause(ctx))
	}
	defer func() { k.turn <- struct{}{} }()
	perSecond := float64(limit.MaxCalls) / limit.IntervalSecs
	for {
		now := b.now()
		k.tokens = min(float64(limit.MaxCalls), k.tokens+now.Sub(k.at).Seconds()*perSecond)
		k.at = now
		// The tolerance keeps a wait that was exact from being one rounding short.
		if k.tokens >= 1-1e-9 {
			k.tokens--
			return nil
		}
		wait := time.Duration((1 - k.tokens) / perSecond * float64(time.Second))
		if err := b.sleep(ctx, wait); err != nil {
			return fmt.Errorf("waiting for the rate limit of '%s': %w", tool, err)
		}
	}
}

func (b *buckets) of(tool string, limit *ir.RateLimit) *bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, ok := b.byTool[tool]
	if !ok {
		k = &bucket{turn: make(chan struct{}, 1), tokens: float64(limit.MaxCalls), at: b.now()}
		k.turn <- struct{}{}
		b.byTool[tool] = k
	}
	return k
}
