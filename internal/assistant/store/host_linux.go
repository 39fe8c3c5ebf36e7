package store

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Self returns this process as a holder. The process namespace is part of the
// boot id: the same number in another container is another process.
func Self() Holder {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Holder{PID: os.Getpid()}
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return Holder{PID: os.Getpid()}
	}
	return Holder{PID: os.Getpid(), Boot: strings.TrimSpace(string(boot)) + "/" + namespace}
}

// onNetwork says whether a folder is on a file system whose shared memory other
// hosts do not see, where a write-ahead log would be torn.
func onNetwork(dir string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false
	}
	const cifs, smb2, ninep, ceph, afs = 0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x5346414f
	switch uint32(s.Type) {
	case unix.NFS_SUPER_MAGIC, cifs, smb2, unix.SMB_SUPER_MAGIC, ninep, ceph, afs, unix.CODA_SUPER_MAGIC:
		return true
	default:
		return false
	}
}
