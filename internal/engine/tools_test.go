package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"car/internal/engine"
	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// E-FAIL-4: each row of the classes; typed facts come before words.
func TestErrorClasses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ir.ErrorClass{
		"Callback timed out after 5s":                            ir.ClassTimeout,
		"denied by policy: no":                                   ir.ClassRejectedByPolicy,
		"Rejected by policy: no":                                 ir.ClassRejectedByPolicy,
		"peer said: denied by policy: no":                        ir.ClassToolError,
		"output validation: missing field":                       ir.ClassValidation,
		"tool must return exact envelope {output,state_changes}": ir.ClassValidation,
		"state_changes must be an object":                        ir.ClassValidation,
		"exit 1":                                                 ir.ClassToolError,
	} {
		if got := dispatch.ClassOfText(text, true); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := dispatch.ClassOfText("assertion failed", false); got != ir.ClassUnknown {
		t.Errorf("no tool: %s", got)
	}
	h := build(t, nil)
	h.tools["typed"] = hand{effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{}, &tool.Fault{Kind: tool.BadArgs, Text: "callback timed out is only a text here"}
	}}
	if r := h.execute(t, plan(t, call("typed", "")), engine.Options{}); r.Results[0].ErrorClass != ir.ClassValidation {
		t.Errorf("typed: %+v", r.Results[0])
	}
}

// named makes a hand with a spec and an answer.
func answering(name, schema, answer string, err error) hand {
	return hand{spec: tool.Spec{Name: name, Parameters: json.RawMessage(schema)}, effects: reads,
		run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
			return tool.Execution{Output: answer}, err
		}}
}

// E-TOOL-1, E-EXEC-4: tools come and go while the engine runs; the next executor
// is tried only on a typed "not mine", never on a peer's words.
func TestToolbox(t *testing.T) {
	t.Parallel()
	var box *engine.Toolbox
	h := build(t, func(c *engine.Config, h *house) {
		h.tools["a"] = answering("a", `{}`, "behind", nil)
		box = engine.NewToolbox(h.tools)
		c.Tools = box
	})
	n := 0
	answer := func(name string) ir.ActionResult {
		n++
		p := plan(t, call(name, `"failure_behavior":"skip"`))
		p.ID = ir.ProposalID(name + string(rune('0'+n)))
		return h.execute(t, p, engine.Options{}).Results[0]
	}
	notMine := &tool.Fault{Kind: tool.Unhandled, Text: "not mine"}
	for _, c := range []struct {
		register hand
		call     string
		want     string
		err      string
	}{
		{answering("a", `{}`, "front", nil), "a", "front", ""},
		{answering("a", `{}`, "", notMine), "a", "behind", ""},
		{answering("a", `{}`, "", errors.New("unknown tool: a")), "a", "", "unknown tool: a"},
		{answering("b", `{}`, "", notMine), "b", "", "no handler for tool 'b'"},
		{answering("b", `{"required":["x"]}`, "", nil), "b", "", "missing required parameter 'x'"},
	} {
		must(t, box.Register(c.register))
		got := answer(c.call)
		if out, _ := got.Output.(string); out != c.want || got.Error != c.err {
			t.Errorf("%s: %+v, want %q %q", c.call, got, c.want, c.err)
		}
	}
	if !box.Unregister("a") || box.Unregister("a") {
		t.Error("unregister of a tool that is there and one that is not")
	}
	if got := answer("a"); got.Output != "behind" {
		t.Errorf("after unregister: %+v", got)
	}
	if err := box.Register(hand{}); err == nil {
		t.Error("a tool without a name was registered")
	}
	names := ""
	for _, s := range box.Schemas() {
		names += s.Name + " "
	}
	if names != "a b exit1 fail panic read wait write " {
		t.Errorf("tools %s", names)
	}
}

// E-EXEC-1: what is denied today beats what was answered yesterday.
func TestDeniedBeatsCached(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	deny := ""
	must(t, h.AddRule("", engine.Rule{Name: "later", Check: func(ir.Action, func(string) (any, bool)) string { return deny }}))
	for i, want := range []ir.Status{ir.Succeeded, ir.Succeeded, ir.Rejected} {
		if i == 2 {
			deny = "no more"
		}
		p := plan(t, call("write", `"idempotent":true,"failure_behavior":"skip"`))
		p.ID = ir.ProposalID(string(rune('a' + i)))
		if r := h.execute(t, p, engine.Options{}); r.Results[0].Status != want {
			t.Errorf("run %d: %+v", i, r.Results[0])
		}
	}
}

