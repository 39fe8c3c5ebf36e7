package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// guard wants every call of the tool "write" proved by checks.
type guard []admit.Check

func (guard) Name() string { return "guard" }

func (g guard) Check(_ context.Context, v admit.View) (admit.Opinion, error) {
	o := admit.Opinion{Verdict: policy.Allow}
	for _, a := range v.Proposal.Actions {
		for _, c := range g {
			if a.Tool == "write" {
				c.Action = a.ID
				o.Checks = append(o.Checks, c)
			}
		}
	}
	return o, nil
}

// prover builds a house where "probe" prints a word and "write" needs the checks.
func prover(t *testing.T, approve approverFunc, checks ...admit.Check) (*house, *[]string) {
	did := &[]string{}
	var mu sync.Mutex
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		*did = append(*did, what)
	}
	h := build(t, func(c *engine.Config, h *house) {
		c.Gates = []admit.Gate{guard(checks)}
		if approve != nil {
			c.Approver = approve
		}
		h.tools["probe"] = hand{effects: writes, run: func(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
			code, _ := c.Params["code"].(float64)
			note(fmt.Sprint("probe ", c.Params["say"]))
			return tool.Execution{Output: map[string]any{"output": c.Params["say"], "exit_code": code}}, nil
		}}
		h.tools["write"] = hand{effects: writes, run: func(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
			note("write")
			return tool.Execution{Output: "ok"}, nil
		}}
	})
	return h, did
}

func probe(name, say string, more map[string]any) admit.Check {
	params := map[string]any{"say": say}
	for k, v := range more {
		params[k] = v
	}
	return admit.Check{Name: name, Text: "say " + say, Tool: "probe", Parameters: params}
}

// E-PIPE-11, G-PROD-2: checks run first, in order; their receipts ride in the result,
// they are counted and recorded, and stand outside the results.
func TestChecksPass(t *testing.T) {
	t.Parallel()
	h, did := prover(t, nil, probe("one", "1", nil), probe("two", "2", nil))
	r := h.execute(t, plan(t, call("write", ""), call("read", "")), engine.Options{})
	if got := strings.Join(*did, ", "); got != "probe 1, probe 2, write" || !r.AllSucceeded() || len(r.Results) != 2 {
		t.Fatalf("did %s, %+v", got, r.Results)
	}
	receipts, ok := r.Results[0].ProjectGate.([]any)
	if !ok || len(receipts) != 2 {
		t.Fatalf("receipts %+v", r.Results[0].ProjectGate)
	}
	one, _ := receipts[0].(map[string]any)
	if one["name"] != "one" || one["check"] != "say 1" || one["passed"] != true || fmt.Sprint(one["output"]) != "map[exit_code:0 output:1]" {
		t.Errorf("receipt %+v", one)
	}
	if r.Results[1].ProjectGate != nil || r.Cost.ToolCalls != 4 || r.Cost.ToolAttempts != 4 {
		t.Errorf("cost %+v, unguarded %+v", r.Cost, r.Results[1].ProjectGate)
	}
	rows, err := h.db.InState(t.Context(), "s", approval.Completed)
	must(t, err)
	var ids []string
	for _, e := range rows {
		ids = append(ids, string(e.Action)+" "+e.CallID)
	}
	if got := strings.Join(ids, ", "); !strings.Contains(got, "a1~check1 p1/a1~check1") || !strings.Contains(got, "a1~check2 p1/a1~check2") {
		t.Errorf("rows %s", got)
	}
	if !strings.Contains(h.story(), "action_executing a1~check1") {
		t.Errorf("log %s", h.story())
	}
}

