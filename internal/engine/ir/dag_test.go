package ir_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"car/internal/engine/ir"
)

// plan builds actions from short lines: "a1 tool deps=a2 after=a3 reads=k
// read_set=k assumes=k effects=k writes=k", or "a1 write k", "a1 read k", "a1 assert k".
func plan(lines ...string) []ir.Action {
	var actions []ir.Action
	for _, line := range lines {
		words := strings.Fields(line)
		a := ir.Action{ID: ir.ActionID(words[0]), Type: ir.ToolCall, FailureBehavior: ir.Skip}
		for _, word := range words[1:] {
			name, list, _ := strings.Cut(word, "=")
			keys := strings.Split(list, ",")
			switch name {
			case "write", "read", "assert":
				a.Type = map[string]ir.ActionType{"write": ir.StateWrite, "read": ir.StateRead, "assert": ir.Assertion}[name]
				a.Parameters = map[string]any{"key": list}
			case "deps":
				a.Dependencies = ids(keys)
			case "after":
				a.After = ids(keys)
			case "reads":
				a.StateDependencies = keys
			case "read_set":
				a.ReadSet = keys
			case "assumes":
				for _, key := range keys {
					a.Assumptions = append(a.Assumptions, ir.Assumption{Key: key})
				}
			case "writes":
				a.WriteSet = keys
			case "effects":
				a.ExpectedEffects = map[string]any{}
				for _, key := range keys {
					a.ExpectedEffects[key] = true
				}
			case "needs":
				a.Preconditions = []ir.Precondition{{Key: list, Operator: "exists"}}
			}
		}
		actions = append(actions, a)
	}
	return actions
}

func ids(words []string) []ir.ActionID {
	list := make([]ir.ActionID, len(words))
	for i, w := range words {
		list[i] = ir.ActionID(w)
	}
	return list
}

// E-DAG-1, E-DAG-2 and their named behaviours.
func TestLevels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		plan []string
		want [][]int
	}{
		{"nothing", nil, [][]int{}},
		{"independents share a level", []string{"a", "b", "c"}, [][]int{{0, 1, 2}}},
		{"a dependency waits", []string{"a", "b deps=a", "c"}, [][]int{{0, 2}, {1}}},
		{"forward dependency reorders", []string{"a deps=b", "b"}, [][]int{{1}, {0}}},
		{"after orders like a dependency", []string{"a after=b", "b", "c after=a"}, [][]int{{1}, {0}, {2}}},
		{"the longest way counts", []string{"a", "b deps=a", "c deps=a,b", "d deps=a"}, [][]int{{0}, {1, 3}, {2}}},
		{"reader after writer", []string{"w write=k", "r read=k"}, [][]int{{0}, {1}}},
		{"reader between two writers follows the first", []string{"w1 effects=k", "r reads=k", "w2 effects=k"}, [][]int{{0, 2}, {1}}},
		{"reader between two state writes", []string{"w1 write=k", "r read=k", "w2 write=k"}, [][]int{{0}, {1}, {2}}},
		{"reader before any writer waits for nobody", []string{"r reads=k", "w effects=k"}, [][]int{{0, 1}}},
		{"same-key writes chain", []string{"w1 write=k", "w2 write=k", "w3 write=k"}, [][]int{{0}, {1}, {2}}},
		{"other keys do not", []string{"w1 write=k", "w2 write=l"}, [][]int{{0, 1}}},
		{"write waits for readers", []string{"r1 read=k", "r2 reads=k", "w write=k"}, [][]int{{0, 1}, {2}}},
		{"write waits for readers since the writer", []string{"w1 write=k", "r1 assert=k", "r2 assumes=k", "w2 write=k", "r3 read=k"}, [][]int{{0}, {1, 2}, {3}, {4}}},
		{"tool calls are never ordered by effects alone", []string{"t1 effects=k", "t2 effects=k", "t3 writes=k"}, [][]int{{0, 1, 2}}},
		{"a state write does not wait for readers before the nearest writer", []string{"z", "r reads=k deps=z", "t effects=k", "w write=k"}, [][]int{{0, 2}, {1, 3}}},
		{"state write after a tool's effect", []string{"t effects=k", "w write=k"}, [][]int{{0}, {1}}},
		{"reader of a write set", []string{"t writes=k", "r reads=k"}, [][]int{{0}, {1}}},
		{"read set replaces what it does not name", []string{"w write=k", "r read_set=l assumes=k"}, [][]int{{0, 1}}},
		{"state dependencies count beside a read set", []string{"w write=k", "r read_set=l reads=k"}, [][]int{{0}, {1}}},
		{"preconditions add no edge", []string{"w write=k", "r needs=k"}, [][]int{{0, 1}}},
		{"mutual readers are no cycle", []string{"a reads=y effects=x", "b reads=x effects=y"}, [][]int{{0}, {1}}},
		{"an action does not wait for itself", []string{"a reads=k effects=k", "w write=k reads=k"}, [][]int{{0}, {1}}},
		{"an id and a key between the same two", []string{"w write=k", "r read=k deps=w after=w"}, [][]int{{0}, {1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := ir.Levels(plan(c.plan...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("levels (-want +got):\n%s", diff)
			}
		})
	}
}

// E-DAG-3: what is no order, in exact words; named behaviour "cycles of two and
// fifty named".
func TestLevelsRefusals(t *testing.T) {
	t.Parallel()
	ring := make([]string, 50)
	path := make([]string, 0, 51)
	for i := range ring {
		ring[i] = fmt.Sprintf("a%d deps=a%d", i, (i+1)%50)
		path = append(path, fmt.Sprintf("a%d", i))
	}
	for _, c := range []struct {
		name string
		plan []string
		want string
	}{
		{"two", []string{"a1 deps=a2", "a2 deps=a1"}, "dependency cycle: a1 -> a2 -> a1"},
		{"from the lowest index", []string{"a0", "a1 deps=a3", "a2 deps=a1", "a3 after=a1"}, "dependency cycle: a1 -> a3 -> a1"},
		{"fifty", ring, "dependency cycle: " + strings.Join(path, " -> ") + " -> a0"},
		{"itself", []string{"a1", "a2 deps=a2"}, "dependency cycle: a2 -> a2"},
		{"the shortest of two", []string{"a deps=b,d", "b deps=c", "c deps=a", "d deps=a"}, "dependency cycle: a -> d -> a"},
		{"only what is on it", []string{"x deps=b", "a deps=b", "b deps=c", "c deps=b", "y deps=x"}, "dependency cycle: b -> c -> b"},
		{"between two cycles", []string{"m deps=d", "a deps=b", "b deps=a", "c deps=m", "d deps=e", "e deps=d", "n deps=m,a"}, "dependency cycle: a -> b -> a"},
		{"an id forward, a key back", []string{"a deps=b effects=k", "b reads=k"}, "dependency cycle: a -> b -> a"},
		{"unknown", []string{"a", "b deps=zz"}, "action 'b' depends on unknown action 'zz'"},
		{"unknown after", []string{"a after=zz"}, "action 'a' depends on unknown action 'zz'"},
		{"duplicate", []string{"x", "x"}, "duplicate action id 'x'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			levels, err := ir.Levels(plan(c.plan...))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, %v, want %s", levels, err, c.want)
			}
		})
	}
}

