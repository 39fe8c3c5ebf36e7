package eventlog

// Meter is what the thing an event tells of took. It is the one way by which
// durations, tokens and money get into a log and out again (E-LOG-5).
type Meter struct {
	// DurationMS counts if Timed.
	DurationMS float64
	Timed      bool
	TokensIn   int64
	TokensOut  int64
	// CostUSD counts if Priced; what has no known price is not free (P-TRUE-6).
	CostUSD float64
	Priced  bool
	// Agent is who spent it; empty is nobody by name.
	Agent string
}

// The members of data that a Meter is kept in.
const (
	memberDuration   = "duration_ms"
	memberTokensIn   = "tokens_in"
	memberTokensOut  = "tokens_out"
	memberCost       = "cost_usd"
	memberCumulative = "cumulative_cost_usd"
	memberAgent      = "agent"
)

// Put writes the meter into an event's data.
func (m Meter) Put(data map[string]any) {
	if m.Timed {
		data[memberDuration] = m.DurationMS
	}
	if m.TokensIn != 0 || m.TokensOut != 0 {
		data[memberTokensIn], data[memberTokensOut] = float64(m.TokensIn), float64(m.TokensOut)
	}
	if m.Priced {
		data[memberCost] = m.CostUSD
	}
	if m.Agent != "" {
		data[memberAgent] = m.Agent
	}
}

// MeterOf reads the meter of an event that came out of a log.
func MeterOf(e *Event) Meter {
	var m Meter
	m.DurationMS, m.Timed = e.Data[memberDuration].(float64)
	in, _ := e.Data[memberTokensIn].(float64)
	out, _ := e.Data[memberTokensOut].(float64)
	m.TokensIn, m.TokensOut = int64(in), int64(out)
	m.CostUSD, m.Priced = e.Data[memberCost].(float64)
	m.Agent, _ = e.Data[memberAgent].(string)
	return m
}

// addCost has a priced event carry what the log has cost so far, so that the sum
// outlives the events it is of. The caller holds mu; data is the log's own copy.
func (l *Log) addCost(data map[string]any) float64 {
	cost, priced := data[memberCost].(float64)
	if !priced {
		return l.cost
	}
	sum := l.cost + max(cost, 0)
	data[memberCumulative] = sum
	return sum
}

// costSoFar is what a log has cost with an event that was read back.
func costSoFar(e *Event, before float64) float64 {
	if sum, ok := e.Data[memberCumulative].(float64); ok {
		return sum
	}
	return before + max(MeterOf(e).CostUSD, 0)
}
