package flow

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// exfiltration reports a sink that is given more than it may be.
func (c *check) exfiltration(found []Violation, i int) []Violation {
	t, a := c.tools[i], &c.actions[i]
	limit := t.limit()
	if !t.Sink && !a.MaySink || c.in[i].may.Confidentiality <= limit {
		return found
	}
	sure := c.in[i].sure.Confidentiality > limit
	v := c.trace(Violation{Kind: Exfiltration, Certain: sure && t.Sink, Label: c.in[i].of(sure)}, i, excess{limit: limit, sure: sure})
	v.Explanation = fmt.Sprintf("%s would give %s data to '%s', which %s what it is given and may have at most %s",
		c.from(v), v.Label.Confidentiality, report.Clip(a.ID), sends(t.Sink), limit)
	if !v.Certain {
		v.Explanation = "it may be that " + v.Explanation
	}
	return append(found, v)
}

func sends(sure bool) string {
	if sure {
		return "sends out"
	}
	return "may send out"
}

// influence reports untrusted input into what must not be steered by it.
func (c *check) influence(found []Violation, i int) []Violation {
	if !c.tools[i].RequiresTrusted || c.in[i].may.Trust != Untrusted {
		return found
	}
	sure := c.in[i].sure.Trust == Untrusted
	v := c.trace(Violation{Kind: UntrustedInfluence, Certain: sure, Label: c.in[i].of(sure)}, i, excess{trust: true, sure: sure})
	v.Explanation = fmt.Sprintf("%s is not trusted and would steer '%s', which only trusted input may", c.from(v), report.Clip(c.actions[i].ID))
	return append(found, v)
}

// excess is what makes a label too much: above a confidentiality, or not trusted.
type excess struct {
	limit Confidentiality
	trust bool
	sure  bool
}

func (e excess) over(p pair) bool {
	l := p.of(e.sure)
	if e.trust {
		return l.Trust == Untrusted
	}
	return l.Confidentiality > e.limit
}

// sources finds for every action the nearest that brings an excess in, by the
// fewest steps: from[i] is the step before, i itself for a source, -1 for none.
func (c *check) sources(e excess) []int32 {
	if known, ok := c.nearest[e]; ok {
		return known
	}
	from := make([]int32, len(c.actions))
	var queue []int32
	for i := range from {
		from[i] = -1
		// What a declassifier takes in is clean behind it.
		if output := c.tools[i].output(); e.over(c.out[i]) && (e.over(c.own[i]) || e.over(pair{output, output})) {
			from[i], queue = int32(i), append(queue, int32(i))
		}
	}
	for done := 0; done < len(queue); done++ {
		i := queue[done]
		for _, j := range c.back.In(int(i)) {
			if from[j] < 0 {
				from[j] = i
				if e.over(c.out[j]) {
					queue = append(queue, j)
				}
			}
		}
	}
	c.nearest[e] = from
	return from
}

// trace says where an excess comes from: the nearest action that brings it in, by
// the fewest steps to the sink.
func (c *check) trace(v Violation, sink int, e excess) Violation {
	v.Sink = c.actions[sink].ID
	path := []int32{int32(sink)}
	if !e.over(c.own[sink]) {
		path = c.pathTo(sink, c.sources(e))
	}
	for k := len(path) - 1; k >= 0; k-- {
		v.Path = append(v.Path, c.actions[path[k]].ID)
	}
	a := &c.actions[path[len(path)-1]]
	for _, key := range a.Reads {
		if e.over(pair{c.keys[key], c.keys[key]}) {
			v.Key = key
			return v
		}
	}
	floor := pair{c.policy.Floor, c.policy.Floor.Join(c.policy.MayFloor)}
	if own := (pair{a.Label, a.Label.Join(a.May)}); e.over(own) || !e.over(floor) {
		v.Source = a.ID
	}
	return v
}

// pathTo walks from a sink to the source of what it takes in. The sink may be a
// source of what it gives out itself, which is not what it takes in.
func (c *check) pathTo(sink int, from []int32) []int32 {
	path := []int32{int32(sink)}
	best := int32(-1)
	steps := 0
	for _, j := range c.back.Out(sink) {
		if n := length(j, from); n > 0 && (best < 0 || n < steps) {
			best, steps = j, n
		}
	}
	for i := best; i >= 0; i = from[i] {
		path = append(path, i)
		if from[i] == i {
			break
		}
	}
	return path
}

// length is how many actions stand on the way from a source to i, 0 for none.
func length(i int32, from []int32) int {
	for n := 1; i >= 0; n++ {
		if from[i] == i {
			return n
		}
		i = from[i]
	}
	return 0
}

// from words the source of a violation.
func (c *check) from(v Violation) string {
	switch {
	case v.Key != "":
		return fmt.Sprintf("state key '%s'", report.Clip(v.Key))
	case v.Source != "":
		return fmt.Sprintf("'%s'", report.Clip(v.Source))
	default:
		return "what was read before"
	}
}

// orders reports what would follow something it must not follow.
func (c *check) orders(found []Violation) []Violation {
	for _, o := range c.policy.Orders {
		var first []int
		for i := range c.actions {
			if c.named(i, o.First) {
				first = append(first, i)
			}
		}
		past := c.policy.Past[o.First]
		if len(first) == 0 && !past {
			continue
		}
		for i := range c.actions {
			if !c.named(i, o.Then) {
				continue
			}
			if v, bad := c.follows(o, first, past, i); bad {
				found = append(found, v)
			}
		}
	}
	return found
}

// follows looks for what the action at index i would follow: surely, or maybe where
// nothing orders the two.
func (c *check) follows(o Order, first []int, past bool, i int) (Violation, bool) {
	v := Violation{Kind: ForbiddenOrder, Sink: c.actions[i].ID, Path: []ir.ActionID{c.actions[i].ID}, Certain: past}
	may := -1
	for _, f := range first {
		switch {
		case v.Certain:
		case f != i && c.order.Reaches(f, i):
			v.Certain, v.Source = true, c.actions[f].ID
			v.Path = c.way(f, i)
		case may < 0 && (f == i || !c.order.Reaches(i, f)):
			may = f
		}
	}
	if !v.Certain && may < 0 {
		return v, false
	}
	before := "what happened before"
	if !v.Certain {
		v.Source, v.Path = c.actions[may].ID, []ir.ActionID{c.actions[may].ID, v.Sink}
	}
	if v.Source != "" {
		before = fmt.Sprintf("'%s'", report.Clip(v.Source))
	}
	how := "would follow"
	if !v.Certain {
		how = "may follow"
	}
	v.Explanation = fmt.Sprintf("'%s' (%s) %s %s (%s), which is forbidden", report.Clip(v.Sink), report.Clip(o.Then), how, before, report.Clip(o.First))
	return v, true
}

func (c *check) way(from, to int) []ir.ActionID {
	var ids []ir.ActionID
	for _, i := range c.order.Path(from, func(i int) bool { return i == to }, func(int) bool { return false }) {
		ids = append(ids, c.actions[i].ID)
	}
	return ids
}

func (c *check) named(i int, name string) bool {
	a := &c.actions[i]
	return a.Tool == name || c.tools[i].Capability == name || contains(a.Names, name)
}
