package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// canned is a provider that yields what it is told.
type canned struct {
	events []Event
	err    error
}

func (c canned) Name() string { return "canned" }

func (c canned) Stream(context.Context, Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, e := range c.events {
			if !yield(e, nil) {
				return
			}
		}
		if c.err != nil {
			yield(nil, c.err)
		}
	}
}

func thinkingPart(text, raw string) Part {
	return Part{Kind: PartThinking, Text: text, Raw: raw, Origin: Origin{"canned", "m"}}
}

// A-LLM-1, A-LOOP-6: a whole stream becomes one message, arguments raw.
func TestCollect(t *testing.T) {
	t.Parallel()
	stream := canned{events: []Event{
		Started{Model: "m-1"}, Usage{Input: 5}, Thinking{"hm"}, Item{thinkingPart("hm", `{"s":"<"}`)},
		Text{"Rea"}, Text{"ding"}, ToolStart{0, "id0", "read"}, ToolDelta{0, `{"a`}, ToolStart{1, "", "list"},
		ToolDelta{1, `{`}, ToolDelta{0, `":1}`}, Text{"."}, Usage{Input: 5, Output: 9}, Stop{Kind: StopToolUse, Raw: "tool_use"},
	}}
	got, err := Collect(t.Context(), stream, Request{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	call := func(id, name, args string) Part {
		return Part{Kind: PartToolCall, Origin: Origin{"canned", "m"}, Call: &ToolCall{ProviderID: id, Name: name, Arguments: args}}
	}
	want := Reply{Started: Started{Model: "m-1"}, Usage: &Usage{Input: 5, Output: 9}, Stop: Stop{Kind: StopToolUse, Raw: "tool_use"},
		Message: Message{Role: Assistant, Parts: []Part{thinkingPart("hm", `{"s":"<"}`), TextPart("Reading"),
			call("id0", "read", `{"a":1}`), call("", "list", "{"), TextPart(".")}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// P-STREAM-1, B051: a stream without its stop gives up its text and nothing else.
func TestCollectCut(t *testing.T) {
	t.Parallel()
	events := []Event{Started{}, Text{"half"}, Item{thinkingPart("x", "{}")}, ToolStart{0, "a", "rm"}, ToolDelta{0, `{}`}, Usage{Output: 3}}
	broken := &Error{Kind: KindNetwork}
	for name, tc := range map[string]struct {
		stream canned
		kind   ErrorKind
	}{
		"ended quietly":   {canned{events: events}, KindDisconnected},
		"ended by error":  {canned{events: events, err: broken}, KindNetwork},
		"error past stop": {canned{events: append(events[:6:6], Stop{}), err: broken}, KindNetwork},
	} {
		got, err := Collect(t.Context(), tc.stream, Request{Model: "m"})
		var e *Error
		if !errors.As(err, &e) || e.Kind != tc.kind {
			t.Errorf("%s: error %v, want kind %s", name, err, tc.kind)
		}
		if diff := cmp.Diff([]Part{TextPart("half")}, got.Message.Parts); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got.Usage == nil || got.Usage.Output != 3 {
			t.Errorf("%s: usage %v is lost", name, got.Usage)
		}
	}
}

// A stream that breaks the contract is no reply.
func TestCollectSpoiled(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]Event{
		"two stops":         {Stop{}, Stop{}},
		"unopened call":     {ToolDelta{0, "{}"}, Stop{}},
		"call out of order": {ToolStart{1, "", "x"}, Stop{}},
	} {
		_, err := Collect(t.Context(), canned{events: events}, Request{})
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindMalformed {
			t.Errorf("%s: error %v, want malformed", name, err)
		}
	}
}

// P-STREAM-5, A-LLM-3: what a store keeps gives back every byte.
func TestMessageStoresExactly(t *testing.T) {
	t.Parallel()
	m := Message{Role: Assistant, Parts: []Part{
		thinkingPart("a <b> & \u2028", `{"type":"thinking", "thinking":"<&>\u2028", "signature":"c2ln+/="}`),
		{Kind: PartToolCall, Call: &ToolCall{ID: "t1c1", ProviderID: "p", Name: "x", Arguments: `{"cut": "<`}},
	}}
	stored, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got Message
	if err := json.Unmarshal(stored, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
}

// Every label reads back, and an unknown one is refused.
func TestLabels(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		table []string
		read  func(string) (string, error)
	}{
		{roleLabels, func(s string) (string, error) { var v Role; err := v.UnmarshalText([]byte(s)); return v.String(), err }},
		{partKindLabels, func(s string) (string, error) {
			var v PartKind
			err := v.UnmarshalText([]byte(s))
			return v.String(), err
		}},
		{effortLabels, func(s string) (string, error) {
			var v Effort
			err := v.UnmarshalText([]byte(s))
			return v.String(), err
		}},
		{cacheLabels, func(s string) (string, error) { var v Cache; err := v.UnmarshalText([]byte(s)); return v.String(), err }},
		{stopKindLabels, func(s string) (string, error) {
			var v StopKind
			err := v.UnmarshalText([]byte(s))
			return v.String(), err
		}},
		{errorKindLabels, func(s string) (string, error) {
			var v ErrorKind
			err := v.UnmarshalText([]byte(s))
			return v.String(), err
		}},
		{authReasonLabels, func(s string) (string, error) {
			var v AuthReason
			err := v.UnmarshalText([]byte(s))
			return v.String(), err
		}},
	} {
		for _, label := range tc.table {
			if label == "" {
				continue
			}
			if got, err := tc.read(label); err != nil || got != label {
				t.Errorf("%q reads as %q, %v", label, got, err)
			}
		}
		if _, err := tc.read("nonsense"); err == nil {
			t.Error("an unknown label is read")
		}
	}
}
