//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// site is a project with a fresh home in which the real binary runs.
type site struct {
	dir string
	env []string
}

func newSite(t *testing.T) site {
	t.Helper()
	return site{dir: t.TempDir(), env: freshHome(t)}
}

func (s site) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (s site) mkdir(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(s.dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (s site) car(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "car", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// scenario is a model that makes one shell call and then says what it knows.
func (s site) scenario(t *testing.T, command, words string) string {
	t.Helper()
	return s.write(t, "scenario.toml", fmt.Sprintf("version = 1\n[[turn]]\ntext = \"I run it.\"\n[[turn.call]]\nname = \"shell\"\nargs = { command = %q }\n[[turn]]\ntext = %q\n", command, words))
}

// awaitFile is a pipe that a command writes to when it has begun: reading it waits
// for that and for nothing else, and not for ever.
func (s site) awaitFile(t *testing.T) (wait func()) {
	t.Helper()
	path := filepath.Join(s.dir, "begun")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // both ends, so that opening waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func() {
		t.Helper()
		if err := f.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(f).ReadString('\n'); err != nil {
			t.Fatalf("the command never began: %v", err)
		}
	}
}

// P-PROC-2, A-CLI-2: one ctrl+c ends the work in flight and leaves within a
// second; what the command started is gone, and the code tells which signal it was.
func TestASignalEndsTheWorkInFlight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		want   exitCode
	}{
		"interrupt": {syscall.SIGINT, exitInterrupted},
		"terminate": {syscall.SIGTERM, exitTerminated},
		"hangup":    {syscall.SIGHUP, exitHangup},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			begun := s.awaitFile(t)
			sleep := fmt.Sprintf("sleep 600.%d", os.Getpid()*10+int(c.signal))
			scenario := s.scenario(t, "echo go > begun; "+sleep, "done")
			cmd := s.car(t.Context(), "do", "--tier", "full_access", "--model", "scripted:"+scenario, "sleep")
			var said bytes.Buffer
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			begun()
			asked := time.Now()
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the code is looked at
			if took := time.Since(asked); took > slowdown*time.Second {
				t.Errorf("car left %v after the signal, want within a second", took)
			}
			if got := cmd.ProcessState.ExitCode(); got != int(c.want) {
				t.Errorf("exit code %d, want %d\n%s", got, c.want, said.String())
			}
			mustBeGone(t, sleep)
		})
	}
}

// A-CLI-2: whoever sends a second signal does not wait for a command that is deaf
// to the first, and still leaves nothing running (B035).
func TestASecondSignalLeavesAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	begun := s.awaitFile(t)
	mark := fmt.Sprintf("601.%d", os.Getpid())
	scenario := s.scenario(t, "trap '' TERM INT HUP; echo go > begun; while :; do sleep "+mark+"; done", "done")
	cmd := s.car(t.Context(), "do", "--tier", "full_access", "--model", "scripted:"+scenario, "sleep")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	asked := time.Now()
	for cmd.ProcessState == nil { // the first may not have been seen when the second comes
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			break
		}
		if waited(cmd, 50*time.Millisecond) {
			break
		}
	}
	_ = cmd.Wait()
	if took := time.Since(asked); took > slowdown*time.Second {
		t.Errorf("car left %v after the second signal, want at once", took)
	}
	for _, words := range []string{"sleep " + mark, "/bin/bash --noprofile --norc -c trap '' TERM INT HUP; echo go > begun; while :; do sleep " + mark} {
		mustBeGone(t, words)
	}
}

// waited reports whether a process ended within a while.
func waited(cmd *exec.Cmd, d time.Duration) bool {
	deadline := time.Now().Add(d)
	for time.Now().Before(deadline) {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid)); err != nil || strings.Contains(string(text), ") Z ") {
			return true
		}
	}
	return false
}

// mustBeGone fails when a command is alive 3 s from now (B035): a killed process
// takes a moment to go.
func mustBeGone(t *testing.T, text string) {
	t.Helper()
	left := processes(t, text)
	for deadline := time.Now().Add(3 * time.Second); left != "" && time.Now().Before(deadline); {
		left = processes(t, text)
	}
	if left != "" {
		t.Errorf("left running: %s", left)
	}
}

// processes lists the command lines that hold a text, this test's own aside.
func processes(t *testing.T, text string) string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if words := strings.ReplaceAll(string(line), "\x00", " "); strings.HasPrefix(words, text) {
			found = append(found, words)
		}
	}
	return strings.Join(found, "; ")
}

// A-CLI-2, U-CLI-3: when the reader of stdout goes away the run is ended and the
// code says why, as a program in a pipe does.
func TestAClosedStdoutEndsTheRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\n[[turn]]\ntext = \"a long answer\"\nchunk = 1\ndelay_ms = 20\n")
	cmd := s.car(t.Context(), "do", "--output-format", "stream-json", "--model", "scripted:"+scenario, "talk")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	out.Close()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != int(exitOutputClosed) {
		t.Errorf("exit code %d, want %d", got, exitOutputClosed)
	}
}

// B007, P-WORK-6: what was running when the process was killed happened once, is
// called indeterminate at the next start, and is not run again.
func TestAKilledRunIsIndeterminateAndNotRepeated(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	begun := s.awaitFile(t)
	scenario := s.scenario(t, "echo line >> ledger.txt; echo go > begun; sleep 602", "done")
	cmd := s.car(t.Context(), "do", "--output-format", "stream-json", "--tier", "full_access", "--model", "scripted:"+scenario, "append a line")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	session := sessionIn(t, out.String())

	again := s.write(t, "again.toml", "version = 1\n[[turn]]\ntext = \"I see.\"\n")
	next := s.car(t.Context(), "do", "--model", "scripted:"+again, "--resume", session, "what happened?")
	told, err := next.CombinedOutput()
	if err != nil {
		t.Fatalf("the next start: %v\n%s", err, told)
	}
	for _, want := range []string{"indeterminate", "was killed earlier", "I see."} {
		if !strings.Contains(string(told), want) {
			t.Errorf("the next start does not say %q:\n%s", want, told)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "ledger.txt")); err != nil || string(text) != "line\n" {
		t.Errorf("ledger.txt holds %q, %v; want one line", text, err)
	}
	mustBeGone(t, "sleep 602")
}

// sessionIn is the session's id in a stream of events.
func sessionIn(t *testing.T, stream string) string {
	t.Helper()
	var e struct {
		Session string `json:"session_id"`
	}
	line, _, _ := strings.Cut(stream, "\n")
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Session == "" {
		t.Fatalf("no session in %q: %v", line, err)
	}
	return e.Session
}
