package dag

import "slices"

// Components numbers the strongly connected components: nodes with one number
// reach each other. It is Tarjan's algorithm without recursion. The caller leaves
// the answer alone.
func (g *Graph) Components() []int32 {
	if g.component == nil {
		t := tarjan{g: g, index: make([]int32, g.n), low: make([]int32, g.n), component: make([]int32, g.n), next: make([]int32, g.n)}
		for i := range g.n {
			t.component[i] = none
		}
		for i := range g.n {
			if t.index[i] == 0 {
				t.visit(int32(i))
			}
		}
		g.component = t.component
	}
	return g.component
}

type tarjan struct {
	g *Graph
	// index counts from 1; 0 is a node not visited yet.
	index, low []int32
	component  []int32
	next       []int32 // the next edge of a node to follow
	open       []int32 // nodes whose component is not known
	calls      []int32 // the path of the walk
	visited    int32
	components int32
}

func (t *tarjan) enter(i int32) {
	t.visited++
	t.index[i], t.low[i] = t.visited, t.visited
	t.open = append(t.open, i)
	t.calls = append(t.calls, i)
}

func (t *tarjan) visit(root int32) {
	t.enter(root)
	for len(t.calls) > 0 {
		i := t.calls[len(t.calls)-1]
		if out := t.g.out.of(int(i)); int(t.next[i]) < len(out) {
			j := out[t.next[i]]
			t.next[i]++
			switch {
			case t.index[j] == 0:
				t.enter(j)
			case t.component[j] == none:
				t.low[i] = min(t.low[i], t.index[j])
			}
			continue
		}
		t.calls = t.calls[:len(t.calls)-1]
		if len(t.calls) > 0 {
			parent := t.calls[len(t.calls)-1]
			t.low[parent] = min(t.low[parent], t.low[i])
		}
		if t.low[i] == t.index[i] {
			t.close(i)
		}
	}
}

// close takes the component of i off the open nodes.
func (t *tarjan) close(i int32) {
	for {
		j := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.component[j] = t.components
		if j == i {
			t.components++
			return
		}
	}
}

// Cycles gives one cycle for every strongly connected part that has any: a shortest
// one through its lowest index, beginning there and not repeating it. In order of
// that index.
func (g *Graph) Cycles() [][]int {
	if !slices.Contains(g.level, none) {
		return nil
	}
	component := g.Components()
	var cycles [][]int
	done := make(map[int32]bool)
	for i := range g.n {
		c := component[i]
		if done[c] {
			continue
		}
		done[c] = true
		path := g.PathBack(i, func(j int) bool { return j == i }, func(j int) bool { return component[j] != c })
		if path != nil {
			cycles = append(cycles, path[:len(path)-1])
		}
	}
	return cycles
}
