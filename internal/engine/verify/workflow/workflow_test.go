package workflow_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
	"car/internal/engine/verify/workflow"
)

// graph makes a workflow of "a>b" edges; "a" alone is a stage, "a!" a terminal one and
// "a*3" one with max_iterations. The first stage is the start.
func graph(parts ...string) workflow.Graph {
	var g workflow.Graph
	seen := map[string]bool{}
	node := func(id string) {
		if id != "" && !seen[id] {
			seen[id] = true
			g.Nodes = append(g.Nodes, workflow.Node{ID: id})
		}
	}
	for _, p := range parts {
		from, to, edge := strings.Cut(p, ">")
		name, bound, bounded := strings.Cut(strings.TrimSuffix(from, "!"), "*")
		node(name)
		last := &g.Nodes[slices.IndexFunc(g.Nodes, func(n workflow.Node) bool { return n.ID == name })]
		last.Terminal = last.Terminal || strings.HasSuffix(from, "!")
		if bounded {
			fmt.Sscan(bound, &last.MaxIterations)
		}
		if edge {
			node(to)
			g.Edges = append(g.Edges, workflow.Edge{From: name, To: to, Condition: &ir.Precondition{Key: to, Operator: "exists"}})
		}
	}
	g.Start = g.Nodes[0].ID
	return g
}

// kinds are a report's defects as "severity kind nodes: witness".
func kinds(r workflow.Report) string {
	var out []string
	for _, d := range r.Defects {
		out = append(out, strings.TrimRight(fmt.Sprintf("%s %s %s: %s", d.Severity, d.Kind, strings.Join(d.Nodes, " "), strings.Join(d.Witness, " ")), ": "))
	}
	return strings.Join(out, "; ")
}

// V-WF-1: duplicate_id_error, unreachable_warning, capped_loop_warns_trap_errors, and the other shapes.
func TestCheck(t *testing.T) {
	t.Parallel()
	double := graph("a>b")
	double.Nodes = append(double.Nodes, workflow.Node{ID: "b"})
	lost := graph("a>b")
	lost.Start = "zz"
	loose := graph("a>b")
	loose.Edges = append(loose.Edges, workflow.Edge{From: "b", To: "q"})
	shadowed := graph("a>b", "a>c", "a>d", "a>e")
	shadowed.Edges[1].Condition = nil
	twice := graph("a>b", "a>c")
	twice.Edges[1].Condition = &ir.Precondition{Key: "b", Operator: "exists"}
	for name, c := range map[string]struct {
		g     workflow.Graph
		valid bool
		want  string
	}{
		"a line":                      {graph("a>b", "b>c"), true, ""},
		"duplicate_id_error":          {double, false, "error duplicate_node b"},
		"missing start":               {lost, false, "error missing_start"},
		"unknown end":                 {loose, false, "error unknown_endpoint q: b q"},
		"unreachable_warning":         {graph("a>b", "c>b"), true, "warning unreachable c"},
		"a loop with a way out":       {graph("a>b", "b>a", "b>c"), true, "warning cycle a b: a b a"},
		"capped_loop_warns":           {graph("a>b", "b*3>a"), true, "warning cycle a b: a b a; warning dead_end a b: a"},
		"trap_errors":                 {graph("s>a", "a>b", "b>a", "s>t"), false, "error inescapable_loop a b: a b a; warning dead_end a b: s a"},
		"a loop that may end":         {graph("a>b", "b!>a"), true, "warning cycle a b: a b a"},
		"a stage that repeats itself": {graph("a>a"), false, "error inescapable_loop a: a a; warning dead_end a: a"},
		"an edge that is never taken": {shadowed, true, "warning shadowed_edge a d: a c; warning shadowed_edge a e: a c"},
		"an edge that is there twice": {twice, true, "warning shadowed_edge a c: a c"},
		"nothing":                     {workflow.Graph{}, false, "error missing_start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := workflow.Check(c.g)
			if got := kinds(r); got != c.want || r.Valid != c.valid || len(r.Issues) != len(r.Defects) || r.Tier != report.DecisionProcedure {
				t.Errorf("valid %v: %s\nwant %s", r.Valid, got, c.want)
			}
			if r.HasCycles != strings.Contains(c.want, "a b a") && name != "a stage that repeats itself" {
				t.Errorf("has cycles: %v", r.HasCycles)
			}
		})
	}
}

