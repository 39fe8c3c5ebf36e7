package main

import (
	"strings"
	"testing"
)

// B013, A-APPR-12, P-GUARD-3: what was allowed for the session is asked once: it
// holds for the next runs, another model and a resume, is listed, and is asked again
// when it was taken back.
func TestB013OnePromptForASession(t *testing.T) {
	t.Parallel()
	r := &ledgerRun{site: newSite(t), acknowledged: map[string]bool{}, decision: "session"}
	r.server = newModelServer(t, func(n string) string { return "make line N=" + n })
	r.env = append(r.env, r.server.env()...)
	r.write(t, "Makefile", "line:\n\t@echo $(N) >> ledger.txt\n")
	for i := range 4 {
		if err := r.round(t, formats[i%2], "", 0); err != nil {
			t.Fatal(err)
		}
	}
	if lines := r.ledger(t); r.asked != 1 || len(lines) != 4 {
		t.Errorf("asked %d times for the lines %v, want once for four", r.asked, lines)
	}
	out, err := r.car(t.Context(), "sessions", "grants", "01").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "commands that are only: make line …") {
		t.Fatalf("listed: %v\n%s", err, out)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		n, _, _ := strings.Cut(l, " ")
		if out, err := r.car(t.Context(), "sessions", "grants", "01", "--revoke", n).CombinedOutput(); err != nil {
			t.Fatalf("revoke: %v\n%s", err, out)
		}
	}
	if err := r.round(t, formats[0], "", 0); err != nil {
		t.Fatal(err)
	}
	if r.asked != 2 {
		t.Errorf("asked %d times, want again after the grant was taken back", r.asked)
	}
}

// B003, P-WORK-3: after a kill, the resumed session's first request holds every
// turn in order.
func TestB003ResumeHoldsEveryTurn(t *testing.T) {
	t.Parallel()
	r := newLedgerRun(t)
	for r.n < 12 {
		if err := r.round(t, formats[0], "", 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.round(t, formats[0], "mid-stream", 0); err != nil {
		t.Fatal(err)
	}
	if err := r.round(t, formats[1], "", 0); err != nil {
		t.Fatal(err)
	}
	r.server.mu.Lock()
	var said []string
	for _, turn := range r.server.prompts {
		if at := strings.LastIndex(turn.words, "append "); turn.role == "user" && at >= 0 {
			said = append(said, strings.TrimSpace(turn.words[at+len("append "):]))
		}
	}
	r.server.mu.Unlock()
	if got := strings.Join(said, " "); got != "1. 2. 3. 4. 5. 6. 7. 8. 9. 10. 11. 12. 13. 14." {
		t.Errorf("the request holds the turns %s", got)
	}
	r.check(t)
}