// E-DAG-2: named behaviour "1,000 chain without recursion", and a hundred times that.
func TestLevelsOfLongChains(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1000, 100_000} {
		actions := make([]ir.Action, n)
		for i := range actions {
			actions[i].ID = ir.ActionID(fmt.Sprint(i))
			if i+1 < n {
				actions[i].Dependencies = []ir.ActionID{ir.ActionID(fmt.Sprint(i + 1))}
			}
		}
		levels, err := ir.Levels(actions)
		if err != nil || len(levels) != n || levels[0][0] != n-1 {
			t.Fatalf("%d levels, %v", len(levels), err)
		}
		actions[n-1].Dependencies = []ir.ActionID{"0"}
		if _, err := ir.Levels(actions); err == nil || !strings.HasPrefix(err.Error(), "dependency cycle: 0 -> 1 -> 2 -> ") {
			t.Fatalf("closed ring: %.80v", err)
		}
	}
}

// E-DAG-4: named behaviours "one abort makes the level sequential", "three skip
// actions overlap".
func TestLevelRunsSequentially(t *testing.T) {
	t.Parallel()
	skip, abort, retry := ir.Action{FailureBehavior: ir.Skip}, ir.Action{FailureBehavior: ir.Abort}, ir.Action{FailureBehavior: ir.Retry}
	for _, c := range []struct {
		name    string
		actions []ir.Action
		level   []int
		want    bool
	}{
		{"three skip actions overlap", []ir.Action{skip, skip, skip}, []int{0, 1, 2}, false},
		{"retry overlaps too", []ir.Action{retry, skip}, []int{0, 1}, false},
		{"one abort", []ir.Action{skip, skip, abort}, []int{0, 1, 2}, true},
		{"an abort in another level", []ir.Action{skip, abort, skip}, []int{0, 2}, false},
		{"one action", []ir.Action{skip}, []int{0}, true},
		{"the default", []ir.Action{{}, {}}, []int{0, 1}, true},
	} {
		if got := ir.LevelRunsSequentially(c.actions, c.level); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// E-DAG-1: the one pair of key lists that everybody shares.
func TestReadAndWriteKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line          string
		reads, writes []string
	}{
		{"a", nil, nil},
		{"a reads=x,y assumes=y,z", []string{"x", "y", "z"}, nil},
		{"a read_set=r reads=x assumes=z", []string{"r"}, nil},
		{"a read=k", []string{"k"}, nil},
		{"a assert=k reads=k", []string{"k"}, nil},
		{"a write=k reads=x", []string{"x"}, []string{"k"}},
		{"a write=k writes=w,k effects=b,a", nil, []string{"w", "k", "a", "b"}},
		{"a needs=k", nil, nil},
	} {
		a := plan(c.line)[0]
		if got := a.ReadKeys(); !slices.Equal(got, c.reads) {
			t.Errorf("%s reads %v, want %v", c.line, got, c.reads)
		}
		if got := a.WriteKeys(); !slices.Equal(got, c.writes) {
			t.Errorf("%s writes %v, want %v", c.line, got, c.writes)
		}
	}
	call := ir.Action{Type: ir.ToolCall, Parameters: map[string]any{"key": "k"}}
	if call.ReadKeys() != nil || call.WriteKeys() != nil {
		t.Error("a tool's own parameter named key was taken for a state key")
	}
}

