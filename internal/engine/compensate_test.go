package engine_test

import (
	"context"
	"strings"
	"testing"

	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// undoing builds a house whose "make" and "undo" tools write down what they did.
func undoing(t *testing.T) (*house, *[]string) {
	h, did := build(t, nil), &[]string{}
	for _, name := range []string{"make", "undo"} {
		h.tools[name] = hand{effects: writes, run: func(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
			*did = append(*did, name+" "+c.Params["n"].(string))
			return tool.Execution{Output: "ok"}, nil
		}}
	}
	var err error
	h.Runtime, err = engine.New(h.config)
	must(t, err)
	return h, did
}

func made(n, undo string) string {
	return call("make", `"reversibility":"compensable","parameters":{"n":"`+n+`"},"compensation":`+undo)
}

const byTool = `{"type":"tool","tool":"undo","parameters":{"n":"%"}}`

// B-COMP-1, B-COMP-3: after an abort the last is made good first, each logged; off runs none.
func TestCompensations(t *testing.T) {
	t.Parallel()
	h, did := undoing(t)
	p := plan(t, made("1", strings.Replace(byTool, "%", "1", 1)), made("2", strings.Replace(byTool, "%", "2", 1)), call("write", ""), call("fail", ""))
	r := h.execute(t, p, engine.Options{Compensate: true})
	if got := strings.Join(*did, ", "); got != "make 1, make 2, undo 2, undo 1" {
		t.Errorf("did %s", got)
	}
	if len(r.Compensations) != 2 || r.Compensations[0] != (ir.Compensated{ActionID: "a2", CompensationID: "a2~undo", Status: "succeeded"}) ||
		!r.Results[0].Compensated || r.Results[2].Compensated || !strings.Contains(h.story(), "compensation_run a2") {
		t.Errorf("%+v, %s", r.Compensations, h.story())
	}
	*did = nil
	p.ID = "off"
	if r := h.execute(t, p, engine.Options{}); len(*did) != 2 || len(r.Compensations) != 0 {
		t.Errorf("off: did %v, %+v", *did, r.Compensations)
	}
}

// B-COMP-2: a compensation passes policy, and at an abort nobody is asked; a
// failure stops no other.
func TestCompensationsAreGoverned(t *testing.T) {
	t.Parallel()
	h, did := undoing(t)
	for policy, want := range map[string]string{"deny": "denied by policy", "ask": "requires human approval"} {
		*did = nil
		refused := `{"type":"tool","tool":"undo","parameters":{"n":"2","policy":"` + policy + `"}}`
		p := plan(t, made("1", strings.Replace(byTool, "%", "1", 1)), made("2", refused), call("fail", ""))
		p.ID = ir.ProposalID(policy)
		r := h.execute(t, p, engine.Options{Compensate: true})
		if strings.Join(*did, ", ") != "make 1, make 2, undo 1" || len(r.Compensations) != 2 || r.Compensations[0].Status != "rejected" || !strings.Contains(r.Compensations[0].Error, want) {
			t.Errorf("%s: did %v, %+v", policy, *did, r.Compensations)
		}
	}
}

// B-COMP-4: a reserved action never runs forward, and runs as the compensation; bad references refuse the proposal.
func TestReservedActions(t *testing.T) {
	t.Parallel()
	h, did := undoing(t)
	ref := `{"type":"action_ref","action_id":"a2"}`
	undo := call("undo", `"parameters":{"n":"1"}`)
	r := h.execute(t, plan(t, made("1", ref), undo), engine.Options{Compensate: true})
	if !r.AllSucceeded() || r.Results[1].Error != "reserved as compensation for 'a1'" || len(*did) != 1 {
		t.Errorf("%+v, did %v", r.Results, *did)
	}
	p := plan(t, made("1", ref), undo, call("fail", ""))
	p.ID = "aborts"
	if h.execute(t, p, engine.Options{Compensate: true}); strings.Join(*did, ", ") != "make 1, make 1, undo 1" {
		t.Errorf("did %v", *did)
	}
	for want, p := range map[string]ir.Proposal{
		"unknown compensation 'a9'":                plan(t, made("1", `{"type":"action_ref","action_id":"a9"}`)),
		"names itself":                             plan(t, made("1", `{"type":"action_ref","action_id":"a1"}`)),
		"which has one of its own":                 plan(t, made("1", ref), made("2", `{"type":"action_ref","action_id":"a1"}`)),
		"which is reserved as compensation for 'a": plan(t, made("1", ref), undo, call("write", `"dependencies":["a2"]`)),
	} {
		p.ID = ir.ProposalID(want)
		if r := h.execute(t, p, engine.Options{}); !strings.Contains(r.Results[0].Error, want) {
			t.Errorf("%q, want %q", r.Results[0].Error, want)
		}
	}
}

// B-COMP-3: after a terminal failure nothing more is run.
func TestNoCompensationAfterATerminalFailure(t *testing.T) {
	t.Parallel()
	h, did := undoing(t)
	h.tools["end"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{}, &tool.Fault{Kind: tool.Terminal, Text: "over"}
	}}
	var err error
	h.Runtime, err = engine.New(h.config)
	must(t, err)
	r := h.execute(t, plan(t, made("1", strings.Replace(byTool, "%", "1", 1)), call("end", `"failure_behavior":"skip"`)), engine.Options{Compensate: true})
	if len(*did) != 1 || len(r.Compensations) != 1 || r.Compensations[0].Status != "not_run" || !r.Results[1].Terminal || r.Results[1].Status != ir.Failed {
		t.Errorf("did %v, %+v, %+v", *did, r.Compensations, r.Results)
	}
}
