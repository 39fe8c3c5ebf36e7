package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// Self returns this process as a holder.
func Self() Holder {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return Holder{PID: os.Getpid()}
	}
	return Holder{PID: os.Getpid(), Boot: boot}
}

// onNetwork says whether a folder is on a file system whose shared memory other
// hosts do not see, where a write-ahead log would be torn.
func onNetwork(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.MNT_LOCAL == 0
}
