package dag_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
)

func edges(pairs ...int) []ir.Edge {
	var list []ir.Edge
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, ir.Edge{From: pairs[i], To: pairs[i+1]})
	}
	return list
}

func drawEdges(t *rapid.T, n int, cyclic bool) []ir.Edge {
	var list []ir.Edge
	for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		if !cyclic {
			if a == b {
				continue
			}
			a, b = min(a, b), max(a, b)
		}
		list = append(list, ir.Edge{From: a, To: b})
	}
	return list
}

// reachable is Warshall's closure: slow and plain.
func reachable(n int, list []ir.Edge) [][]bool {
	r := make([][]bool, n)
	for i := range r {
		r[i] = make([]bool, n)
	}
	for _, e := range list {
		r[e.From][e.To] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
	return r
}

// V-DAG-1: levels_are_topological: a node's level is one more than the highest before it.
func TestLevelsAreTopological(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		list := drawEdges(t, n, false)
		g := dag.New(n, list)
		want := make([]int, n)
		for i := range n {
			for _, e := range list {
				if e.To == i {
					want[i] = max(want[i], want[e.From]+1)
				}
			}
		}
		widest, seen := 0, 0
		for l, level := range g.Levels() {
			widest = max(widest, len(level))
			seen += len(level)
			for _, i := range level {
				if want[i] != l || g.Level(i) != l || !slices.IsSorted(level) {
					t.Fatalf("node %d on level %d, want %d", i, l, want[i])
				}
			}
		}
		if seen != n || g.Width() != widest {
			t.Fatalf("%d of %d nodes, width %d", seen, n, g.Width())
		}
	})
}

// V-DAG-1: reader_between_two_writers_follows_the_first, as ir orders it.
func TestReaderBetweenTwoWritersFollowsTheFirst(t *testing.T) {
	t.Parallel()
	writer := func(id string) ir.Action {
		return ir.Action{ID: ir.ActionID(id), Type: ir.ToolCall, Tool: "t", ExpectedEffects: map[string]any{"k": 1.0}}
	}
	g, faults := dag.Of([]ir.Action{writer("w1"), {ID: "r", Type: ir.ToolCall, StateDependencies: []string{"k"}}, writer("w2")})
	if len(faults) > 0 || !g.Reaches(0, 1) || g.Reaches(2, 1) || g.Reaches(1, 2) {
		t.Errorf("faults %v, text:\n%s", faults, g.Text(func(i int) string { return fmt.Sprint(i) }))
	}
}

// V-DAG-1: closure_equals_search: Reaches, Ancestors and Descendants against a plain closure, cycles included, and past the size of the closure.
func TestClosureEqualsSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		list := drawEdges(t, n, rapid.Bool().Draw(t, "cyclic"))
		r := reachable(n, list)
		small := dag.New(n, list)
		large := dag.New(n+5000, list) // too large for a closure
		for a := range n {
			var down, up []int
			for b := range n {
				if small.Reaches(a, b) != r[a][b] || large.Reaches(a, b) != r[a][b] {
					t.Fatalf("%d reaches %d: %v, by search %v, want %v", a, b, small.Reaches(a, b), large.Reaches(a, b), r[a][b])
				}
				if r[a][b] {
					down = append(down, b)
				}
				if r[b][a] {
					up = append(up, b)
				}
			}
			if !slices.Equal(small.Descendants(a), down) || !slices.Equal(small.Ancestors(a), up) {
				t.Fatalf("around %d: %v and %v, want %v and %v", a, small.Descendants(a), small.Ancestors(a), down, up)
			}
		}
	})
}

