package assistant

import (
	"strings"
	"testing"

	"car/internal/assistant/llm"
)

// P-STREAM-3, A-CTX-6: arguments that were refused go back to the model as an
// excerpt, so an enormous call neither fills the window nor is counted as if it did.
func TestRefusedArgumentsAreCountedAsSent(t *testing.T) {
	t.Parallel()
	call := &llm.ToolCall{Name: "shell", Arguments: `{"command":"` + strings.Repeat("x", 2<<20) + `"}`}
	m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: call}}}
	if n := messageTokens(m); n > 5000 {
		t.Errorf("a refused call of 2 MiB counts %d tokens", n)
	}
}
