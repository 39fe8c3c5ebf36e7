package ir

// cycle returns the ids along a shortest cycle through the lowest index that is
// on any, each action followed by one it waits for, the first repeated at the
// end. The graph must have a cycle.
func (g *graph) cycle(actions []Action) []string {
	needs := g.adjacent(true)
	start := g.lowestOnCycle(needs)
	// Breadth first from start back to start.
	from := make([]int32, g.size)
	for i := range from {
		from[i] = none
	}
	queue := []int32{start}
	for head := 0; head < len(queue) && from[start] == none; head++ {
		for _, j := range needs.of(queue[head]) {
			if from[j] == none {
				from[j] = queue[head]
				queue = append(queue, j)
			}
		}
	}
	path := []int32{start}
	for i := from[start]; i != start; i = from[i] {
		path = append(path, i)
	}
	ids := []string{string(actions[start].ID)}
	for k := len(path) - 1; k > 0; k-- {
		ids = append(ids, string(actions[path[k]].ID))
	}
	return append(ids, string(actions[start].ID))
}

// lowestOnCycle finds the lowest index in a strongly connected component of more
// than one action, or that waits for itself: Tarjan's algorithm with its own
// stack, so that a long chain costs no call stack.
func (g *graph) lowestOnCycle(needs adjacency) int32 {
	t := tarjan{
		needs: needs, lowest: none,
		order: make([]int32, g.size), low: make([]int32, g.size),
		next: make([]int32, g.size), open: make([]bool, g.size),
	}
	for i := range int32(g.size) {
		if t.order[i] == 0 {
			t.visit(i)
		}
	}
	return t.lowest
}

// tarjan is the state of one search. order and low count from 1; 0 is unvisited.
type tarjan struct {
	needs            adjacency
	order, low, next []int32
	open             []bool
	component, calls []int32
	visited, lowest  int32
}

func (t *tarjan) enter(i int32) {
	t.visited++
	t.order[i], t.low[i] = t.visited, t.visited
	t.open[i] = true
	t.component = append(t.component, i)
	t.calls = append(t.calls, i)
}

func (t *tarjan) visit(root int32) {
	t.enter(root)
	for len(t.calls) > 0 {
		i := t.calls[len(t.calls)-1]
		if k := t.next[i]; int(k) < len(t.needs.of(i)) {
			t.next[i]++
			switch j := t.needs.of(i)[k]; {
			case j == i:
				t.found(i)
			case t.order[j] == 0:
				t.enter(j)
			case t.open[j]:
				t.low[i] = min(t.low[i], t.order[j])
			}
			continue
		}
		t.calls = t.calls[:len(t.calls)-1]
		if len(t.calls) > 0 {
			parent := t.calls[len(t.calls)-1]
			t.low[parent] = min(t.low[parent], t.low[i])
		}
		if t.low[i] == t.order[i] {
			t.closeComponent(i)
		}
	}
}

// closeComponent takes the finished component of i off the stack.
func (t *tarjan) closeComponent(i int32) {
	size := 0
	for {
		j := t.component[len(t.component)-1-size]
		t.open[j] = false
		size++
		if j == i {
			break
		}
	}
	members := t.component[len(t.component)-size:]
	if size > 1 {
		for _, j := range members {
			t.found(j)
		}
	}
	t.component = t.component[:len(t.component)-size]
}

func (t *tarjan) found(i int32) {
	if t.lowest == none || i < t.lowest {
		t.lowest = i
	}
}
