package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"car/internal/tui"
	"car/internal/tui/safe"
	"car/internal/tui/takeover"
)

// ownShell runs a command that the person typed after an exclamation mark. It is
// theirs: no policy is asked, and the terminal is the command's until it ends, so that
// it may ask for a password or open an editor (U-TUI-5, P-PROC-3). The provider's
// keys are not in its environment (P-GUARD-8).
func (s *session) ownShell(ctx context.Context, command string) (tui.Shelled, error) {
	a := s.house.app
	shell := firstOf(a.env.shell, "/bin/sh")
	cmd := exec.CommandContext(ctx, shell, "-c", command)
	cmd.Dir = s.house.project.Root
	cmd.Env = slices.DeleteFunc(slices.Clone(a.env.vars), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return s.house.withheld(name)
	})
	cmd.Env = append(cmd.Env, childMark+"=1")
	fmt.Fprintf(os.Stdout, "! %s\r\n", safe.Line(command))
	began := a.now()
	output, err := takeover.Run(cmd, a.io.in, os.Stdout)
	if err != nil {
		return tui.Shelled{}, fmt.Errorf("%s: %w", shell, err)
	}
	return tui.Shelled{Command: command, Output: output, Code: cmd.ProcessState.ExitCode(), Took: a.now().Sub(began)}, nil
}
