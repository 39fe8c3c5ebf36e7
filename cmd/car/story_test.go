package main

import (
	"bytes"
	"strings"
	"testing"

	"car/internal/assistant"
)

// U-TUI-3: calls that ran together are told in the order the model made them,
// whichever ended first.
func TestStoryKeepsTheModelsOrder(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newPlainStory(&out, false)
	for _, b := range []assistant.Body{
		assistant.Token{Delta: "I read both."},
		assistant.ToolCall{CallID: "t1c1", Sequence: 1, Tool: "read_file", Params: map[string]any{"path": "first.go"}},
		assistant.ToolCall{CallID: "t1c2", Sequence: 2, Tool: "read_file", Params: map[string]any{"path": "second.go"}},
		assistant.ToolResult{CallID: "t1c2", Sequence: 2, Tool: "read_file", OK: true},
		assistant.ToolResult{CallID: "t1c1", Sequence: 1, Tool: "read_file", OK: true},
		assistant.Token{Delta: "The answer."},
	} {
		s.tell(assistant.Event{Body: b})
	}
	text := out.String()
	if first, second := strings.Index(text, "first.go"), strings.Index(text, "second.go"); first < 0 || second < first {
		t.Errorf("rows out of order:\n%s", text)
	}
	if !strings.HasPrefix(text, "I read both.\n") || strings.Contains(text, "The answer.") {
		t.Errorf("what was said before the calls is the story, the last words are stdout's:\n%s", text)
	}
}

// P-TERM-1, B069: nothing that came from outside reaches the terminal raw.
func TestStoryShowsControlCharacters(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newPlainStory(&out, true)
	evil := "a\x1b[2Jb\u009b31m\u202ec\rd"
	for _, b := range []assistant.Body{
		assistant.Token{Delta: evil},
		assistant.ToolCall{CallID: "c", Sequence: 1, Tool: evil, Params: map[string]any{"path": evil}},
		assistant.ToolResult{CallID: "c", Sequence: 1, Tool: evil, Excerpt: `{"error":"` + "x\u202e" + `"}`},
		assistant.Notice{Text: evil},
		assistant.GoalEvaluated{Reason: evil},
		assistant.ApprovalResolved{By: evil},
	} {
		s.tell(assistant.Event{Body: b})
	}
	if strings.ContainsAny(out.String(), "\x1b\u009b\u202e\r") {
		t.Errorf("raw control characters in %q", out.String())
	}
}
