package render_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/montecarlo"
	"car/internal/engine/verify/plan"
	"car/internal/engine/verify/render"
	"car/internal/engine/verify/schema"
	"car/internal/engine/verify/workflow"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// broken is a proposal with a fault of most kinds.
func broken(t testing.TB) ir.Proposal {
	t.Helper()
	p, err := ir.DecodeProposal([]byte(`{"id":"p","actions":[
	 {"id":"fetch","type":"tool_call","tool":"http_get","parameters":{"url":7},"write_set":["page"],"failure_behavior":"skip"},
	 {"id":"parse","type":"tool_call","tool":"parse","state_dependencies":["page","schema"],"expected_effects":{"rows":3},"failure_behavior":"skip"},
	 {"id":"count","type":"state_write","parameters":{"key":"total","value":3},"expected_effects":{"seen":true},"dependencies":["parse"]},
	 {"id":"publish","type":"tool_call","tool":"publsh","preconditions":[{"key":"approved","operator":"eq","value":true,"description":"somebody has to say yes"}],"expected_effects":{"rows":4},"reversibility":"compensable","failure_behavior":"skip"},
	 {"id":"bad\u001b[31m\u202ename","type":"tool_call","tool":"parse"}]}`), ir.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func options() verify.Options {
	return verify.Options{State: map[string]any{"approved": false}, Goal: &goal.Condition{Type: goal.StatePredicate, Key: "published", Operator: "eq", Value: true},
		Schemas: schema.NewSet([]ir.ToolSchema{{Name: "http_get", Parameters: json.RawMessage(`{"required":["url"],"properties":{"url":{"type":"string"},"timeout":{"type":"number"}}}`)}, {Name: "parse"}, {Name: "publish"}})}
}

// pages are every page there is, by name.
func pages(t testing.TB, s render.Style) map[string]string {
	t.Helper()
	p, o := broken(t), options()
	sim := verify.Simulate(p, o)
	equal := verify.Equivalent(p, ir.Proposal{}, verify.EquivalenceOptions{States: []map[string]any{{"approved": true, "page": "x", "schema": 1.0}}})
	odds, err := montecarlo.Run(context.Background(), p, montecarlo.Input{State: map[string]any{"schema": 1.0, "approved": true}, Rates: map[string]float64{"parse": 0.9}, Goal: o.Goal,
		History: montecarlo.History{WindowDays: 30, Counts: map[string]montecarlo.Count{"http_get": {Succeeded: 7, Dispatched: 9}}}}, montecarlo.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	steps, err := plan.Check(plan.FromProposal(p, nil, []plan.Condition{plan.Fact("rows")}, plan.Partial))
	if err != nil {
		t.Fatal(err)
	}
	flow := workflow.Graph{Start: "draft", Nodes: []workflow.Node{{ID: "draft"}, {ID: "test"}, {ID: "deploy"}, {ID: "lost"}, {ID: "retry"}},
		Edges: []workflow.Edge{{From: "draft", To: "test"}, {From: "test", To: "deploy", Condition: &ir.Precondition{Key: "green", Operator: "eq", Value: true}}, {From: "draft", To: "deploy"}, {From: "retry", To: "retry"}}}
	rules, err := workflow.CheckPolicies(flow, []workflow.Policy{{Type: workflow.Precedes, First: "test", Then: "deploy"}})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"verification": render.Verification(p, verify.Verify(p, o), s),
		"valid":        render.Verification(ir.Proposal{}, verify.Verify(ir.Proposal{}, verify.Options{}), s),
		"simulation":   render.Simulation(map[string]any{"approved": false, "total": 1.0, "page": "old"}, sim, s) + render.BlockedActions(sim, s),
		"equivalence":  render.Equivalence(equal, s) + render.Equivalence(verify.Equivalent(p, p, verify.EquivalenceOptions{Derive: true}), s),
		"optimization": render.Optimization(verify.Optimize(p), s),
		"chances":      render.Chances(odds, s),
		"plan":         render.Plan(steps, s),
		"workflow":     render.Workflow(workflow.Check(flow), &rules, s),
	}
}

var paint = regexp.MustCompile("\x1b\\[[0-9]+m")

// V-CLI-3, V-CLI-4: the pages at three widths, for a terminal and for a file.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{40, 80, 200} {
		for name, text := range pages(t, render.Style{Columns: columns}) {
			file := filepath.Join("testdata", fmt.Sprintf("%s-%d.golden", name, columns))
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || text != string(want) {
				t.Errorf("%s: %v\n%s", file, err, text)
			}
			for _, line := range strings.Split(text, "\n") {
				if utf8.RuneCountInString(line) > columns {
					t.Errorf("%s: line of %d: %s", file, utf8.RuneCountInString(line), line)
				}
			}
			if strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("%s obeys what a model wrote", file)
			}
		}
		// Colours and boxes change nothing else.
		plain := pages(t, render.Style{Columns: columns, Boxes: true})
		for name, text := range pages(t, render.Style{Columns: columns, Boxes: true, Color: true}) {
			if bare := paint.ReplaceAllString(text, ""); bare != plain[name] || strings.Contains(bare, "\x1b") || name == "verification" && bare == text {
				t.Errorf("%s at %d in colour:\n%s", name, columns, text)
			}
		}
	}
}

