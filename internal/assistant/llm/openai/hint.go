package openai

import (
	"strings"

	"car/internal/assistant/llm"
)

// hints are what servers say when they were started without tools, and how to
// start them (A-LLM-7).
var hints = []struct{ says, hint string }{
	{"--jinja", "start llama-server with --jinja, so that the model can call tools"},
	{"--enable-auto-tool-choice", "start vLLM with --enable-auto-tool-choice and --tool-call-parser"},
	{"does not support tools", "this model has no tools capability; choose one that has (ollama show MODEL lists it)"},
}

// hinted turns such an answer into a final refusal that says what to do.
func hinted(err error) error {
	e, ok := err.(*llm.Error)
	if !ok {
		return err
	}
	for _, h := range hints {
		if strings.Contains(e.Message, h.says) {
			e.Kind, e.Advice, e.Hint = llm.KindInvalid, llm.AdviceNever, h.hint
			return e
		}
	}
	return e
}
