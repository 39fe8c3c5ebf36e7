//go:build !linux && !windows

package substrate

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// kin is what a run knows of its process on this system: nothing more.
type kin struct{}

// owned knows the process groups of this substrate's shells. Systems without
// /proc and without reapers of orphans offer no more.
type owned struct {
	mu     sync.Mutex
	shells map[int]*run
	// left are groups that outlived their shell.
	left  map[int]bool
	pipes []*os.File
}

func newOwned(string, func() time.Time) *owned {
	return &owned{shells: map[int]*run{}, left: map[int]bool{}}
}

func (o *owned) limit() string {
	return "a process that leaves the group of its command (setsid) is not ended with the session on this system"
}

func (o *owned) start(r *run) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	process, err := r.begin()
	if err != nil {
		return err
	}
	r.process, r.pid = process, process.Pid
	o.shells[r.pid] = r
	return nil
}

// signal asks the run's group to end, or ends it.
func (o *owned) signal(r *run, kill bool) {
	sig := unix.SIGTERM
	if kill {
		sig = unix.SIGKILL
	}
	_ = unix.Kill(-r.pid, sig)
}

// alive reports whether the group has members once the shell is gone.
func (o *owned) alive(r *run) bool { return isClosed(r.exited) && unix.Kill(-r.pid, 0) == nil }

// finish ends the bookkeeping of a run. The group stands for those that outlived it.
func (o *owned) finish(r *run) []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.shells, r.pid)
	if !o.alive(r) {
		return nil
	}
	o.left[r.pid] = true
	o.pipes = append(o.pipes, r.outputs...)
	return []int{r.pid}
}

// killAll ends the groups that are left, and closes the pipes they held.
func (o *owned) killAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for pgid := range o.left {
		if unix.Kill(-pgid, unix.SIGTERM) != nil {
			delete(o.left, pgid)
		}
	}
	if len(o.left) > 0 {
		<-time.After(closingGrace)
	}
	for pgid := range o.left {
		_ = unix.Kill(-pgid, unix.SIGKILL)
	}
	for _, pipe := range o.pipes {
		pipe.Close()
	}
	o.pipes = nil
}

// reapTagged finds nothing where environments of processes cannot be read.
func reapTagged(string) []int { return nil }
