package engine_test

import (
	"context"
	"strings"
	"testing"

	"car/internal/engine"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/receipt"
	"car/internal/engine/tool"
)

// E-RCPT-1, E-RCPT-2, E-LOG-3: receipts are what the engine itself recorded: the
// count of a list or of the tool's count field, failures, reused results; a claim
// that they contradict leaves one event, one that they bear out none.
func TestClaimsAgainstTheRecord(t *testing.T) {
	t.Parallel()
	h := build(t, func(c *engine.Config, h *house) {
		h.tools["list"] = hand{effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
			return tool.Execution{Output: []any{"a", "b", "c"}}, nil
		}}
		h.tools["search"] = hand{effects: reads, spec: tool.Spec{CountField: "total"}, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
			return tool.Execution{Output: map[string]any{"total": 3.0, "matches": []any{}}}, nil
		}}
	})
	skip := `"failure_behavior":"skip"`
	h.execute(t, plan(t, call("list", ""), call("search", ""), call("fail", `"failure_behavior":"retry","max_retries":0`), call("exit1", skip),
		call("write", `"idempotent":true,"parameters":{"x":1}`), call("write", `"idempotent":true,"parameters":{"x":1}`), call("write", `"parameters":{"policy":"deny"},`+skip)), engine.Options{})
	other := plan(t, call("panic", skip))
	other.ID = "p2"
	h.execute(t, other, engine.Options{})
	n := func(i int) *int { return &i }
	said := func(k receipt.Kind, name string, call string, count *int) receipt.Claim {
		return receipt.Claim{Kind: k, Tool: name, CallID: ir.ActionID(call), Count: count, Text: name}
	}
	scope := receipt.Scope{Proposal: "p1"}
	verify := func(c ...receipt.Claim) string {
		t.Helper()
		report, err := h.VerifyClaims(c, scope)
		must(t, err)
		var out []string
		for _, l := range report.Hallucinations {
			out = append(out, l.Kind+": "+l.Explanation)
		}
		for _, u := range report.Ungroundable {
			out = append(out, "? "+u.Explanation)
		}
		return strings.Join(out, "; ")
	}
	if got := verify(said(receipt.Invoked, "fail", "", nil), said(receipt.Invoked, "exit1", "a4", nil), said(receipt.Invoked, "write", "a6", nil),
		said(receipt.Count, "list", "", n(3)), said(receipt.Count, "search", "a2", n(3))); got != "" {
		t.Errorf("what ran is called in doubt: %s", got)
	}
	if events := h.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.ToolReceiptHallucination}}); len(events) != 0 {
		t.Errorf("grounded claims left %d events", len(events))
	}
	want := "false_absence: 'search' found 3; count_misstatement: 4 claimed, 'list' found 3; fabricated_tool_reference: no call of 'panic' ran; " +
		"fabricated_tool_reference: no call 'a7' of 'write' ran"
	if got := verify(said(receipt.Absence, "search", "", nil), said(receipt.Count, "list", "", n(4)), said(receipt.Invoked, "panic", "", nil), said(receipt.Invoked, "write", "a7", nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	events := h.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.ToolReceiptHallucination}})
	if len(events) != 1 || events[0].ProposalID != "p1" || events[0].Data["count"] != 4.0 || len(events[0].Data["hallucinations"].([]any)) != 4 {
		t.Errorf("events %+v", events)
	}
}
