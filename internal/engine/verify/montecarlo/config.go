package montecarlo

import (
	"fmt"
	"math"

	"car/internal/engine/ir"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/report"
)

// Method is how outcomes are gone through. The zero value samples.
type Method uint8

// The methods.
const (
	Sample Method = iota
	// Exact enumerates every combination of outcomes, 2^20 at most.
	Exact
)

// Bounds on what one run may cost.
const (
	MaxTrials  = 1_000_000
	maxLeaves  = 1 << 20
	maxActions = 10_000
	// maxAttempts bounds the attempts at one call that retries may ask for.
	maxAttempts = 1000
)

// Config says how to sample (V-MC-1). Start from DefaultConfig.
type Config struct {
	// Trials is how many walks are sampled, 1 to MaxTrials.
	Trials int
	// Seed is where the draws start; the default is fixed, so that runs compare.
	Seed uint64
	// DefaultSuccessRate is that of a tool of which nothing is known.
	DefaultSuccessRate float64
	// RetryAttempts is how often a failed call is tried again.
	RetryAttempts int
	// RetryFromPlan takes the retries of an action with failure_behavior retry from its
	// own max_retries.
	RetryFromPlan bool
	Method        Method
}

// DefaultConfig is the reference's: 1000 trials, a fixed seed, even odds, no retries.
func DefaultConfig() Config {
	return Config{Trials: 1000, DefaultSuccessRate: 0.5}
}

// Input is what is known beside the proposal.
type Input struct {
	// State is the state before the first action.
	State map[string]any
	// Rates are success rates by tool, for one attempt; values beyond 0..1 are clamped.
	Rates map[string]float64
	// History is what earlier runs tell of rates; Rates win.
	History History
	// Goal is asked of every final state; nil asks nothing.
	Goal *goal.Condition
}

// check refuses what would make a result meaningless.
func (c Config) check(p ir.Proposal, in Input) error {
	if c.Trials < 1 || c.Trials > MaxTrials {
		return fmt.Errorf("trials: %d is outside 1..%d", c.Trials, MaxTrials)
	}
	if math.IsNaN(c.DefaultSuccessRate) {
		return fmt.Errorf("default_success_rate: NaN is no rate")
	}
	if c.RetryAttempts < 0 || c.RetryAttempts >= maxAttempts {
		return fmt.Errorf("retry_attempts: %d is outside 0..%d", c.RetryAttempts, maxAttempts-1)
	}
	for tool, rate := range in.Rates {
		if math.IsNaN(rate) {
			return fmt.Errorf("rate of tool '%s': NaN is no rate", report.Clip(tool))
		}
	}
	if len(p.Actions) > maxActions {
		return fmt.Errorf("the proposal has %d actions, %d are sampled at most; split it", len(p.Actions), maxActions)
	}
	return nil
}

// attempts is how often a call may be tried.
func (c Config) attempts(a *ir.Action) int {
	retries := c.RetryAttempts
	if c.RetryFromPlan && a.FailureBehavior == ir.Retry {
		retries = int(min(a.MaxRetries, maxAttempts-1))
	}
	return 1 + retries
}
