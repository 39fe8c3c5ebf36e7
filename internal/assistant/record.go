package assistant

import (
	"strconv"

	"car/internal/engine/eventlog"
)

// Log is a session's record as the conversation adds to it. *eventlog.Log is one.
type Log interface {
	Append(e eventlog.Event) (eventlog.Event, error)
}

// agentName is who the conversation's requests are counted for (E-LOG-5).
const agentName = "assistant"

// record adds what the conversation did to the record in which the engine keeps
// what it did: the runs and requests stand between the proposals they led to. It is
// called by the worker alone. What cannot be kept is told and stops nothing, since
// nothing depends on it: effects have rows of their own.
func (r *run) record(k eventlog.Kind, data map[string]any) {
	rt := r.c.runtime
	if rt == nil || rt.Log == nil {
		return
	}
	if _, err := rt.Log.Append(eventlog.Event{Kind: k, RunID: strconv.Itoa(r.number), Data: data}); err != nil {
		r.emit(Notice{Code: CodeEngine, Text: "the session's record is not complete: " + err.Error()})
	}
}

// recordRequest meters a request that was sent.
func (r *run) recordRequest(with Choice, u Usage) {
	data := map[string]any{"provider": with.Provider.Name(), "model": with.Model, "estimated": u.Estimated,
		"cache_read": float64(u.CacheRead), "cache_write": float64(u.CacheWrite)}
	m := eventlog.Meter{Agent: agentName, TokensIn: u.Input + u.CacheRead + u.CacheWrite, TokensOut: u.Output}
	if u.CostUSD != nil {
		m.CostUSD, m.Priced = *u.CostUSD, true
	}
	m.Put(data)
	r.record(eventlog.InferenceMetered, data)
}

// judged tells a verdict of the goal's check, and keeps it.
func (p *pursuit) judged(g GoalEvaluated) {
	p.r.emit(g)
	p.r.record(eventlog.GoalEvaluated, map[string]any{"goal": p.r.input.Text, "condition": map[string]any{"command": p.check},
		"iteration": float64(g.Iteration), "met": g.Met, "grounded": g.Grounded, "reason": g.Reason})
}

// recordEnd keeps how the run ended.
func (r *run) recordEnd(end Body) {
	data := map[string]any{"outcome": end.Kind().String()}
	switch b := end.(type) {
	case Failure:
		data["code"], data["error"] = b.Code, b.Error
	case AuthRequired:
		data["code"] = b.Reason
	}
	r.record(eventlog.RunCompleted, data)
}
