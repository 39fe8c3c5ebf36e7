package assistant

import (
	"encoding/json"
	"fmt"
	"time"

	"car/internal/engine/ir"
)

// Event is one thing that happened in a session, as every screen, file and wire
// sees it (A-EVT). Seq is gapless within the session; Run counts inputs.
type Event struct {
	Session string
	Run     int
	Seq     uint64
	Time    time.Time
	Body    Body
}

// Body is the part of an event that is its kind's own. Hosts ignore bodies they
// do not know.
type Body interface{ Kind() Kind }

// Kind is an event's kind; its label is the wire word.
type Kind uint8

// The kinds of A-EVT. The last three are terminal: exactly one ends a run.
const (
	KindUnset Kind = iota
	KindInferenceStarted
	KindInferenceRetry
	KindModelServed
	KindToken
	KindThinking
	KindToolCall
	KindToolProgress
	KindToolResult
	KindApprovalPending
	KindApprovalResolved
	KindGoalEvaluated
	KindUsage
	KindNotice
	KindReceiptReport
	KindDone
	KindError
	KindAuthRequired
)

var kindLabels = [...]string{"", "inference_started", "inference_retry", "model_served", "token", "thinking", "tool_call",
	"tool_progress", "tool_result", "approval_pending", "approval_resolved", "goal_evaluated", "usage", "notice",
	"receipt_report", "done", "error", "auth_required"}

// String returns the wire label.
func (k Kind) String() string {
	if k > KindUnset && int(k) < len(kindLabels) {
		return kindLabels[k]
	}
	return fmt.Sprintf("unknown(%d)", uint8(k))
}

// Terminal reports whether an event of this kind ends its run.
func (k Kind) Terminal() bool { return k >= KindDone }

// InferenceStarted opens a request to a model. Turn counts model calls of the run.
type InferenceStarted struct {
	Model   string `json:"model"`
	Attempt int    `json:"attempt"`
	Turn    int    `json:"turn"`
}

// InferenceRetry says that a request is tried again after a wait.
type InferenceRetry struct {
	Model     string `json:"model"`
	Attempt   int    `json:"attempt"`
	Reason    string `json:"reason"`
	BackoffMS int64  `json:"backoff_ms"`
}

// ModelServed names the model that answered.
type ModelServed struct {
	ModelID         string `json:"model_id"`
	LocalLastResort bool   `json:"local_last_resort"`
}

// Token is a piece of the answer; adjacent ones may be joined for a slow reader.
type Token struct {
	Delta string `json:"delta"`
}

// Thinking is a piece of the model's visible reasoning.
type Thinking struct {
	Delta string `json:"delta"`
}

// ToolCall announces a call. Params are clipped and redacted for showing; what
// will run is in ApprovalPending.
type ToolCall struct {
	CallID   string         `json:"call_id"`
	Sequence int            `json:"sequence"`
	Tool     string         `json:"tool"`
	Params   map[string]any `json:"params"`
	Tier     ir.Tier        `json:"tier"`
}

// ToolProgress is the last line of a running call, at most twice a second.
type ToolProgress struct {
	CallID    string `json:"call_id"`
	Tail      string `json:"tail"`
	ElapsedMS int64  `json:"elapsed_ms"`
}

// ToolResult answers a ToolCall, also one that was refused or cancelled.
type ToolResult struct {
	CallID     string         `json:"call_id"`
	Sequence   int            `json:"sequence"`
	Tool       string         `json:"tool"`
	OK         bool           `json:"ok"`
	Status     ir.Status      `json:"status"`
	Excerpt    string         `json:"excerpt"`
	Evidence   map[string]any `json:"evidence"`
	DurationMS int64          `json:"duration_ms"`
	// Ran says that the call had begun, so that it may have had effects whatever its status.
	Ran bool `json:"ran"`
	// Blocks are for a screen in this process; they are not on the wire.
	Blocks []ir.Block `json:"-"`
}

// ApprovalPending asks a person. Params are exactly what will run.
type ApprovalPending struct {
	ApprovalID    string           `json:"approval_id"`
	CallID        string           `json:"call_id"`
	Tool          string           `json:"tool"`
	Params        map[string]any   `json:"params"`
	ActionID      string           `json:"action_id"`
	Scope         map[string]any   `json:"scope"`
	Tier          ir.Tier          `json:"tier"`
	Reversibility ir.Reversibility `json:"reversibility"`
	Reason        string           `json:"reason"`
	Group         string           `json:"group"`
	ExpiresAt     time.Time        `json:"expires_at"`
	// SessionRule is what an answer for the session covers beyond exactly this call,
	// as the runtime made it; empty is nothing (A-APPR-12).
	SessionRule string `json:"session_rule,omitempty"`
	// Commands and Preview are the governor's reading, for a screen in this process.
	Commands []ir.CommandView `json:"commands,omitempty"`
	Preview  []ir.Block       `json:"-"`
}

