package plan

import (
	"fmt"
	"slices"

	"car/internal/engine/verify/report"
)

// maxBack bounds how far the history of a key is searched for who undid a condition.
const maxBack = 64

// progression takes steps one after another in two worlds: in one a step that cannot
// be taken leaves nothing, in the other it leaves what it would have.
type progression struct {
	c *checker
	// now and hopeful are what each key holds in the two worlds.
	now, hopeful []entry
	// taken are the steps that could be, so far.
	taken []bool
	// next counts the writes of each key so far.
	next []int
}

func (c *checker) total() {
	p := progression{c: c, now: slices.Clone(c.start), hopeful: slices.Clone(c.start), taken: make([]bool, len(c.r.Steps)), next: make([]int, len(c.names))}
	for i := range c.r.Steps {
		p.taken[i] = p.judge(i)
		for _, k := range c.written[i] {
			p.hopeful[k] = c.writes[k][p.next[k]]
			p.next[k]++
			if p.taken[i] {
				p.now[k] = p.hopeful[k]
			}
		}
	}
	p.judge(len(c.r.Steps))
	c.final = map[string]any{}
	for k, name := range c.names {
		if e := p.now[k]; e.present {
			c.final[name] = e.value
		}
	}
}

// judge checks the conditions of a step, or of the goal, and says whether all hold.
func (p *progression) judge(step int) bool {
	all := true
	for _, cond := range p.c.conditionsOf(step) {
		key := p.c.keys[cond.Key]
		if e := p.now[key]; cond.holds(e) {
			p.c.satisfied(step, key, e.by)
			continue
		}
		all = false
		d := Defect{Kind: Unsatisfied, Message: "does not hold: " + p.c.had(key, p.now[key])}
		if by := p.hopeful[key].by; cond.holds(p.hopeful[key]) && by != initially {
			d.CausedBy = p.c.id(by)
			d.Message += fmt.Sprintf("; '%s' would make it hold and cannot be taken itself", report.Clip(d.CausedBy))
		} else if culprit, ok := p.undoneBy(cond, key); ok {
			d.Kind, d.ClobberedBy = Clobbered, p.c.id(culprit)
			d.Message += fmt.Sprintf("; it held until '%s'", report.Clip(d.ClobberedBy))
		}
		p.c.fault(step, cond, d)
	}
	return all
}

// undoneBy finds the step after which a condition that held has not held since.
func (p *progression) undoneBy(cond Condition, key int) (step int, ok bool) {
	after := p.now[key].by
	for at := p.next[key] - 1; at >= 0 && after != initially; at-- {
		if p.next[key]-at > maxBack {
			return 0, false
		}
		e := p.c.writes[key][at]
		if !p.taken[e.by] || e.by >= after {
			continue
		}
		if cond.holds(e) {
			return after, true
		}
		after = e.by
	}
	return after, after != initially && cond.holds(p.c.start[key])
}

// had words what a key holds and who gave it.
func (c *checker) had(key int, e entry) string {
	name := report.Clip(c.names[key])
	from := "in the initial state"
	if e.by != initially {
		from = fmt.Sprintf("after '%s'", report.Clip(c.id(e.by)))
	}
	if !e.present {
		return fmt.Sprintf("'%s' is absent %s", name, from)
	}
	return fmt.Sprintf("'%s' is %s %s", name, report.ClipValue(e.value), from)
}
