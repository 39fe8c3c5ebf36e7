package ir

import (
	"fmt"
	"strings"
)

// Levels sorts actions into levels that run one after another; within a level
// indices ascend (E-DAG-1, E-DAG-2). An action waits for every id it depends on
// or comes after, for the nearest earlier writer of each key it reads, and, when
// it is a state_write, for the nearest earlier writer of its key and every reader
// since. An unknown or doubled id and a cycle are errors (E-DAG-3). It takes time
// and memory linear in the ids and keys that the actions name, and does not recurse.
func Levels(actions []Action) ([][]int, error) {
	g, err := newGraph(actions)
	if err != nil {
		return nil, err
	}
	level := make([]int, len(actions))
	if g.settle(level) < len(actions) {
		return nil, fmt.Errorf("dependency cycle: %s", strings.Join(g.cycle(actions), " -> "))
	}
	return groupByLevel(level), nil
}

// LevelRunsSequentially reports whether the actions of a level run one after
// another, each validated after the one before it finished: one action, or any
// that aborts on failure (E-DAG-4).
func LevelRunsSequentially(actions []Action, level []int) bool {
	for _, i := range level {
		if actions[i].FailureBehavior == Abort {
			return true
		}
	}
	return len(level) < 2
}

func groupByLevel(level []int) [][]int {
	var sizes []int
	for _, l := range level {
		for len(sizes) <= l {
			sizes = append(sizes, 0)
		}
		sizes[l]++
	}
	backing := make([]int, 0, len(level))
	groups := make([][]int, len(sizes))
	for l, size := range sizes {
		start := len(backing)
		backing = backing[:start+size]
		groups[l] = backing[start : start : start+size]
	}
	for i, l := range level {
		groups[l] = append(groups[l], i)
	}
	return groups
}

// Edge says that the action at index From runs before the one at To. Key is the
// state key that orders them, empty where an id does.
type Edge struct {
	From, To int
	Key      string
}

// Edges lists what orders actions, which is what Levels sorts by (E-DAG-1): first
// the ids that actions name, then their keys, each in index order. Two actions can
// be joined by several. Its errors are those of Levels, cycles excepted.
func Edges(actions []Action) ([]Edge, error) {
	g, err := newGraph(actions)
	if err != nil {
		return nil, err
	}
	edges := make([]Edge, len(g.edges))
	for i, e := range g.edges {
		edges[i] = Edge{From: int(e.before), To: int(e.after)}
		if e.key != none {
			edges[i].Key = g.names[e.key]
		}
	}
	return edges, nil
}

// edge is Edge as the graph keeps it; key counts in the graph's names, none is an id's.
type edge struct{ before, after, key int32 }

// graph is the order between actions, by index.
type graph struct {
	size  int
	edges []edge
	// keys finds the use of a key in uses, by which it is known from then on; names
	// are the keys again.
	keys  map[string]int32
	uses  []keyUse
	names []string
	// readers are linked lists of readers, so that a key costs no slice of its own.
	readers []readerNode
}

// keyUse is a key's nearest earlier writer and its readers since; -1 is none.
type keyUse struct{ writer, readers int32 }

type readerNode struct{ action, next int32 }

const none = -1

func newGraph(actions []Action) (*graph, error) {
	g := &graph{size: len(actions), keys: make(map[string]int32), edges: make([]edge, 0, 2*len(actions))}
	index, err := indexByID(actions)
	if err != nil {
		return nil, err
	}
	for i := range actions {
		if err := g.addIDs(index, &actions[i], int32(i)); err != nil {
			return nil, err
		}
	}
	var scratch []string
	for i := range actions {
		scratch = g.addKeys(&actions[i], int32(i), scratch[:0])
	}
	return g, nil
}

func indexByID(actions []Action) (map[ActionID]int32, error) {
	index := make(map[ActionID]int32, len(actions))
	for i := range actions {
		id := actions[i].ID
		if _, dup := index[id]; dup {
			return nil, fmt.Errorf("duplicate action id '%s'", id)
		}
		index[id] = int32(i)
	}
	return index, nil
}

