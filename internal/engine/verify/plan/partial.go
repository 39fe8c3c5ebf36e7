package plan

import (
	"fmt"

	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// partial decides every condition over all orders that the edges allow.
func (c *checker) partial() error {
	n := len(c.r.Steps)
	if n > maxPartial {
		return fmt.Errorf("a plan of %d steps has too many orders to decide, %d are the most; split it, or check one order", n, maxPartial)
	}
	o := orders{c: c, after: make([]dag.Set, n), before: dag.NewSet(n)}
	for step := range n + 1 {
		o.enter(step)
		for _, cond := range c.conditionsOf(step) {
			o.judge(step, cond)
			if o.work > maxWork {
				return fmt.Errorf("too many steps write the same keys in no order to decide; order them, or check one order")
			}
		}
	}
	return nil
}

// orders answers for one step after another which writes can be the last before it.
type orders struct {
	c *checker
	// after are the steps after a step, found when first asked; before are those that
	// come before the current step in every order.
	after  []dag.Set
	before dag.Set
	goal   bool
	work   int
}

// enter turns to a step. The goal comes after all.
func (o *orders) enter(step int) {
	o.before.Clear()
	o.goal = step == len(o.c.r.Steps)
	if o.goal {
		for i := range o.c.r.Steps {
			o.before.Add(i)
		}
		return
	}
	for _, i := range o.c.graph.Ancestors(step) {
		o.before.Add(i)
	}
}

func (o *orders) afterOf(step int) dag.Set {
	if o.after[step] == nil {
		o.after[step] = dag.NewSet(len(o.c.r.Steps))
		for _, i := range o.c.graph.Descendants(step) {
			o.after[step].Add(i)
		}
	}
	return o.after[step]
}

// view is what a key can hold when the current step comes, by whether a condition
// holds of it: ascending, the initial state first.
type view struct{ holds, fails []entry }

// look sorts the writes of a key that can be the last before a step by whether the
// condition holds after them. A write can be the last unless it comes after the step,
// or another write of the key comes between the two in every order. The initial state
// can be it unless a write comes before the step in every order.
func (o *orders) look(step, key int, cond Condition) view {
	var v view
	writes := o.c.writes[key]
	writers := dag.NewSet(len(o.c.r.Steps))
	settled := false
	for _, e := range writes {
		writers.Add(e.by)
		settled = settled || o.before.Has(e.by)
	}
	put := func(e entry) {
		if cond.holds(e) {
			v.holds = append(v.holds, e)
		} else {
			v.fails = append(v.fails, e)
		}
	}
	if !settled {
		put(o.c.start[key])
	}
	for _, e := range writes {
		if e.by == step || !o.goal && o.afterOf(step).Has(e.by) {
			continue
		}
		o.work += len(writers) + 8
		if !o.between(e.by, writers) {
			put(e)
		}
	}
	return v
}

// between reports a write of the set that comes after w and before the step in every order.
func (o *orders) between(w int, writers dag.Set) bool {
	after := o.afterOf(w)
	for word := range writers {
		if writers[word]&after[word]&o.before[word] != 0 {
			return true
		}
	}
	return false
}

func (o *orders) judge(step int, cond Condition) {
	key := o.c.keys[cond.Key]
	v := o.look(step, key, cond)
	if len(v.fails) == 0 {
		o.c.satisfied(step, key, v.holds[0].by)
		for _, e := range v.holds[1:] {
			o.c.used[step] = append(o.c.used[step], e.by)
		}
		return
	}
	culprit := v.fails[len(v.fails)-1]
	for _, e := range v.fails {
		if e.by != initially && !o.before.Has(e.by) {
			culprit = e // one that nothing orders is what can be mended by an edge
			break
		}
	}
	d := Defect{Kind: Unsatisfied, Message: "does not hold in every order: " + o.c.had(key, culprit)}
	by := culprit.by
	switch {
	case by == initially && len(v.holds) > 0:
		d.Message += fmt.Sprintf("; '%s' makes it hold and need not come first", report.Clip(o.c.id(v.holds[0].by)))
	case by == initially:
	case !o.before.Has(by) && len(v.holds) > 0:
		d.Kind, d.ClobberedBy = Threat, o.c.id(by)
		d.Message += fmt.Sprintf(", and nothing keeps '%s' from coming just before", report.Clip(d.ClobberedBy))
	case o.before.Has(by) && o.heldBefore(by, key, cond):
		d.Kind, d.ClobberedBy = Clobbered, o.c.id(by)
	}
	o.c.fault(step, cond, d)
}

// heldBefore reports that a condition holds in the initial state or after a write that
// is not after the culprit, so that the culprit is what undoes it.
func (o *orders) heldBefore(culprit, key int, cond Condition) bool {
	if cond.holds(o.c.start[key]) {
		return true
	}
	for _, e := range o.c.writes[key] {
		if e.by != culprit && !o.afterOf(culprit).Has(e.by) && cond.holds(e) {
			return true
		}
	}
	return false
}
