package gate

import (
	"encoding/json"
	"strings"
	"testing"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

type registry []ir.ToolSchema

func (r registry) Schemas() []ir.ToolSchema { return r }

func bound(name, params string) ir.ToolSchema {
	return ir.ToolSchema{Name: name, Parameters: json.RawMessage(params)}
}

// checkStatic asks the gate about calls, "tool {params}" each.
func checkStatic(t *testing.T, g *Static, open bool, change func([]ir.Action), calls ...string) admit.Opinion {
	t.Helper()
	v := admit.View{Judged: map[ir.ActionID]policy.Judgement{}}
	for i, text := range calls {
		name, params, _ := strings.Cut(text, " ")
		a := ir.Action{ID: ir.ActionID("a" + string(rune('1'+i))), Type: ir.ToolCall, Tool: name}
		if err := json.Unmarshal([]byte(params), &a.Parameters); err != nil {
			t.Fatal(err)
		}
		v.Proposal.Actions = append(v.Proposal.Actions, a)
		if open {
			v.Judged[a.ID] = policy.Judgement{Verdict: policy.Allow}
		}
	}
	if change != nil {
		change(v.Proposal.Actions)
	}
	o, err := g.Check(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// V-VERIFY-9, G-GATE-2: errors that hold whatever the tools do block, and name their
// action; what rests on declared effects, a proxy or a warning does not.
func TestStaticBlocks(t *testing.T) {
	t.Parallel()
	tools := registry{bound("write", `{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}`)}
	needs := func(a []ir.Action) { a[0].StateDependencies = []string{"gone"} }
	undone := func(a []ir.Action) { a[1].Reversibility = ir.Compensable }
	undo := func(a []ir.Action) {
		a[0].Compensation = &ir.Compensation{Type: ir.CompensateByTool, Tool: "gone"}
	}
	ok := `write {"path":"x"}`
	for name, row := range map[string]struct {
		open   bool
		change func([]ir.Action)
		calls  []string
		want   string
		says   string
	}{
		"fine":                       {true, nil, []string{ok}, "", ""},
		"a parameter is missing":     {true, nil, []string{ok, `write {}`}, "a2", "'a2': tool 'write'"},
		"a parameter is mistyped":    {true, nil, []string{`write {"path":1}`}, "a1", "path"},
		"an unknown tool":            {false, nil, []string{ok, `fly {}`}, "a2", "'a2': tool 'fly' is not registered"},
		"bound, but not listed":      {true, nil, []string{`hidden {"any":1}`}, "", ""},
		"an undo that is missing":    {true, undone, []string{ok, ok}, "a2", "no compensation"},
		"an undo by an unknown tool": {true, undo, []string{ok}, "a1", "not registered"},
		"a loop is a proxy":          {true, nil, []string{ok, ok, ok, ok}, "", ""},
		"a dependency is declared":   {true, needs, []string{ok}, "", ""},
	} {
		o := checkStatic(t, NewStatic(tools), row.open, row.change, row.calls...)
		var blocked []string
		for _, id := range o.Blocked {
			blocked = append(blocked, string(id))
		}
		if got := strings.Join(blocked, " "); got != row.want || !strings.Contains(o.Reason, row.says) || (o.Verdict == policy.Deny) != (row.want != "") {
			t.Errorf("%s: %s %q: %s", name, o.Verdict, got, o.Reason)
		}
	}
}

// V-VERIFY-9: the registry is read live, and without any tool there is nothing to hold a call against.
func TestStaticReadsTheLiveRegistry(t *testing.T) {
	t.Parallel()
	tools := registry{}
	g := NewStatic(&tools)
	if o := checkStatic(t, g, false, nil, `write {}`); o.Verdict != policy.Allow {
		t.Errorf("without tools: %+v", o)
	}
	tools = registry{bound("write", `{"type":"object"}`)}
	if o := checkStatic(t, g, true, nil, `write {}`); o.Verdict != policy.Allow {
		t.Errorf("%+v", o)
	}
	tools = registry{bound("write", `{"type":"object","required":["path"]}`)}
	if o := checkStatic(t, g, true, nil, `write {}`); o.Verdict != policy.Deny {
		t.Errorf("a schema that changed: %+v", o)
	}
}

// G-GATE-2: the standard gates, in their order; intent and trace rules where there are any.
func TestStandard(t *testing.T) {
	t.Parallel()
	names := func(c Config) string {
		c.Root, c.Tools = "/r", registry{}
		gates, err := Standard(c)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, g := range gates {
			out = append(out, g.Name())
		}
		return strings.Join(out, " ")
	}
	if got := names(Config{}); got != "static_verification information_flow production" {
		t.Errorf("%s", got)
	}
	rules := []policy.RuleFile{{Path: "p", Rules: policy.Rules{TraceRule: []policy.TraceRule{{Never: &policy.TraceEvent{Tool: "x"}}}}}}
	if got := names(Config{Intents: []IntentFile{{}}, Rules: rules}); got != "static_verification information_flow intent production trace_rules" {
		t.Errorf("%s", got)
	}
	bad := Config{Labels: []LabelFile{{Path: "l", FlowPolicy: FlowPolicy{ConfidentialPaths: []string{""}}}}, Intents: []IntentFile{{Path: "i", UntrustedTools: []string{""}}},
		Production: []ProductionFile{{Path: "g", Gates: []ProductionGate{{}}}}, Rules: []policy.RuleFile{{Path: "p", Rules: policy.Rules{TraceRule: make([]policy.TraceRule, 1)}}}}
	_, err := Standard(bad)
	for _, want := range []string{"l: ", "i: ", "g: ", "p: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