// E-FAIL-1: a terminal failure ends the proposal whatever its failure_behavior:
// no retry, no later level, state back, siblings of its level finish.
func TestTerminal(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	calls := 0
	h.tools["end"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		calls++
		return tool.Execution{}, &tool.Fault{Kind: tool.Terminal, Text: "over"}
	}}
	many := `"failure_behavior":"retry","max_retries":5`
	r := h.execute(t, plan(t, call("end", many), call("write", many), call("write", many+`,"after":["a1"]`)), engine.Options{})
	if calls != 1 || statuses(r) != "failed succeeded skipped" || !r.Results[0].Terminal || !r.Results[1].RolledBack {
		t.Errorf("%d calls, %s, %+v", calls, statuses(r), r.Results)
	}
}

// E-DAG-6, F-21: parameters are passed verbatim; a reference is only text.
func TestParametersAreVerbatim(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	var got any
	h.tools["show"] = hand{effects: reads, run: func(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
		got = c.Params["x"]
		return tool.Execution{}, nil
	}}
	h.execute(t, plan(t, call("read", ""), call("show", `"dependencies":["a1"],"parameters":{"x":"$a1.output"}`)), engine.Options{})
	if got != "$a1.output" {
		t.Errorf("got %v", got)
	}
}

// E-EXEC-3: what a tool is told of its call.
func TestTheCall(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	var got tool.Call
	h.tools["look"] = hand{spec: tool.Spec{Returns: json.RawMessage(`{"type":"string"}`)}, effects: reads, run: func(_ context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
		got = c
		if e.Files == nil || e.State == nil || e.Seen == nil || e.Progress == nil || e.Writer != nil || e.Spawn != nil || e.Dialect == "" {
			t.Errorf("env %+v", e)
		}
		return tool.Execution{Output: "ok"}, nil
	}}
	h.execute(t, plan(t, call("look", `"timeout_ms":1500,"expected_effects":{"k":1},"parameters":{"x":1}`)), engine.Options{Turn: 7, Scope: engine.Scope{TenantID: "t"}})
	if got.Tool != "look" || got.Action != "a1" || got.Proposal != "p1" || got.CallID != "p1/a1" || got.Session != "s" || got.Tenant != "t" || got.Turn != 7 ||
		got.Attempt != 1 || got.Timeout.Milliseconds() != 1500 || got.ExpectedEffects["k"] != 1.0 || string(got.Returns) != `{"type":"string"}` || got.Mode != ir.OneShot {
		t.Errorf("%+v", got)
	}
}

// E-EXEC-9: output that its tool's return schema refuses is an ordinary failure.
func TestReturns(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.tools["typed"] = hand{spec: tool.Spec{Returns: json.RawMessage(`{"type":"object","required":["n"]}`)}, effects: reads,
		run: func(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
			return tool.Execution{Output: map[string]any{c.Params["name"].(string): 1.0}}, nil
		}}
	skip := `"failure_behavior":"retry","max_retries":0,"parameters":{"name":`
	r := h.execute(t, plan(t, call("typed", skip+`"n"}`), call("typed", skip+`"m"}`)), engine.Options{})
	if statuses(r) != "succeeded failed" || !strings.HasPrefix(r.Results[1].Error, "output validation: ") || r.Results[1].ErrorClass != ir.ClassValidation {
		t.Errorf("%+v", r.Results)
	}
}

// E-EXEC-13: the source of a tool is its registry's word, user_defined where
// nobody knows; the state an action was told of is in its trace.
func TestToolSource(t *testing.T) {
	t.Parallel()
	var box *engine.Toolbox
	h := build(t, func(c *engine.Config, h *house) {
		box = engine.NewToolbox(builtins{h.tools})
		c.Tools = box
	})
	must(t, box.Register(answering("mine", `{}`, "ok", nil)))
	h.execute(t, plan(t, call("read", ""), call("mine", "")), engine.Options{})
	for id, want := range map[ir.ActionID]string{"a1": "builtin", "a2": "user_defined"} {
		for _, kind := range []eventlog.Kind{eventlog.ActionExecuting, eventlog.ActionSucceeded} {
			if got := h.log.Query(eventlog.Query{ActionID: id, Kinds: []eventlog.Kind{kind}}); len(got) != 1 || got[0].Data["tool_source"] != want {
				t.Errorf("%s %s: %+v", id, kind, got)
			}
		}
	}
}

type builtins struct{ hands }

func (builtins) Source(string) ir.ToolSource { return ir.Builtin }