// G-PROD-2, E-PIPE-11: a check that fails, is refused, needs full access or is
// guarded itself proves nothing, and what it guards does not run.
func TestChecksFail(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		checks []admit.Check
		want   string
		did    string
	}{
		"exit 1":         {[]admit.Check{probe("backup", "no backup", map[string]any{"code": 1.0}), probe("later", "x", nil)}, "mandatory gate 'backup' failed: no backup", "probe no backup"},
		"silent":         {[]admit.Check{probe("backup", "", map[string]any{"code": 3.0})}, "mandatory gate 'backup' failed: it ended with exit code 3", "probe "},
		"the tool fails": {[]admit.Check{{Name: "backup", Tool: "fail", Parameters: map[string]any{}}}, "mandatory gate 'backup' failed: it broke", ""},
		"denied":         {[]admit.Check{probe("backup", "x", map[string]any{"policy": "deny"})}, "mandatory gate 'backup' failed: denied by policy", ""},
		"full access":    {[]admit.Check{probe("backup", "x", map[string]any{"policy": "full"})}, "mandatory gate 'backup' is not read-only and cannot authorize an action", ""},
		"no such tool":   {[]admit.Check{{Name: "backup", Tool: "gone", Parameters: map[string]any{}}}, "mandatory gate 'backup' failed: unknown tool: gone", ""},
		"guarded itself": {[]admit.Check{{Name: "backup", Tool: "write", Parameters: map[string]any{}}}, "mandatory gate 'backup' is not read-only and cannot authorize an action", ""},
		"nobody to ask":  {[]admit.Check{probe("backup", "x", map[string]any{"policy": "ask"})}, "mandatory gate 'backup' failed: requires human approval", ""},
	} {
		h, did := prover(t, nil, row.checks...)
		r := h.execute(t, plan(t, call("write", `"failure_behavior":"skip"`), call("read", "")), engine.Options{})
		if got := strings.Join(*did, ", "); got != row.did || statuses(r) != "rejected succeeded" || !strings.HasPrefix(r.Results[0].Error, row.want) {
			t.Errorf("%s: did %q, %s: %q", name, got, statuses(r), r.Results[0].Error)
		}
		if gate, ok := r.Results[0].ProjectGate.(map[string]any); row.did != "" && (!ok || gate["passed"] != false) {
			t.Errorf("%s: receipt %+v", name, r.Results[0].ProjectGate)
		}
	}
}

// E-PIPE-11, law 3: a check is asked for before what it guards, and a no to it means
// that nobody is asked about the rest; what can prove nothing is not asked about at all.
func TestChecksAreAsked(t *testing.T) {
	t.Parallel()
	asked := []string{}
	answer := admit.AllowOnce
	approve := func(_ context.Context, requests []admit.Request) ([]admit.Decision, error) {
		out := make([]admit.Decision, len(requests))
		for i, r := range requests {
			asked = append(asked, string(r.Action))
			out[i] = admit.Decision{Kind: answer, By: "p", Reason: "not now"}
		}
		return out, nil
	}
	h, did := prover(t, approve, probe("backup", "x", map[string]any{"policy": "ask"}))
	p := plan(t, call("write", `"parameters":{"policy":"ask"}`))
	r := h.execute(t, p, engine.Options{})
	if strings.Join(asked, " ") != "a1~check1 a1" || strings.Join(*did, ", ") != "probe x, write" || !r.AllSucceeded() {
		t.Errorf("asked %v, did %v, %+v", asked, *did, r.Results)
	}
	asked, answer, *did, p.ID = nil, admit.Deny, nil, "denied"
	r = h.execute(t, p, engine.Options{})
	if strings.Join(asked, " ") != "a1~check1" || len(*did) != 0 || r.Results[0].Error != "mandatory gate 'backup' failed: not now" {
		t.Errorf("denied: asked %v, did %v, %+v", asked, *did, r.Results)
	}
	asked, answer, p.ID = nil, admit.DenyAndStop, "stopped"
	more := plan(t, call("write", `"parameters":{"policy":"ask"}`), call("read", `"after":["a1"]`))
	more.ID = "stopped"
	r = h.execute(t, more, engine.Options{})
	if statuses(r) != "rejected skipped" || r.Results[1].Error != "canceled: stopped by not now" {
		t.Errorf("stopped: %s %+v", statuses(r), r.Results)
	}
	h, did = prover(t, approve, probe("backup", "x", map[string]any{"policy": "full"}))
	asked = nil
	if h.execute(t, p, engine.Options{}); len(asked)+len(*did) != 0 {
		t.Errorf("asked %v, did %v", asked, *did)
	}
}

// E-PIPE-7, E-PIPE-11: who edits a call has its checks made anew; each generation
// judges its own.
func TestAnEditedCallIsProvedAnew(t *testing.T) {
	t.Parallel()
	edited := false
	approve := func(_ context.Context, requests []admit.Request) ([]admit.Decision, error) {
		if !edited {
			edited = true
			return []admit.Decision{{Kind: admit.Edit, By: "p", Parameters: map[string]any{"policy": "ask", "n": 2.0}}}, nil
		}
		return []admit.Decision{{Kind: admit.AllowOnce, By: "p"}}, nil
	}
	h, did := prover(t, approve, probe("backup", "x", nil))
	r := h.execute(t, plan(t, call("write", `"parameters":{"policy":"ask"}`)), engine.Options{})
	if strings.Join(*did, ", ") != "probe x, write" || !r.AllSucceeded() || r.FinalProposal.Actions[0].Parameters["n"] != 2.0 {
		t.Errorf("did %v, %+v", *did, r.Results)
	}
}

// diary is a gate that writes down what it is told, and refuses some of it.
type diary struct {
	mu    sync.Mutex
	lines []string
	slots int
	would func(admit.Happening) string
}

func (*diary) Name() string { return "diary" }

