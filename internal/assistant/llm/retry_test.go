package llm

import (
	"testing"
	"time"
)

// A-LLM-9, P-STREAM-4, B061: when, how long and how often.
func TestRetryPolicy(t *testing.T) {
	t.Parallel()
	half := func() float64 { return 0.5 }
	for _, tc := range []struct {
		name    string
		err     Error
		tried   int
		elapsed time.Duration
		delay   time.Duration
		again   bool
	}{
		{"first back-off", Error{Kind: KindServer}, 1, 0, 500 * time.Millisecond, true},
		{"it doubles", Error{Kind: KindNetwork}, 3, 0, 2 * time.Second, true},
		{"the fifth", Error{Kind: KindDisconnected}, 5, 0, 8 * time.Second, true},
		{"six tries are all", Error{Kind: KindOverloaded}, 6, 0, 0, false},
		{"a stall is tried again", Error{Kind: KindTimeout}, 1, 0, 500 * time.Millisecond, true},
		{"Retry-After wins", Error{Kind: KindRateLimited, RetryAfter: 7 * time.Second}, 1, 0, 7 * time.Second, true},
		{"Retry-After at its limit", Error{Kind: KindRateLimited, RetryAfter: 120 * time.Second}, 1, 0, 120 * time.Second, true},
		{"Retry-After beyond", Error{Kind: KindRateLimited, RetryAfter: 121 * time.Second}, 1, 0, 0, false},
		{"five minutes are all", Error{Kind: KindServer}, 2, 5 * time.Minute, 0, false},
		{"a wait that would end too late", Error{Kind: KindRateLimited, RetryAfter: 100 * time.Second}, 2, 201 * time.Second, 0, false},
		{"a spent quota", Error{Kind: KindRateLimited, Advice: AdviceNever}, 1, 0, 0, false},
		{"x-should-retry: true", Error{Kind: KindInvalid, Advice: AdviceRetry}, 1, 0, 500 * time.Millisecond, true},
		{"x-should-retry: false", Error{Kind: KindServer, Advice: AdviceNever}, 1, 0, 0, false},
		{"loading goes on beyond six", Error{Kind: KindOverloaded, Advice: AdviceWait}, 60, 4 * time.Minute, 2 * time.Second, true},
		{"loading ends after five minutes", Error{Kind: KindOverloaded, Advice: AdviceWait}, 1, 299 * time.Second, 0, false},
		{"nothing listens here", Error{Kind: KindNetwork, Advice: AdviceBrief}, 1, 0, 500 * time.Millisecond, true},
		{"and still nothing", Error{Kind: KindNetwork, Advice: AdviceBrief}, 3, 500 * time.Millisecond, 0, false},
		{"canceled stays canceled", Error{Kind: KindCanceled, Advice: AdviceRetry}, 1, 0, 0, false},
	} {
		delay, again := DefaultRetryPolicy().Next(&tc.err, tc.tried, tc.elapsed, half)
		if delay != tc.delay || again != tc.again {
			t.Errorf("%s: %v %v, want %v %v", tc.name, delay, again, tc.delay, tc.again)
		}
	}
}

// A-LLM-9: jitter is full, and the cap holds.
func TestRetryJitter(t *testing.T) {
	t.Parallel()
	p := DefaultRetryPolicy()
	p.Tries = 100
	for _, tc := range []struct {
		draw  float64
		tried int
		want  time.Duration
	}{{0, 1, 0}, {0, 5, 0}, {0.999, 6, 29970 * time.Millisecond}, {0.999, 50, 29970 * time.Millisecond}} {
		delay, again := p.Next(&Error{Kind: KindServer}, tc.tried, 0, func() float64 { return tc.draw })
		if !again || delay != tc.want {
			t.Errorf("draw %v try %d: %v %v, want %v", tc.draw, tc.tried, delay, again, tc.want)
		}
	}
}

// A-LLM-9: which kinds may be tried again at all.
func TestRetryable(t *testing.T) {
	t.Parallel()
	again := map[ErrorKind]bool{KindRateLimited: true, KindOverloaded: true, KindServer: true, KindTimeout: true,
		KindNetwork: true, KindDisconnected: true}
	for k := KindUnset; int(k) < len(errorKindLabels); k++ {
		if e := (&Error{Kind: k}); e.Retryable() != again[k] {
			t.Errorf("%s: retryable is %v", k, e.Retryable())
		}
	}
}