// V-CLI-3: above 200 actions levels are counts; lists are cut and say so.
func TestLargePlans(t *testing.T) {
	t.Parallel()
	var p ir.Proposal
	for i := range 300 {
		p.Actions = append(p.Actions, ir.Action{ID: ir.ActionID(fmt.Sprint("a", i)), Type: ir.ToolCall, Tool: "t", Parameters: map[string]any{"n": float64(i)}, StateDependencies: []string{"gone"}, WriteSet: []string{"k"}})
	}
	text := render.Verification(p, verify.Verify(p, verify.Options{MaxActions: -1}), render.Style{})
	for _, part := range []string{"  level 0  300 actions\n", "not valid: 300 errors, 1000 warnings; 300 actions in 1 level\n", "  - and 1100 more\n", "  - and 988 more\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q", part)
		}
	}
	if n := strings.Count(text, "\n"); n > 2000 {
		t.Errorf("%d lines", n)
	}
}

// V-GEN-5, V-CLI-3: a caller's measure and escape are used.
func TestStyleIsTheCallers(t *testing.T) {
	t.Parallel()
	p := ir.Proposal{Actions: []ir.Action{{ID: "宽宽", Type: ir.ToolCall, Tool: "t", StateDependencies: []string{"宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽"}}}}
	wide := func(s string) int {
		n := 0
		for _, r := range s {
			n++
			if r > 0x2e80 {
				n++
			}
		}
		return n
	}
	text := render.Verification(p, verify.Verify(p, verify.Options{}), render.Style{Columns: 80, Width: wide, Escape: func(s string) string { return strings.ReplaceAll(s, "t", "T") }})
	if !strings.Contains(text, "Tool") || !strings.Contains(text, "宽宽") {
		t.Error(text)
	}
	for _, line := range strings.Split(text, "\n") {
		if wide(line) > 80 {
			t.Errorf("line of %d columns: %s", wide(line), line)
		}
	}
}

// V-CLI-3: nothing that a model writes reaches a terminal raw, and no line is wider than asked.
func TestAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := ir.Proposal{Actions: []ir.Action{{ID: ir.ActionID(rapid.String().Draw(t, "id")), Type: ir.ToolCall, Tool: rapid.String().Draw(t, "tool"), StateDependencies: []string{rapid.String().Draw(t, "key")}},
			{ID: "b", Type: ir.ToolCall, Tool: "t", WriteSet: []string{rapid.String().Draw(t, "key")}, After: []ir.ActionID{ir.ActionID(rapid.String().Draw(t, "after"))}}}}
		columns := rapid.IntRange(20, 120).Draw(t, "columns")
		text := render.Verification(p, verify.Verify(p, verify.Options{ToolNames: []string{}}), render.Style{Columns: columns})
		for _, line := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(line) > columns || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e }) {
				t.Fatalf("at %d: %q", columns, line)
			}
		}
	})
}
