package dag

import (
	"slices"
	"sort"
)

// Bounds on what all questions about pairs of one graph may cost together: answers
// asked for, and edges looked at for them.
const (
	maxAsked = 1 << 22
	maxWork  = 1 << 22
	// maxTails is how many chains a node is tried to be put at the end of.
	maxTails = 8
)

// Pairs are pairs of nodes of which neither reaches the other.
type Pairs struct {
	// List holds the pairs, the first of each from the first list, up to a limit.
	List [][2]int
	// More counts the pairs that were found and are not listed.
	More int
	// Partial says that the graph is too large for all pairs to be compared, so that
	// there may be others.
	Partial bool
}

// Unordered finds the pairs of a node of one list and a node of another that nothing
// orders. With one list twice, each pair comes once, its lower node first. A node and
// itself are no pair. It lists up to a limit and counts the rest.
//
// The second list is split into chains of nodes that follow each other. Of a chain,
// those before a node are a beginning and those after it an end; what lies between is
// what nothing orders. Both are looked for from the node's own level on, where they
// usually meet.
func (g *Graph) Unordered(these, those []int, limit int) Pairs {
	var p Pairs
	same := slices.Equal(these, those)
	if same && g.oneLevel(these) {
		return everyPair(these, limit)
	}
	chains, chainOf := g.chains(those)
	for _, i := range these {
		own, inChain := chainOf[i]
		for k, chain := range chains {
			if inChain && own == k {
				continue
			}
			if g.asked > maxAsked || g.work > maxWork {
				p.Partial = true
				return p
			}
			from, to := g.beside(i, chain)
			for _, j := range chain[from:to] {
				switch {
				case same && j < i:
				case len(p.List) < limit:
					p.List = append(p.List, [2]int{i, j})
				default:
					p.More++
				}
			}
		}
	}
	return p
}

// beside is the part of a chain that neither reaches a node nor is reached by it.
func (g *Graph) beside(i int, chain []int) (from, to int) {
	level := sort.Search(len(chain), func(at int) bool { return g.level[chain[at]] >= g.level[i] })
	// Before the node come those up to from; the nearest below its level is tried first.
	from = level - gallop(level, func(k int) bool { return !g.asks(chain[level-1-k], i) })
	to = level + gallop(len(chain)-level, func(k int) bool { return !g.asks(i, chain[level+k]) })
	return from, to
}

// gallop counts how many of n answers are yes before the first that is no, where
// nothing after a no is a yes: by steps that double, then by halving.
func gallop(n int, yes func(k int) bool) int {
	step := 1
	for step <= n && yes(step-1) {
		step *= 2
	}
	low := step / 2 // so many are yes
	return low + sort.Search(min(step-1, n)-low, func(k int) bool { return !yes(low + k) })
}

// oneLevel reports nodes that are on one level, so that nothing orders any two.
func (g *Graph) oneLevel(nodes []int) bool {
	for _, i := range nodes {
		if g.level[i] != g.level[nodes[0]] || g.level[i] == none {
			return false
		}
	}
	return true
}

func everyPair(nodes []int, limit int) Pairs {
	p := Pairs{More: len(nodes) * (len(nodes) - 1) / 2}
	for at, i := range nodes {
		for _, j := range nodes[at+1:] {
			if len(p.List) >= limit {
				return p
			}
			p.List = append(p.List, [2]int{i, j})
			p.More--
		}
	}
	return p
}

// asks is Reaches, counted.
func (g *Graph) asks(i, j int) bool {
	g.asked++
	return g.Reaches(i, j)
}

// chains splits nodes into lists in which each reaches the next. They are not the
// fewest there could be; those that plans have are found.
func (g *Graph) chains(nodes []int) (chains [][]int, chainOf map[int]int) {
	ordered := slices.Clone(nodes)
	slices.SortStableFunc(ordered, func(a, b int) int { return int(g.level[a]) - int(g.level[b]) })
	chainOf = make(map[int]int, len(nodes))
	for _, i := range ordered {
		at := -1
		for k := len(chains) - 1; k >= max(0, len(chains)-maxTails) && at < 0; k-- {
			if tail := chains[k]; g.asked <= maxAsked && g.work <= maxWork && g.asks(tail[len(tail)-1], i) {
				at = k
			}
		}
		if at < 0 {
			at = len(chains)
			chains = append(chains, nil)
		}
		chains[at] = append(chains[at], i)
		chainOf[i] = at
	}
	return chains, chainOf
}
