package ir

import "time"

// Defaults are where a proposal's ids and time come from (E-IR-1).
type Defaults struct {
	// NewID makes an id: 12 hex digits of a UUIDv4 in production.
	NewID func() string
	Now   func() time.Time
}

// What E-IR-1 fills in where a proposal is silent.
const (
	defaultSource     = "unknown"
	defaultMaxRetries = 3
	defaultOperator   = "eq"
)

// Fill gives a proposal built in Go the defaults that DecodeProposal gives a
// decoded one: ids, source, time, operators, empty containers. What Go cannot
// tell from absent stays as it is: MaxRetries 0 means no retry. The receiver's
// own slices are left alone. Filling twice changes nothing.
func (p Proposal) Fill(d Defaults) Proposal {
	p = p.shaped()
	if p.ID == "" && d.NewID != nil {
		p.ID = ProposalID(d.NewID())
	}
	if p.Source == "" {
		p.Source = defaultSource
	}
	if p.Timestamp.IsZero() && d.Now != nil {
		p.Timestamp = wireTime(d.Now())
	}
	for i := range p.Actions {
		if p.Actions[i].ID == "" && d.NewID != nil {
			p.Actions[i].ID = ActionID(d.NewID())
		}
	}
	return p
}

// wireTime drops what the wire form does not carry: zone and monotonic reading.
func wireTime(t time.Time) time.Time { return t.UTC().Round(0) }

// shaped is the proposal with every container present, on its own slice of actions.
func (p Proposal) shaped() Proposal {
	p.Timestamp = wireTime(p.Timestamp)
	p.Context = orEmpty(p.Context)
	actions := make([]Action, len(p.Actions))
	for i, a := range p.Actions {
		actions[i] = a.shaped()
	}
	p.Actions = actions
	return p
}

// shaped is the action with every container present and every operator named.
func (a Action) shaped() Action {
	a.Parameters = orEmpty(a.Parameters)
	a.ExpectedEffects = orEmpty(a.ExpectedEffects)
	a.Metadata = orEmpty(a.Metadata)
	if a.StateDependencies == nil {
		a.StateDependencies = []string{}
	}
	conditions := make([]Precondition, len(a.Preconditions))
	for i, c := range a.Preconditions {
		if c.Operator == "" {
			c.Operator = defaultOperator
		}
		conditions[i] = c
	}
	a.Preconditions = conditions
	return a
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
