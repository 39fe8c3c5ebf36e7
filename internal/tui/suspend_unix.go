//go:build unix

package tui

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// stopSelf stops our process group, as ctrl+z does in any program, and returns when
// the shell lets us go on. Where no shell could, the system does not stop us, and it
// returns after a moment.
func stopSelf() error {
	const moment = 300 * time.Millisecond
	goOn := make(chan os.Signal, 1) // written by the runtime
	signal.Notify(goOn, syscall.SIGCONT)
	defer signal.Stop(goOn)
	signal.Reset(syscall.SIGTSTP)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-goOn:
	case <-timer.C:
	}
	return nil
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