// V-DAG-1: the edges say which key orders two actions.
func TestEdges(t *testing.T) {
	t.Parallel()
	got, err := ir.Edges(plan("a after=c", "b write=k", "c read=k", "d write=k"))
	want := []ir.Edge{{2, 0, ""}, {1, 2, "k"}, {1, 3, "k"}, {2, 3, "k"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := ir.Edges(plan("a deps=b")); err == nil {
		t.Error("an unknown id has edges")
	}
}

// E-DAG-1..3 as a law: levels hold every action once, ascend inside, and respect
// every edge as tightly as they can; or a cycle is named whose every step is an edge.
func TestLevelsRespectEveryEdge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		actions := drawPlan(t)
		edges, err := ir.Edges(actions)
		if err != nil {
			t.Fatal(err)
		}
		levels, err := ir.Levels(actions)
		if err != nil {
			checkCycle(t, actions, edges, err)
			return
		}
		levelOf := map[int]int{}
		for l, level := range levels {
			if len(level) == 0 || !slices.IsSorted(level) {
				t.Fatalf("level %d is %v", l, level)
			}
			for _, i := range level {
				levelOf[i] = l
			}
		}
		if len(levelOf) != len(actions) {
			t.Fatalf("%d of %d actions in levels %v", len(levelOf), len(actions), levels)
		}
		tight := make([]int, len(actions))
		for _, e := range edges {
			if levelOf[e.From] >= levelOf[e.To] {
				t.Fatalf("edge %+v is not respected by %v", e, levels)
			}
			tight[e.To] = max(tight[e.To], levelOf[e.From]+1)
		}
		for i, l := range tight {
			if levelOf[i] != l {
				t.Fatalf("action %d waits in level %d, %d would do", i, levelOf[i], l)
			}
		}
	})
}

func drawPlan(t *rapid.T) []ir.Action {
	n := rapid.IntRange(0, 9).Draw(t, "actions")
	id := rapid.Map(rapid.IntRange(0, max(n-1, 0)), func(i int) ir.ActionID { return ir.ActionID(fmt.Sprint(i)) })
	key := rapid.SampledFrom([]string{"k", "l", "m"})
	actions := make([]ir.Action, n)
	for i := range actions {
		actions[i] = ir.Action{
			ID: ir.ActionID(fmt.Sprint(i)), Type: rapid.SampledFrom([]ir.ActionType{ir.ToolCall, ir.StateWrite, ir.StateRead, ir.Assertion}).Draw(t, "type"),
			Parameters: map[string]any{"key": key.Draw(t, "key")}, StateDependencies: rapid.SliceOfN(key, 0, 2).Draw(t, "reads"),
			ReadSet: rapid.SliceOfN(key, 0, 1).Draw(t, "read_set"), WriteSet: rapid.SliceOfN(key, 0, 2).Draw(t, "writes"),
		}
		if rapid.IntRange(0, 3).Draw(t, "dependent") == 0 {
			actions[i].Dependencies = rapid.SliceOfN(id, 1, 2).Draw(t, "deps")
		}
	}
	return actions
}

func checkCycle(t *rapid.T, actions []ir.Action, edges []ir.Edge, err error) {
	path, ok := strings.CutPrefix(err.Error(), "dependency cycle: ")
	steps := strings.Split(path, " -> ")
	if !ok || len(steps) < 2 || steps[0] != steps[len(steps)-1] {
		t.Fatalf("unexpected error %v", err)
	}
	for k := range len(steps) - 1 {
		waits, on := steps[k], steps[k+1]
		if steps[0] > waits {
			t.Fatalf("%v does not begin at its lowest", err)
		}
		if !slices.ContainsFunc(edges, func(e ir.Edge) bool {
			return string(actions[e.To].ID) == waits && string(actions[e.From].ID) == on
		}) {
			t.Fatalf("%v: %s does not wait for %s", err, waits, on)
		}
	}
}
