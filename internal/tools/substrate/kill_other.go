//go:build !linux && !windows

package substrate

import "golang.org/x/sys/unix"

// killNow ends the groups that are known.
func (o *owned) killNow() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for pid := range o.shells {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
	for pgid := range o.left {
		_ = unix.Kill(-pgid, unix.SIGKILL)
	}
}
