package workflow

import (
	"fmt"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/input"
)

// Graph is a workflow (V-WF-1).
type Graph struct {
	Start string `json:"start"`
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is a stage. One without edges that leave it is terminal in any case.
type Node struct {
	ID       string `json:"id"`
	Terminal bool   `json:"terminal,omitempty"`
	// Produces are the state keys that the stage leaves.
	Produces []string `json:"produces,omitempty"`
	// MaxIterations bounds how often a loop through the stage goes round; 0 is no bound.
	MaxIterations int `json:"max_iterations,omitempty"`
}

// Edge leads from a stage to another, whenever its condition holds; without one, always.
type Edge struct {
	From      string           `json:"from"`
	To        string           `json:"to"`
	Condition *ir.Precondition `json:"condition,omitempty"`
}

// Decode reads a workflow from JSON. Errors are *ir.PathError values, wrapped: text
// that is not I-JSON, a member of another type, a node without an id, an edge
// without an end, a negative bound. Whether the ids fit together is Check's to say.
func Decode(data []byte) (Graph, error) {
	var g Graph
	if err := input.Decode(data, &g); err != nil {
		return Graph{}, fmt.Errorf("decode workflow: %w", err)
	}
	if err := g.complete(); err != nil {
		return Graph{}, fmt.Errorf("decode workflow: %w", err)
	}
	return g, nil
}

func (g *Graph) complete() error {
	for i, n := range g.Nodes {
		path := fmt.Sprintf("nodes[%d]", i)
		if n.ID == "" {
			return &ir.PathError{Path: path + ".id", Problem: "required"}
		}
		if n.MaxIterations < 0 {
			return &ir.PathError{Path: path + ".max_iterations", Problem: "a count is needed, 0 for no bound"}
		}
	}
	for i, e := range g.Edges {
		path := fmt.Sprintf("edges[%d]", i)
		if e.From == "" || e.To == "" {
			return &ir.PathError{Path: path, Problem: "from and to are required"}
		}
		if e.Condition == nil {
			continue
		}
		if e.Condition.Key == "" {
			return &ir.PathError{Path: path + ".condition.key", Problem: "required"}
		}
		if e.Condition.Operator == "" {
			e.Condition.Operator = "eq"
		}
	}
	return nil
}

// net is a workflow by index: the nodes, each once, and the edges whose ends exist.
type net struct {
	index map[string]int
	nodes []Node
	graph *dag.Graph
	start int // none where it is no node
	// reached are the nodes that a path from the start comes to.
	reached []bool
}

const none = -1

func newNet(w Graph) *net {
	n := &net{index: make(map[string]int, len(w.Nodes)), start: none}
	for _, node := range w.Nodes {
		if _, double := n.index[node.ID]; !double {
			n.index[node.ID] = len(n.nodes)
			n.nodes = append(n.nodes, node)
		}
	}
	edges := make([]ir.Edge, 0, len(w.Edges))
	for _, e := range w.Edges {
		from, okFrom := n.index[e.From]
		to, okTo := n.index[e.To]
		if okFrom && okTo {
			edges = append(edges, ir.Edge{From: from, To: to})
		}
	}
	n.graph = dag.New(len(n.nodes), edges)
	n.reached = make([]bool, len(n.nodes))
	if start, ok := n.index[w.Start]; ok {
		n.start = start
		n.reached[start] = true
		for _, i := range n.graph.Descendants(start) {
			n.reached[i] = true
		}
	}
	return n
}

// endings are the nodes at which a run can end.
func (n *net) endings() []int {
	var ends []int
	for i, node := range n.nodes {
		if node.Terminal || len(n.graph.Out(i)) == 0 {
			ends = append(ends, i)
		}
	}
	return ends
}

// leadingTo marks some nodes and every node from which one of them can be reached.
func (n *net) leadingTo(nodes []int) []bool {
	leads := make([]bool, len(n.nodes))
	open := slices.Clone(nodes)
	for _, i := range open {
		leads[i] = true
	}
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		for _, j := range n.graph.In(i) {
			if !leads[j] {
				leads[j] = true
				open = append(open, int(j))
			}
		}
	}
	return leads
}

// ids names nodes.
func (n *net) ids(nodes []int) []string {
	ids := make([]string, len(nodes))
	for at, i := range nodes {
		ids[at] = n.nodes[i].ID
	}
	return ids
}
