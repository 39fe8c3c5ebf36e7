//go:build unix

package trial

import (
	"fmt"
	"io/fs"
	"syscall"
)

// special makes a fifo or a socket.
func special(kind, path string) error {
	if kind == "fifo" {
		return syscall.Mkfifo(path, 0o644)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
}

// identity is how many names a file has, and what tells it from every other.
func identity(fi fs.FileInfo) (links uint64, key string) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 1, ""
	}
	return uint64(st.Nlink), fmt.Sprint(st.Dev, ":", st.Ino)
}
