package plan

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/model"
	"car/internal/engine/verify/report"
)

// Bounds on the plans that a partial order is checked for.
const (
	maxPartial = 4096
	// maxWork bounds the comparisons, to a second or two; far above what plans ask for
	// that people or models write.
	maxWork = 1 << 27
)

// Check decides whether a plan can be carried out and what it achieves (V-PLAN-3). A
// total order takes time linear in conditions and effects. The error is a partial
// order that is too large to decide.
func Check(r Request) (Report, error) {
	c := newChecker(r)
	c.structure()
	switch {
	case c.broken:
	case r.Order == Partial:
		if err := c.partial(); err != nil {
			return Report{}, fmt.Errorf("check plan: %w", err)
		}
	default:
		c.total()
	}
	return c.report(), nil
}

// entry is what a key holds, and the step that gave it; initially is the initial state.
type entry struct {
	value   any
	present bool
	by      int
}

const initially = -1

// checker is one check under way.
type checker struct {
	r     Request
	keys  map[string]int
	names []string
	start []entry // of each key
	// writes are what each key comes to hold after the steps that write it, ascending;
	// written are the keys of each step. Both have a key and a step once.
	writes  [][]entry
	written [][]int

	graph   *dag.Graph
	broken  bool // ids or order make no plan
	errors  int
	defects []Defect
	links   []link
	// used are the steps that some condition rests on, by the step whose it is; the
	// goal is the step after the last.
	used   [][]int
	final  map[string]any
	noGoal bool // some goal does not hold
}

// link is a Link by index: len(steps) is the goal.
type link struct{ step, key, from int }

func newChecker(r Request) *checker {
	most := len(r.Initial) // keys, but for those that are only asked for
	for _, s := range r.Steps {
		most += len(s.Adds) + len(s.Deletes)
	}
	c := &checker{r: r, keys: make(map[string]int, most), names: make([]string, 0, most), start: make([]entry, 0, most), writes: make([][]entry, 0, most), links: make([]link, 0, len(r.Steps)), written: make([][]int, len(r.Steps)), used: make([][]int, len(r.Steps)+1)}
	for _, key := range keysOf(r.Initial) {
		c.start[c.key(key)] = entry{r.Initial[key], true, initially}
	}
	for i, s := range r.Steps {
		put := func(key string, value any, present bool) {
			k, e := c.key(key), entry{value, present, i}
			if last := len(c.writes[k]) - 1; last >= 0 && c.writes[k][last].by == i {
				c.writes[k][last] = e
				return
			}
			c.writes[k] = append(c.writes[k], e)
			c.written[i] = append(c.written[i], k)
		}
		for _, key := range s.Deletes {
			put(key, nil, false)
		}
		for _, e := range s.Adds {
			put(e.Key, e.Value, true)
		}
		for _, cond := range s.Preconditions {
			c.key(cond.Key)
		}
	}
	for _, cond := range r.Goal {
		c.key(cond.Key)
	}
	return c
}

func (c *checker) key(name string) int {
	k, ok := c.keys[name]
	if !ok {
		k = len(c.names)
		c.keys[name] = k
		c.names = append(c.names, name)
		c.start = append(c.start, entry{by: initially})
		c.writes = append(c.writes, nil)
	}
	return k
}

