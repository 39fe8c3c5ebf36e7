package llm

import (
	"errors"
	"strings"
	"testing"
)

func resultPart(id string) Part {
	return Part{Kind: PartToolResult, Result: &ToolResult{CallID: id, Text: "ok"}}
}

// P-WORK-2: a request that would brick a session is refused before it is sent.
func TestRequestCheck(t *testing.T) {
	t.Parallel()
	user := UserText("hi")
	calls := func(ids ...string) Message {
		m := Message{Role: Assistant}
		for _, id := range ids {
			m.Parts = append(m.Parts, callPart(id, "", "p"))
		}
		return m
	}
	results := func(ids ...string) Message {
		m := Message{Role: User}
		for _, id := range ids {
			m.Parts = append(m.Parts, resultPart(id))
		}
		return m
	}
	for _, tc := range []struct {
		name, want string
		r          Request
	}{
		{"a question", "", Request{Model: "m", Messages: []Message{user}}},
		{"answered calls", "", Request{Model: "m", Messages: []Message{user, calls("a", "b"), results("b", "a"), user}}},
		{"a paused reply", "", Request{Model: "m", Messages: []Message{user, {Role: Assistant, Parts: []Part{TextPart("so")}}}}},
		{"no model", "no model", Request{Messages: []Message{user}}},
		{"no message", "no message", Request{Model: "m"}},
		{"no role", "message 0 has no role", Request{Model: "m", Messages: []Message{{}}}},
		{"an open call", `call "b" has no result`, Request{Model: "m", Messages: []Message{user, calls("a", "b"), results("a")}}},
		{"an open call at the end", `call "a" has no result`, Request{Model: "m", Messages: []Message{user, calls("a")}}},
		{"a second result", "answers no open call", Request{Model: "m", Messages: []Message{user, calls("a"), results("a", "a")}}},
		{"a result without a call", "answers no open call", Request{Model: "m", Messages: []Message{user, results("a")}}},
		{"a call without an id", "needs an id", Request{Model: "m", Messages: []Message{calls("")}}},
		{"the same call twice", "stands twice", Request{Model: "m", Messages: []Message{calls("a", "a"), results("a")}}},
		{"a call of the user", "tool_call in a message of the user", Request{Model: "m", Messages: []Message{{User, []Part{callPart("a", "", "")}}}}},
		{"an image of the model", "image in a message of the assistant",
			Request{Model: "m", Messages: []Message{{Assistant, []Part{{Kind: PartImage, Image: &Image{URL: "u"}}}}}}},
		{"an image of nothing", "either data or a URL", Request{Model: "m", Messages: []Message{{User, []Part{{Kind: PartImage, Image: &Image{}}}}}}},
		{"a part of no kind", "has no kind", Request{Model: "m", Messages: []Message{{User, []Part{{}}}}}},
		{"a bad tool name", `tool name "a b"`, Request{Model: "m", Messages: []Message{user}, Tools: []Tool{{Name: "a b"}}}},
		{"a tool twice", `tool "a" stands twice`, Request{Model: "m", Messages: []Message{user}, Tools: []Tool{{Name: "a"}, {Name: "a"}}}},
		{"an absent choice", `"b" is not among`, Request{Model: "m", Messages: []Message{user}, Tools: []Tool{{Name: "a"}}, ToolChoice: ToolChoice{ToolNamed, "b"}}},
	} {
		err := tc.r.Check()
		if tc.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindInvalid || e.Retryable() || !strings.Contains(e.Message, tc.want) {
			t.Errorf("%s: error %v, want invalid with %q", tc.name, err, tc.want)
		}
	}
}
