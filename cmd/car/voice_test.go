package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// U-CLI-4: one line of cause, a line for each thing to type, nothing of a terminal's
// own language, and silence where all was said.
func TestComplaints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a plain error", errors.New("it broke"), "car: it broke\n"},
		{"with hints", usageError(errors.New("no such thing"), "car help", "car doctor"), "car: no such thing\n  try: car help\n  try: car doctor\n"},
		{"several lines", errors.New("two things:\n\n  one\n  two\n"), "car: two things:\n  one\n  two\n"},
		{"control characters", errors.New("a\x1b[2Jb"), "car: a\\x1b[2Jb\n"},
		{"a full disk", fmt.Errorf("write log: %w", syscall.ENOSPC), "car: write log: no space left on device\n  try: free some space on that disk, then run this again\n"},
		{"told already", &exitError{code: exitRefused}, ""},
		{"nobody reads", fmt.Errorf("write: %w", errOutputClosed), ""},
	} {
		var out bytes.Buffer
		complain(&out, c.err)
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, out.String(), c.want)
		}
	}
}

// U-CLI-3: kinds of error decide the exit code, also when they are wrapped.
func TestCodesOfErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want exitCode
	}{
		{nil, exitDone},
		{errors.New("x"), exitFailed},
		{fmt.Errorf("y: %w", usageError(errors.New("x"))), exitUsage},
		{errors.Join(errors.New("z"), &exitError{code: exitRefused}), exitRefused},
		{fmt.Errorf("w: %w", errOutputClosed), exitOutputClosed},
	} {
		if got := codeOf(c.err); got != c.want {
			t.Errorf("codeOf(%v) = %d, want %d", c.err, got, c.want)
		}
	}
	for cause, want := range map[error]exitCode{errInterrupted: exitInterrupted, errTerminated: exitTerminated, errHangup: exitHangup, errors.New("x"): exitDone} {
		if got := codeOfCause(cause); got != want {
			t.Errorf("codeOfCause(%v) = %d, want %d", cause, got, want)
		}
	}
}

// U-CLI-4: a broken invariant is an error with a file for whoever mends it, not a
// stack on the screen.
func TestACrashIsNoStackTrace(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	complain(&out, crashed("it broke", []byte("goroutine 1 [running]:")))
	text := out.String()
	if !strings.HasPrefix(text, "car: internal error: it broke\n") || strings.Contains(text, "goroutine") {
		t.Errorf("said %q", text)
	}
	_, name, found := strings.Cut(strings.TrimSpace(text), "report it with ")
	if !found {
		t.Fatalf("no file is named: %q", text)
	}
	if kept, err := os.ReadFile(name); err != nil || !strings.Contains(string(kept), "goroutine 1") {
		t.Errorf("the file holds %q, %v", kept, err)
	}
}
