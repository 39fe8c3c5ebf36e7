package montecarlo

import (
	"context"
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/model"
)

// Run walks a plan many times, or through every outcome, and counts what came of it
// (V-MC). It takes time linear in trials times actions and effects. Errors: a
// configuration that no result could be true of, too many outcomes for the exact
// method, a cancelled ctx.
func Run(ctx context.Context, p ir.Proposal, in Input, cfg Config) (Result, error) {
	if err := cfg.check(p, in); err != nil {
		return Result{}, fmt.Errorf("monte carlo: %w", err)
	}
	r := newRun(p, in, cfg)
	var err error
	if cfg.Method == Exact {
		err = r.enumerate(ctx)
	} else {
		err = r.sample(ctx)
	}
	if err != nil {
		return Result{}, fmt.Errorf("monte carlo: %w", err)
	}
	return r.result(), nil
}

// run is one simulation under way.
type run struct {
	p          ir.Proposal
	in         Input
	cfg        Config
	plan       *model.Plan
	state      *model.State
	provenance Provenance

	rates    []float64 // of each call
	attempts []int
	names    []uint64
	// behind are the actions that depend on each call, directly or not.
	behind []group

	// tried counts the attempts at calls of the current walk.
	tried int
	// undecided are the actions that some walk could not decide.
	undecided []bool
	tally     *tally
}

func newRun(p ir.Proposal, in Input, cfg Config) *run {
	r := &run{p: p, in: in, cfg: cfg, plan: model.Compile(p.Actions), rates: make([]float64, len(p.Actions)), attempts: make([]int, len(p.Actions)),
		names: make([]uint64, len(p.Actions)), undecided: make([]bool, len(p.Actions))}
	r.state = r.plan.Start(in.State)
	var tools []string
	for _, a := range p.Actions {
		if a.Type == ir.ToolCall && a.Tool != "" {
			tools = append(tools, a.Tool)
		}
	}
	r.provenance = ResolveRates(tools, in.History, in.Rates, cfg.DefaultSuccessRate)
	rates := r.provenance.Rates()
	for i := range p.Actions {
		a := &p.Actions[i]
		r.rates[i], r.attempts[i], r.names[i] = rates[a.Tool], cfg.attempts(a), nameOf(a.ID)
	}
	r.behind = dependents(r.plan)
	r.tally = newTally(r)
	return r
}

// every is how many trials run between two looks at ctx.
const every = 256

func (r *run) sample(ctx context.Context) error {
	for trial := range r.cfg.Trials {
		if trial%every == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.walk(func(i int) (succeeded bool, tries int) {
			for n := range r.attempts[i] {
				if draw(r.cfg.Seed, uint64(trial), r.names[i], uint64(n)) < r.rates[i] {
					return true, n + 1
				}
			}
			return false, r.attempts[i]
		})
		r.tally.add(1)
	}
	return nil
}

// walk takes the plan once; outcome says how each dispatched call ends and after how
// many attempts. What is not decided is taken as satisfied and remembered.
func (r *run) walk(outcome func(i int) (bool, int)) {
	r.tried = 0
	r.state.Reset()
	r.state.Walk(model.Rules{
		Undecided: func(i int) bool { r.undecided[i] = true; return true },
		May: func(i int) bool {
			if r.p.Actions[i].Type != ir.ToolCall {
				return true
			}
			succeeded, tries := outcome(i)
			r.tried += tries
			return succeeded
		},
	})
}

// reached asks the goal of the state that the walk left.
func (r *run) reached() bool {
	return r.in.Goal != nil && goal.Decide(*r.in.Goal, r.state.Value).Answer == goal.Met
}
