package ir

import "time"

// ActionID names an action within its proposal.
type ActionID string

// ProposalID names a proposal generation.
type ProposalID string

// Digest is a SHA-256 as 64 lowercase hex digits (E-JCS-1); empty means none.
type Digest string

// Proposal is the unit of judgement: the actions of one step (E-IR-1).
// Decode it with DecodeProposal, which fills the defaults once.
type Proposal struct {
	ID        ProposalID     `json:"id"`
	Source    string         `json:"source"`
	Timestamp time.Time      `json:"timestamp"`
	Actions   []Action       `json:"actions"`
	Context   map[string]any `json:"context"`
}

// Action is one effect that somebody proposes (E-IR-1).
type Action struct {
	ID                ActionID        `json:"id"`
	Type              ActionType      `json:"type"`
	Tool              string          `json:"tool,omitempty"`
	Parameters        map[string]any  `json:"parameters"`
	Preconditions     []Precondition  `json:"preconditions"`
	ExpectedEffects   map[string]any  `json:"expected_effects"`
	StateDependencies []string        `json:"state_dependencies"`
	Dependencies      []ActionID      `json:"dependencies,omitempty"`
	After             []ActionID      `json:"after,omitempty"`
	ReadSet           []string        `json:"read_set,omitempty"`
	WriteSet          []string        `json:"write_set,omitempty"`
	Assumptions       []Assumption    `json:"assumptions,omitempty"`
	InvocationMode    InvocationMode  `json:"invocation_mode"`
	Reversibility     Reversibility   `json:"reversibility"`
	Compensation      *Compensation   `json:"compensation,omitempty"`
	Idempotent        bool            `json:"idempotent"`
	MaxRetries        uint32          `json:"max_retries"`
	FailureBehavior   FailureBehavior `json:"failure_behavior"`
	// TimeoutMS bounds one attempt in milliseconds; 0 is absent, no engine deadline (E-EXEC-6).
	TimeoutMS uint64         `json:"timeout_ms,omitempty"`
	Metadata  map[string]any `json:"metadata"`
}

// Precondition is a test of state before an action (E-IR-2). Operator stays a
// string: an unknown one is a condition that fails, not a decoding error.
type Precondition struct {
	Key         string `json:"key"`
	Operator    string `json:"operator"`
	Value       any    `json:"value"`
	Description string `json:"description"`
}

// Assumption is what a proposer believed about a key when it proposed (E-IR-3).
type Assumption struct {
	Key           string  `json:"key"`
	ExpectedValue *any    `json:"expected_value,omitempty"`
	ReadVersion   *uint64 `json:"read_version,omitempty"`
}

// Compensation says how an effect can be made good: by a tool, or by running a
// reserved action of the same proposal (E-IR-3). Type is "tool" or "action_ref".
type Compensation struct {
	Type       string         `json:"type"`
	Tool       string         `json:"tool,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
	ActionID   ActionID       `json:"action_id,omitempty"`
}

// MissingRequiredCompensation reports a compensable action that says no way (E-IR-3).
func (a Action) MissingRequiredCompensation() bool {
	return a.Reversibility == Compensable && a.Compensation == nil
}

// The ways of Compensation.Type.
const (
	CompensateByTool   = "tool"
	CompensateByAction = "action_ref"
)
