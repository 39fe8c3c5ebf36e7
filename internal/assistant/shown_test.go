package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"car/internal/engine/ir"
	"car/internal/engine/redact"
)

const secretValue = "hunter2hunter2hunter2"

func glass() lens { return lens{redact.New([]string{secretValue})} }

// A-EVT-5: the excerpt is the result's JSON, its first third and its end in at most
// 2,000 characters, valid, without control bytes and without secrets.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	l := glass()
	if got := l.excerpt(ok(map[string]any{"exit_code": float64(0), "output": "fine"})); got != `{"exit_code":0,"output":"fine"}` {
		t.Errorf("excerpt %s", got)
	}
	if got := l.excerpt(denied("no")); got != `{"error":"no"}` {
		t.Errorf("excerpt %s", got)
	}
	long := l.excerpt(ok("START" + strings.Repeat("é\u009b\x1b[2J", 3000) + secretValue + "END"))
	if n := utf8.RuneCountInString(long); n > 2000 || n < 1900 {
		t.Errorf("%d characters", n)
	}
	if !strings.HasPrefix(long, `"START`) || !strings.HasSuffix(long, `END"`) || !strings.Contains(long, "…[truncated]…") || strings.Contains(long, secretValue) {
		t.Errorf("excerpt %s", long)
	}
	for _, r := range long {
		if unicode.IsControl(r) {
			t.Fatalf("the excerpt holds %U", r)
		}
	}
	head, _, _ := strings.Cut(long, "…[truncated]…")
	if n := utf8.RuneCountInString(head); n < 600 || n > 700 {
		t.Errorf("the head has %d characters", n)
	}
}

// A-EVT-5: evidence is a few whitelisted scalars, bounded, with secret query values masked.
func TestEvidence(t *testing.T) {
	t.Parallel()
	r := ok(map[string]any{"exit_code": float64(1), "timed_out": false, "output": "not evidence", "final_url": "https://u:p@x.test/a?token=abc&page=2",
		"path": strings.Repeat("p", 500), "matches": []any{"no list"}, "env": "no"})
	r.AllowedBy = "auto:sandbox_edit"
	e := glass().evidence(r)
	if e["exit_code"] != float64(1) || e["timed_out"] != false || e["allowed_by"] != "auto:sandbox_edit" || e["output"] != nil || e["matches"] != nil || e["env"] != nil {
		t.Errorf("evidence %v", e)
	}
	if u := e["final_url"].(string); strings.Contains(u, "abc") || strings.Contains(u, "u:p") || !strings.Contains(u, "page=2") || !strings.Contains(u, "REDACTED") {
		t.Errorf("the URL is %s", u)
	}
	if n := utf8.RuneCountInString(e["path"].(string)); n != 200 {
		t.Errorf("the path has %d characters", n)
	}
}

// A-EVT-6: a tool_call shows at most 4 KiB of its parameters, redacted; an approval
// shows exactly what will run, or for more than 64 KiB its digest.
func TestShownParameters(t *testing.T) {
	t.Parallel()
	l := glass()
	params := map[string]any{"path": "a", "content": strings.Repeat("x", 100_000), "api_key": "anything", "command": "echo " + secretValue}
	shown := l.params(params)
	if n := jsonSize(shown); n > shownParams || shown["path"] != "a" || shown["api_key"] != redact.Mask || strings.Contains(shown["command"].(string), secretValue) {
		t.Errorf("%d bytes: %.300v", n, shown)
	}
	if n := jsonSize(l.params(map[string]any{"list": make([]any, 100_000)})); n > shownParams {
		t.Errorf("a list shows %d bytes", n)
	}
	if got := pending(map[string]any{"command": "echo " + secretValue}); got["command"] != "echo "+secretValue {
		t.Errorf("an approval shows %v", got)
	}
	digest, _ := ir.DigestOf(params)
	if got := pending(params); got["params_digest"] != string(digest) || got["path"] != "a" || got["content"] != nil {
		t.Errorf("a large approval shows %.200v", got)
	}
}

