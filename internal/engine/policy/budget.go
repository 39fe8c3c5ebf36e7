package policy

import (
	"fmt"
	"sync"
	"time"

	"car/internal/engine/ir"
)

// budgets are the sliding windows of rate_limit_tool. Guarded by mu.
type budgets struct {
	mu      *sync.Mutex
	now     func() time.Time
	rules   map[string][]rateRule
	windows map[string]*window
}

// window holds when the calls of the last interval were admitted.
type window struct {
	taken []time.Time
}

func newBudgets(s *ruleSet, now func() time.Time) *budgets {
	b := &budgets{mu: &sync.Mutex{}, now: now, rules: s.rates, windows: map[string]*window{}}
	for _, rs := range s.rates {
		for _, r := range rs {
			b.windows[r.id] = &window{}
		}
	}
	return b
}

// share makes b spend from the windows of o where both know a rule.
func (b *budgets) share(o *budgets) {
	o.mu.Lock()
	defer o.mu.Unlock()
	b.mu = o.mu
	for id, w := range o.windows {
		if _, ok := b.windows[id]; ok {
			b.windows[id] = w
		}
	}
}

// Take takes one call from every rate budget that governs the action, or none
// and the violations when one of them is spent (G-POL-2). Admission calls it
// once for each admitted action.
func (p *Policy) Take(a ir.Action) []Violation {
	b := p.budgets
	rules := b.rules[a.Tool]
	if len(rules) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.now()
	var out []Violation
	for _, r := range rules {
		w := b.windows[r.id]
		w.expire(at.Add(-time.Duration(r.IntervalSecs * float64(time.Second))))
		if int64(len(w.taken)) >= r.MaxCalls {
			out = append(out, Violation{PolicyName: "rate_limit_tool:" + r.Tool, ActionID: a.ID, File: r.file, Line: r.line,
				Reason: fmt.Sprintf("more than %d calls within %g seconds", r.MaxCalls, r.IntervalSecs)})
		}
	}
	if out != nil {
		return out
	}
	for _, r := range rules {
		w := b.windows[r.id]
		w.taken = append(w.taken, at)
	}
	return nil
}

func (w *window) expire(before time.Time) {
	i := 0
	for i < len(w.taken) && !w.taken[i].After(before) {
		i++
	}
	w.taken = w.taken[i:]
}