// V-DAG-1, V-BEYOND-2: pairs that nothing orders, against comparing all; the rest is counted.
func TestUnordered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "n")
		list := drawEdges(t, n, false)
		r := reachable(n, list)
		pick := func(label string) []int {
			nodes := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), func(i int) int { return i }).Draw(t, label)
			slices.Sort(nodes)
			return nodes
		}
		a := pick("a")
		b := a
		if rapid.Bool().Draw(t, "two lists") {
			b = pick("b")
		}
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		got := dag.New(n, list).Unordered(a, b, limit)
		want := 0
		for _, i := range a {
			for _, j := range b {
				if i != j && !r[i][j] && !r[j][i] && !(slices.Equal(a, b) && j < i) {
					want++
				}
			}
		}
		if len(got.List)+got.More != want || len(got.List) != min(limit, want) || got.Partial {
			t.Fatalf("%d pairs and %d more, want %d", len(got.List), got.More, want)
		}
		seen := map[[2]int]bool{}
		for _, p := range got.List {
			if seen[p] || p[0] == p[1] || r[p[0]][p[1]] || r[p[1]][p[0]] || !slices.Contains(a, p[0]) || !slices.Contains(b, p[1]) {
				t.Fatalf("%v is no pair", p)
			}
			seen[p] = true
		}
	})
	// Two long chains side by side: quick, and exact.
	const m = 20_000
	var list []ir.Edge
	for i := range m - 2 {
		list = append(list, ir.Edge{From: i, To: i + 2})
	}
	all := make([]int, m)
	for i := range all {
		all[i] = i
	}
	if got := dag.New(m, list).Unordered(all[:m:m], all, 5); got.Partial && got.More == 0 || len(got.List) != 5 {
		t.Errorf("%+v", got)
	}
}

// V-DAG-1: Components and Cycles against a plain closure; each cycle is a shortest one through the lowest index of its set.
func TestCycles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		list := drawEdges(t, n, true)
		g, r := dag.New(n, list), reachable(n, list)
		component := g.Components()
		var starts []int
		for a := range n {
			lowest := r[a][a]
			for b := range n {
				if together := a == b || r[a][b] && r[b][a]; together != (component[a] == component[b]) {
					t.Fatalf("%d and %d: components %d and %d", a, b, component[a], component[b])
				} else if together && b < a {
					lowest = false
				}
			}
			if lowest {
				starts = append(starts, a)
			}
		}
		var got []int
		for _, cycle := range g.Cycles() {
			got = append(got, cycle[0])
			for at, i := range cycle {
				if !slices.Contains(g.Out(i), int32(cycle[(at+1)%len(cycle)])) || i < cycle[0] {
					t.Fatalf("%v is no cycle of %v", cycle, list)
				}
			}
			if shortest := shortestBack(n, list, cycle[0]); shortest != len(cycle) {
				t.Fatalf("%v has %d nodes, the shortest %d", cycle, len(cycle), shortest)
			}
		}
		if !slices.Equal(got, starts) {
			t.Fatalf("cycles from %v, want %v", got, starts)
		}
	})
}

// shortestBack is the length of a shortest walk from a node to itself.
func shortestBack(n int, list []ir.Edge, start int) int {
	at := map[int]bool{start: true}
	for length := 1; ; length++ {
		next := map[int]bool{}
		for _, e := range list {
			if at[e.From] {
				next[e.To] = true
			}
		}
		if next[start] {
			return length
		}
		if length > n {
			return -1
		}
		at = next
	}
}

// V-DAG-1: the heaviest path, and of equals the one with the lowest indices.
func TestCriticalPath(t *testing.T) {
	t.Parallel()
	g := dag.New(6, edges(0, 2, 1, 2, 2, 3, 0, 4, 4, 3))
	path, total := g.CriticalPath(func(i int) float64 { return []float64{1, 1, 2, 1, 2, -4}[i] })
	if !slices.Equal(path, []int{0, 2, 3}) || total != 4 {
		t.Errorf("path %v of %v", path, total)
	}
	if path, total := dag.New(0, nil).CriticalPath(nil); path != nil || total != 0 {
		t.Errorf("nothing has path %v of %v", path, total)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		list := drawEdges(t, n, false)
		weights := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "weights")
		best, most := make([]int, n), 0
		for i := range n {
			for _, e := range list {
				if e.To == i {
					best[i] = max(best[i], best[e.From])
				}
			}
			best[i] += weights[i]
			most = max(most, best[i])
		}
		if _, total := dag.New(n, list).CriticalPath(func(i int) float64 { return float64(weights[i]) }); total != float64(most) {
			t.Fatalf("weight %v, want %d", total, most)
		}
	})
}

