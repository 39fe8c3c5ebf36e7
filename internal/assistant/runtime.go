package assistant

import (
	"context"
	"io/fs"

	"car/internal/assistant/llm"
	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// Engine is the one thing the conversation asks of the engine. *engine.Runtime is one.
type Engine interface {
	Execute(ctx context.Context, p ir.Proposal, o engine.Options) (ir.ProposalResult, error)
}

// OpenRequest asks for the engine of a session. Approver is the conversation's
// own: it asks the person and shows the question.
type OpenRequest struct {
	Session  string
	Root     string
	Approver admit.Approver
}

// Runtime is the engine of one session as the conversation uses it. It is opened
// with the first run and closed with the conversation.
type Runtime struct {
	Engine Engine
	// Tools are what the model is told of, the same for the whole session (A-CTX-4).
	Tools []Tool
	// Files are the workspace, read-only, for the fingerprint of a goal's check; nil
	// reads nothing, and then a goal says that its check is not watched.
	Files fs.FS
	// Effects looks up what is known of a call of an earlier process; nil knows nothing.
	Effects func(ctx context.Context, session, callID string) ([]approval.Effect, error)
	// Log is the session's record, to which the conversation adds its runs, requests
	// and verdicts; nil keeps none.
	Log Log
	// Todos is the session's list as it stands; nil is a session without one (A-CTX-3).
	Todos func() []tool.Todo
	// Close ends what the session still runs; nil is nothing to do.
	Close func(ctx context.Context) error
}

// Tool is a tool that a model may call.
type Tool struct {
	Schema ir.ToolSchema
	// ReadOnly is the tool author's word; such calls of a step run together (D-2).
	ReadOnly bool
}

// Choice is a model that a run may use, with what is known of it.
type Choice struct {
	Provider llm.Provider
	// Model is the provider's own name for it.
	Model string
	// Window is the context window in tokens; 0 is unknown.
	Window int64
	// MaxTokens bounds a reply; 0 leaves it to the adapter.
	MaxTokens int
	Effort    llm.Effort
	Cache     llm.Cache
	// NoVision says that the model is known to take no pictures.
	NoVision bool
	// LastResort marks a local model that stands in for the ones that were asked for.
	LastResort bool
	// Price is what usage costs in millionths of a US dollar; nil or false is unknown (A-LLM-12).
	Price func(u llm.Usage) (micros int64, known bool)
}

// Models finds the models of a run. An error that is an *llm.Error with a Reason
// ends the run with auth_required and nothing else happens (A-AUTH-2).
type Models interface {
	// Configured returns the model to use and then its fallbacks, at least one (A-LLM-11).
	Configured(ctx context.Context) ([]Choice, error)
	// Named returns the one model that an input asks for; there is no fallback (A-SVC-5).
	Named(ctx context.Context, model string) (Choice, error)
}
