package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"car/internal/assistant"
	"car/internal/engine/ir"
)

// logOf is a run with these events.
func logOf(bodies ...assistant.Body) *runLog {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newRunLog("s1", start)
	for _, b := range bodies {
		r.add(assistant.Event{Session: "s1", Time: start.Add(2 * time.Second), Body: b})
	}
	return r
}

// members decodes a document as a reader of the contract does.
func members(t *testing.T, d document) map[string]any {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// D-14: the members of car.do/1 that must be there, and the one that must not.
func TestDocumentKeepsItsContract(t *testing.T) {
	t.Parallel()
	done := members(t, documentOf(logOf(assistant.Done{Text: "fine"}), docSandbox{Mode: "local"}, taskOptions{}, exitDone))
	failed := members(t, documentOf(logOf(assistant.Failure{Error: "no", Code: assistant.CodeProvider}), docSandbox{Mode: "local"}, taskOptions{}, exitFailed))
	auth := members(t, documentOf(logOf(assistant.AuthRequired{Reason: "no_provider", Message: "m", Help: "car models"}), docSandbox{}, taskOptions{}, exitNoProvider))
	turns := members(t, documentOf(logOf(assistant.Failure{Error: "no", Text: "so far", Code: assistant.CodeMaxTurns}), docSandbox{}, taskOptions{}, exitBudget))
	for name, c := range map[string]struct {
		doc         map[string]any
		has, hasNot string
		status      string
	}{
		"success":      {done, "schema summary turns delegations model_used receipts ungrounded_claims sandbox elapsed_seconds session_id cost_usd denied exit_code", "error message suggestions goal", "success"},
		"error":        {failed, "schema error message turns model_used receipts sandbox elapsed_seconds session_id code", "summary", "error"},
		"auth":         {auth, "error message suggestions code", "summary", "error"},
		"out of turns": {turns, "summary code", "error", "max_turns"},
	} {
		if c.doc["status"] != c.status || c.doc["schema"] != "car.do/1" {
			t.Errorf("%s: status %v, schema %v", name, c.doc["status"], c.doc["schema"])
		}
		for _, member := range strings.Fields(c.has) {
			if _, ok := c.doc[member]; !ok {
				t.Errorf("%s: %s is missing", name, member)
			}
		}
		for _, member := range strings.Fields(c.hasNot) {
			if _, ok := c.doc[member]; ok {
				t.Errorf("%s: %s must not be there", name, member)
			}
		}
	}
	if done["elapsed_seconds"] != 2.0 {
		t.Errorf("elapsed_seconds = %v, want 2", done["elapsed_seconds"])
	}
}

// D-14, B041: at most eight samples, failures first, each brief; refusals are counted.
func TestDocumentSamplesFailuresFirst(t *testing.T) {
	t.Parallel()
	var bodies []assistant.Body
	for i := range 12 {
		id := string(rune('a' + i))
		bodies = append(bodies, assistant.ToolCall{CallID: id, Sequence: i + 1, Tool: "shell", Params: map[string]any{"command": strings.Repeat("é", 200)}})
		result := assistant.ToolResult{CallID: id, Sequence: i + 1, Tool: "shell", OK: i < 9, Status: ir.Succeeded}
		if i >= 10 {
			result.Status = ir.Rejected
		}
		bodies = append(bodies, result)
	}
	d := documentOf(logOf(append(bodies, assistant.Done{Text: strings.Repeat("x", 10000)})...), docSandbox{}, taskOptions{}, exitDone)
	r := d.Receipts
	if r.Total != 12 || r.Failed != 3 || r.ByTool["shell"] != 12 || len(r.Sample) != 8 || r.SampleOmitted != 4 || d.Denied != 2 {
		t.Errorf("receipts %+v, denied %d", r, d.Denied)
	}
	for i, s := range r.Sample {
		if s.OK != (i >= 3) {
			t.Errorf("sample %d is ok=%v: failures come first", i, s.OK)
		}
		if len(s.Brief) > 160 || strings.ContainsRune(s.Brief, '\uFFFD') || !strings.HasPrefix(s.Brief, "é") {
			t.Errorf("brief of %d bytes: %q", len(s.Brief), s.Brief)
		}
	}
	if len(*d.Summary) > 4096 || !strings.Contains(*d.Summary, "of 10000 bytes") {
		t.Errorf("a long summary says what is elided: %d bytes", len(*d.Summary))
	}
}