// V-WF-1: semantic_key: a condition on what nobody produces is said once, and invalidates nothing.
func TestSemanticKey(t *testing.T) {
	t.Parallel()
	g := graph("a>b", "b>c", "a>c", "a>d")
	g.Nodes[0].Produces = []string{"b"}
	r := workflow.Check(g)
	if want := []string{"the edge from 'b' to 'c' asks for key 'c', which no stage produces", "the edge from 'a' to 'd' asks for key 'd', which no stage produces"}; !slices.Equal(r.Semantic, want) || !r.Valid {
		t.Errorf("valid %v, %q", r.Valid, r.Semantic)
	}
}

// V-WF-1, V-GEN-3: the wire form; stages are listed in the order of the workflow.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(workflow.Check(graph("a>b", "d>b")))
	want := `{"valid":true,"issues":["no path leads from the start to stage 'd'"],"has_cycles":false,"reachable_stages":["a","b"],"unreachable_stages":["d"],"semantic":["the edge from 'a' to 'b' asks for key 'b', which no stage produces"],` +
		`"defects":[{"kind":"unreachable","severity":"warning","nodes":["d"],"message":"no path leads from the start to stage 'd'","witness":[]}],"tier":"decision_procedure","cannot_verify":["which conditions can hold together","what the stages do","how often a bounded loop goes round"]}`
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\n%s", err, text, want)
	}
}

// tester is what testing.T and rapid.T have in common.
type tester interface {
	Fatal(...any)
	Errorf(string, ...any)
}

func violations(t tester, g workflow.Graph, p workflow.Policy) []string {
	r, err := workflow.CheckPolicies(g, []workflow.Policy{p})
	if err != nil {
		t.Fatal(err)
	}
	if r.OK != (len(r.Violations) == 0) {
		t.Errorf("%+v", r)
	}
	for _, v := range r.Violations {
		return v.Path
	}
	return nil
}

