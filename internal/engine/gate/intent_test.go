package gate

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/verify/intent"
)

// intentOf builds the gate of a row.
func intentOf(t *testing.T, p *project, r *row) *Intent {
	t.Helper()
	c := IntentConfig{Root: p.root, Scratch: filepath.Join(filepath.Dir(p.root), "scratch"), Influences: r.set["influence"]}
	for _, text := range r.set["intent"] {
		f := IntentFile{Path: "intent.json", Root: p.root}
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatalf("%s: %s: %v", r.file, r.name, err)
		}
		c.Files = append(c.Files, f)
	}
	g, err := NewIntent(c)
	if err != nil {
		t.Fatalf("%s: %s: %v", r.file, r.name, err)
	}
	return g
}

// G-INTENT-1..3: inside, drift, what is forbidden and what untrusted output led to;
// and the attempts to get past them.
func TestIntentRows(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t, "intent") {
		p := newProject(t, r.files)
		o, _ := r.run(t, p, intentOf(t, p, r))
		r.compare(t, o)
	}
}

const docsOnly = `{"intent":{"goal":"docs","allowed_paths":["docs/**"]}}`

// G-INTENT-2: the fingerprint covers kind, tool, parameters and goal.
func TestIntentFingerprint(t *testing.T) {
	t.Parallel()
	prints := map[string]string{}
	for name, one := range map[string]struct{ text, path string }{
		"one": {docsOnly, "src/a.go"}, "another path": {docsOnly, "src/b.go"}, "another goal": {strings.Replace(docsOnly, "docs", "tests", 1), "src/a.go"}, "one again": {docsOnly, "src/a.go"},
	} {
		r := &row{set: map[string][]string{"intent": {one.text}}, steps: []step{{tool: "write_file", arg: one.path}}}
		p := newProject(t, nil)
		o, _ := r.run(t, p, intentOf(t, p, r))
		if len(o.Escalations) != 1 {
			t.Fatalf("%s: %+v", name, o)
		}
		prints[name] = o.Escalations[0].Fingerprint
	}
	if prints["one"] != prints["one again"] || prints["one"] == prints["another path"] || prints["one"] == prints["another goal"] {
		t.Errorf("%v", prints)
	}
}

// tells makes happenings of a session's action.
func tells(g *Intent, id, tool, reads string, wrote ...string) func(p admit.Phase, s ir.Status) {
	a := ir.Action{ID: ir.ActionID(id), Type: ir.ToolCall, Tool: tool, WriteSet: wrote}
	if reads != "" {
		a.ReadSet = []string{reads}
	}
	return func(p admit.Phase, s ir.Status) {
		g.Happened(admit.Happening{Phase: p, Session: "s", Proposal: "p", Action: a, Status: s, Wrote: wrote})
	}
}

