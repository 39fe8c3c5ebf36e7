package eventlog

import "fmt"

// Kind is what an event records (E-LOG-3); its label is the word on the wire and
// on disk. The zero value is unset and is refused.
type Kind uint8

// The kinds. A new one goes to the end of its group and gets its label below.
const (
	KindUnset Kind = iota

	// What becomes of a proposal and its actions.
	ProposalReceived
	ActionValidated
	ActionRetrying
	ActionExecuting
	ActionRejected
	PolicyViolation
	ActionSucceeded
	ActionFailed
	ActionSkipped
	ActionDeduplicated
	StateChanged
	StateCommitted
	StateSnapshot
	StateRollback
	SessionScope
	TransactionConflict
	AdmissionGateDecision
	ApprovalRecorded
	ReplanAttempted
	ReplanRejected
	ReplanProposalReceived
	ReplanExhausted
	BranchDecision
	AlternativeRejected
	ToolReceiptHallucination

	// Ours.
	SupervisionDecision
	SupervisionVerb
	FilesRolledBack
	TurnUndone
	CompensationRun
	ToolHandleCancelled

	// Written by the rooms above the engine.
	RunStarted
	RunCompleted
	TurnCompleted
	GoalEvaluated
	InferenceMetered
	ModelFallback
	PermissionDecision

	// Reserved: known to readers, written by nobody yet (F-7).
	SkillDistilled
	EvolutionTriggered
	CandidatePromoted
	CandidateRejected
	Consolidated

	kindCount
)

var kindLabels = [kindCount]string{
	ProposalReceived:         "proposal_received",
	ActionValidated:          "action_validated",
	ActionRetrying:           "action_retrying",
	ActionExecuting:          "action_executing",
	ActionRejected:           "action_rejected",
	PolicyViolation:          "policy_violation",
	ActionSucceeded:          "action_succeeded",
	ActionFailed:             "action_failed",
	ActionSkipped:            "action_skipped",
	ActionDeduplicated:       "action_deduplicated",
	StateChanged:             "state_changed",
	StateCommitted:           "state_committed",
	StateSnapshot:            "state_snapshot",
	StateRollback:            "state_rollback",
	SessionScope:             "session_scope",
	TransactionConflict:      "transaction_conflict",
	AdmissionGateDecision:    "admission_gate_decision",
	ApprovalRecorded:         "approval_recorded",
	ReplanAttempted:          "replan_attempted",
	ReplanRejected:           "replan_rejected",
	ReplanProposalReceived:   "replan_proposal_received",
	ReplanExhausted:          "replan_exhausted",
	BranchDecision:           "branch_decision",
	AlternativeRejected:      "alternative_rejected",
	ToolReceiptHallucination: "tool_receipt_hallucination",
	SupervisionDecision:      "supervision_decision",
	SupervisionVerb:          "supervision_verb",
	FilesRolledBack:          "files_rolled_back",
	TurnUndone:               "turn_undone",
	CompensationRun:          "compensation_run",
	ToolHandleCancelled:      "tool_handle_cancelled",
	RunStarted:               "run_started",
	RunCompleted:             "run_completed",
	TurnCompleted:            "turn_completed",
	GoalEvaluated:            "goal_evaluated",
	InferenceMetered:         "inference_metered",
	ModelFallback:            "model_fallback",
	PermissionDecision:       "permission_decision",
	SkillDistilled:           "skill_distilled",
	EvolutionTriggered:       "evolution_triggered",
	CandidatePromoted:        "candidate_promoted",
	CandidateRejected:        "candidate_rejected",
	Consolidated:             "consolidated",
}

func (k Kind) known() bool { return k > KindUnset && k < kindCount }

func errNoLabel(k Kind) error { return fmt.Errorf("event kind %d has no label", uint8(k)) }

// String returns the label; a value that is no kind prints as "unknown(n)", which
// no reader accepts.
func (k Kind) String() string {
	if k.known() {
		return kindLabels[k]
	}
	return fmt.Sprintf("unknown(%d)", uint8(k))
}

// MarshalText writes the label; a value that is no kind is an error.
func (k Kind) MarshalText() ([]byte, error) {
	if !k.known() {
		return nil, errNoLabel(k)
	}
	return []byte(kindLabels[k]), nil
}

// UnmarshalText reads a label; an unknown one is an error.
func (k *Kind) UnmarshalText(text []byte) error {
	parsed, err := ParseKind(string(text))
	*k = parsed
	return err
}

// ParseKind finds the kind with a label.
func ParseKind(label string) (Kind, error) {
	for k := KindUnset + 1; k < kindCount; k++ {
		if kindLabels[k] == label {
			return k, nil
		}
	}
	return KindUnset, fmt.Errorf("unknown event kind %q", label)
}

// Kinds lists every kind, in the order of the label table.
func Kinds() []Kind {
	kinds := make([]Kind, 0, kindCount-1)
	for k := KindUnset + 1; k < kindCount; k++ {
		kinds = append(kinds, k)
	}
	return kinds
}