// V-WF-2: each form, kept and broken; bypass_is_shortest.
func TestPolicies(t *testing.T) {
	t.Parallel()
	pair := func(kind workflow.PolicyType, first, then string) workflow.Policy {
		return workflow.Policy{Type: kind, First: first, Then: then}
	}
	one := func(kind workflow.PolicyType, node string) workflow.Policy {
		return workflow.Policy{Type: kind, Node: node}
	}
	for _, c := range []struct {
		g    workflow.Graph
		p    workflow.Policy
		want string
	}{
		{graph("s>test", "test>deploy"), pair(workflow.Precedes, "test", "deploy"), ""},
		{graph("s>test", "test>deploy", "s>x", "x>y", "y>deploy", "x>deploy"), pair(workflow.Precedes, "test", "deploy"), "s x deploy"},
		{graph("s>a"), pair(workflow.Precedes, "s", "a"), ""}, {graph("s>a"), pair(workflow.Precedes, "a", "s"), "s"}, {graph("s>a", "b>c"), pair(workflow.Precedes, "b", "c"), ""},
		{graph("s>open", "open>work", "work>close", "work>work"), pair(workflow.AlwaysFollowedBy, "open", "close"), ""},
		{graph("s>open", "open>work", "work>close", "work>crash"), pair(workflow.AlwaysFollowedBy, "open", "close"), "s open work crash"},
		{graph("s>open", "open!>close"), pair(workflow.AlwaysFollowedBy, "open", "close"), "s open"},
		{graph("s>open", "open>trap", "trap>trap", "open>close"), pair(workflow.AlwaysFollowedBy, "open", "close"), "s open trap"},
		{graph("s>end", "open>end"), pair(workflow.AlwaysFollowedBy, "open", "close2"), "error"},
		{graph("s>end", "open>end", "close"), pair(workflow.AlwaysFollowedBy, "open", "close"), ""},
		{graph("s>deploy", "deploy>check", "check>edit"), pair(workflow.NeverAfter, "deploy", "edit"), "s deploy check edit"},
		{graph("s>edit", "edit>deploy"), pair(workflow.NeverAfter, "deploy", "edit"), ""},
		{graph("s>a", "a>s"), pair(workflow.NeverAfter, "a", "a"), "s a s a"},
		{graph("s>test", "test>end"), one(workflow.Required, "test"), ""}, {graph("s>test", "test>end", "s>end"), one(workflow.Required, "test"), "s end"},
		{graph("s>test", "test>end", "s>loop", "loop>loop"), one(workflow.Required, "test"), "s loop"}, {graph("s>end"), one(workflow.Required, "s"), ""},
		{graph("s>pay", "pay>end"), one(workflow.AtMostOnce, "pay"), ""}, {graph("s>pay", "pay>check", "check>pay", "check>end"), one(workflow.AtMostOnce, "pay"), "s pay check pay"},
		{graph("s>pay", "pay>pay"), one(workflow.AtMostOnce, "pay"), "s pay pay"}, {graph("s>end", "pay>pay"), one(workflow.AtMostOnce, "pay"), ""},
	} {
		if c.want == "error" {
			if _, err := workflow.CheckPolicies(c.g, []workflow.Policy{c.p}); err == nil || err.Error() != "check policies: policy 1 (always_followed_by) names stage 'close2', which the workflow does not have" {
				t.Errorf("error %v", err)
			}
			continue
		}
		if got := strings.Join(violations(t, c.g, c.p), " "); got != c.want {
			t.Errorf("%+v over %+v: path %q, want %q", c.p, c.g.Edges, got, c.want)
		}
	}
	if _, err := workflow.CheckPolicies(workflow.Graph{Start: "x"}, nil); err == nil {
		t.Error("no start, and no error")
	}
}

func drawGraph(t *rapid.T) workflow.Graph {
	n := rapid.IntRange(1, 6).Draw(t, "n")
	g := workflow.Graph{Start: "n0"}
	for i := range n {
		g.Nodes = append(g.Nodes, workflow.Node{ID: fmt.Sprint("n", i), Terminal: rapid.IntRange(0, 5).Draw(t, "terminal") == 0})
	}
	for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
		g.Edges = append(g.Edges, workflow.Edge{From: fmt.Sprint("n", rapid.IntRange(0, n-1).Draw(t, "from")), To: fmt.Sprint("n", rapid.IntRange(0, n-1).Draw(t, "to"))})
	}
	return g
}

func next(g workflow.Graph, id string) []string {
	var ids []string
	for _, e := range g.Edges {
		if e.From == id {
			ids = append(ids, e.To)
		}
	}
	return ids
}

// comesTo reports a walk of any length from one stage to another.
func comesTo(g workflow.Graph, from, to string) bool {
	seen := map[string]bool{from: true}
	for open := []string{from}; len(open) > 0; open = open[1:] {
		if open[0] == to {
			return true
		}
		for _, id := range next(g, open[0]) {
			if !seen[id] {
				seen[id] = true
				open = append(open, id)
			}
		}
	}
	return false
}

