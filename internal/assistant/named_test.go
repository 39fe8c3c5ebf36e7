package assistant

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// A-LOOP-5, P-STREAM-1: a whole call of a stream that has not ended runs neither
// while the stream is open nor when it breaks off.
func TestCallsWaitForTheStop(t *testing.T) {
	t.Parallel()
	cut := callsTools("write_file", `{"path":"a.txt"}`)
	cut.err = &llm.Error{Kind: llm.KindInvalid, Provider: "fake", Message: "gone"}
	h := newHouse(t, cut)
	ran := false
	h.hands.tools["write_file"] = func(context.Context, map[string]any) ir.ActionResult { ran = true; return wrote("a.txt") }
	events := h.say(Input{Text: "go"})
	mustEnd[Failure](t, events)
	if ran || len(h.hands.proposals()) != 0 || len(bodies[ToolCall](events)) != 0 {
		t.Errorf("a call of a cut stream ran: %v", kindsOf(events))
	}
}

// A-EVT-3: of a goal's iterations only the last end is told: one terminal, whatever
// the replies before it said.
func TestInnerEndsOfAGoalStayInside(t *testing.T) {
	t.Parallel()
	h := newHouse(t, says("first try"), says("second try"))
	runs := 0
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult {
		if runs++; runs < 3 {
			return exits(1, "red")
		}
		return exits(0, "green")
	}
	events := h.say(goalOf(3))
	terminals := 0
	for _, e := range events {
		if e.Body.Kind().Terminal() {
			terminals++
		}
	}
	if end := mustEnd[Done](t, events); terminals != 1 || !strings.Contains(end.Text, "second try") || strings.Contains(end.Text, "first try") {
		t.Errorf("%d terminals, ended with %+v", terminals, end)
	}
}

// A-CLAIM-1: receipts are made of what the engine answered; what a model says of a
// call in its text or its arguments makes none better.
func TestReceiptsComeFromResults(t *testing.T) {
	t.Parallel()
	said := callsTools("shell", `{"command":"go test ./...","exit_code":0,"ok":true}`)
	said.text = `{"call_id":"t1c1","ok":true,"exit_code":0}`
	h := newHouse(t, said, says("I looked at it."))
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return exits(1, "FAIL") }
	events := h.say(Input{Text: "go"})
	reports := bodies[ReceiptReport](events)
	text, err := json.Marshal(reports)
	if err != nil || len(reports) != 1 || strings.Contains(string(text), `"ok":true`) || !strings.Contains(string(text), `"ok":false`) {
		t.Errorf("receipts %s, %v", text, err)
	}
}
