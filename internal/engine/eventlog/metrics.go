package eventlog

import (
	"maps"
	"slices"
)

// Metrics is what a log comes to (E-LOG-5). All but CumulativeCostUSD are of the
// events that are still there.
type Metrics struct {
	TotalEvents      int `json:"total_events"`
	ActionsSucceeded int `json:"actions_succeeded"`
	ActionsFailed    int `json:"actions_failed"`
	// ActionsRejected includes what policy refused.
	ActionsRejected int `json:"actions_rejected"`
	ActionsSkipped  int `json:"actions_skipped"`
	// SuccessRate and ErrorRate are shares of the actions that succeeded or failed:
	// 1 and 0 where none did.
	SuccessRate float64 `json:"success_rate"`
	ErrorRate   float64 `json:"error_rate"`
	// CostUSD is that of the requests whose price is known; CumulativeCostUSD never
	// falls, also when retention drops what it was spent on.
	CostUSD           float64 `json:"cost_usd"`
	CumulativeCostUSD float64 `json:"cumulative_cost_usd"`
	TokensIn          int64   `json:"tokens_in"`
	TokensOut         int64   `json:"tokens_out"`
	// AvgLatencyMS is the mean of the actions that were attempted and timed.
	AvgLatencyMS        float64     `json:"avg_latency_ms"`
	ApprovalsRecorded   int         `json:"approvals_recorded"`
	PermissionDecisions int         `json:"permission_decisions"`
	GateRejections      int         `json:"gate_rejections"`
	PolicyViolations    int         `json:"policy_violations"`
	GoalEvaluations     int         `json:"goal_evaluations"`
	GoalsMet            int         `json:"goals_met"`
	GoalsUngrounded     int         `json:"goals_ungrounded"`
	CostByAgent         []AgentCost `json:"cost_by_agent"`
}

// AgentCost is what one agent's requests came to; the empty name is nobody's.
type AgentCost struct {
	Agent     string  `json:"agent"`
	Calls     int     `json:"calls"`
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
	CostUSD   float64 `json:"cost_usd"`
}

// Metrics counts the log as it stands.
func (l *Log) Metrics() Metrics {
	l.mu.RLock()
	events, cost := l.events, l.cost
	l.mu.RUnlock()
	m := MetricsOf(events)
	m.CumulativeCostUSD = max(m.CumulativeCostUSD, cost)
	return m
}

// MetricsOf counts events that were read from a file, oldest first.
func MetricsOf(events []Event) Metrics {
	t := tally{agents: map[string]AgentCost{}}
	for i := range events {
		t.add(&events[i])
	}
	return t.metrics()
}

// tally is a count in the making.
type tally struct {
	m      Metrics
	timed  int
	millis float64
	agents map[string]AgentCost
}

func (t *tally) add(e *Event) {
	t.m.TotalEvents++
	meter := MeterOf(e)
	t.addMeter(e, meter)
	switch e.Kind {
	case ActionSucceeded, ActionFailed:
		t.addOutcome(e, meter)
	case ActionRejected:
		t.m.ActionsRejected++
	case PolicyViolation:
		t.m.ActionsRejected++
		t.m.PolicyViolations++
	case ActionSkipped:
		t.m.ActionsSkipped++
	case ApprovalRecorded:
		t.m.ApprovalsRecorded++
	case PermissionDecision:
		t.m.PermissionDecisions++
	case AdmissionGateDecision:
		t.m.GateRejections += one(e.Data["decision"] == "reject")
	case GoalEvaluated:
		t.m.GoalEvaluations++
		t.m.GoalsMet += one(e.Data["met"] == true)
		t.m.GoalsUngrounded += one(e.Data["grounded"] == false)
	}
}

// addOutcome counts an action that ran. A failure of no action, such as a rollback
// that did not work, is none.
func (t *tally) addOutcome(e *Event, meter Meter) {
	if e.ActionID == "" {
		return
	}
	t.m.ActionsSucceeded += one(e.Kind == ActionSucceeded)
	t.m.ActionsFailed += one(e.Kind == ActionFailed)
	if meter.Timed && e.Data["attempted"] != false {
		t.timed++
		t.millis += meter.DurationMS
	}
}

func (t *tally) addMeter(e *Event, meter Meter) {
	if meter.Priced {
		t.m.CostUSD += max(meter.CostUSD, 0)
		sum, _ := e.Data[memberCumulative].(float64)
		t.m.CumulativeCostUSD = max(t.m.CumulativeCostUSD, sum, t.m.CostUSD)
	}
	t.m.TokensIn += meter.TokensIn
	t.m.TokensOut += meter.TokensOut
	if !meter.Priced && meter.TokensIn == 0 && meter.TokensOut == 0 {
		return
	}
	a := t.agents[meter.Agent]
	a.Agent = meter.Agent
	a.Calls++
	a.TokensIn += meter.TokensIn
	a.TokensOut += meter.TokensOut
	a.CostUSD += max(meter.CostUSD, 0)
	t.agents[meter.Agent] = a
}

func (t *tally) metrics() Metrics {
	m := t.m
	m.SuccessRate = 1
	if ran := m.ActionsSucceeded + m.ActionsFailed; ran > 0 {
		m.SuccessRate = float64(m.ActionsSucceeded) / float64(ran)
		m.ErrorRate = float64(m.ActionsFailed) / float64(ran)
	}
	if t.timed > 0 {
		m.AvgLatencyMS = t.millis / float64(t.timed)
	}
	m.CostByAgent = make([]AgentCost, 0, len(t.agents))
	for _, name := range slices.Sorted(maps.Keys(t.agents)) {
		m.CostByAgent = append(m.CostByAgent, t.agents[name])
	}
	return m
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
