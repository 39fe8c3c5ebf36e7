package eventlog_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/eventlog"
)

// killEnv carries the folder of the session into the process that is killed.
const killEnv = "EVENTLOG_TEST_KILL"

// killRounds is how often it is killed, each time some writes further on.
const killRounds = 8

// E-LOG-1, B-CHAIN-1, Q-TEST-4: a process that is killed with -9 at any write of
// its log, a rewrite included, leaves a log that opens, verifies against its anchor
// and holds every event that was acknowledged; what a crash leaves unanchored is
// told and taken up.
func TestKilledAtAnyWrite(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(killEnv); dir != "" {
		appendUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	acknowledged, torn := uint64(0), 0
	for round := range killRounds {
		for _, seq := range killAfter(t, dir, 1+15*round*round) {
			acknowledged = max(acknowledged, seq)
		}
		c := killConfig(t, dir)
		audit, err := eventlog.VerifyAnchored(c.Path, *c.Anchoring, "")
		if err != nil || !audit.OK() || audit.Found < acknowledged {
			t.Fatalf("round %d: %q (%s), %v; %d events were acknowledged", round, audit, audit.Reason, err, acknowledged)
		}
		l := open(t, c)
		if n := l.Count(eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionExecuting}}); n == 0 {
			t.Fatalf("round %d: opened without an event", round)
		}
		switch notice := l.Notice(); {
		case strings.Contains(notice, "torn last line"):
			torn++
		case notice != "":
			t.Fatalf("round %d: %s", round, notice)
		}
		must(t, l.Close())
		if audit, err := eventlog.VerifyAnchored(c.Path, *c.Anchoring, ""); err != nil || !audit.OK() || audit.Unanchored > 0 {
			t.Fatalf("round %d, opened again: %q (%s), %v", round, audit, audit.Reason, err)
		}
	}
	if n := strings.Count(read(t, filepath.Join(dir, "events.jsonl")), "\n"); uint64(n) >= acknowledged {
		t.Errorf("%d lines of %d events: it was never rewritten", n, acknowledged)
	}
	t.Logf("%d events, %d torn lines", acknowledged, torn)
}

func killConfig(t *testing.T, dir string) eventlog.Config {
	t.Helper()
	db, err := store.Open(context.Background(), store.Config{Path: filepath.Join(dir, "car.db"), Now: time.Now, Holder: store.Self()})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return eventlog.Config{Path: filepath.Join(dir, "events.jsonl"), Now: time.Now, Chain: true, Genesis: eventlog.GenesisOf("s1"), MaxEvents: 300,
		Anchoring: &eventlog.Anchoring{Session: "s1", Store: &anchors{db: db}, Key: []byte("a key of the test")}}
}

// killAfter starts a process that appends, kills it once it has acknowledged n
// events, and returns those it acknowledged.
func killAfter(t *testing.T, dir string, n int) []uint64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtAnyWrite$")
	cmd.Env = append(os.Environ(), killEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	var seqs []uint64
	for lines.Scan() {
		var seq uint64
		if _, err := fmt.Sscanf(lines.Text(), "appended %d", &seq); err != nil {
			t.Fatalf("the process says %q", lines.Text())
		}
		if seqs = append(seqs, seq); len(seqs) == n {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || len(seqs) < n {
		t.Fatalf("the process ended by itself after %d events: %v", len(seqs), err)
	}
	return seqs
}

func appendUntilKilled(t *testing.T, dir string) {
	l := open(t, killConfig(t, dir))
	for {
		e := appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting, ActionID: "a1", Data: map[string]any{"text": strings.Repeat("x", 2000)}})
		if _, err := io.WriteString(os.Stdout, fmt.Sprintf("appended %d\n", e.Seq)); err != nil {
			return
		}
	}
}
