package confine

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden are calls that reach around Landlock and namespaces, or into the
// kernel and other processes. None is needed to build or test a program.
var forbidden = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
}

// absent are calls that programs try and do without: they are told that the kernel
// has none. io_uring would make calls that no filter sees; of clone3 no filter can
// see the flags, and clone does.
var absent = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3}

// namespaces are the flags of clone that make a new one.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// offsets into struct seccomp_data; both systems that are known here are little-endian.
const (
	offNr   = 0
	offArch = 4
	offArg0 = 16
)

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, jt, jf uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k}
}

func refuse(errno unix.Errno) unix.SockFilter {
	return stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno))
}

// program is the filter for an architecture. Without inet no socket but a local
// one, or one that asks the kernel about interfaces, can be made.
func program(arch uint32, inet bool) []unix.SockFilter {
	const load, equal, at = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	f := []unix.SockFilter{stmt(load, offArch), jump(equal, arch, 1, 0), refuse(unix.ENOSYS), stmt(load, offNr)}
	if arch == unix.AUDIT_ARCH_X86_64 {
		f = append(f, jump(at, 0x40000000, 0, 1), refuse(unix.ENOSYS)) // x32 has numbers of its own
	}
	for _, nr := range absent {
		f = append(f, jump(equal, nr, 0, 1), refuse(unix.ENOSYS))
	}
	for _, nr := range forbidden {
		f = append(f, jump(equal, nr, 0, 1), refuse(unix.EPERM))
	}
	f = append(f, jump(equal, unix.SYS_CLONE, 0, 4), stmt(load, offArg0),
		jump(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 0, 1), refuse(unix.EPERM), stmt(load, offNr))
	families := []uint32{unix.AF_UNIX, unix.AF_NETLINK}
	if inet {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	f = append(f, jump(equal, unix.SYS_SOCKET, 0, uint8(2+len(families))), stmt(load, offArg0))
	for i, family := range families {
		f = append(f, jump(equal, family, uint8(len(families)-i), 0))
	}
	f = append(f, refuse(unix.EACCES))
	return append(f, stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW))
}

// filter puts the filter over every thread of this process.
func filter(inet bool) error {
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if arch == 0 {
		return errors.New("no filter is known for " + runtime.GOARCH)
	}
	f := program(arch, inet)
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
