package intent_test

import (
	"reflect"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/verify/intent"
)

// spec is what a maintainer of docs is for.
var spec = intent.Spec{Goal: "write docs", AllowedTools: []string{"read_file", "write_file", "shell", "http_request"}, AllowedPaths: []string{"docs/**"},
	AllowedHosts: []string{"*.example.com"}, AllowedCommands: []string{"git status", "hugo"},
	ForbiddenCapabilities: []intent.Capability{intent.GitPush, intent.Publish}}

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

// lower makes a proposal of actions and lowers it.
func lower(t *testing.T, facts map[ir.ActionID]intent.Facts, tainted map[string]bool, influences []string, actions ...ir.Action) []intent.Action {
	t.Helper()
	edges, err := ir.Edges(actions)
	if err != nil {
		t.Fatal(err)
	}
	return intent.ActionsFrom(ir.Proposal{Actions: actions}, edges, facts, []string{"http_request"}, tainted, influences)
}

func classes(t *testing.T, s intent.Spec, actions []intent.Action) string {
	t.Helper()
	r, err := intent.Check(s, actions)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range r.Actions {
		text := f.Class.String()
		for _, v := range f.Violations {
			text += " " + v.Kind.String() + "=" + v.Detail
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// V-INTENT-2: every list is asked, absent ones ask nothing, empty_list_allows_nothing;
// what is not known is not allowed; forbidden_beats_allowed.
func TestClasses(t *testing.T) {
	t.Parallel()
	shell := func(f intent.Facts) intent.Action { return intent.Action{ID: "a", Tool: "shell", Facts: f} }
	nothing := intent.Spec{AllowedTools: []string{}, AllowedPaths: []string{}, AllowedHosts: []string{}, AllowedCommands: []string{}}
	for name, row := range map[string]struct {
		spec   intent.Spec
		action intent.Action
		want   string
	}{
		"inside":               {spec, intent.Action{Tool: "read_file", Facts: intent.Facts{Paths: []string{"docs/a.md"}}}, "in_intent"},
		"another tool":         {spec, intent.Action{Tool: "deploy"}, "drift tool_not_allowed=deploy"},
		"another path":         {spec, intent.Action{Tool: "read_file", Facts: intent.Facts{Paths: []string{"src/a.go", "docs/a"}}}, "drift path_not_allowed=src/a.go"},
		"another host":         {spec, intent.Action{Tool: "http_request", Facts: intent.Facts{Hosts: []string{"api.example.com", "evil.net"}}}, "drift host_not_allowed=evil.net"},
		"a known command":      {spec, shell(intent.Facts{Commands: [][]string{{"git", "status", "-s"}}}), "in_intent"},
		"one of two commands":  {spec, shell(intent.Facts{Commands: [][]string{{"hugo"}, {"rm", "-rf", "x"}}}), "drift command_not_allowed=rm -rf"},
		"unknown command":      {spec, shell(intent.Facts{UnknownCommands: true}), "drift command_not_allowed=not known before it runs"},
		"unknown path":         {spec, shell(intent.Facts{UnknownPaths: true}), "drift path_not_allowed=not known before it runs"},
		"unknown host":         {spec, shell(intent.Facts{UnknownHosts: true}), "drift host_not_allowed=not known before it runs"},
		"forbidden_beats":      {spec, shell(intent.Facts{Commands: [][]string{{"git", "status"}}, Capabilities: []intent.Capability{intent.GitPush}}), "forbidden forbidden_capability=git_push"},
		"forbidden and drift":  {spec, intent.Action{Tool: "x", Tainted: true, Facts: intent.Facts{Capabilities: []intent.Capability{intent.Publish}}}, "forbidden forbidden_capability=publish tool_not_allowed=x"},
		"a capability allowed": {spec, shell(intent.Facts{Capabilities: []intent.Capability{intent.Network}}), "in_intent"},
		"absent lists":         {intent.Spec{Goal: "anything"}, intent.Action{Tool: "x", Facts: intent.Facts{Paths: []string{"a"}, UnknownHosts: true, UnknownPaths: true, UnknownCommands: true}}, "in_intent"},
		"empty_list":           {nothing, intent.Action{Tool: "x", Facts: intent.Facts{Paths: []string{"a"}, Hosts: []string{"h"}, Commands: [][]string{{"ls"}}}}, "drift tool_not_allowed=x command_not_allowed=ls path_not_allowed=a host_not_allowed=h"},
		"a state action":       {nothing, intent.Action{}, "in_intent"},
		"tainted inside":       {spec, intent.Action{Tool: "read_file", Tainted: true}, "in_intent"},
		"tainted outside":      {spec, intent.Action{Tool: "x", Tainted: true}, "tainted_drift tool_not_allowed=x"},
	} {
		row.action.ID = "a"
		if got := classes(t, row.spec, []intent.Action{row.action}); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// V-INTENT-1 taint_by_edge_and_key, replan_tainted_by_key, trusted_overwrite_clears: what is tainted, and by what.
func TestTaint(t *testing.T) {
	t.Parallel()
	after := act("a2", "read_file", "")
	after.After = []ir.ActionID{"a1"}
	gated := act("a2", "read_file", "")
	gated.Preconditions = []ir.Precondition{{Key: "page"}}
	for name, row := range map[string]struct {
		tainted    map[string]bool
		influences []string
		facts      map[ir.ActionID]intent.Facts
		actions    []ir.Action
		want       string
	}{
		"nothing untrusted":     {nil, nil, nil, []ir.Action{act("a1", "read_file", ">k"), act("a2", "read_file", "k>")}, "|"},
		"taint_by_edge":         {nil, nil, nil, []ir.Action{act("a1", "http_request", ">page"), act("a2", "read_file", "page>"), act("a3", "read_file", "")}, "|http_request ('a1')|"},
		"three steps":           {nil, nil, nil, []ir.Action{act("a1", "http_request", ">p"), act("a2", "read_file", "p>q"), act("a3", "read_file", "q>")}, "|http_request ('a1')|http_request ('a1')"},
		"an order":              {nil, nil, nil, []ir.Action{act("a1", "http_request", ""), after}, "|http_request ('a1')"},
		"a precondition":        {nil, nil, nil, []ir.Action{act("a1", "http_request", ">page"), gated}, "|http_request ('a1')"},
		"by facts":              {nil, nil, map[ir.ActionID]intent.Facts{"a1": {Untrusted: true}}, []ir.Action{act("a1", "shell", ">o"), act("a2", "read_file", "o>")}, "|shell ('a1')"},
		"replan_tainted_by_key": {map[string]bool{"page": true}, nil, nil, []ir.Action{act("a1", "read_file", "page>"), act("a2", "read_file", "other>")}, "state key 'page'|"},
		"the author":            {nil, []string{"web_search"}, nil, []ir.Action{act("a1", "read_file", "")}, "web_search"},
	} {
		var got []string
		for _, a := range lower(t, row.facts, row.tainted, row.influences, row.actions...) {
			got = append(got, strings.Join(a.InfluencedBy, "+"))
			if a.Tainted != (len(a.InfluencedBy) > 0) {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if strings.Join(got, "|") != row.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, "|"), row.want)
		}
	}
}

// V-INTENT-2 clean_drift_asks, tainted_drift_rejects, tainted_in_intent_allowed: what a class is worth.
func TestDecide(t *testing.T) {
	t.Parallel()
	drift := intent.Action{ID: "a", Tool: "deploy"}
	tainted := drift
	tainted.Tainted, tainted.InfluencedBy = true, []string{"http_request ('a0')"}
	forbidden := intent.Action{ID: "a", Tool: "shell", Facts: intent.Facts{Capabilities: []intent.Capability{intent.GitPush}}}
	inside := intent.Action{ID: "a", Tool: "shell", Tainted: true}
	for name, row := range map[string]struct {
		action intent.Action
		told   intent.Disposition
		want   string
	}{
		"clean_drift_asks":      {drift, intent.RequireApproval, "asks: this leaves the intent (tool not allowed: deploy)"},
		"drift, block":          {drift, intent.Block, "rejects: this leaves the intent (tool not allowed: deploy)"},
		"drift, allow":          {drift, intent.Allow, ""},
		"the zero disposition":  {drift, 0, "rejects: this leaves the intent (tool not allowed: deploy)"},
		"tainted_drift_rejects": {tainted, intent.Allow, "rejects: this leaves the intent (tool not allowed: deploy) and is influenced by untrusted output of http_request ('a0')"},
		"forbidden":             {forbidden, intent.Allow, "rejects: the intent forbids this (forbidden capability: git_push)"},
		"tainted_in_intent":     {inside, intent.Block, ""},
	} {
		r, err := intent.Check(spec, []intent.Action{row.action})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range intent.Decide(r, row.told) {
			got = map[intent.Outcome]string{intent.Reject: "rejects: ", intent.NeedsApproval: "asks: "}[v.Outcome] + v.Reason
			if len(v.Subject) == 0 {
				t.Errorf("%s has no subject", name)
			}
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// V-INTENT-2: a bad glob is an error; V-GEN-1: inputs are not changed.
func TestBadSpecs(t *testing.T) {
	t.Parallel()
	for _, bad := range []intent.Spec{{AllowedPaths: []string{"["}}, {AllowedHosts: []string{"http://x"}}, {AllowedCommands: []string{" "}}, {AllowedTools: []string{""}}} {
		if _, err := intent.Check(bad, nil); err == nil {
			t.Errorf("%+v has no error", bad)
		}
	}
	var c intent.Capability
	if c.UnmarshalText([]byte("netwrk")) == nil || c.UnmarshalText(nil) == nil {
		t.Error("an unknown capability passed")
	}
	a := act("a1", "http_request", ">k")
	before := a
	lower(t, nil, nil, []string{"x"}, a, act("a2", "read_file", "k>"))
	if !reflect.DeepEqual(a, before) {
		t.Error("the action changed")
	}
}
