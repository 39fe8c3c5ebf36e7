//go:build unix

package tui

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
)

// stopSelf stops our process group, as ctrl+z does in any program, and returns when
// the shell lets us go on. Where no shell could, it does nothing.
//
// It is SIGSTOP, because a Go program that once listened to SIGTSTP goes on ignoring
// it after signal.Reset. SIGTSTP would spare a group that nobody could wake, which
// has to be looked for here then.
func stopSelf() error {
	if orphaned() {
		return nil
	}
	goOn := make(chan os.Signal, 1) // written by the runtime
	signal.Notify(goOn, syscall.SIGCONT)
	defer signal.Stop(goOn)
	if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	<-goOn
	return nil
}

// orphaned reports whether our parent is no shell with job control: it is in another
// session, or in our own process group.
func orphaned() bool {
	parent := os.Getppid()
	ours, err1 := unix.Getsid(0)
	theirs, err2 := unix.Getsid(parent)
	group, err3 := unix.Getpgid(parent)
	return err1 != nil || err2 != nil || err3 != nil || ours != theirs || group == unix.Getpgrp()
}

// watchStops makes a stop signal from outside the same as ctrl+z, so that the
// terminal is given back first.
func (t *terminal) watchStops() { signal.Notify(t.stops, syscall.SIGTSTP) }

// suspends hands stop signals to the program. The returned function ends that.
func (t *terminal) suspends(p *tea.Program) func() {
	t.watchStops()
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-t.stops:
				p.Send(suspendMsg{})
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(t.stops)
		close(done)
		<-ended
	}
}
