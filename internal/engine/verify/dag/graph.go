package dag

import (
	"slices"

	"car/internal/engine/ir"
)

// Graph is a directed graph over nodes 0..n-1 (V-DAG-1). It may have cycles; nodes
// that a cycle holds up have no level. Not safe for concurrent use: answers are
// computed once and kept.
type Graph struct {
	n         int
	edges     []ir.Edge
	out, in   adjacency
	level     []int32 // none for what a cycle holds up
	top       int32   // the highest level
	closure   []uint64
	words     int
	seen      []int32 // stamps of searches
	stamp     int32
	stack     []int32
	cameFrom  []int32
	work      int // edges that searches have looked at
	asked     int // answers that questions about pairs took
	component []int32
}

const none = -1

// New makes a graph of n nodes. Edges whose ends are no nodes are left out.
func New(n int, edges []ir.Edge) *Graph {
	kept := edges
	if slices.ContainsFunc(edges, func(e ir.Edge) bool { return e.From < 0 || e.From >= n || e.To < 0 || e.To >= n }) {
		kept = slices.DeleteFunc(slices.Clone(edges), func(e ir.Edge) bool { return e.From < 0 || e.From >= n || e.To < 0 || e.To >= n })
	}
	g := &Graph{n: n, edges: kept}
	g.out = adjacent(n, kept, func(e ir.Edge) (int, int) { return e.From, e.To })
	g.in = adjacent(n, kept, func(e ir.Edge) (int, int) { return e.To, e.From })
	g.settle()
	return g
}

// adjacency packs the neighbours of every node into one slice.
type adjacency struct{ start, to []int32 }

func (a adjacency) of(i int) []int32 { return a.to[a.start[i]:a.start[i+1]] }

func adjacent(n int, edges []ir.Edge, ends func(ir.Edge) (from, to int)) adjacency {
	a := adjacency{start: make([]int32, n+1), to: make([]int32, len(edges))}
	for _, e := range edges {
		from, _ := ends(e)
		a.start[from+1]++
	}
	for i := range n {
		a.start[i+1] += a.start[i]
	}
	next := slices.Clone(a.start[:n])
	for _, e := range edges {
		from, to := ends(e)
		a.to[next[from]] = int32(to)
		next[from]++
	}
	return a
}

// settle gives levels by Kahn's algorithm.
func (g *Graph) settle() {
	g.level = make([]int32, g.n)
	waits := make([]int32, g.n)
	ready := make([]int32, 0, g.n)
	for i := range g.n {
		waits[i] = int32(len(g.in.of(i)))
		if waits[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	g.top = none
	for done := 0; done < len(ready); done++ {
		i := ready[done]
		g.top = max(g.top, g.level[i])
		for _, j := range g.out.of(int(i)) {
			g.level[j] = max(g.level[j], g.level[i]+1)
			if waits[j]--; waits[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	for i := range g.n {
		if waits[i] > 0 {
			g.level[i] = none
		}
	}
}

// Len is the number of nodes.
func (g *Graph) Len() int { return g.n }

// Edges are the graph's edges as they were given. The caller leaves them alone.
func (g *Graph) Edges() []ir.Edge { return g.edges }

// Out lists the ends of the edges that leave a node, one for each edge. The caller
// leaves it alone.
func (g *Graph) Out(i int) []int32 { return g.out.of(i) }

// In lists the starts of the edges that reach a node, one for each edge. The caller
// leaves it alone.
func (g *Graph) In(i int) []int32 { return g.in.of(i) }

// Level is 0 for a node that waits for nothing, else one more than the highest it
// waits for; -1 for one that a cycle holds up.
func (g *Graph) Level(i int) int { return int(g.level[i]) }

// Levels groups nodes by level, indices ascending within. What a cycle holds up is
// in none.
func (g *Graph) Levels() [][]int {
	groups := make([][]int, g.top+1)
	for i, l := range g.level {
		if l != none {
			groups[l] = append(groups[l], i)
		}
	}
	return groups
}

// Width is the size of the largest level.
func (g *Graph) Width() int {
	widest := 0
	for _, level := range g.Levels() {
		widest = max(widest, len(level))
	}
	return widest
}

// CriticalPath is the heaviest path through the nodes that have levels, and its
// weight; of several the one with the lowest indices. A negative weight counts as 0.
func (g *Graph) CriticalPath(weight func(i int) float64) (path []int, total float64) {
	best := make([]float64, g.n)
	from := make([]int32, g.n)
	end := none
	for _, level := range g.Levels() {
		for _, i := range level {
			from[i] = none
			for _, j := range g.in.of(i) {
				if from[i] == none || best[j] > best[from[i]] || best[j] == best[from[i]] && j < from[i] {
					from[i] = j
				}
			}
			if from[i] != none {
				best[i] = best[from[i]]
			}
			best[i] += max(weight(i), 0)
			if end == none || best[i] > best[end] {
				end = i
			}
		}
	}
	if end == none {
		return nil, 0
	}
	for i := int32(end); i != none; i = from[i] {
		path = append(path, int(i))
	}
	slices.Reverse(path)
	return path, best[end]
}
