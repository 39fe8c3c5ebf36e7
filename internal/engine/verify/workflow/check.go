package workflow

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// Kind is what is wrong with a workflow: its wire label.
type Kind string

// The kinds, errors first.
const (
	MissingStart    Kind = "missing_start"
	UnknownEndpoint Kind = "unknown_endpoint"
	DuplicateNode   Kind = "duplicate_node"
	InescapableLoop Kind = "inescapable_loop"
	Unreachable     Kind = "unreachable"
	Cycle           Kind = "cycle"
	DeadEnd         Kind = "dead_end"
	ShadowedEdge    Kind = "shadowed_edge"
)

// Report is what a check of a workflow found (V-WF-1). Lists are never null in JSON.
type Report struct {
	// Valid says that no defect is an error.
	Valid bool `json:"valid"`
	// Issues are the defects' messages.
	Issues            []string `json:"issues"`
	HasCycles         bool     `json:"has_cycles"`
	ReachableStages   []string `json:"reachable_stages"`
	UnreachableStages []string `json:"unreachable_stages"`
	// Semantic are conditions on keys that no stage produces. They never make a
	// workflow invalid: the key may come from outside.
	Semantic []string `json:"semantic"`
	Defects  []Defect `json:"defects"`
	report.Scope
}

// Defect is one thing that is wrong. Witness is a path or cycle that shows it.
type Defect struct {
	Kind     Kind            `json:"kind"`
	Severity report.Severity `json:"severity"`
	Nodes    []string        `json:"nodes"`
	Message  string          `json:"message"`
	Witness  []string        `json:"witness"`
}

// Check looks at the shape of a workflow. It takes time linear in its size.
func Check(w Graph) Report {
	c := &checker{w: w, net: newNet(w), r: Report{Valid: true, Issues: []string{}, ReachableStages: []string{}, UnreachableStages: []string{}, Semantic: []string{}, Defects: []Defect{}, Scope: scope()}}
	c.structure()
	c.reach()
	c.loops()
	c.deadEnds()
	c.shadows()
	c.semantics()
	return c.r
}

func scope() report.Scope {
	return report.Scope{Tier: report.DecisionProcedure, CannotVerify: []string{"which conditions can hold together", "what the stages do", "how often a bounded loop goes round"}}
}

type checker struct {
	w   Graph
	net *net
	r   Report
}

func (c *checker) add(kind Kind, severity report.Severity, nodes, witness []string, format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = report.Clip(text)
		}
	}
	d := Defect{Kind: kind, Severity: severity, Nodes: append([]string{}, nodes...), Witness: append([]string{}, witness...), Message: fmt.Sprintf(format, args...)}
	c.r.Defects = append(c.r.Defects, d)
	c.r.Issues = append(c.r.Issues, d.Message)
	c.r.Valid = c.r.Valid && severity != report.Error
}

// structure finds ids that do not fit together.
func (c *checker) structure() {
	if c.net.start == none {
		c.add(MissingStart, report.Error, nil, nil, "start stage '%s' does not exist", c.w.Start)
	}
	seen := map[string]bool{}
	for _, n := range c.w.Nodes {
		if seen[n.ID] {
			c.add(DuplicateNode, report.Error, []string{n.ID}, nil, "stage '%s' is there twice", n.ID)
		}
		seen[n.ID] = true
	}
	for _, e := range c.w.Edges {
		for _, end := range [2]string{e.From, e.To} {
			if !seen[end] {
				c.add(UnknownEndpoint, report.Error, []string{end}, []string{e.From, e.To}, "the edge from '%s' to '%s' has an end, '%s', that is no stage", e.From, e.To, end)
			}
		}
	}
}

func (c *checker) reach() {
	for i, n := range c.net.nodes {
		if c.net.reached[i] {
			c.r.ReachableStages = append(c.r.ReachableStages, n.ID)
			continue
		}
		c.r.UnreachableStages = append(c.r.UnreachableStages, n.ID)
		if c.net.start != none {
			c.add(Unreachable, report.Warning, []string{n.ID}, nil, "no path leads from the start to stage '%s'", n.ID)
		}
	}
}

