package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// onTerminal runs car on a terminal of 80×24 that answers nothing, and returns
// what it wrote and how long it took.
func onTerminal(t *testing.T, env []string, args ...string) (string, time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "car", args...)
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "CI="}, env...)...)
	began := time.Now()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	// A pty whose other end is closed reads as an error on Linux; what was written is there.
	_, _ = io.Copy(&out, f)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("car %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String(), time.Since(began)
}

// D-16, U-SPEED: importing Bubble Tea asks the terminal a question before main
// and waits 5 s for the answer. A terminal that answers nothing must not be felt.
func TestVersionOnASilentTerminal(t *testing.T) {
	out, took := onTerminal(t, nil, "--version")
	if took > slowdown*time.Second {
		t.Errorf("car --version took %v on a terminal that answers nothing", took)
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("car --version sent the terminal an escape code: %q", out)
	}
	if !strings.HasPrefix(out, "car ") {
		t.Errorf("car --version wrote %q", out)
	}
}
