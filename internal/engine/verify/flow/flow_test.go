package flow_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify/flow"
)

var tools = map[string]flow.ToolLabels{
	"read":  {Capability: "file_read", Confidentiality: flow.Internal, Trust: flow.Trusted},
	"vault": {Capability: "vault", Confidentiality: flow.Secret, Trust: flow.Trusted},
	"send":  {Capability: "net_send", Confidentiality: flow.Public, Trust: flow.Untrusted, Sink: true},
	"hash":  {Confidentiality: flow.Public, Trust: flow.Trusted, DeclassifiesTo: flow.Public},
	"pay":   {Confidentiality: flow.Public, Trust: flow.Trusted, RequiresTrusted: true},
}

// act is an action that reads and writes state keys, "r1,r2>w1".
func act(id, tool, keys string) ir.Action {
	reads, writes, _ := strings.Cut(keys, ">")
	a := ir.Action{ID: ir.ActionID(id), Type: ir.ToolCall, Tool: tool}
	if reads != "" {
		a.ReadSet = strings.Split(reads, ",")
	}
	if writes != "" {
		a.WriteSet = strings.Split(writes, ",")
	}
	return a
}

func check(t testing.TB, p flow.Policy, keys map[string]flow.Label, actions ...ir.Action) flow.Report {
	t.Helper()
	if p.Tools == nil {
		p.Tools = tools
	}
	edges, err := ir.Edges(actions)
	if err != nil {
		t.Fatal(err)
	}
	lowered := make([]flow.Action, len(actions))
	for i, a := range actions {
		lowered[i] = flow.Of(a)
	}
	r, err := flow.Check(lowered, edges, p, keys)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func paths(r flow.Report) string {
	var out []string
	for _, v := range r.Violations {
		text := v.Kind.String()
		if !v.Certain {
			text += "?"
		}
		for _, id := range v.Path {
			text += " " + string(id)
		}
		if v.Key != "" {
			text += " key " + v.Key
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// V-FLOW-3 secret_to_network, three_hop_path, declassifier, parallel_branch_clean,
// precondition_flows: which flows are found, by the fewest steps.
func TestFlows(t *testing.T) {
	t.Parallel()
	secret := map[string]flow.Label{"pw": {Confidentiality: flow.Secret}, "note": {Confidentiality: flow.Internal}}
	gated := act("a2", "send", "")
	gated.Preconditions = []ir.Precondition{{Key: "s", Operator: "exists"}}
	needs := act("a2", "send", "")
	needs.Dependencies = []ir.ActionID{"a1"}
	after := act("a2", "send", "")
	after.After = []ir.ActionID{"a1"}
	for name, row := range map[string]struct {
		actions []ir.Action
		want    string
	}{
		"secret_to_network":       {[]ir.Action{act("a1", "vault", ">s"), act("a2", "send", "s>")}, "exfiltration a1 a2"},
		"state key to network":    {[]ir.Action{act("a1", "send", "pw>")}, "exfiltration a1 key pw"},
		"three_hop_path":          {[]ir.Action{act("a1", "vault", ">s"), act("a2", "read", "s>u"), act("a3", "read", "u>v"), act("a4", "send", "v>")}, "exfiltration a1 a2 a3 a4"},
		"shortest of two":         {[]ir.Action{act("a1", "vault", ">s,t"), act("a2", "read", "s>u"), act("a3", "send", "u,t>")}, "exfiltration a1 a3"},
		"declassifier":            {[]ir.Action{act("a1", "vault", ">s"), act("a2", "hash", "s>h"), act("a3", "send", "h>")}, ""},
		"around the declassifier": {[]ir.Action{act("a1", "vault", ">s"), act("a2", "hash", "s>h"), act("a3", "send", "h,s>")}, "exfiltration a1 a3"},
		"parallel_branch_clean":   {[]ir.Action{act("a1", "vault", ">s"), act("a2", "read", ">u"), act("a3", "send", "u>")}, ""},
		"precondition_flows":      {[]ir.Action{act("a1", "vault", ">s"), gated}, "exfiltration a1 a2"},
		"a declared need":         {[]ir.Action{act("a1", "vault", ""), needs}, "exfiltration a1 a2"},
		"an order alone":          {[]ir.Action{act("a1", "vault", ""), after}, ""},
		"internal may go out":     {[]ir.Action{act("a1", "send", "note>")}, ""},
		"overwritten":             {[]ir.Action{act("a1", "vault", ">s"), act("a2", "read", ">s"), act("a3", "send", "s>")}, ""},
		"steered":                 {[]ir.Action{act("a1", "send", ">page"), act("a2", "pay", "page>")}, "untrusted_influence a1 a2"},
		"unlabelled is untrusted": {[]ir.Action{act("a1", "stranger", ">x"), act("a2", "pay", "x>")}, "untrusted_influence a1 a2"},
		"unlabelled is no sink":   {[]ir.Action{act("a1", "stranger", "pw>")}, ""},
	} {
		r := check(t, flow.Policy{}, secret, row.actions...)
		if got := paths(r); got != row.want || r.Secure != (row.want == "") {
			t.Errorf("%s: %q secure %v, want %q", name, got, r.Secure, row.want)
		}
	}
}

// V-FLOW-1: a sink may be stricter than the rest.
func TestASinkHasItsOwnLimit(t *testing.T) {
	t.Parallel()
	strict := map[string]flow.ToolLabels{"post": {Sink: true, MaxInput: flow.Public, Trust: flow.Trusted, Confidentiality: flow.Public}, "read": tools["read"]}
	if got := paths(check(t, flow.Policy{Tools: strict}, nil, act("a1", "read", ">x"), act("a2", "post", "x>"))); got != "exfiltration a1 a2" {
		t.Errorf("%q", got)
	}
	if got := paths(check(t, flow.Policy{MaxInput: flow.Public}, nil, act("a1", "read", ">x"), act("a2", "send", "x>"))); got != "exfiltration a1 a2" {
		t.Errorf("all sinks: %q", got)
	}
}

// V-FLOW-2 ledger_floor_across_turns: what was read in a turn before is in every
// action; what may have been read is a question.
func TestLedgerFloorAcrossTurns(t *testing.T) {
	t.Parallel()
	read := flow.Label{Confidentiality: flow.Secret, Trust: flow.Untrusted}
	r := check(t, flow.Policy{Floor: read}, nil, act("a1", "send", ""), act("a2", "pay", ""), act("a3", "read", ""))
	if got := paths(r); got != "exfiltration a1; untrusted_influence a2" {
		t.Errorf("%q", got)
	}
	for _, v := range r.Violations {
		if v.Source != "" || !strings.Contains(v.Explanation, "what was read before") {
			t.Errorf("source %q: %s", v.Source, v.Explanation)
		}
	}
	r = check(t, flow.Policy{MayFloor: read}, nil, act("a1", "send", ""))
	if got := paths(r); got != "exfiltration? a1" || !strings.HasPrefix(r.Violations[0].Explanation, "it may be that") {
		t.Errorf("%q", got)
	}
}

// V-FLOW-3: a call of a tool that is no sink may be one, or may not be known to be none.
func TestACallMayBeASink(t *testing.T) {
	t.Parallel()
	own := flow.Label{Confidentiality: flow.Secret}
	for _, row := range []struct {
		a    flow.Action
		want string
	}{
		{flow.Action{ID: "a1", Tool: "read", Label: own, Sink: true}, "exfiltration a1"},
		{flow.Action{ID: "a1", Tool: "read", Label: own, MaySink: true}, "exfiltration? a1"},
		{flow.Action{ID: "a1", Tool: "read", May: own, Sink: true}, "exfiltration? a1"},
		{flow.Action{ID: "a1", Tool: "read", Label: own}, ""},
		{flow.Action{ID: "a1", Tool: "read", Sink: true, Output: own}, ""},
	} {
		r, err := flow.Check([]flow.Action{row.a}, nil, flow.Policy{Tools: tools}, nil)
		if err != nil || paths(r) != row.want {
			t.Errorf("%+v: %q %v", row.a, paths(r), err)
		}
	}
}

// V-FLOW-3 unordered_pair_may_violate: an order is broken surely where one precedes the other, maybe
// where nothing orders them, not where it is the other way round.
func TestForbiddenOrders(t *testing.T) {
	t.Parallel()
	policy := flow.Policy{Orders: []flow.Order{{First: "vault", Then: "net_send"}}}
	behind := func(id, tool, after string) ir.Action {
		a := act(id, tool, "")
		a.After = []ir.ActionID{ir.ActionID(after)}
		return a
	}
	for _, row := range []struct {
		actions []ir.Action
		want    string
	}{
		{[]ir.Action{act("a1", "vault", ""), behind("a2", "read", "a1"), behind("a3", "send", "a2")}, "forbidden_order a1 a2 a3"},
		{[]ir.Action{act("a1", "vault", ""), act("a2", "send", "")}, "forbidden_order? a1 a2"},
		{[]ir.Action{act("a1", "send", ""), behind("a2", "vault", "a1")}, ""},
		{[]ir.Action{act("a1", "send", "")}, ""},
	} {
		if got := paths(check(t, policy, nil, row.actions...)); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
	policy.Past = map[string]bool{"vault": true}
	if got := paths(check(t, policy, nil, act("a1", "send", ""))); got != "forbidden_order a1" {
		t.Errorf("past: %q", got)
	}
}

// V-FLOW-3: what violations are worth; the strictest wins, a guess is never refused for good.
func TestDecide(t *testing.T) {
	t.Parallel()
	v := func(kind flow.Kind, sink string, certain bool) flow.Violation {
		return flow.Violation{Kind: kind, Sink: ir.ActionID(sink), Certain: certain, Explanation: kind.String() + " " + sink}
	}
	p := flow.DefaultGatePolicy()
	for name, row := range map[string]struct {
		policy     flow.GatePolicy
		violations []flow.Violation
		want       flow.Outcome
		blocked    int
		asks       int
	}{
		"nothing":           {p, nil, flow.Accept, 0, 0},
		"exfiltration":      {p, []flow.Violation{v(flow.Exfiltration, "a", true)}, flow.Reject, 1, 0},
		"maybe":             {p, []flow.Violation{v(flow.Exfiltration, "a", false)}, flow.NeedsApproval, 0, 1},
		"order":             {p, []flow.Violation{v(flow.ForbiddenOrder, "a", true)}, flow.NeedsApproval, 0, 1},
		"one question each": {p, []flow.Violation{v(flow.ForbiddenOrder, "a", true), v(flow.UntrustedInfluence, "a", true), v(flow.ForbiddenOrder, "b", true)}, flow.NeedsApproval, 0, 2},
		"both about one":    {p, []flow.Violation{v(flow.ForbiddenOrder, "a", true), v(flow.Exfiltration, "a", true)}, flow.Reject, 1, 0},
		"allowed":           {flow.GatePolicy{Exfiltration: flow.Allow}, []flow.Violation{v(flow.Exfiltration, "a", true)}, flow.Accept, 0, 0},
		"the zero policy":   {flow.GatePolicy{}, []flow.Violation{v(flow.ForbiddenOrder, "a", true)}, flow.Reject, 1, 0},
		"strengthened":      {flow.GatePolicy{Exfiltration: flow.Allow, UntrustedInfluence: flow.Allow}.Strengthen(p), []flow.Violation{v(flow.Exfiltration, "a", true)}, flow.Reject, 1, 0},
	} {
		d := flow.Decide(flow.Report{Violations: row.violations}, row.policy)
		if d.Outcome != row.want || len(d.Blocked) != row.blocked || len(d.Asks) != row.asks {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// V-FLOW-1 join_laws: idempotent, commutative, associative, the zero label neutral;
// strengthening never loosens.
func TestJoinLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		label := func(name string) flow.Label {
			return flow.Label{Confidentiality: flow.Confidentiality(rapid.IntRange(0, 3).Draw(t, name)), Trust: flow.Trust(rapid.IntRange(0, 2).Draw(t, name+"t"))}
		}
		a, b, c := label("a"), label("b"), label("c")
		if a.Join(a) != a || a.Join(b) != b.Join(a) || a.Join(b.Join(c)) != a.Join(b).Join(c) || a.Join(flow.Label{}) != a {
			t.Fatalf("%v %v %v", a, b, c)
		}
		weak := flow.ToolLabels{Confidentiality: a.Confidentiality, Trust: a.Trust, Sink: rapid.Bool().Draw(t, "s"), MaxInput: b.Confidentiality, RequiresTrusted: rapid.Bool().Draw(t, "r")}
		strong := weak.Strengthen(flow.ToolLabels{Confidentiality: c.Confidentiality, MaxInput: c.Confidentiality, DeclassifiesTo: flow.Public})
		if strong.Confidentiality < weak.Confidentiality || weak.Sink && !strong.Sink || weak.RequiresTrusted && !strong.RequiresTrusted ||
			strong.MaxInput > max(weak.MaxInput, flow.Internal) || weak.MaxInput != 0 && strong.MaxInput > weak.MaxInput || strong.DeclassifiesTo != 0 {
			t.Fatalf("%+v became %+v", weak, strong)
		}
	})
}

// V-FLOW-3 more_edges_never_fewer_violations; V-GEN-1 inputs unchanged; V-GEN-2 the same bytes.
func TestMoreEdgesNeverFewerViolations(t *testing.T) {
	t.Parallel()
	names := []string{"read", "vault", "send", "pay", "stranger"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		actions := make([]ir.Action, n)
		for i := range actions {
			actions[i] = act(string(rune('a'+i)), rapid.SampledFrom(names).Draw(t, "tool"), "")
		}
		link := func(a []ir.Action, times int) []ir.Action {
			a = slices.Clone(a)
			for range times {
				i := rapid.IntRange(0, n-1).Draw(t, "from")
				j := rapid.IntRange(0, n-1).Draw(t, "to")
				if i < j {
					a[j].Dependencies = append(slices.Clone(a[j].Dependencies), a[i].ID)
				}
			}
			return a
		}
		some := link(actions, 4)
		more := link(some, 4)
		run := func(a []ir.Action) flow.Report {
			edges, err := ir.Edges(a)
			if err != nil {
				t.Fatal(err)
			}
			low := make([]flow.Action, n)
			for i := range a {
				low[i] = flow.Of(a[i])
			}
			before := append([]flow.Action(nil), low...)
			r, err := flow.Check(low, edges, flow.Policy{Tools: tools}, nil)
			if err != nil || !reflect.DeepEqual(before, low) {
				t.Fatal(err, "or the input changed")
			}
			again, _ := flow.Check(low, edges, flow.Policy{Tools: tools}, nil)
			if !reflect.DeepEqual(r, again) {
				t.Fatal("two answers")
			}
			return r
		}
		has := map[string]bool{}
		for _, v := range run(more).Violations {
			has[v.Kind.String()+string(v.Sink)] = true
		}
		for _, v := range run(some).Violations {
			if !has[v.Kind.String()+string(v.Sink)] {
				t.Fatalf("%s of %s was lost by more edges", v.Kind, v.Sink)
			}
			if v.Path[len(v.Path)-1] != v.Sink {
				t.Fatalf("the path %v does not end at %s", v.Path, v.Sink)
			}
		}
	})
}

// V-FLOW-3: an unknown label is an error, and so is an unknown word.
func TestUnknownLabels(t *testing.T) {
	t.Parallel()
	bad := flow.Label{Confidentiality: 9}
	for name, call := range map[string]func() error{
		"action": func() error {
			_, err := flow.Check([]flow.Action{{ID: "a", Label: bad}}, nil, flow.Policy{}, nil)
			return err
		},
		"key": func() error {
			_, err := flow.Check(nil, nil, flow.Policy{}, map[string]flow.Label{"k": bad})
			return err
		},
		"floor": func() error { _, err := flow.Check(nil, nil, flow.Policy{Floor: bad}, nil); return err },
		"tool": func() error {
			_, err := flow.Check(nil, nil, flow.Policy{Tools: map[string]flow.ToolLabels{"t": {MaxInput: 9}}}, nil)
			return err
		},
		"confidentiality": func() error { var c flow.Confidentiality; return c.UnmarshalText([]byte("top")) },
		"trust":           func() error { var c flow.Trust; return c.UnmarshalText([]byte("")) },
		"disposition":     func() error { var c flow.Disposition; return c.UnmarshalText([]byte("maybe")) },
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// V-BENCH: near linear in actions, shown by doubling.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10_000, 20_000} {
		actions := make([]flow.Action, n)
		var edges []ir.Edge
		for i := range actions {
			actions[i] = flow.Action{ID: ir.ActionID(rune(i)), Tool: []string{"vault", "read", "send"}[i%3]}
			if i > 0 {
				actions[i].Needs = []ir.ActionID{actions[i-1].ID}
				edges = append(edges, ir.Edge{From: i - 1, To: i})
			}
		}
		b.Run(strings.Repeat("n", n/10_000), func(b *testing.B) {
			for b.Loop() {
				if _, err := flow.Check(actions, edges, flow.Policy{Tools: tools}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