// structure checks ids and order, and makes the graph.
func (c *checker) structure() {
	index := make(map[ir.ActionID]int, len(c.r.Steps))
	for i, s := range c.r.Steps {
		if _, double := index[s.ID]; double {
			c.structural(Defect{Kind: DuplicateStep, StepID: s.ID, Message: fmt.Sprintf("step '%s' is there twice", report.Clip(s.ID))})
			continue
		}
		index[s.ID] = i
	}
	var edges []ir.Edge
	for _, pair := range c.r.Edges {
		from, okFrom := index[pair[0]]
		to, okTo := index[pair[1]]
		for _, id := range pair {
			if _, ok := index[id]; !ok {
				c.structural(Defect{Kind: UnknownStep, StepID: id, Message: fmt.Sprintf("the order names step '%s', which the plan does not have", report.Clip(id))})
			}
		}
		if okFrom && okTo {
			edges = append(edges, ir.Edge{From: from, To: to})
		}
		if c.r.Order == Total && okFrom && okTo && from >= to {
			c.structural(Defect{Kind: CyclicOrder, StepID: pair[1], Message: fmt.Sprintf("'%s' has to come before '%s', but the plan lists it after", report.Clip(pair[0]), report.Clip(pair[1]))})
		}
	}
	c.graph = dag.New(len(c.r.Steps), edges)
	if c.r.Order == Total {
		return
	}
	for _, cycle := range c.graph.Cycles() {
		c.structural(Defect{Kind: CyclicOrder, StepID: c.r.Steps[cycle[0]].ID, Message: "the order goes in a circle: " + c.path(append(cycle, cycle[0]))})
	}
}

func (c *checker) path(steps []int) string {
	const most = 16
	text := ""
	for at, i := range steps {
		if at == most {
			return text + fmt.Sprintf(" -> … (%d more)", len(steps)-most)
		}
		if at > 0 {
			text += " -> "
		}
		text += report.Clip(c.r.Steps[i].ID)
	}
	return text
}

func (c *checker) structural(d Defect) {
	d.Severity = report.Error
	c.broken = true
	c.errors++
	c.defects = append(c.defects, d)
}

// fault adds an error about a condition of a step, or of the goal.
func (c *checker) fault(step int, cond Condition, d Defect) {
	d.Severity, d.StepID, d.Key = report.Error, c.id(step), cond.Key
	if step == len(c.r.Steps) {
		d.Kind = UnachievedGoal
		c.noGoal = true
	} else {
		c.errors++
	}
	what := "precondition of '" + report.Clip(d.StepID) + "'"
	if d.StepID == "" {
		what = "goal"
	}
	d.Message = what + " " + model.ConditionText(cond.Precondition) + " " + d.Message
	c.defects = append(c.defects, d)
}

// id is the wire name of a step, of the goal, or of the initial state.
func (c *checker) id(step int) ir.ActionID {
	if step < 0 || step >= len(c.r.Steps) {
		return ""
	}
	return c.r.Steps[step].ID
}

// satisfied notes who makes a condition hold.
func (c *checker) satisfied(step, key, from int) {
	c.links = append(c.links, link{step, key, from})
	if from != initially {
		c.used[step] = append(c.used[step], from)
	}
}

func (c *checker) report() Report {
	applicable := c.errors == 0
	if applicable && !c.noGoal && len(c.r.Goal) > 0 {
		c.redundant()
	}
	r := Report{Applicable: applicable, AchievesGoal: applicable && !c.noGoal, Defects: append([]Defect{}, c.defects...), FinalState: c.final, Links: []Link{},
		Scope: report.Scope{Tier: report.DecisionProcedure, CannotVerify: append([]string{"effects that depend on the state they meet", "time and resources", "a world that changes by itself"}, c.r.beyond...)}}
	for _, l := range c.links {
		r.Links = append(r.Links, Link{c.id(l.step), c.names[l.key], c.id(l.from)})
	}
	return r
}

// redundant finds steps on which neither the goal nor a step that is needed rests.
func (c *checker) redundant() {
	n := len(c.r.Steps)
	needed := make([]bool, n+1)
	needed[n] = true
	open := []int{n}
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		for _, j := range c.used[i] {
			if !needed[j] {
				needed[j] = true
				open = append(open, j)
			}
		}
	}
	for i, s := range c.r.Steps {
		if !needed[i] {
			c.defects = append(c.defects, Defect{Kind: RedundantStep, Severity: report.Info, StepID: s.ID, Message: fmt.Sprintf("neither the goal nor a step that it needs rests on '%s'", report.Clip(s.ID))})
		}
	}
}

// conditionsOf are those of a step, or of the goal.
func (c *checker) conditionsOf(step int) []Condition {
	if step == len(c.r.Steps) {
		return c.r.Goal
	}
	return c.r.Steps[step].Preconditions
}
