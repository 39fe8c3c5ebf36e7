package main

import (
	"bufio"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"
)

// crashingCar is car that kills itself as a power cut would, at the write to its
// database that $CRASH_AT names: what stands before that write is on disk, the
// write itself is not. The program is the real one; only the database's trigger is new.
func crashingCar() {
	sqlite.MustRegisterScalarFunction("crash_now", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return nil, syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
	at := os.Getenv("CRASH_AT")
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, dsn string) error {
		if !strings.Contains(dsn, "synchronous") {
			return nil
		}
		_, err := conn.ExecContext(context.Background(), "CREATE TEMP TRIGGER crash BEFORE "+at+" BEGIN SELECT crash_now(); END", nil)
		return err
	})
	main()
}

// crashPoints are the rows of A-DUR-5: where the process ends, what the model is
// told of its call by the next request, and how often the line must then be there.
var crashPoints = []struct {
	name, at string
	told     string
	lines    int
}{
	{"input row written", "INSERT ON turns", "", 0},
	{"user message written", "mid-stream", "", 0},
	{"assistant message written", "INSERT ON action_log WHEN NEW.new = 'proposed'", "interrupted before approval", 0},
	{"question open", "question", "approval was interrupted", 0},
	{"answer given, not written", "INSERT ON action_log WHEN NEW.new = 'approved'", "approval was interrupted", 0},
	{"approved", "INSERT ON action_log WHEN NEW.new = 'dispatched'", `\"ok\":true`, 1},
	{"done before its row", "INSERT ON action_log WHEN NEW.new IN ('completed', 'failed')", "indeterminate after restart", 1},
	{"completed, before the tool message", "INSERT ON messages WHEN NEW.body LIKE '%tool_result%'", "", 1},
	{"turn ended, before it was shown", "INSERT ON anchors WHEN NOT EXISTS (SELECT 1 FROM turns WHERE status = 'in_progress')", "", 1},
}

// ledgerRun is a session that appends lines to a ledger, round by round.
type ledgerRun struct {
	site
	server *modelServer
	n      int
	// acknowledged are the lines whose result was seen as ok.
	acknowledged map[string]bool
	// decision answers every question; asked counts them.
	decision string
	asked    int
}

func newLedgerRun(t *testing.T) *ledgerRun {
	t.Helper()
	r := &ledgerRun{site: newSite(t), acknowledged: map[string]bool{}, decision: "once"}
	r.server = newModelServer(t, func(n string) string { return "echo " + n + " >> ledger.txt" })
	r.env = append(r.env, r.server.env()...)
	// The first round makes the database and the session; it ends well.
	if err := r.round(t, "anthropic/stub", "", 0); err != nil {
		t.Fatal(err)
	}
	return r
}

// round asks for one more line and approves what is asked. It ends by itself, at a
// crash point, or killed after a time. An error is a run that ended badly by itself.
func (r *ledgerRun) round(t *testing.T, model, at string, after time.Duration) error {
	t.Helper()
	r.n++
	line := fmt.Sprintf("%d.", r.n)
	program := "car"
	env := r.env
	if strings.Contains(at, " ON ") {
		program, env = "car-crash", append(append([]string{}, r.env...), "CRASH_AT="+at)
	}
	args := []string{"do", "--local", "--input-format", "stream-json", "--output-format", "stream-json", "--model", model, "append " + line}
	if r.n > 1 {
		args = append(args, "--continue")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = r.dir, env
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{}) // closed when there is a process to kill
	kill := func() {
		<-started
		_ = cmd.Process.Kill() // it may have ended already
	}
	r.server.mu.Lock()
	r.server.stall = nil
	if at == "mid-stream" {
		r.server.stall = kill
	}
	r.server.mu.Unlock()
	err = cmd.Start()
	close(started)
	if err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, kill)
		defer timer.Stop()
	}
	r.follow(out, in, func() bool {
		if at == "question" {
			kill()
		}
		return at == "question"
	})
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		return nil
	case at != "":
		return fmt.Errorf("round %d went past %q: %v\n%s", r.n, at, err, said.String())
	case err != nil:
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		return fmt.Errorf("round %d: %w\n%s\nrefused requests: %q", r.n, err, said.String(), r.server.broken)
	}
	return nil
}

