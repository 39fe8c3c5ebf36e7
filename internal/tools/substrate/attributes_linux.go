package substrate

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepAttributes gives the new file the owner, the extended attributes and the
// mode of the old one. Owner and attributes are kept where the system lets us;
// the mode always, and last, because a change of owner clears bits of it.
func keepAttributes(old, h *os.File, fi fs.FileInfo) error {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		if err := h.Chown(int(st.Uid), int(st.Gid)); err != nil {
			// A group of ours is worth keeping even where the owner is another.
			_ = h.Chown(-1, int(st.Gid))
		}
	}
	copyXattrs(old, h)
	return chmodExact(h, fi)
}

func copyXattrs(old, h *os.File) {
	size, err := unix.Flistxattr(int(old.Fd()), nil)
	if err != nil || size <= 0 {
		return
	}
	buf := make([]byte, size)
	if size, err = unix.Flistxattr(int(old.Fd()), buf); err != nil {
		return
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(buf[:size]), "\x00"), "\x00") {
		n, err := unix.Fgetxattr(int(old.Fd()), name, nil)
		if err != nil || n > 64<<10 {
			continue
		}
		value := make([]byte, n)
		if n, err = unix.Fgetxattr(int(old.Fd()), name, value); err == nil {
			_ = unix.Fsetxattr(int(h.Fd()), name, value[:n], 0)
		}
	}
}

func chmodExact(h *os.File, fi fs.FileInfo) error {
	return h.Chmod(fi.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
}

// syncDir makes a rename durable.
func syncDir(dir *os.Root) error {
	h, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
