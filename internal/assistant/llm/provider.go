package llm

import (
	"context"
	"iter"
)

// Provider is a source of inference. Implementations are safe for concurrent use.
type Provider interface {
	// Name is the configured name, such as "anthropic" or "ollama"; it is Origin.Provider.
	Name() string

	// Stream sends one request and yields its reply (A-LLM-1). The request starts
	// when the sequence is ranged over, and each range is a request of its own.
	//
	// At most one error is yielded, as the last item; it is an *Error. Success ends
	// with exactly one Stop. Leaving the range early, or ending ctx, closes the
	// connection before the range returns; a canceled ctx is an error of kind canceled.
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// ModelLister is a Provider that can say which models it serves; not all can.
type ModelLister interface {
	// Models asks the server. An error is an *Error.
	Models(ctx context.Context) ([]ModelInfo, error)
}

// ModelInfo is one model of a live list (A-LLM-13).
type ModelInfo struct {
	ID string `json:"id"`
	// Window is the context window in tokens; 0 is untold.
	Window int64 `json:"window,omitempty"`
}