// shortestViolation walks the workflow beside a monitor of the rule, breadth first: the
// length of a shortest walk that breaks it, or 0.
func shortestViolation(g workflow.Graph, p workflow.Policy) int {
	type at struct {
		id    string
		state int
	}
	node := func(id string) workflow.Node {
		return g.Nodes[slices.IndexFunc(g.Nodes, func(n workflow.Node) bool { return n.ID == id })]
	}
	over := func(id string) bool { return node(id).Terminal || len(next(g, id)) == 0 }
	// step is the monitor: its next state at a stage, and whether the walk so far breaks the rule.
	step := func(state int, id string) (int, bool) {
		switch p.Type {
		case workflow.Precedes:
			if id == p.First {
				state = 1
			}
			return state, id == p.Then && state == 0
		case workflow.NeverAfter:
			broken := state == 1 && id == p.Then
			if id == p.First {
				state = 1
			}
			return state, broken
		case workflow.AtMostOnce:
			broken := state == 1 && id == p.Node
			if id == p.Node {
				state = 1
			}
			return state, broken
		case workflow.AlwaysFollowedBy:
			if id == p.Then {
				state = 0
			}
			if id == p.First {
				state = 1
			}
			later := slices.ContainsFunc(next(g, id), func(n string) bool { return comesTo(g, n, p.Then) })
			return state, state == 1 && (over(id) || !later)
		default:
			if id == p.Node {
				state = 1
			}
			return state, state == 0 && (over(id) || !comesTo(g, id, p.Node))
		}
	}
	length := map[at]int{}
	state, broken := step(0, g.Start)
	if broken {
		return 1
	}
	open := []at{{g.Start, state}}
	length[open[0]] = 1
	for ; len(open) > 0; open = open[1:] {
		for _, id := range next(g, open[0].id) {
			state, broken := step(open[0].state, id)
			if broken {
				return length[open[0]] + 1
			}
			if to := (at{id, state}); length[to] == 0 {
				length[to] = length[open[0]] + 1
				open = append(open, to)
			}
		}
	}
	return 0
}

// V-WF-2: the verdicts and the length of each counterexample against a monitor beside every walk.
func TestPoliciesEqualMonitors(t *testing.T) {
	t.Parallel()
	broken := map[workflow.PolicyType]int{}
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		stage := func(name string) string {
			return g.Nodes[rapid.IntRange(0, len(g.Nodes)-1).Draw(t, name)].ID
		}
		for _, kind := range []workflow.PolicyType{workflow.Precedes, workflow.AlwaysFollowedBy, workflow.NeverAfter, workflow.Required, workflow.AtMostOnce} {
			p := workflow.Policy{Type: kind, First: stage("first"), Then: stage("then"), Node: stage("node")}
			path, want := violations(t, g, p), shortestViolation(g, p)
			if len(path) != want {
				t.Fatalf("%+v: path %v, a shortest has %d stages", p, path, want)
			}
			for at := 1; at < len(path); at++ {
				if !slices.Contains(next(g, path[at-1]), path[at]) {
					t.Fatalf("%v is no path", path)
				}
			}
			if want > 0 {
				broken[kind]++
			}
		}
	})
	if len(broken) != 5 {
		t.Errorf("%v: some form was never broken", broken)
	}
}

// V-WF-2: precedes_equals_dominator: a stage precedes another exactly where it dominates it.
func TestPrecedesEqualsDominator(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		all := map[string]bool{}
		for _, n := range g.Nodes {
			all[n.ID] = true
		}
		dominators := map[string]map[string]bool{g.Start: {g.Start: true}}
		for _, n := range g.Nodes[1:] {
			dominators[n.ID] = all
		}
		for changed := true; changed; {
			changed = false
			for _, n := range g.Nodes[1:] {
				common := map[string]bool{}
				for id := range all {
					common[id] = true
					for _, e := range g.Edges {
						if e.To == n.ID && comesTo(g, g.Start, e.From) && !dominators[e.From][id] {
							delete(common, id)
						}
					}
				}
				common[n.ID] = true
				if !reflect.DeepEqual(common, dominators[n.ID]) {
					dominators[n.ID], changed = common, true
				}
			}
		}
		for first := range all {
			for then := range all {
				holds := len(violations(t, g, workflow.Policy{Type: workflow.Precedes, First: first, Then: then})) == 0
				if want := dominators[then][first] || !comesTo(g, g.Start, then); holds != want {
					t.Fatalf("%s precedes %s: %v, dominates %v", first, then, holds, want)
				}
			}
		}
	})
}

