package ir

// ActionType says what an action is (E-IR-1). The zero value is unset and is refused.
type ActionType uint8

// The action types, in the order of their wire labels.
const (
	ActionUnset ActionType = iota
	ToolCall
	StateWrite
	StateRead
	Assertion
)

var actionTypeLabels = []string{ToolCall: "tool_call", StateWrite: "state_write", StateRead: "state_read", Assertion: "assertion"}

// String returns the wire label.
func (t ActionType) String() string { return labelOf(actionTypeLabels, t) }

// MarshalText writes the wire label.
func (t ActionType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (t *ActionType) UnmarshalText(b []byte) (err error) {
	*t, err = parseLabel[ActionType]("action type", actionTypeLabels, string(b))
	return err
}

// InvocationMode says whether a call answers once or goes on beside the DAG (E-IR-1).
type InvocationMode uint8

// The modes; streaming and long_running detach (E-DET-1).
const (
	OneShot InvocationMode = iota
	Streaming
	LongRunning
)

var invocationModeLabels = []string{"one_shot", "streaming", "long_running"}

// String returns the wire label.
func (m InvocationMode) String() string { return labelOf(invocationModeLabels, m) }

// MarshalText writes the wire label.
func (m InvocationMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (m *InvocationMode) UnmarshalText(b []byte) (err error) {
	*m, err = parseLabel[InvocationMode]("invocation_mode", invocationModeLabels, string(b))
	return err
}

// Reversibility says whether an effect can be taken back (G-TIER-3). The zero
// value is irreversible, the worst, so that silence never promises an undo.
type Reversibility uint8

// From worst to best.
const (
	Irreversible Reversibility = iota
	Compensable
	Reversible
)

var reversibilityLabels = []string{"irreversible", "compensable", "reversible"}

// String returns the wire label.
func (r Reversibility) String() string { return labelOf(reversibilityLabels, r) }

// MarshalText writes the wire label.
func (r Reversibility) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (r *Reversibility) UnmarshalText(b []byte) (err error) {
	*r, err = parseLabel[Reversibility]("reversibility", reversibilityLabels, string(b))
	return err
}

// Worse returns the worse of the two.
func (r Reversibility) Worse(o Reversibility) Reversibility { return min(r, o) }

// FailureBehavior says what a spent action does to its proposal (E-FAIL-3).
type FailureBehavior uint8

// Abort is the default.
const (
	Abort FailureBehavior = iota
	Retry
	Skip
)

var failureBehaviorLabels = []string{"abort", "retry", "skip"}

// String returns the wire label.
func (f FailureBehavior) String() string { return labelOf(failureBehaviorLabels, f) }

// MarshalText writes the wire label.
func (f FailureBehavior) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (f *FailureBehavior) UnmarshalText(b []byte) (err error) {
	*f, err = parseLabel[FailureBehavior]("failure_behavior", failureBehaviorLabels, string(b))
	return err
}

// Status is where an action stands (E-IR-5).
type Status uint8

// The statuses; the last four are terminal.
const (
	Proposed Status = iota
	Validated
	Executing
	Rejected
	Succeeded
	Failed
	Skipped
)

var statusLabels = []string{"proposed", "validated", "executing", "rejected", "succeeded", "failed", "skipped"}

// String returns the wire label.
func (s Status) String() string { return labelOf(statusLabels, s) }

// MarshalText writes the wire label.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (s *Status) UnmarshalText(b []byte) (err error) {
	*s, err = parseLabel[Status]("status", statusLabels, string(b))
	return err
}

// Tier is authority: what an action needs, or what a person granted (G-TIER-1).
// Needed and unset means full_access; granted and unset covers nothing.
type Tier uint8

// From least to most.
const (
	TierUnset Tier = iota
	ReadOnly
	SandboxEdit
	FullAccess
)

var tierLabels = []string{ReadOnly: "read_only", SandboxEdit: "sandbox_edit", FullAccess: "full_access"}

// String returns the wire label.
func (t Tier) String() string { return labelOf(tierLabels, t) }

// MarshalText writes the wire label.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (t *Tier) UnmarshalText(b []byte) (err error) {
	*t, err = parseLabel[Tier]("tier", tierLabels, string(b))
	return err
}

// Needed returns the tier an action needs, full_access where none is known.
func (t Tier) Needed() Tier {
	if t == TierUnset {
		return FullAccess
	}
	return t
}

// Covers reports whether granted authority is enough for what is needed.
func (t Tier) Covers(needed Tier) bool { return t >= needed.Needed() }

// Higher returns the greater need of the two.
func (t Tier) Higher(o Tier) Tier { return max(t, o) }

// ErrorClass says why an attempt failed (E-FAIL-4); the zero value is unset.
type ErrorClass uint8

// The classes.
const (
	ClassNone ErrorClass = iota
	ClassTimeout
	ClassRejectedByPolicy
	ClassValidation
	ClassToolError
	ClassUnknown
	ClassCanceled
)

var errorClassLabels = []string{"", "timeout", "rejected_by_policy", "validation", "tool_error", "unknown", "canceled"}

// String returns the wire label, empty for none.
func (c ErrorClass) String() string {
	if c == ClassNone {
		return ""
	}
	return labelOf(errorClassLabels, c)
}

// MarshalText writes the wire label.
func (c ErrorClass) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (c *ErrorClass) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*c = ClassNone
		return nil
	}
	*c, err = parseLabel[ErrorClass]("error_class", errorClassLabels, string(b))
	return err
}

// ToolSource says who a tool comes from (E-IR-4).
type ToolSource uint8

// The sources; user_defined is what an unlabelled tool is (E-EXEC-13).
const (
	UserDefined ToolSource = iota
	Builtin
	Subprocess
	MCP
)

var toolSourceLabels = []string{"user_defined", "builtin", "subprocess", "mcp"}

// String returns the wire label.
func (s ToolSource) String() string { return labelOf(toolSourceLabels, s) }

// MarshalText writes the wire label.
func (s ToolSource) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (s *ToolSource) UnmarshalText(b []byte) (err error) {
	*s, err = parseLabel[ToolSource]("tool source", toolSourceLabels, string(b))
	return err
}

// Permission is a tool entry's own wish, unseen by the model (E-IR-4). The zero
// value asks.
type Permission uint8

// The permissions.
const (
	PermissionAsk Permission = iota
	PermissionAllow
	PermissionDeny
)

var permissionLabels = []string{"ask_user", "allow", "deny"}

// String returns the wire label.
func (p Permission) String() string { return labelOf(permissionLabels, p) }

// MarshalText writes the wire label.
func (p Permission) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (p *Permission) UnmarshalText(b []byte) (err error) {
	*p, err = parseLabel[Permission]("permission", permissionLabels, string(b))
	return err
}
