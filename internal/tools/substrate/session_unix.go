//go:build !windows

package substrate

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownSession gives the shell a session and a process group of its own and with
// that no controlling terminal (T-SHELL-4).
func ownSession(cmd *exec.Cmd, _ shell, _ string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// ownProgram is ownSession for a program without a shell.
func ownProgram(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// exitOf tells how a process ended; a signal is 128+n with its name (T-SHELL-7).
func exitOf(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	return state.ExitCode(), ""
}

// windowsShell belongs to another system.
func windowsShell(Config) (shell, error) { return shell{}, errors.ErrUnsupported }
