package dag

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/ir"
)

// Wait is another node that a node waits for. Keys are the state keys that order
// them, in the order of the edges, each once; none where an id does.
type Wait struct {
	On   int
	Keys []string
}

// Waits lists for every node what it waits for, ascending, each other node once.
func (g *Graph) Waits() [][]Wait {
	waits := make([][]Wait, g.n)
	at := make(map[[2]int]int)
	said := make(map[ir.Edge]bool)
	for _, e := range g.edges {
		pair := [2]int{e.From, e.To}
		k, ok := at[pair]
		if !ok {
			k = len(waits[e.To])
			at[pair] = k
			waits[e.To] = append(waits[e.To], Wait{On: e.From})
		}
		if w := &waits[e.To][k]; e.Key != "" && !said[e] {
			said[e] = true
			w.Keys = append(w.Keys, e.Key)
		}
	}
	for _, w := range waits {
		slices.SortFunc(w, func(a, b Wait) int { return a.On - b.On })
	}
	return waits
}

// Text draws the graph, a line a node, by level, with what each waits for (V-DAG-1):
//
//	level 0  a1
//	         a2
//	level 1  a3 <- a1[x] a2
//
// Nodes that a cycle holds up come last. Names are written as they are given.
func (g *Graph) Text(name func(i int) string) string {
	var b strings.Builder
	waits := g.Waits()
	line := func(head string, i int) {
		b.WriteString(head + "  " + name(i))
		for at, w := range waits[i] {
			if at == 0 {
				b.WriteString(" <-")
			}
			b.WriteString(" " + name(w.On))
			if len(w.Keys) > 0 {
				b.WriteString("[" + strings.Join(w.Keys, " ") + "]")
			}
		}
		b.WriteByte('\n')
	}
	for n, level := range g.Levels() {
		head := fmt.Sprintf("level %d", n)
		for at, i := range level {
			if at > 0 {
				head = strings.Repeat(" ", len(head))
			}
			line(head, i)
		}
	}
	for i, l := range g.level {
		if l == none {
			line("cycle  ", i)
		}
	}
	return b.String()
}