// D-23: a secret that a model streams in pieces is masked in every event, and the
// terminal's text too; what the model itself is sent again is not changed.
func TestStreamedSecretsAreMasked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{thinking: "it is " + secretValue + " ", text: "The value is " + secretValue + ", as asked.", stop: 1}, says("ok"))
	h.config.Redactor = redact.New([]string{secretValue})
	c, f := h.start()
	for range 2 {
		if err := c.Send(t.Context(), Input{Text: "say it"}); err != nil {
			t.Fatal(err)
		}
		f.end()
	}
	if text := jsonText(f.all); strings.Contains(text, secretValue) || strings.Contains(text, "hunter2h") {
		t.Errorf("an event holds the secret: %s", text)
	}
	var shown strings.Builder
	for _, b := range bodies[Token](f.all) {
		shown.WriteString(b.Delta)
	}
	if !strings.Contains(shown.String(), "The value is [REDACTED], as asked.") {
		t.Errorf("shown %q", shown.String())
	}
	if !strings.Contains(jsonText(h.model.requests()[1].Messages), secretValue) {
		t.Error("the transcript was changed")
	}
}

// A-EVT-7: the report holds at most 100 receipts and 64 KiB, the newest, with exact
// counts of what is left out.
func TestReceiptReportIsBounded(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 130 {
		pairs = append(pairs, "write_file", fmt.Sprintf(`{"path":"%s%03d"}`, strings.Repeat("é", 70), i))
	}
	h := newHouse(t, callsTools(pairs...), says("ok"))
	h.hands.tools["write_file"] = func(_ context.Context, p map[string]any) ir.ActionResult { return wrote(p["path"].(string)) }
	report := bodies[ReceiptReport](h.say(Input{Text: "go"}))[0]
	if len(report.ToolReceipts)+report.ToolReceiptsOmitted != 130 || len(report.ToolReceipts) > 100 || report.ToolReceipts[len(report.ToolReceipts)-1].CallID != "t1c130" {
		t.Errorf("%d receipts, %d omitted", len(report.ToolReceipts), report.ToolReceiptsOmitted)
	}
	if len(report.DesktopActions)+report.DesktopActionsOmitted != 130 {
		t.Errorf("%d actions, %d omitted", len(report.DesktopActions), report.DesktopActionsOmitted)
	}
	if n := jsonSize(report); n > reportBytes {
		t.Errorf("the report has %d bytes", n)
	}
	for _, r := range report.ToolReceipts {
		if len(r.Brief) > briefBytes || !utf8.ValidString(r.Brief) {
			t.Fatalf("a brief has %d bytes", len(r.Brief))
		}
	}
}

// A-EVT-7: receipts of an earlier run are not told again; a shell is ok only with exit 0.
func TestReceiptsAreTheRunsOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("shell", `{"command":"false"}`), says("a"), says("b"))
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return exits(1, "") }
	c, f := h.start()
	for i, want := range []int{1, 0} {
		if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		report := bodies[ReceiptReport](f.end())[0]
		if len(report.ToolReceipts) != want {
			t.Errorf("run %d: %d receipts", i+1, len(report.ToolReceipts))
		}
		if i == 0 && (report.ToolReceipts[0].OK || report.ToolReceipts[0].Status != "succeeded" || report.ToolReceipts[0].Brief != "false") {
			t.Errorf("the receipt is %+v", report.ToolReceipts[0])
		}
	}
}

// A-EVT: every event of a run has the envelope and its kind's word, and every kind has one.
func TestEventsOnTheWire(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"a"}`), says("ok"))
	reads(h)
	for _, e := range h.say(Input{Text: "go"}) {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if m["session_id"] != "s1" || m["kind"] != e.Body.Kind().String() || m["run"] != float64(1) || m["seq"] != float64(e.Seq) || m["ts"] == nil {
			t.Errorf("on the wire: %s", b)
		}
	}
	for k := KindInferenceStarted; k <= KindAuthRequired; k++ {
		if strings.HasPrefix(k.String(), "unknown") {
			t.Errorf("kind %d has no word", k)
		}
	}
}
