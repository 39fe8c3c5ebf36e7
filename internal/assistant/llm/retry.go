package llm

import "time"

// RetryPolicy says when the same request is sent again (A-LLM-9). It only
// computes: whoever drives the stream waits, shows the countdown and may cancel.
type RetryPolicy struct {
	// Tries bounds the requests for one inference, the first one included.
	Tries int
	// Total bounds the time from the first request to the start of the last.
	Total time.Duration
	// Base is doubled with each try up to Cap; the delay is a random part of it.
	Base, Cap time.Duration
	// MaxRetryAfter is the longest wait a server may ask for; beyond it, the error is final.
	MaxRetryAfter time.Duration
	// Loading is the pause between requests to a server that loads its model; such
	// requests do not count as tries.
	Loading time.Duration
	// Brief stands in for Total where nothing listens on this machine.
	Brief time.Duration
}

// DefaultRetryPolicy returns the policy of A-LLM-9.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{Tries: retryTries, Total: retryTotal, Base: retryBase, Cap: retryCap,
		MaxRetryAfter: retryAfterMax, Loading: retryLoading, Brief: retryBrief}
}

// Next returns how long to wait before another request, and false when err is
// final. tried counts the requests sent so far, those that met a loading server
// excepted; elapsed is the time since the first one; jitter draws from [0, 1).
//
// After a false with err.RetryAfter set, that is when it may work again: the
// server asked for more than the policy waits.
func (p RetryPolicy) Next(err *Error, tried int, elapsed time.Duration, jitter func() float64) (time.Duration, bool) {
	if !err.Retryable() {
		return 0, false
	}
	loading := err.Advice == AdviceWait
	if tried >= p.Tries && !loading {
		return 0, false
	}
	delay := p.backoff(tried, jitter)
	switch {
	case err.RetryAfter > p.MaxRetryAfter:
		return 0, false
	case err.RetryAfter > 0:
		delay = err.RetryAfter
	case loading:
		delay = p.Loading
	}
	total := p.Total
	if err.Advice == AdviceBrief {
		total = p.Brief
	}
	if elapsed+delay > total {
		return 0, false
	}
	return delay, true
}

// backoff is a random part of Base doubled tried-1 times, at most Cap.
func (p RetryPolicy) backoff(tried int, jitter func() float64) time.Duration {
	limit := p.Base
	for range tried - 1 {
		limit = min(limit*2, p.Cap)
	}
	return time.Duration(jitter() * float64(limit))
}