// ApprovalResolved closes an ApprovalPending, whoever answered it.
type ApprovalResolved struct {
	ApprovalID string `json:"approval_id"`
	Decision   string `json:"decision"`
	By         string `json:"by"`
	Reason     string `json:"reason"`
}

// GoalEvaluated is one verdict of a goal's check.
type GoalEvaluated struct {
	Iteration   int    `json:"iteration"`
	Met         bool   `json:"met"`
	Grounded    bool   `json:"grounded"`
	Reason      string `json:"reason"`
	Unevaluated bool   `json:"unevaluated,omitempty"`
	// Output is the end of what an unmet check printed.
	Output string `json:"output,omitempty"`
}

// Usage counts tokens of one request. CostUSD is nil where no price is known.
type Usage struct {
	Input      int64    `json:"input"`
	Output     int64    `json:"output"`
	CacheRead  int64    `json:"cache_read"`
	CacheWrite int64    `json:"cache_write"`
	Reasoning  int64    `json:"reasoning"`
	CostUSD    *float64 `json:"cost_usd"`
	Estimated  bool     `json:"estimated"`
}

// Notice tells a person something that changes nothing.
type Notice struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// ReceiptReport stands immediately before the terminal event and says what
// really ran in this run (A-EVT-7, D-3).
type ReceiptReport struct {
	Completion            map[string]any `json:"completion"`
	DesktopActions        []string       `json:"desktop_actions"`
	DesktopActionsOmitted int            `json:"desktop_actions_omitted"`
	ToolReceipts          []ToolReceipt  `json:"tool_receipts"`
	ToolReceiptsOmitted   int            `json:"tool_receipts_omitted"`
	UngroundedClaims      []string       `json:"ungrounded_claims"`
	Usage                 Usage          `json:"usage"`
}

// ToolReceipt is one call that ran, from the engine's result and nothing else.
type ToolReceipt struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	OK     bool   `json:"ok"`
	Status string `json:"status"`
	Brief  string `json:"brief"`
}

// Done ends a run that finished. Refused are the effects that were not allowed and
// not achieved otherwise: with any, the run finished and its work did not (D-22).
type Done struct {
	Text            string    `json:"text"`
	FinishReason    string    `json:"finish_reason,omitempty"`
	GoalUnevaluated bool      `json:"goal_unevaluated,omitempty"`
	Refused         []Refusal `json:"refused,omitempty"`
}

// Failure ends a run that did not finish; its wire kind is "error". Code is one
// of the stable words of A-LOOP and A-GOAL.
type Failure struct {
	Error       string  `json:"error"`
	Code        string  `json:"code"`
	Text        string  `json:"text,omitempty"`
	RetryAfterS float64 `json:"retry_after_s,omitempty"`
}

// AuthRequired ends a run that needs a sign-in or a provider (A-AUTH).
type AuthRequired struct {
	Reason   string `json:"reason"`
	Message  string `json:"message"`
	Provider string `json:"provider"`
	Help     string `json:"help"`
}

// Kind methods tie each body to its label.
func (InferenceStarted) Kind() Kind { return KindInferenceStarted }

// Kind is inference_retry.
func (InferenceRetry) Kind() Kind { return KindInferenceRetry }

// Kind is model_served.
func (ModelServed) Kind() Kind { return KindModelServed }

// Kind is token.
func (Token) Kind() Kind { return KindToken }

// Kind is thinking.
func (Thinking) Kind() Kind { return KindThinking }

// Kind is tool_call.
func (ToolCall) Kind() Kind { return KindToolCall }

// Kind is tool_progress.
func (ToolProgress) Kind() Kind { return KindToolProgress }

// Kind is tool_result.
func (ToolResult) Kind() Kind { return KindToolResult }

// Kind is approval_pending.
func (ApprovalPending) Kind() Kind { return KindApprovalPending }

// Kind is approval_resolved.
func (ApprovalResolved) Kind() Kind { return KindApprovalResolved }

// Kind is goal_evaluated.
func (GoalEvaluated) Kind() Kind { return KindGoalEvaluated }

// Kind is usage.
func (Usage) Kind() Kind { return KindUsage }

// Kind is notice.
func (Notice) Kind() Kind { return KindNotice }

// Kind is receipt_report.
func (ReceiptReport) Kind() Kind { return KindReceiptReport }

// Kind is done.
func (Done) Kind() Kind { return KindDone }

// Kind is error.
func (Failure) Kind() Kind { return KindError }

// Kind is auth_required.
func (AuthRequired) Kind() Kind { return KindAuthRequired }

// MarshalJSON writes the envelope and the body's fields as one flat object.
func (e Event) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(map[string]any{
		"session_id": e.Session, "kind": e.Body.Kind().String(), "run": e.Run, "seq": e.Seq,
		"ts": e.Time.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(e.Body)
	if err != nil || string(body) == "{}" {
		return head, err
	}
	return append(append(head[:len(head)-1], ','), body[1:]...), nil
}
