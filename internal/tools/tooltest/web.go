package tooltest

import (
	"context"
	"errors"

	"car/internal/engine/tool"
)

// Web answers requests from functions by address, for tests of tools that ask the
// network; an address that is not there is a failure. Slow answers only when its
// context ends.
type Web struct {
	Answers map[string]func(tool.WebRequest) (tool.WebResponse, error)
	// Slow is an address that never answers.
	Slow string
}

// Fetch answers.
func (w *Web) Fetch(ctx context.Context, r tool.WebRequest) (tool.WebResponse, error) {
	if w.Slow != "" && r.URL == w.Slow {
		<-ctx.Done()
		return tool.WebResponse{}, &tool.Fault{Kind: tool.Canceled, Text: "canceled: " + ctx.Err().Error()}
	}
	answer, ok := w.Answers[r.URL]
	if !ok {
		return tool.WebResponse{}, errors.New("no answer from " + r.URL)
	}
	return answer(r)
}
