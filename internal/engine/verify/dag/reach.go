package dag

import (
	"math/bits"
	"slices"
)

// closureNodes bounds the closure: 4,096 nodes are 2 MiB of bits (V-DAG-1).
const closureNodes = 4096

// Reaches reports whether a path of at least one edge leads from one node to
// another. A node reaches itself on a cycle only.
func (g *Graph) Reaches(from, to int) bool {
	if g.level[from] != none && g.level[to] != none {
		if g.level[from] >= g.level[to] {
			return false
		}
		if slices.Contains(g.out.of(from), int32(to)) {
			return true
		}
		if g.n <= closureNodes {
			return g.closed(from, to)
		}
	}
	return g.search(from, to)
}

// closed looks the answer up in the closure, which it builds when first asked.
func (g *Graph) closed(from, to int) bool {
	if g.closure == nil {
		g.words = (g.n + 63) / 64
		g.closure = make([]uint64, g.n*g.words)
		levels := g.Levels()
		for _, level := range slices.Backward(levels) {
			for _, i := range level {
				row := g.closure[i*g.words : (i+1)*g.words]
				for _, j := range g.out.of(i) {
					if g.level[j] == none {
						continue
					}
					row[j/64] |= 1 << (j % 64)
					for w, bit := range g.closure[int(j)*g.words : (int(j)+1)*g.words] {
						row[w] |= bit
					}
				}
			}
		}
	}
	return g.closure[from*g.words+to/64]&(1<<(to%64)) != 0
}

// search walks forward and does not go past the target's level.
func (g *Graph) search(from, to int) bool {
	g.begin(from)
	for len(g.stack) > 0 {
		i := g.pop()
		g.work += len(g.out.of(i))
		for _, j := range g.out.of(i) {
			if int(j) == to {
				return true
			}
			if g.seen[j] == g.stamp || g.level[to] != none && (g.level[j] == none || g.level[j] >= g.level[to]) {
				continue
			}
			g.push(j)
		}
	}
	return false
}

// begin starts a search at a node, which is not itself counted as seen.
func (g *Graph) begin(from int) {
	if g.seen == nil {
		g.seen = make([]int32, g.n)
	}
	g.stamp++
	g.stack = append(g.stack[:0], int32(from))
}

func (g *Graph) pop() int {
	i := g.stack[len(g.stack)-1]
	g.stack = g.stack[:len(g.stack)-1]
	return int(i)
}

func (g *Graph) push(i int32) {
	g.seen[i] = g.stamp
	g.stack = append(g.stack, i)
}

// Descendants lists every node that a node reaches, ascending.
func (g *Graph) Descendants(i int) []int { return g.all(g.out, i) }

// Ancestors lists every node that reaches a node, ascending.
func (g *Graph) Ancestors(i int) []int { return g.all(g.in, i) }

func (g *Graph) all(next adjacency, from int) []int {
	var found []int
	g.begin(from)
	for len(g.stack) > 0 {
		for _, j := range next.of(g.pop()) {
			if g.seen[j] != g.stamp {
				found = append(found, int(j))
				g.push(j)
			}
		}
	}
	slices.Sort(found)
	return found
}

// Path is a shortest path from a node to the nearest that is a goal, both ends
// included, or nil. It does not enter a node to be avoided; the start is entered
// whatever avoid says, and may be the goal. Of several the one that follows edges in
// the order they were given.
func (g *Graph) Path(from int, goal, avoid func(i int) bool) []int {
	if goal(from) {
		return []int{from}
	}
	return g.walk(from, goal, avoid)
}

// PathBack is Path for leaving a node and coming to a goal by at least one edge, so
// that a cycle through the start counts.
func (g *Graph) PathBack(from int, goal, avoid func(i int) bool) []int {
	return g.walk(from, goal, avoid)
}

func (g *Graph) walk(from int, goal, avoid func(i int) bool) []int {
	g.begin(from)
	if g.cameFrom == nil {
		g.cameFrom = make([]int32, g.n)
	}
	for done := 0; done < len(g.stack); done++ { // the stack as a queue
		i := g.stack[done]
		for _, j := range g.out.of(int(i)) {
			if int(j) != from && avoid(int(j)) {
				continue
			}
			if goal(int(j)) {
				return g.trail(int32(from), i, j)
			}
			if g.seen[j] != g.stamp && int(j) != from {
				g.cameFrom[j] = i
				g.push(j)
			}
		}
	}
	return nil
}

// trail is the way to a node and one step further.
func (g *Graph) trail(from, last, goal int32) []int {
	path := []int{int(goal)}
	for i := last; ; i = g.cameFrom[i] {
		path = append(path, int(i))
		if i == from {
			slices.Reverse(path)
			return path
		}
	}
}

// Set is a set of nodes as bits.
type Set []uint64

// NewSet makes an empty set for n nodes.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Add puts a node in.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Has reports whether a node is in.
func (s Set) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Clear empties the set.
func (s Set) Clear() { clear(s) }

// Common counts the nodes in both sets.
func (s Set) Common(o Set) int {
	n := 0
	for w := range s {
		n += bits.OnesCount64(s[w] & o[w])
	}
	return n
}

// Members lists the nodes that are in, ascending.
func (s Set) Members() []int32 {
	var list []int32
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, int32(64*w+bits.TrailingZeros64(word)))
		}
	}
	return list
}
