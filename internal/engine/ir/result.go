package ir

import (
	"encoding/json"
	"time"
)

// ActionResult is the one result every action of a proposal gets (E-IR-5).
type ActionResult struct {
	ActionID     ActionID               `json:"action_id"`
	Status       Status                 `json:"status"`
	Output       any                    `json:"output"`
	Error        string                 `json:"error,omitempty"`
	StateChanges map[string]StateChange `json:"state_changes"`
	// DurationMS is the last attempt's, failed or not.
	DurationMS int64     `json:"duration_ms"`
	Timestamp  time.Time `json:"timestamp"`
	Terminal   bool      `json:"terminal,omitempty"`
	RolledBack bool      `json:"rolled_back,omitempty"`

	Attempts    int          `json:"attempts,omitempty"`
	ErrorClass  ErrorClass   `json:"error_class,omitempty"`
	FileChanges []FileChange `json:"file_changes,omitempty"`
	Compensated bool         `json:"compensated,omitempty"`
	ProjectGate any          `json:"project_gate,omitempty"`
	// Tier and AllowedBy say what authority the action needed and who gave it
	// ("auto:<tier>", "person:<approval id>", a rule's name); empty when it never got that far.
	Tier      Tier   `json:"tier,omitempty"`
	AllowedBy string `json:"allowed_by,omitempty"`

	// Blocks are for a screen, never for the model or the log.
	Blocks []Block `json:"-"`
}

// StateChange is a tagged mutation, so that null and deletion differ (F-1).
// Op is "set" or "delete".
type StateChange struct {
	Op    string `json:"op"`
	Value any    `json:"value,omitempty"`
}

// MarshalJSON always writes the value of a set, null included: without it a
// reader could not tell a null that was written from a value that was left out.
func (c StateChange) MarshalJSON() ([]byte, error) {
	if c.Op == "set" {
		return json.Marshal(map[string]any{"op": c.Op, "value": c.Value})
	}
	return json.Marshal(map[string]any{"op": c.Op})
}

// FileChange is one path an action changed, with digests of its content before
// and after; an empty digest means that nothing was there (B095, T-FILE-13).
type FileChange struct {
	// Path is as the call named it, Resolved where the bytes went, both relative to the root with slashes.
	Path     string `json:"path"`
	Resolved string `json:"resolved"`
	Before   Digest `json:"before,omitempty"`
	After    Digest `json:"after,omitempty"`
}

// ProposalResult is what Execute returns (E-IR-6).
type ProposalResult struct {
	ProposalID         ProposalID         `json:"proposal_id"`
	OriginalProposalID ProposalID         `json:"original_proposal_id"`
	FinalProposal      Proposal           `json:"final_proposal"`
	ReplanLineage      []LineageEntry     `json:"replan_lineage"`
	AcceptedPreimages  []AcceptedPreimage `json:"accepted_proposal_preimages"`
	Results            []ActionResult     `json:"results"`
	Cost               CostSummary        `json:"cost"`
	Rollback           *Rollback          `json:"rollback,omitempty"`
	Compensations      []Compensated      `json:"compensations,omitempty"`
}

// Compensated is what became of one compensation after an abort (B-COMP-3). Status
// is succeeded, failed, rejected or not_run.
type Compensated struct {
	ActionID       ActionID `json:"action_id"`
	CompensationID ActionID `json:"compensation_id"`
	Status         string   `json:"status"`
	Error          string   `json:"error,omitempty"`
}

// LineageEntry is one generation that was offered, accepted or not (E-IR-6).
type LineageEntry struct {
	Generation int        `json:"generation"`
	ProposalID ProposalID `json:"proposal_id"`
	// ProposalDigest is empty for a proposal that canonical JSON cannot represent.
	ProposalDigest  Digest `json:"proposal_digest,omitempty"`
	Status          string `json:"status"`
	RejectionReason string `json:"rejection_reason,omitempty"`
}

// The lineage statuses.
const (
	LineageAccepted = "accepted"
	LineageRejected = "rejected"
)

// AcceptedPreimage keeps an accepted generation whole and in memory, so that no
// log retention can remove what was judged (E-IR-6).
type AcceptedPreimage struct {
	Generation     int      `json:"generation"`
	ProposalDigest Digest   `json:"proposal_digest"`
	Proposal       Proposal `json:"proposal"`
}

// Rollback says what happened to state when a proposal aborted (E-STATE-3).
// State is "none", "durable", "durability_unknown" or "failed".
type Rollback struct {
	State string `json:"state"`
	Error string `json:"error,omitempty"`
	// Files were put back; Conflicts were not, because somebody changed them since (B-FILE-2).
	Files     []string `json:"files,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
}

// CostSummary counts a run (E-IR-7); the action counts partition by status.
type CostSummary struct {
	ToolCalls       int   `json:"tool_calls"`
	ActionsExecuted int   `json:"actions_executed"`
	ActionsRejected int   `json:"actions_rejected"`
	ActionsSkipped  int   `json:"actions_skipped"`
	TotalDurationMS int64 `json:"total_duration_ms"`
	Retries         int   `json:"retries"`
	ToolAttempts    int   `json:"tool_attempts"`
}

// AllSucceeded is true when there is a result, every one succeeded and none was
// rolled back (E-IR-6). Actions reserved as compensations do not count (B-COMP-4).
func (r ProposalResult) AllSucceeded() bool {
	reserved := map[ActionID]bool{}
	for _, a := range r.FinalProposal.Actions {
		if a.Compensation != nil && a.Compensation.Type == "action_ref" {
			reserved[a.Compensation.ActionID] = true
		}
	}
	for _, a := range r.Results {
		if reserved[a.ActionID] {
			continue
		}
		if a.Status != Succeeded || a.RolledBack {
			return false
		}
	}
	return len(r.Results) > 0
}
