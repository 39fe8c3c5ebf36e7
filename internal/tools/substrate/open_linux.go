package substrate

import (
	"os"

	"golang.org/x/sys/unix"
)

// openInside opens a place below its door in one step of the kernel, which
// follows no link and leaves no folder. Where the kernel does not offer that, the
// place is reached component by component.
func openInside(p place, flags int) (*os.File, error) {
	how := unix.OpenHow{
		Flags: uint64(flags) | unix.O_CLOEXEC | unix.O_LARGEFILE, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		fd, err := unix.Openat2(int(p.door.handle.Fd()), p.rel, &how)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), p.abs), nil
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM, unix.E2BIG, unix.EINVAL:
			return descend(p, flags)
		case unix.ELOOP, unix.EXDEV, unix.EAGAIN, unix.ENOENT, unix.ENOTDIR:
			return nil, errMoved
		default:
			return nil, &os.PathError{Op: "open", Path: p.spelled, Err: err}
		}
	}
}
