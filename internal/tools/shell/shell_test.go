package shell

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

func bash() tool.Tool { return New(tool.Bindings{Describe: tool.Description{Dialect: "bash"}}) }

func TestSuite(t *testing.T) {
	t.Parallel()
	tooltest.Suite(t, tooltest.Case{
		Tool: bash(), House: tooltest.Open(t, time.Now),
		Good: []map[string]any{{"command": "true"}, {"command": "exit 3", "timeout_secs": 5.0}, {"command": "true", "timeout_secs": 100000.0}},
		Bad:  []map[string]any{{}, {"command": ""}, {"command": " \n"}, {"command": "a\x00b"}, {"command": 1.0}, {"command": "x", "timeout_secs": "1"}, {"command": "x", "background": "yes"}},
		Slow: map[string]any{"command": "trap '' TERM; while :; do sleep 0.1; done"},
	})
}

// T-SET-2: without a substrate there is no shell; T-SHELL-1, T-SHELL-2: the
// description says what runs and that a cd does not stay.
func TestDescriptionIsTrue(t *testing.T) {
	t.Parallel()
	if New(tool.Bindings{}) != nil {
		t.Error("advertised without a dialect")
	}
	d := bash().Spec().Description
	for _, want := range []string{"bash --noprofile --norc -c", "`cd` does not carry over", "denied", "ask the person"} {
		if !strings.Contains(d, want) {
			t.Errorf("the description does not say %q", want)
		}
	}
	if d := New(tool.Bindings{Describe: tool.Description{Dialect: "sh"}}).Spec().Description; !strings.Contains(d, "sh -c") || strings.Contains(d, "--norc") {
		t.Errorf("sh: %s", d)
	}
}

// T-SHELL-1: the reference's words for a missing command.
func TestMissingCommand(t *testing.T) {
	t.Parallel()
	if _, err := bash().Effects(tool.Call{Params: map[string]any{}}); err == nil || !strings.Contains(err.Error(), "missing 'command' parameter") {
		t.Errorf("got %v", err)
	}
	e, err := bash().Effects(tool.Call{Params: map[string]any{"command": " ls\t'a' "}})
	if err != nil || e.Shell.Text != " ls\t'a' " {
		t.Errorf("the text is not declared byte for byte: %+v %v", e, err)
	}
}

// T-SHELL-2, T-SHELL-7: in the root, merged, and a failure is a result.
func TestResults(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	for _, c := range []struct {
		command, output, note, signal string
		code                          float64
	}{
		{"pwd; echo err >&2; exit 4", h.Root + "\nerr\n", "", "", 4},
		{"no-such-cmd 2>/dev/null", "", "not found on PATH", "", 127},
		{"sh -c 'kill -SEGV $$'; exit $?", "", "", "SIGSEGV", 139},
		{"kill -KILL $$", "", "", "SIGKILL", 137},
		{"cd / && pwd", "/\n", "", "", 0},
		{"pwd", h.Root + "\n", "", "", 0},
	} {
		out := h.Must(t, bash(), map[string]any{"command": c.command})
		signal, _ := out["signal"].(string)
		note, _ := out["note"].(string)
		if out["output"] != c.output && !strings.Contains(c.command, "SEGV") || out["exit_code"] != c.code || signal != c.signal || !strings.Contains(note, c.note) || out["timed_out"] != false {
			t.Errorf("%q: got %v", c.command, out)
		}
	}
}

// T-SHELL-3, B031: the limit ends it, is said, and is clamped with a note.
func TestTimeout(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	began := time.Now()
	out := h.Must(t, bash(), map[string]any{"command": "echo up; sleep 600", "timeout_secs": 2.0})
	took := time.Since(began).Milliseconds()
	if out["timed_out"] != true || out["output"] != "up\n" || out["exit_code"] != 143.0 || out["signal"] != "SIGTERM" || !strings.Contains(out["note"].(string), "limit of 2 s") {
		t.Errorf("got %v", out)
	}
	if ms := out["duration_ms"].(float64); ms < 2000 || ms > float64(took)+1 {
		t.Errorf("duration %v of %d", ms, took)
	}
	for secs, note := range map[float64]string{9999: "600 was used", 0: "1 was used", -5: "1 was used"} {
		out := h.Must(t, bash(), map[string]any{"command": "true", "timeout_secs": secs})
		if !strings.Contains(out["note"].(string), note) {
			t.Errorf("%v: %v", secs, out)
		}
	}
}

// B031, T-SHELL-5: what was left behind is named, and the call is not an error.
func TestB031LeftRunning(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	out := h.Must(t, bash(), map[string]any{"command": "sleep 600 & echo ok", "timeout_secs": 300.0})
	if pids, _ := out["left_running"].([]any); len(pids) != 1 || out["exit_code"] != 0.0 || out["timed_out"] != false || !strings.Contains(out["note"].(string), "left processes running") {
		t.Errorf("got %v", out)
	}
}

// B033: a command that needs a person fails at once and says why.
func TestB033PromptFailsFast(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	h.Put(t, "fakesudo", "#!/bin/sh\nprintf 'Password: ' >/dev/tty || exit 1\nread x </dev/tty\n")
	out := h.Must(t, bash(), map[string]any{"command": "sh ./fakesudo"})
	if out["exit_code"] == 0.0 || out["timed_out"] != false || !strings.Contains(out["output"].(string), "/dev/tty") {
		t.Errorf("got %v", out)
	}
}

// T-SHELL-7: a run that removed its own folder says so.
func TestWorkingDirectoryGone(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	out := h.Must(t, bash(), map[string]any{"command": `rm -rf "$PWD"; echo done`})
	if out["cwd_missing"] != true || out["output"] != "done\n" {
		t.Errorf("got %v", out)
	}
	h.Fails(t, bash(), map[string]any{"command": "true"}, tool.NotFound, "working directory is gone")
	os.Mkdir(h.Root, 0o755)
}

// fake is what Env's spawner reports of output beyond bounds.
type fake struct {
	o    tool.Outcome
	err  error
	seen tool.Command
}

func (f *fake) Spawn(_ context.Context, c tool.Command) (tool.Outcome, error) {
	f.seen = c
	return f.o, f.err
}

// B075, T-SHELL-8: what Env cut, spooled and masked is passed on under its names.
func TestB075BoundsArePassedOn(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	env := h.Env()
	f := &fake{o: tool.Outcome{Output: "head…tail", Truncated: true, Total: 1000, Spool: "/tmp/spool", Redacted: 2, Duration: time.Second}}
	env.Spawn = f
	ran, err := bash().Run(t.Context(), tool.Call{Params: map[string]any{"command": "flood"}}, env)
	if err != nil {
		t.Fatal(err)
	}
	out := ran.Output.(map[string]any)
	if out["truncated"] != true || out["spool"] != "/tmp/spool" || out["redacted"] != 2.0 || f.seen.Timeout != 120*time.Second || f.seen.Text != "flood" {
		t.Errorf("got %v, ran %+v", out, f.seen)
	}
	if b := ran.Blocks; len(b) != 2 || b[0].Omitted != int64(1000-len("head…tail")) || b[1].Kind != ir.BlockExit || b[1].Exit.DurationMS != 1000 {
		t.Errorf("blocks %+v", b)
	}
	f.err = errors.New("no")
	if _, err := bash().Run(t.Context(), tool.Call{Params: map[string]any{"command": "x"}}, env); !errors.Is(err, f.err) {
		t.Errorf("got %v", err)
	}
}
