package eventlog_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// metered is an event that cost something.
func metered(k eventlog.Kind, action string, m eventlog.Meter, more map[string]any) eventlog.Event {
	data := map[string]any{}
	for name, v := range more {
		data[name] = v
	}
	m.Put(data)
	e := eventlog.Event{Kind: k, Data: data}
	e.ActionID = ir.ActionID(action)
	return e
}

// E-LOG-5: what a log comes to, under the names of the reference.
func TestMetrics(t *testing.T) {
	t.Parallel()
	took := func(ms float64) eventlog.Meter { return eventlog.Meter{DurationMS: ms, Timed: true} }
	spent := func(agent string, in, out int64, usd float64) eventlog.Meter {
		return eventlog.Meter{Agent: agent, TokensIn: in, TokensOut: out, CostUSD: usd, Priced: true}
	}
	path := journalPath(t)
	l := open(t, eventlog.Config{Path: path})
	for _, e := range []eventlog.Event{
		metered(eventlog.ActionSucceeded, "1", took(10), map[string]any{"attempted": true}),
		metered(eventlog.ActionSucceeded, "2", took(20), map[string]any{"attempted": true}),
		metered(eventlog.ActionSucceeded, "3", took(0), map[string]any{"attempted": false, "stage": "result_cache"}),
		metered(eventlog.ActionFailed, "4", took(60), map[string]any{"attempted": true}),
		metered(eventlog.ActionFailed, "", took(900), map[string]any{"stage": "proposal_rollback"}),
		metered(eventlog.ActionRejected, "5", eventlog.Meter{}, nil),
		metered(eventlog.PolicyViolation, "6", eventlog.Meter{}, nil),
		metered(eventlog.ActionSkipped, "7", eventlog.Meter{}, nil),
		metered(eventlog.InferenceMetered, "", spent("b", 100, 10, 0.5), nil),
		metered(eventlog.InferenceMetered, "", spent("a", 1000, 20, 0.25), nil),
		metered(eventlog.InferenceMetered, "", spent("b", 50, 5, 0.25), nil),
		metered(eventlog.InferenceMetered, "", eventlog.Meter{Agent: "a", TokensIn: 7, TokensOut: 1}, nil),
		{Kind: eventlog.ApprovalRecorded}, {Kind: eventlog.PermissionDecision},
		{Kind: eventlog.AdmissionGateDecision, Data: map[string]any{"decision": "reject"}},
		{Kind: eventlog.AdmissionGateDecision, Data: map[string]any{"decision": "allow"}},
		{Kind: eventlog.GoalEvaluated, Data: map[string]any{"met": false, "grounded": false}},
		{Kind: eventlog.GoalEvaluated, Data: map[string]any{"met": true, "grounded": true}},
	} {
		appendTo(t, l, e)
	}
	want := eventlog.Metrics{
		TotalEvents: 18, ActionsSucceeded: 3, ActionsFailed: 1, ActionsRejected: 2, ActionsSkipped: 1, SuccessRate: 0.75, ErrorRate: 0.25,
		CostUSD: 1, CumulativeCostUSD: 1, TokensIn: 1157, TokensOut: 36, AvgLatencyMS: 30, ApprovalsRecorded: 1, PermissionDecisions: 1,
		GateRejections: 1, PolicyViolations: 1, GoalEvaluations: 2, GoalsMet: 1, GoalsUngrounded: 1,
		CostByAgent: []eventlog.AgentCost{
			{Agent: "a", Calls: 2, TokensIn: 1007, TokensOut: 21, CostUSD: 0.25}, {Agent: "b", Calls: 2, TokensIn: 150, TokensOut: 15, CostUSD: 0.75},
		},
	}
	if diff := cmp.Diff(want, l.Metrics(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	must(t, l.Close())
	events, err := eventlog.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(want, eventlog.MetricsOf(events), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("of the file (-want +got):\n%s", diff)
	}
	empty := open(t, eventlog.Config{}).Metrics()
	if empty.SuccessRate != 1 || empty.ErrorRate != 0 || empty.AvgLatencyMS != 0 || empty.CostByAgent == nil {
		t.Errorf("nothing ran: %+v", empty)
	}
}

// E-LOG-5: what a log cost in all survives retention, a rewrite and a restart.
func TestCumulativeCostSurvivesTrims(t *testing.T) {
	t.Parallel()
	c := eventlog.Config{Path: journalPath(t), MaxEvents: 3, Chain: true, Genesis: "g"}
	l := open(t, c)
	for i := range 1500 {
		e := appendTo(t, l, metered(eventlog.InferenceMetered, "", eventlog.Meter{CostUSD: 0.5, Priced: true, TokensIn: 1}, nil))
		if got := e.Data["cumulative_cost_usd"]; got != 0.5*float64(i+1) {
			t.Fatalf("event %d carries %v", i, got)
		}
	}
	check := func(name string) {
		t.Helper()
		if m := l.Metrics(); math.Abs(m.CostUSD-1.5) > 1e-9 || math.Abs(m.CumulativeCostUSD-750) > 1e-9 || m.TokensIn != 3 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	check("trimmed")
	if n := strings.Count(read(t, c.Path), "\n"); n > 1000 {
		t.Fatalf("%d lines: not rewritten", n)
	}
	must(t, l.Close())
	l = open(t, c)
	check("opened again")
	appendTo(t, l, metered(eventlog.InferenceMetered, "", eventlog.Meter{CostUSD: -3, Priced: true}, nil))
	if m := l.Metrics(); m.CumulativeCostUSD != 750 {
		t.Errorf("it fell to %v", m.CumulativeCostUSD)
	}
	for range 3 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
	}
	if m := l.Metrics(); m.CumulativeCostUSD != 750 || m.CostUSD != 0 {
		t.Errorf("none of it is left: %+v", m)
	}
}
