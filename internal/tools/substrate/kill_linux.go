package substrate

import "golang.org/x/sys/unix"

// killNow goes round a few times, for what a dying process had just started.
func (o *owned) killNow() {
	for range 3 {
		if o.round(unix.SIGKILL) == 0 {
			return
		}
	}
}