// loops finds cycles. One that no edge leaves and no bound ends is an error.
func (c *checker) loops() {
	g := c.net.graph
	component := g.Components()
	members := map[int32][]int{}
	for i, k := range component {
		members[k] = append(members[k], i)
	}
	for _, cycle := range g.Cycles() {
		c.r.HasCycles = true
		k := component[cycle[0]]
		nodes := c.net.ids(members[k])
		witness := c.net.ids(append(cycle, cycle[0]))
		bounded, leaves := false, false
		for _, i := range members[k] {
			bounded = bounded || c.net.nodes[i].MaxIterations > 0
			leaves = leaves || c.net.nodes[i].Terminal || slices.ContainsFunc(g.Out(i), func(j int32) bool { return component[j] != k })
		}
		if !bounded && !leaves {
			c.add(InescapableLoop, report.Error, nodes, witness, "nothing ends the loop %s: no edge leaves it and no stage of it has max_iterations", arrows(witness))
			continue
		}
		how := "an edge leaves it"
		if bounded {
			how = "max_iterations bounds it"
		}
		c.add(Cycle, report.Warning, nodes, witness, "the stages %s form a loop; %s", arrows(witness), how)
	}
}

// arrows writes a path for a message.
func arrows(ids []string) string {
	const most = 12
	words := make([]string, 0, most+1)
	for at, id := range ids {
		if at == most {
			words = append(words, fmt.Sprintf("… (%d more)", len(ids)-most))
			break
		}
		words = append(words, report.Clip(id))
	}
	return strings.Join(words, " -> ")
}

// deadEnds finds stages from which no terminal stage can be reached. They are one
// defect; the witness leads to the nearest.
func (c *checker) deadEnds() {
	ends := c.net.leadingTo(c.net.endings())
	dead := func(i int) bool { return !ends[i] && c.net.reached[i] }
	var nodes []int
	for i := range c.net.nodes {
		if dead(i) {
			nodes = append(nodes, i)
		}
	}
	if len(nodes) == 0 {
		return
	}
	path := c.net.graph.Path(c.net.start, dead, func(int) bool { return false })
	more := ""
	if len(nodes) > 1 {
		more = fmt.Sprintf(" and %d more", len(nodes)-1)
	}
	c.add(DeadEnd, report.Warning, c.net.ids(nodes), c.net.ids(path), "no terminal stage can be reached from '%s'"+more, c.net.nodes[nodes[0]].ID)
}

// shadows finds edges that are never taken because an earlier one from the same stage
// always is, or has the same condition and target.
func (c *checker) shadows() {
	always := map[string]int{}
	type choice struct{ from, condition string }
	seen := map[choice]bool{}
	for i, e := range c.w.Edges {
		if at, ok := always[e.From]; ok {
			c.add(ShadowedEdge, report.Warning, []string{e.From, e.To}, []string{e.From, c.w.Edges[at].To}, "the edge from '%s' to '%s' is never taken: an earlier one has no condition", e.From, e.To)
			continue
		}
		if e.Condition == nil {
			always[e.From] = i
			continue
		}
		k := choice{e.From, conditionText(e.Condition)}
		if seen[k] {
			c.add(ShadowedEdge, report.Warning, []string{e.From, e.To}, []string{e.From, e.To}, "the edge from '%s' to '%s' is never taken: an earlier one has the same condition", e.From, e.To)
		}
		seen[k] = true
	}
}

// conditionText is equal for equal conditions.
func conditionText(c *ir.Precondition) string {
	value, err := ir.Canonical(c.Value)
	if err != nil {
		value = nil
	}
	return c.Key + "\x00" + c.Operator + "\x00" + string(value)
}

// semantics lists condition keys that no stage produces, once each.
func (c *checker) semantics() {
	produced := map[string]bool{}
	for _, n := range c.w.Nodes {
		for _, key := range n.Produces {
			produced[key] = true
		}
	}
	for _, e := range c.w.Edges {
		if e.Condition == nil || produced[e.Condition.Key] {
			continue
		}
		produced[e.Condition.Key] = true
		c.r.Semantic = append(c.r.Semantic, fmt.Sprintf("the edge from '%s' to '%s' asks for key '%s', which no stage produces", report.Clip(e.From), report.Clip(e.To), report.Clip(e.Condition.Key)))
	}
}
