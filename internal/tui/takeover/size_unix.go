//go:build unix

package takeover

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/creack/pty"
)

// followSize tells the command's terminal when ours changes its size.
func followSize(screen, out *os.File) (stop func()) {
	changes := make(chan os.Signal, 1) // written by the runtime
	signal.Notify(changes, syscall.SIGWINCH)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-changes:
				_ = pty.InheritSize(out, screen) // the next change tries again
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(changes)
		close(done)
	}
}