// V-WF-2, V-GEN-6: deep_chain_no_recursion, and a loop through it.
func TestDeepChainNoRecursion(t *testing.T) {
	t.Parallel()
	const n = 100_000
	g := workflow.Graph{Start: "0"}
	for i := range n {
		g.Nodes = append(g.Nodes, workflow.Node{ID: fmt.Sprint(i)})
		g.Edges = append(g.Edges, workflow.Edge{From: fmt.Sprint(i), To: fmt.Sprint((i + 1) % n)})
	}
	if r := workflow.Check(g); len(r.Defects) != 2 || len(r.Defects[0].Witness) != n+1 || len(r.Defects[0].Message) > 1000 {
		t.Errorf("%d defects", len(r.Defects))
	}
	if path := violations(t, g, workflow.Policy{Type: workflow.AtMostOnce, Node: "7"}); len(path) != n+8 {
		t.Errorf("a path of %d", len(path))
	}
}

// V-WF-1, V-WF-2: what does not decode is named by its path.
func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"start":"a","nodes":[{"id":"a","terminal":true,"produces":["k"],"max_iterations":3}],"edges":[{"from":"a","to":"a","condition":{"key":"k","value":1}}],"name":"other"}`: "",
		`{"nodes":[{}]}`: "decode workflow: nodes[0].id: required",
		`{"nodes":[{"id":"a","max_iterations":-1}]}`:       "decode workflow: nodes[0].max_iterations: a count is needed, 0 for no bound",
		`{"edges":[{"from":"a"}]}`:                         "decode workflow: edges[0]: from and to are required",
		`{"edges":[{"from":"a","to":"b","condition":{}}]}`: "decode workflow: edges[0].condition.key: required",
		`{"nodes":[{"id":7}]}`:                             "decode workflow: nodes.id: number does not fit, a string is needed",
		`{"start":"a","start":"b"}`:                        `decode workflow: duplicate name "start"`,
		`3`:                                                "decode workflow: number does not fit, an object is needed",
	} {
		g, err := workflow.Decode([]byte(text))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if want == "" && g.Edges[0].Condition.Operator != "eq" {
			t.Errorf("%+v", g.Edges[0].Condition)
		}
	}
	for text, want := range map[string]string{
		`[{"type":"precedes","first":"a","then":"b"},{"type":"required","node":"c"}]`: "", `{"policies":[{"type":"at_most_once","node":"c"}]}`: "", `[]`: "",
		`[{"type":"precedes","first":"a"}]`:  "decode policies: [0].then: required",
		`{"policies":[{"type":"required"}]}`: "decode policies: policies[0].node: required",
		`[{"type":"never"}]`:                 `decode policies: [0].type: unknown policy "never" (one of precedes, always_followed_by, never_after, required, at_most_once)`,
		`[{"type":3}]`:                       "decode policies: type: number does not fit, a string is needed",
		`"x"`:                                "decode policies: string does not fit, an array is needed",
	} {
		if _, err := workflow.DecodePolicies([]byte(text)); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// V-BEYOND-7: any workflow with any rules is checked, or refused, the same twice.
func FuzzWorkflow(f *testing.F) {
	f.Add(`{"start":"a","nodes":[{"id":"a"},{"id":"b"},{"id":"a"}],"edges":[{"from":"a","to":"b"},{"from":"b","to":"q","condition":{"key":"k"}}]}`, `[{"type":"precedes","first":"a","then":"b"}]`)
	f.Add(`{"start":"a","nodes":[{"id":"a","max_iterations":2}],"edges":[{"from":"a","to":"a"}]}`, `{"policies":[{"type":"at_most_once","node":"a"}]}`)
	f.Fuzz(func(t *testing.T, text, rules string) {
		g, err := workflow.Decode([]byte(text))
		if err != nil {
			return
		}
		if one, two := workflow.Check(g), workflow.Check(g); !reflect.DeepEqual(one, two) {
			t.Fatalf("%+v, then %+v", one, two)
		}
		policies, err := workflow.DecodePolicies([]byte(rules))
		if err != nil {
			return
		}
		if r, err := workflow.CheckPolicies(g, policies); err == nil && r.OK != (len(r.Violations) == 0) {
			t.Fatalf("%+v", r)
		}
	})
}
