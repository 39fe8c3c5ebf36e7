package assistant

import (
	"context"
	"slices"
	"strings"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// A-EVT-1, A-EVT-2, A-LOOP-4: token, calls, results, receipts, done in order;
// repeated provider ids pair; the thread grows.
func TestTurnTellsEverythingInOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t,
		said{text: "Reading. ", calls: []llm.ToolCall{{ProviderID: "call_0", Name: "read_file", Arguments: `{"path":"a.txt"}`},
			{ProviderID: "call_0", Name: "read_file", Arguments: `{"path":"b.txt"}`}}, stop: llm.StopToolUse},
		says("Both say hello."))
	h.hands.tools["read_file"] = func(_ context.Context, p map[string]any) ir.ActionResult { return ok("hello " + p["path"].(string)) }
	events := h.say(Input{Text: "read both"})

	want := []string{"inference_started", "model_served", "token", "token", "usage", "tool_call", "tool_result", "tool_call", "tool_result",
		"inference_started", "model_served", "token", "token", "token", "usage", "receipt_report", "done"}
	if got := withoutRepeats(kindsOf(events)); !slices.Equal(got, withoutRepeats(want)) {
		t.Errorf("events\n got %v\nwant %v", got, want)
	}
	for i, e := range events {
		if e.Seq != uint64(i+1) || e.Session != "s1" || e.Run != 1 {
			t.Errorf("event %d is session %q run %d seq %d", i, e.Session, e.Run, e.Seq)
		}
	}
	calls, results := bodies[ToolCall](events), bodies[ToolResult](events)
	if len(calls) != 2 || calls[0].CallID != "t1c1" || calls[1].CallID != "t1c2" || calls[1].Sequence != 2 || results[1].CallID != "t1c2" {
		t.Errorf("calls %+v results %+v", calls, results)
	}
	if done := mustEnd[Done](t, events); done.Text != "Both say hello." {
		t.Errorf("done says %q", done.Text)
	}
	second := h.model.requests()[1].Messages
	if len(second) != 3 || second[2].Parts[0].Result.Text != "hello a.txt" || second[2].Parts[1].Result.Text != "hello b.txt" {
		t.Errorf("the model was told %+v", second)
	}
}

func withoutRepeats(kinds []string) []string { return slices.Compact(slices.Clone(kinds)) }

// A-CTX-4: the messages of a request begin with those of the request before it,
// byte for byte, whatever happens in between.
func TestRequestsOnlyGrow(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"a"}`), callsTools("nope", `{`, "shell", `{"command":"ls"}`),
		said{text: "half", stop: llm.StopLength}, says(" done"), says("again"))
	h.hands.tools["read_file"] = func(context.Context, map[string]any) ir.ActionResult { return ok("x") }
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return exits(1, "no") }
	c, f := h.start()
	for _, text := range []string{"one", "two"} {
		if err := c.Send(t.Context(), Input{Text: text}); err != nil {
			t.Fatal(err)
		}
		f.end()
	}
	requests := h.model.requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests", len(requests))
	}
	for i := 1; i < len(requests); i++ {
		before, now := jsonText(requests[i-1].Messages), jsonText(requests[i].Messages)
		if !strings.HasPrefix(now, strings.TrimSuffix(before, "]")) {
			t.Errorf("request %d does not begin with request %d:\n%s\n%s", i+1, i, before, now)
		}
		if requests[i].System != requests[0].System || jsonText(requests[i].Tools) != jsonText(requests[0].Tools) {
			t.Errorf("request %d has another system prompt or other tools", i+1)
		}
	}
}