// V-DAG-1: paths go round what is to be avoided, and are shortest.
func TestPath(t *testing.T) {
	t.Parallel()
	g := dag.New(6, edges(0, 1, 1, 5, 0, 2, 2, 3, 3, 5, 5, 0))
	to := func(i int) func(int) bool { return func(j int) bool { return i == j } }
	for _, c := range []struct {
		got, want []int
	}{
		{g.Path(0, to(5), to(-1)), []int{0, 1, 5}}, {g.Path(0, to(5), to(1)), []int{0, 2, 3, 5}}, {g.Path(0, to(4), to(-1)), nil},
		{g.Path(0, to(0), to(-1)), []int{0}}, {g.PathBack(0, to(0), to(-1)), []int{0, 1, 5, 0}}, {g.PathBack(4, to(4), to(-1)), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("path %v, want %v", c.got, c.want)
		}
	}
}

// V-DAG-1, E-DAG-3: faults of ids are named and what is left is still a graph.
func TestFaults(t *testing.T) {
	t.Parallel()
	a := func(id string, after ...ir.ActionID) ir.Action {
		return ir.Action{ID: ir.ActionID(id), Type: ir.StateRead, After: after}
	}
	g, faults := dag.Of([]ir.Action{a("a", "c"), a("b", "a"), a("c", "b", "zz"), a("a", "c"), a("d", "d")})
	var texts []string
	for _, f := range faults {
		texts = append(texts, f.Text)
	}
	if want := []string{"duplicate action id 'a'", "action 'c' depends on unknown action 'zz'", "dependency cycle: a -> c -> b -> a", "dependency cycle: d -> d"}; !slices.Equal(texts, want) {
		t.Errorf("faults %q", texts)
	}
	if levels := g.Levels(); len(levels) != 4 || g.Len() != 5 || !g.Reaches(0, 3) {
		t.Errorf("levels %v", levels)
	}
	// A lone cycle is worded as the engine words it.
	cyclic := []ir.Action{a("x"), a("b", "c"), a("c", "d"), a("d", "b")}
	_, faults = dag.Of(cyclic)
	if _, err := ir.Levels(cyclic); err == nil || len(faults) != 1 || faults[0].Text != err.Error() {
		t.Errorf("ours %v, the engine's %v", faults, err)
	}
}

// V-DAG-1: the drawing names what each node waits for, once, with the keys.
func TestText(t *testing.T) {
	t.Parallel()
	list := []ir.Edge{{From: 0, To: 2, Key: "x"}, {From: 0, To: 2, Key: "y"}, {From: 1, To: 2}, {From: 0, To: 2, Key: "x"}, {From: 3, To: 3}}
	got := dag.New(4, list).Text(func(i int) string { return fmt.Sprint("a", i) })
	want := strings.Join([]string{"level 0  a0", "         a1", "level 1  a2 <- a0[x y] a1", "cycle    a3 <- a3", ""}, "\n")
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// V-DAG-1: sets against a map.
func TestSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		a, b := dag.NewSet(n), dag.NewSet(n)
		in := [2]map[int]bool{{}, {}}
		for i, s := range []dag.Set{a, b} {
			for _, node := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 30).Draw(t, "nodes") {
				s.Add(node)
				in[i][node] = true
			}
		}
		common, members := 0, []int32(nil)
		for i := range n {
			if a.Has(i) != in[0][i] {
				t.Fatalf("%d in a: %v", i, a.Has(i))
			}
			if in[0][i] {
				members = append(members, int32(i))
			}
			if in[0][i] && in[1][i] {
				common++
			}
		}
		if a.Common(b) != common || !slices.Equal(a.Members(), members) {
			t.Fatalf("%d in common, want %d; members %v", a.Common(b), common, a.Members())
		}
		if a.Clear(); a.Members() != nil {
			t.Fatal("a cleared set has members")
		}
	})
}

// V-GEN-6: edges to nowhere are left out, and a long chain costs no stack.
func TestLongAndBroken(t *testing.T) {
	t.Parallel()
	g := dag.New(2, edges(0, 1, 0, 7, -1, 1, 1, 2))
	if len(g.Edges()) != 1 || !g.Reaches(0, 1) {
		t.Errorf("edges %v", g.Edges())
	}
	const n = 200_000
	var list []ir.Edge
	for i := range n {
		list = append(list, ir.Edge{From: i, To: (i + 1) % n})
	}
	if cycles := dag.New(n, list).Cycles(); len(cycles) != 1 || len(cycles[0]) != n {
		t.Errorf("%d cycles", len(cycles))
	}
	if levels := dag.New(n, list[:n-1]).Levels(); len(levels) != n {
		t.Errorf("%d levels", len(levels))
	}
}
