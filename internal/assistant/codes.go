package assistant

import "slices"

// The codes of a Failure: stable words for programs (A-LOOP, A-GOAL). The codes
// table says what each is worth as an exit code.
const (
	CodeCanceled       = "canceled"
	CodeStopped        = "stopped"
	CodeMaxTurns       = "max_turns"
	CodeBudget         = "budget_exhausted"
	CodeEmpty          = "empty_response"
	CodeTruncated      = "output_truncated"
	CodeContext        = "context_exhausted"
	CodeRefused        = "content_refused"
	CodePaused         = "paused"
	CodeNoProgress     = "no_progress"
	CodeCut            = "cut"
	CodeProvider       = "provider_error"
	CodeRateLimited    = "rate_limited"
	CodeQuota          = "quota_exhausted"
	CodeModelNotFound  = "model_not_found"
	CodeNoVision       = "no_vision"
	CodeInternal       = "internal"
	CodeStore          = "store"
	CodeEngine         = "engine"
	CodeSessionBusy    = "session_busy"
	CodeGoalNotReached = "goal_not_reached"
	CodeCheckAltered   = "check_altered"
	CodeCheckDenied    = "goal_check_denied"
	CodeSchemaMismatch = "schema_mismatch"
)

// The exit codes of U-CLI-3.
const (
	ExitDone       = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitRefused    = 3
	ExitAuth       = 4
	ExitNotReached = 5
	ExitUnverified = 6
	ExitLimit      = 124
	ExitCanceled   = 130
)

// codeRow is one code with what it is worth at the door.
type codeRow struct {
	code string
	exit int
}

var codes = []codeRow{
	{CodeCanceled, ExitCanceled}, {CodeStopped, ExitRefused}, {CodeMaxTurns, ExitLimit}, {CodeBudget, ExitLimit},
	{CodeEmpty, ExitFailed}, {CodeTruncated, ExitFailed}, {CodeContext, ExitFailed}, {CodeRefused, ExitFailed},
	{CodePaused, ExitFailed}, {CodeNoProgress, ExitFailed}, {CodeCut, ExitFailed}, {CodeProvider, ExitFailed},
	{CodeRateLimited, ExitFailed}, {CodeQuota, ExitFailed}, {CodeModelNotFound, ExitUsage}, {CodeNoVision, ExitUsage}, {CodeInternal, ExitFailed}, {CodeStore, ExitFailed},
	{CodeEngine, ExitFailed}, {CodeSessionBusy, ExitFailed}, {CodeGoalNotReached, ExitNotReached},
	{CodeCheckAltered, ExitNotReached}, {CodeCheckDenied, ExitRefused}, {CodeSchemaMismatch, ExitFailed},
}

// exitOf finds a code's exit code; an unknown code is a plain failure.
func exitOf(code string) int {
	if i := slices.IndexFunc(codes, func(r codeRow) bool { return r.code == code }); i >= 0 {
		return codes[i].exit
	}
	return ExitFailed
}
