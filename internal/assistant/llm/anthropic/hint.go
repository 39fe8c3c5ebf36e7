package anthropic

import (
	"strings"

	"car/internal/assistant/llm"
)

// hinted adds what to do to a refusal of the one kind of reasoning that is asked
// for: older models know neither adaptive thinking nor an effort (A-LLM-5).
func hinted(err error, effort llm.Effort) error {
	e, ok := err.(*llm.Error)
	if !ok || e.Kind != llm.KindInvalid || effort < llm.EffortLow {
		return err
	}
	message := strings.ToLower(e.Message)
	if strings.Contains(message, "adaptive") || strings.Contains(message, "effort") {
		e.Hint = "this model takes no effort " + effort.String() + "; unset the effort or choose a newer model"
	}
	return e
}