// follow answers questions and notes what was acknowledged, until stdout ends.
func (r *ledgerRun) follow(out io.Reader, in io.Writer, atQuestion func() bool) {
	lineOf := map[string]string{}
	events := bufio.NewScanner(out)
	events.Buffer(nil, 1<<20)
	for events.Scan() {
		var e struct {
			Kind       string
			ApprovalID string `json:"approval_id"`
			CallID     string `json:"call_id"`
			OK         bool
			Params     struct{ Command string }
		}
		if json.Unmarshal(events.Bytes(), &e) != nil {
			continue // cut by the kill
		}
		switch e.Kind {
		case "approval_pending":
			r.asked++
			if !atQuestion() {
				fmt.Fprintf(in, `{"type":"approve","approval_id":%q,"decision":%q}`+"\n", e.ApprovalID, r.decision)
			}
		case "tool_call":
			lineOf[e.CallID] = strings.Fields(e.Params.Command)[1]
		case "tool_result":
			if e.OK {
				r.acknowledged[lineOf[e.CallID]] = true
			}
		}
	}
}

// ledger counts the lines that were written.
func (r *ledgerRun) ledger(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "ledger.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, l := range strings.Fields(string(text)) {
		lines[l]++
	}
	return lines
}

// check holds the ledger: no line twice, none lost that was acknowledged; and no
// request that a provider would have refused.
func (r *ledgerRun) check(t *testing.T) {
	t.Helper()
	lines := r.ledger(t)
	for l, n := range lines {
		if n > 1 {
			t.Errorf("line %s is there %d times", l, n)
		}
	}
	for l := range r.acknowledged {
		if lines[l] != 1 {
			t.Errorf("line %s was acknowledged and is there %d times", l, lines[l])
		}
	}
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for _, b := range r.server.broken {
		t.Errorf("a provider would refuse the request: %s", b)
	}
}

// toldOf is the result of the call before the newest words, as the newest request holds it.
func (r *ledgerRun) toldOf() string {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for i := len(r.server.prompts) - 1; i >= 0; i-- {
		if t := r.server.prompts[i]; strings.Contains(t.words, fmt.Sprintf("append %d.", r.n-1)) {
			for _, later := range r.server.prompts[i:] {
				if len(later.resultTexts) > 0 {
					return later.resultTexts[0]
				}
			}
		}
	}
	return ""
}

var formats = []string{"anthropic/stub", "openai/stub"}

// A-DUR-4, A-DUR-5, A-DUR-6, P-WORK-2, P-WORK-6, B007: the process is killed at
// every point of the table, in both formats: an approved action that was not
// started runs exactly once at resume, one that may have run is not run again, and
// the first request after each is one that the provider takes.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	r := newLedgerRun(t)
	for _, p := range crashPoints {
		for i, model := range formats {
			if err := r.round(t, model, p.at, 0); err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			// The other format goes on, so that ids are carried over.
			if err := r.round(t, formats[1-i], "", 0); err != nil {
				t.Fatalf("after %s: %v", p.name, err)
			}
			if told := r.toldOf(); !strings.Contains(told, p.told) && !strings.Contains(told, strings.ReplaceAll(p.told, `\`, "")) {
				t.Errorf("%s: the model was told %q", p.name, told)
			}
			if got := r.ledger(t)[fmt.Sprintf("%d.", r.n-1)]; got != p.lines {
				t.Errorf("%s: the line is there %d times, want %d", p.name, got, p.lines)
			}
		}
	}
	r.check(t)
}

// crashRounds is how often a run is killed at a random instant.
func crashRounds() int {
	if os.Getenv("CAR_CI_LONG") != "" {
		return 300
	}
	return 24
}

// A-DUR-6, P-WORK-6, P-WORK-3: killed at random instants, round after round in one
// session, no line is there twice and none is lost that was acknowledged.
func TestCrashAtRandom(t *testing.T) {
	t.Parallel()
	r := newLedgerRun(t)
	began := time.Now()
	if err := r.round(t, formats[1], "", 0); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	random := rand.New(rand.NewPCG(1, 2))
	for range crashRounds() {
		if err := r.round(t, formats[random.IntN(2)], "", time.Duration(random.Int64N(int64(whole)*5/4))+time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.round(t, formats[0], "", 0); err != nil {
		t.Fatal(err)
	}
	r.check(t)
	out, err := r.car(t.Context(), "log", "verify").CombinedOutput()
	if err != nil {
		t.Errorf("the record of the session: %v\n%s", err, out)
	}
	t.Logf("%d rounds, %d acknowledged, %d lines", r.n, len(r.acknowledged), len(r.ledger(t)))
}

// programs are what tests run as processes.
func programs() map[string]func() { return map[string]func(){"car": main, "car-crash": crashingCar} }