func (*diary) Check(context.Context, admit.View) (admit.Opinion, error) {
	return admit.Opinion{Verdict: policy.Allow}, nil
}

func (d *diary) Happened(h admit.Happening) {
	d.mu.Lock()
	defer d.mu.Unlock()
	phase := map[admit.Phase]string{admit.Started: "started", admit.Ended: "ended " + h.Status.String(), admit.Kept: "kept"}[h.Phase]
	if h.Reused {
		phase += " reused"
	}
	d.lines = append(d.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", h.Action.ID, phase, strings.Join(h.Wrote, ","))))
}

func (d *diary) Would(h admit.Happening) []policy.Violation { return d.say(h) }

func (d *diary) Enter(h admit.Happening) []policy.Violation {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := d.say(h); v != nil {
		return v
	}
	if d.slots--; d.slots < 0 {
		return []policy.Violation{{PolicyName: "slots", Reason: "none left"}}
	}
	d.lines = append(d.lines, string(h.Action.ID)+" started")
	return nil
}

func (d *diary) say(h admit.Happening) []policy.Violation {
	if why := d.would(h); why != "" {
		return []policy.Violation{{PolicyName: "diary", Reason: why}}
	}
	return nil
}

func (d *diary) told() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, "; ")
}

// E-PIPE-4, G-TRACE-2: a gate that remembers is told of starts, ends and what is kept, in order; of nothing
// that was refused.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	d := &diary{slots: 99, would: func(h admit.Happening) string {
		if h.Action.Parameters["n"] == 9.0 {
			return "nine"
		}
		return ""
	}}
	h := build(t, func(c *engine.Config, _ *house) { c.Gates = []admit.Gate{d} })
	r := h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":1}`, call("read", ""), call("fail", `"failure_behavior":"skip"`), call("write", `"failure_behavior":"skip","parameters":{"n":9}`),
		call("write", `"failure_behavior":"skip","parameters":{"policy":"deny"}`)), engine.Options{Refusal: engine.RefuseAction, Scope: engine.Scope{TenantID: "x"}})
	if statuses(r) != "succeeded succeeded skipped rejected rejected" || r.Results[3].Error != "denied by policy: policy 'diary': nine" {
		t.Errorf("%s, %q", statuses(r), r.Results[3].Error)
	}
	want := "a1 started; a1 ended succeeded tenant:x:k; a2 started; a2 ended succeeded; a3 started; a3 ended failed; a1 kept tenant:x:k"
	if d.told() != want {
		t.Errorf("told\n %s\nwant\n %s", d.told(), want)
	}
	d.lines = nil
	aborts := plan(t, `"type":"state_write","parameters":{"key":"k","value":2}`, call("fail", ""))
	aborts.ID = "aborts"
	h.execute(t, aborts, engine.Options{})
	if strings.Contains(d.told(), "kept") {
		t.Errorf("what was taken back is told as kept: %s", d.told())
	}
}

// V-TRACE-4 parallel_last_slot, E-PIPE-10: of two calls that run together one gets the last place;
// the other is refused, and its intent row is closed as never started.
func TestTheLastPlaceIsGivenOnce(t *testing.T) {
	t.Parallel()
	d := &diary{slots: 1, would: func(admit.Happening) string { return "" }}
	h := build(t, func(c *engine.Config, _ *house) { c.Gates = []admit.Gate{d} })
	r := h.execute(t, plan(t, call("write", `"failure_behavior":"skip"`), call("write", `"failure_behavior":"skip"`)), engine.Options{})
	if got := statuses(r); got != "rejected succeeded" && got != "succeeded rejected" {
		t.Fatalf("%s", got)
	}
	rows, err := h.db.InState(t.Context(), "s", approval.Failed)
	must(t, err)
	if len(rows) != 1 {
		t.Errorf("%d rows are closed as failed", len(rows))
	}
	if open, err := h.db.InState(t.Context(), "s", approval.Dispatched); err != nil || len(open) != 0 {
		t.Errorf("open rows %+v %v", open, err)
	}
	for _, res := range r.Results {
		if res.Status == ir.Rejected && !strings.Contains(res.Error, "policy 'slots': none left") {
			t.Errorf("%q", res.Error)
		}
	}
}

// P-GUARD-1: a warden that panics refuses.
func TestAWardenThatPanicsRefuses(t *testing.T) {
	t.Parallel()
	d := &diary{slots: 9, would: func(admit.Happening) string { panic("boom") }}
	h := build(t, func(c *engine.Config, _ *house) { c.Gates = []admit.Gate{d} })
	r := h.execute(t, plan(t, call("write", `"failure_behavior":"skip"`)), engine.Options{})
	if r.Results[0].Error != "denied by policy: policy 'diary': gate panicked: boom" {
		t.Errorf("%+v", r.Results[0])
	}
}
