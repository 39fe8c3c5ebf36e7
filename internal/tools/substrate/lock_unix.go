//go:build !windows

package substrate

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock or fails at once. The system drops it with the process.
func lockFile(h *os.File) error {
	return unix.Flock(int(h.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

func ownedByUs(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
