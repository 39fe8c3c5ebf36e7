//go:build unix

package substrate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/engine/tool"
)

// program runs a program of the bench with an input.
func (b *bench) program(t *testing.T, p tool.Program, stdin string) (out, errs string, exit tool.Exit, err error) {
	t.Helper()
	var o, e bytes.Buffer
	exit, err = b.Substrate.(tool.Programs).RunProgram(t.Context(), p, []byte(stdin), &o, &e)
	return o.String(), e.String(), exit, err
}

// E-TOOL-2: its own streams, its input to the end, its exit, its folder.
func TestProgram(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	big := strings.Repeat("a line of input\n", 40_000)
	out, errs, exit, err := b.program(t, tool.Program{Command: "sh", Args: []string{"-c", "cat; echo said >&2; exit 3"}}, big)
	if err != nil || out != big || errs != "said\n" || exit.Code != 3 {
		t.Errorf("%d bytes, %q, %+v, %v", len(out), errs, exit, err)
	}
	out, _, _, err = b.program(t, tool.Program{Command: "sh", Args: []string{"-c", `exec <&-; pwd; echo "$A $PWD $0"`, "two words"}, Env: map[string]string{"A": "b"}, Dir: b.outside}, big)
	if want := b.outside + "\nb " + b.outside + " two words\n"; err != nil || out != want {
		t.Errorf("got %q, want %q, %v", out, want, err)
	}
	if _, _, exit, err = b.program(t, tool.Program{Command: "sh", Args: []string{"-c", "kill -TERM $$"}}, ""); err != nil || exit.Signal != "SIGTERM" {
		t.Errorf("signal: %+v, %v", exit, err)
	}
}

// E-TOOL-2: a bare name never means a file of the workspace, whatever PATH says; a path does.
func TestProgramOfTheWorkspace(t *testing.T) {
	t.Parallel()
	var bin string
	b := open(t, func(c *Config) {
		bin = filepath.Join(c.Root, "bin")
		c.Env = []string{"PATH=" + bin + ":bin:/usr/bin:/bin"}
	})
	for _, name := range []string{"mine", "true"} {
		if err := os.Chmod(b.put(t, "bin/"+name, "#!/bin/sh\necho workspace\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := b.program(t, tool.Program{Command: "mine"}, ""); !isFault(err, tool.NotFound) {
		t.Errorf("a bare name ran a file of the workspace: %v", err)
	}
	if out, _, _, err := b.program(t, tool.Program{Command: "true"}, ""); err != nil || out != "" {
		t.Errorf("true: %q, %v", out, err)
	}
	if out, _, _, err := b.program(t, tool.Program{Command: "bin/mine"}, ""); err != nil || out != "workspace\n" {
		t.Errorf("by its path: %q, %v", out, err)
	}
	if _, _, _, err := b.program(t, tool.Program{Command: ""}, ""); !isFault(err, tool.NotFound) {
		t.Errorf("no name: %v", err)
	}
}

// P-PROC-1, P-PROC-2: what it leaves behind neither holds the call nor outlives the session.
func TestProgramLeavesAChild(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	began := time.Now()
	out, _, exit, err := b.program(t, tool.Program{Command: "sh", Args: []string{"-c", "sleep 60 & echo $!"}}, "")
	if err != nil || time.Since(began) > 10*time.Second || len(exit.LeftRunning) != 1 {
		t.Fatalf("%q %+v %v", out, exit, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, 5*time.Second, "the child ends with the session", func() bool { return !running(exit.LeftRunning[0]) })
	if _, _, _, err := b.program(t, tool.Program{Command: "true"}, ""); !isFault(err, tool.Canceled) {
		t.Errorf("after Close: %v", err)
	}
}

// E-TOOL-2: cancel kills it, unread input and all.
func TestProgramCanceled(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	first := writerFunc(func(p []byte) (int, error) { cancel(stop); return len(p), nil })
	exit, err := b.Substrate.(tool.Programs).RunProgram(ctx, tool.Program{Command: "sh", Args: []string{"-c", "echo up; sleep 60"}}, make([]byte, 1<<20), first, &bytes.Buffer{})
	if !errors.Is(err, stop) || exit.Signal == "" {
		t.Errorf("%+v, %v", exit, err)
	}
	if _, err := b.Substrate.(tool.Programs).RunProgram(ctx, tool.Program{Command: "true"}, nil, first, first); !errors.Is(err, stop) {
		t.Errorf("canceled before: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func isFault(err error, kind tool.FaultKind) bool {
	var f *tool.Fault
	return errors.As(err, &f) && f.Kind == kind
}