// G-INTENT-3, V-INTENT trusted_overwrite_clears: what taints a key, what launders nothing, and what clears it.
func TestTaintLedger(t *testing.T) {
	t.Parallel()
	fresh := func() *Intent {
		g, err := NewIntent(IntentConfig{Root: "/r", Files: []IntentFile{{Path: "f", Root: "/r"}}})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	keys := func(g *Intent) string {
		var out []string
		for k := range g.ledger.tainted() {
			out = append(out, k)
		}
		return strings.Join(out, " ")
	}
	all := func(f func(admit.Phase, ir.Status)) {
		f(admit.Started, 0)
		f(admit.Ended, ir.Succeeded)
		f(admit.Kept, ir.Succeeded)
	}
	g := fresh()
	all(tells(g, "a1", "http_request", "", "k"))
	if keys(g) != "k" {
		t.Errorf("untrusted output: %q", keys(g))
	}
	g.ledger.keys = map[string]bool{"k": true}
	all(tells(g, "a2", "calculate", "k", "m"))
	if !g.ledger.tainted()["m"] {
		t.Error("a trusted tool laundered a key")
	}
	all(tells(g, "a3", "calculate", "", "k"))
	if g.ledger.tainted()["k"] || !g.ledger.tainted()["m"] {
		t.Errorf("trusted_overwrite_clears: %q", keys(g))
	}
	all(tells(g, "a4", "calculate", "m", "m"))
	if !g.ledger.tainted()["m"] {
		t.Error("a key cleaned itself")
	}
	g = fresh()
	f := tells(g, "a1", "http_request", "", "k")
	f(admit.Started, 0)
	f(admit.Ended, ir.Failed)
	if keys(g) != "" || len(g.ledger.influences("s")) != 1 {
		t.Errorf("a failure: keys %q, influences %v", keys(g), g.ledger.influences("s"))
	}
	g.ledger.keys["k"] = true
	f = tells(g, "a2", "calculate", "", "k")
	f(admit.Started, 0)
	f(admit.Ended, ir.Succeeded)
	if keys(g) != "k" {
		t.Error("a write that was taken back cleared a key")
	}
}

// G-INTENT-3, V-INTENT replan_tainted_by_key: a plan made after a rollback that reads
// what untrusted output wrote is influenced by it.
func TestAReplanIsTaintedByKey(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	g := intentOf(t, p, &row{set: map[string][]string{"intent": {docsOnly}}})
	f := tells(g, "a1", "http_request", "", "page")
	f(admit.Started, 0)
	f(admit.Ended, ir.Succeeded)
	v := admit.View{Session: "another", Judged: map[ir.ActionID]policy.Judgement{"a1": {Verdict: policy.Allow, Targets: []string{"src/a.go"}}, "a2": {Verdict: policy.Allow, Targets: []string{"src/b.go"}}}}
	v.Proposal.Actions = []ir.Action{{ID: "a1", Type: ir.ToolCall, Tool: "write_file", ReadSet: []string{"page"}}, {ID: "a2", Type: ir.ToolCall, Tool: "write_file"}}
	o, err := g.Check(t.Context(), v)
	if err != nil || o.Verdict != policy.Deny || len(o.Blocked) != 1 || o.Blocked[0] != "a1" || !strings.Contains(o.Reason, "state key 'page'") {
		t.Errorf("%+v %v", o, err)
	}
	v.Key = func(_ ir.Action, key string) string { return "tenant:x:" + key }
	if o, err := g.Check(t.Context(), v); err != nil || o.Verdict != policy.Ask {
		t.Errorf("one tenant's taint reached another: %+v %v", o, err)
	}
}

// G-INTENT-3, E-PIPE-4: a gate that is installed anew starts with a fresh ledger.
func TestAnewGateHasAFreshLedger(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	r := &row{set: map[string][]string{"intent": {docsOnly}}, steps: []step{{past: true, tool: "http_request", arg: "https://h.example/"}, {tool: "write_file", arg: "src/a.go"}}}
	if o, v := r.run(t, p, intentOf(t, p, r)); o.Verdict != policy.Deny {
		t.Fatalf("%+v", o)
	} else if o, err := intentOf(t, p, r).Check(t.Context(), v); err != nil || o.Verdict != policy.Ask {
		t.Errorf("%+v %v", o, err)
	}
}

// P-GUARD-6: an intent that means nothing is an error with its key.
func TestIntentRefusesWhatMeansNothing(t *testing.T) {
	t.Parallel()
	if _, err := NewIntent(IntentConfig{}); err == nil {
		t.Error("no intent at all passed")
	}
	for want, f := range map[string]IntentFile{
		"f: intent.allowed_paths[0]: ": {Path: "f", Intent: intent.Spec{AllowedPaths: []string{"["}}},
		"f: untrusted_tools[0]: ":      {Path: "f", UntrustedTools: []string{""}},
	} {
		if _, err := NewIntent(IntentConfig{Files: []IntentFile{f}}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