// addIDs adds the edges that an action spells out, wherever the other stands.
func (g *graph) addIDs(index map[ActionID]int32, a *Action, i int32) error {
	for _, ids := range [2][]ActionID{a.Dependencies, a.After} {
		for _, id := range ids {
			j, ok := index[id]
			if !ok {
				return fmt.Errorf("action '%s' depends on unknown action '%s'", a.ID, id)
			}
			g.edges = append(g.edges, edge{before: j, after: i, key: none})
		}
	}
	return nil
}

// use finds a key's use, making it where there is none.
func (g *graph) use(key string) int32 {
	k, ok := g.keys[key]
	if !ok {
		k = int32(len(g.uses))
		g.keys[key] = k
		g.uses = append(g.uses, keyUse{writer: none, readers: none})
		g.names = append(g.names, key)
	}
	return k
}

// addKeys adds the edges that follow from state keys; those only lead from an
// earlier to a later action. It returns scratch for the next action.
func (g *graph) addKeys(a *Action, i int32, scratch []string) []string {
	reads := a.appendReads(scratch)
	if len(a.ReadSet) > 0 {
		reads = append(reads, a.StateDependencies...)
	}
	for _, key := range reads {
		if k := g.use(key); g.uses[k].writer != none {
			g.edges = append(g.edges, edge{before: g.uses[k].writer, after: i, key: k})
		}
	}
	if key, ok := a.StateKey(); ok && a.Type == StateWrite {
		g.addWriter(g.use(key), i)
	}
	for _, key := range reads {
		use := &g.uses[g.use(key)]
		g.readers = append(g.readers, readerNode{action: i, next: use.readers})
		use.readers = int32(len(g.readers) - 1)
	}
	writes := a.appendWrites(reads[:0])
	for _, key := range writes {
		g.uses[g.use(key)] = keyUse{writer: i, readers: none}
	}
	return writes
}

// addWriter orders a state_write after whoever touched its key.
func (g *graph) addWriter(k, i int32) {
	if use := g.uses[k]; use.writer != none {
		g.edges = append(g.edges, edge{before: use.writer, after: i, key: k})
	}
	for node := g.uses[k].readers; node != none; node = g.readers[node].next {
		g.edges = append(g.edges, edge{before: g.readers[node].action, after: i, key: k})
	}
}

// adjacency lists neighbours of each action, packed in one slice.
type adjacency struct{ start, to []int32 }

func (l adjacency) of(i int32) []int32 { return l.to[l.start[i]:l.start[i+1]] }

// adjacent packs the edges by their before end, or by their after end.
func (g *graph) adjacent(byAfter bool) adjacency {
	ends := func(e edge) (from, to int32) {
		if byAfter {
			return e.after, e.before
		}
		return e.before, e.after
	}
	l := adjacency{start: make([]int32, g.size+1), to: make([]int32, len(g.edges))}
	for _, e := range g.edges {
		from, _ := ends(e)
		l.start[from+1]++
	}
	for i := range g.size {
		l.start[i+1] += l.start[i]
	}
	next := make([]int32, g.size)
	copy(next, l.start)
	for _, e := range g.edges {
		from, to := ends(e)
		l.to[next[from]] = to
		next[from]++
	}
	return l
}

// settle fills in the level of every action that is not held up by a cycle and
// returns how many those are.
func (g *graph) settle(level []int) int {
	later := g.adjacent(false)
	waits := make([]int32, g.size)
	for _, e := range g.edges {
		waits[e.after]++
	}
	ready := make([]int32, 0, g.size)
	for i := range waits {
		if waits[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	for done := 0; done < len(ready); done++ {
		i := ready[done]
		for _, j := range later.of(i) {
			level[j] = level[i] + 1 // the queue ascends by level, so the last one written is the most
			if waits[j]--; waits[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	return len(ready)
}
