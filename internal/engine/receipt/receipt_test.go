package receipt_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/receipt"
)

func n(i int) *int { return &i }

func logOf(t *testing.T, maxEvents int, events ...eventlog.Event) *eventlog.Log {
	t.Helper()
	now := time.Unix(0, 0)
	l, err := eventlog.Open(eventlog.Config{Now: func() time.Time { return now }, MaxEvents: maxEvents})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if _, err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// stored are a log's events, oldest first.
func stored(l *eventlog.Log) []eventlog.Event {
	events := l.Query(eventlog.Query{})
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	return events
}

func event(k eventlog.Kind, p, action string, data map[string]any) eventlog.Event {
	return eventlog.Event{Kind: k, ProposalID: ir.ProposalID(p), ActionID: ir.ActionID(action), Data: data}
}

// E-RCPT-1: what ran leaves a receipt, failed calls and reused results included;
// what was refused, skipped unrun or is no tool's leaves none, and another
// proposal's is not this one's.
func TestOf(t *testing.T) {
	t.Parallel()
	l := logOf(t, 0,
		event(eventlog.ActionExecuting, "p1", "a1", map[string]any{"tool": "grep_files", "attempt": 1}),
		event(eventlog.ActionSucceeded, "p1", "a1", map[string]any{"tool": "grep_files", "attempted": true, "ok": true, "result_count": 3}),
		event(eventlog.ActionSucceeded, "p1", "a2", map[string]any{"tool": "shell", "attempted": true, "ok": false}),
		event(eventlog.ActionFailed, "p1", "a3", map[string]any{"tool": "shell", "attempted": true, "ok": false}),
		event(eventlog.ActionFailed, "p1", "a4", map[string]any{"tool": "shell", "attempted": false}),
		event(eventlog.ActionFailed, "p1", "", map[string]any{"tool": "shell", "attempted": true, "stage": "proposal_rollback"}),
		event(eventlog.ActionSkipped, "p1", "a5", map[string]any{"tool": "shell", "attempted": true, "stage": "failure_behavior"}),
		event(eventlog.ActionSkipped, "p1", "a6", map[string]any{"tool": "shell", "attempted": false}),
		event(eventlog.ActionRejected, "p1", "a7", map[string]any{"tool": "shell", "attempted": false}),
		event(eventlog.ActionDeduplicated, "p1", "a8", map[string]any{"tool": "read_file", "attempted": false}),
		event(eventlog.ActionSucceeded, "p1", "a9", map[string]any{"tool": "read_file", "attempted": false, "ok": true, "stage": "result_cache"}),
		event(eventlog.ActionSucceeded, "p1", "a10", map[string]any{"attempted": true, "ok": true}),
		event(eventlog.ActionSucceeded, "p2", "a1", map[string]any{"tool": "push", "attempted": true, "ok": true}),
	)
	want := []receipt.Receipt{
		{Tool: "grep_files", CallID: "a1", OK: true, ResultCount: n(3)}, {Tool: "shell", CallID: "a2"}, {Tool: "shell", CallID: "a3"}, {Tool: "shell", CallID: "a5"},
		{Tool: "read_file", CallID: "a8", OK: true, Reused: true}, {Tool: "read_file", CallID: "a9", OK: true, Reused: true},
	}
	if diff := cmp.Diff(want, receipt.Of(stored(l), receipt.Scope{Proposal: "p1"})); diff != "" {
		t.Errorf("of p1 (-want +got):\n%s", diff)
	}
	if all := receipt.Of(stored(l), receipt.Scope{}); len(all) != 7 {
		t.Errorf("of all: %+v", all)
	}
	run := logOf(t, 0, eventlog.Event{Kind: eventlog.ActionSucceeded, RunID: "r1", ActionID: "a", Data: map[string]any{"tool": "x", "attempted": true, "ok": true}})
	if got := receipt.Of(stored(run), receipt.Scope{Run: "r2"}); len(got) != 0 {
		t.Errorf("of another run: %+v", got)
	}
	if got := receipt.Of(stored(run), receipt.Scope{Run: "r1"}); len(got) != 1 {
		t.Errorf("of the run: %+v", got)
	}
}

// E-RCPT-1, named behaviours "another proposal's receipt grounds nothing" and
// "'found nothing' against 3 caught".
func TestVerify(t *testing.T) {
	t.Parallel()
	receipts := []receipt.Receipt{
		{Tool: "grep_files", CallID: "a1", OK: true, ResultCount: n(3)},
		{Tool: "grep_files", CallID: "a2", OK: true, ResultCount: n(0)},
		{Tool: "list_dir", CallID: "a3", OK: true, ResultCount: n(7)},
		{Tool: "shell", CallID: "a4"},
		{Tool: "read_file", CallID: "a5", OK: true, Reused: true},
	}
	const fabricated, miscount, absent = receipt.FabricatedToolReference, receipt.CountMisstatement, receipt.FalseAbsence
	for _, c := range []struct {
		name         string
		claim        receipt.Claim
		kind, reason string
	}{
		{"ran", receipt.Claim{Kind: receipt.Invoked, Tool: "grep_files"}, "", ""},
		{"failed, and ran", receipt.Claim{Kind: receipt.Invoked, Tool: "shell"}, "", ""},
		{"reused", receipt.Claim{Kind: receipt.Invoked, Tool: "read_file", CallID: "a5"}, "", ""},
		{"never ran", receipt.Claim{Kind: receipt.Invoked, Tool: "web_search"}, fabricated, "no call of 'web_search' ran"},
		{"not that call", receipt.Claim{Kind: receipt.Invoked, Tool: "shell", CallID: "a9"}, fabricated, "no call 'a9' of 'shell' ran"},
		{"another tool's call", receipt.Claim{Kind: receipt.Invoked, Tool: "shell", CallID: "a1"}, fabricated, "no call 'a1' of 'shell' ran"},
		{"counted right", receipt.Claim{Kind: receipt.Count, Tool: "grep_files", Count: n(3)}, "", ""},
		{"counted right, that call", receipt.Claim{Kind: receipt.Count, Tool: "grep_files", CallID: "a1", Count: n(3)}, "", ""},
		{"another call's count", receipt.Claim{Kind: receipt.Count, Tool: "grep_files", CallID: "a2", Count: n(3)}, miscount, "3 claimed, 'grep_files' found 0"},
		{"counted wrong", receipt.Claim{Kind: receipt.Count, Tool: "list_dir", Count: n(12)}, miscount, "12 claimed, 'list_dir' found 7"},
		{"counted without running", receipt.Claim{Kind: receipt.Count, Tool: "web_search", Count: n(1)}, fabricated, "no call of 'web_search' ran"},
		{"no count to compare", receipt.Claim{Kind: receipt.Count, Tool: "shell", Count: n(1)}, "?", "the receipts of 'shell' carry no count"},
		{"no count claimed", receipt.Claim{Kind: receipt.Count, Tool: "list_dir"}, "?", "the claim names no count"},
		{"found nothing, once", receipt.Claim{Kind: receipt.Absence, Tool: "grep_files"}, "", ""},
		{"found nothing against 3", receipt.Claim{Kind: receipt.Absence, Tool: "grep_files", CallID: "a1"}, absent, "'grep_files' found 3"},
		{"found nothing without looking", receipt.Claim{Kind: receipt.Absence, Tool: "web_search"}, fabricated, "no call of 'web_search' ran"},
		{"no kind", receipt.Claim{Tool: "grep_files"}, "?", "the claim is of no known kind"},
	} {
		c.claim.Text = "as worded"
		report := receipt.Verify([]receipt.Claim{c.claim}, receipts, true)
		want := receipt.Report{Grounded: true, Hallucinations: []receipt.Hallucination{}}
		switch c.kind {
		case "":
		case "?":
			want.Ungroundable = []receipt.Ungroundable{{Tool: c.claim.Tool, ClaimText: "as worded", Explanation: c.reason}}
		default:
			want.Grounded = false
			want.Hallucinations = append(want.Hallucinations, receipt.Hallucination{Kind: c.kind, Tool: c.claim.Tool, ClaimText: "as worded", Explanation: c.reason})
		}
		if diff := cmp.Diff(want, report); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// E-RCPT-2, named behaviour "unscoped over a trimmed log is ungroundable": where
// receipts may be gone, nobody is accused for the lack of one.
func TestWindow(t *testing.T) {
	t.Parallel()
	ran := event(eventlog.ActionSucceeded, "p1", "a1", map[string]any{"tool": "grep_files", "attempted": true, "ok": true, "result_count": 3})
	l := logOf(t, 3, event(eventlog.ActionValidated, "p0", "a0", nil), event(eventlog.ProposalReceived, "p1", "", nil), ran, event(eventlog.StateCommitted, "p1", "", nil))
	events := stored(l)
	for _, c := range []struct {
		name    string
		scope   receipt.Scope
		trimmed bool
		want    bool
	}{
		{"nothing trimmed", receipt.Scope{}, false, true}, {"nothing trimmed, another proposal", receipt.Scope{Proposal: "p9"}, false, true},
		{"trimmed, unscoped", receipt.Scope{}, true, false}, {"trimmed, its beginning is there", receipt.Scope{Proposal: "p1"}, true, true},
		{"trimmed, its beginning is gone", receipt.Scope{Proposal: "p0"}, true, false},
	} {
		if got := receipt.Complete(events, c.trimmed, c.scope); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !l.Trimmed() || logOf(t, 3, ran).Trimmed() {
		t.Error("a log does not know whether it was trimmed")
	}
	claims := []receipt.Claim{{Kind: receipt.Invoked, Tool: "shell", Text: "I ran it"}, {Kind: receipt.Count, Tool: "grep_files", Count: n(9)}, {Kind: receipt.Absence, Tool: "grep_files"}}
	report := receipt.Verify(claims, receipt.Of(events, receipt.Scope{}), false)
	if !report.Grounded || len(report.Ungroundable) != 3 || report.Ungroundable[0].Explanation != "window evicted" || report.Ungroundable[0].ClaimText != "I ran it" {
		t.Errorf("%+v", report)
	}
	claims[1].CallID = "a1"
	if report := receipt.Verify(claims[1:2], receipt.Of(events, receipt.Scope{}), false); report.Grounded {
		t.Error("the receipt of the very call is there, and its count is wrong")
	}
}

// Wire: labels of claims and reports are those of the reference.
func TestWire(t *testing.T) {
	t.Parallel()
	var claims []receipt.Claim
	text := `[{"kind":"invoked","tool":"t"},{"kind":"count","tool":"t","call_id":"c","count":2,"text":"two"},{"kind":"absence","tool":"t"}]`
	if err := json.Unmarshal([]byte(text), &claims); err != nil {
		t.Fatal(err)
	}
	if back, err := json.Marshal(claims); err != nil || string(back) != text {
		t.Errorf("%s, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`[{"kind":"boast","tool":"t"}]`), &claims); err == nil {
		t.Error("took a kind that is none")
	}
	report, err := json.Marshal(receipt.Verify(claims[1:2], []receipt.Receipt{{Tool: "t", CallID: "c", ResultCount: n(1)}}, true))
	want := `{"grounded":false,"hallucinations":[{"kind":"count_misstatement","tool":"t","claim_text":"two","explanation":"2 claimed, 't' found 1"}]}`
	if err != nil || string(report) != want {
		t.Errorf("%s, %v", report, err)
	}
}
