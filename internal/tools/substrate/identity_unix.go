//go:build !windows

package substrate

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
)

// openFlags never wait for the other end of a FIFO that took a file's place.
const openFlags = syscall.O_RDONLY | syscall.O_NONBLOCK

// noFollow refuses a link that took a file's place.
const noFollow = syscall.O_NOFOLLOW

// identity is what stays the same for every name of a file.
type identity struct {
	// key survives an atomic replacement of a file with one name (T-FILE-7).
	key   string
	inode string
	links uint64
}

// identityOf names a file. With one name the canonical path is its identity,
// because editors and formatters replace files and the content decides anyway;
// with several names the inode is. Where letter case does not matter, the path is folded.
func identityOf(abs string, fi fs.FileInfo) identity {
	id := identity{key: abs, links: 1}
	if runtime.GOOS == "darwin" {
		id.key = strings.ToLower(abs)
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return id
	}
	id.inode = fmt.Sprintf("inode %d:%d", st.Dev, st.Ino)
	id.links = uint64(st.Nlink)
	if id.links > 1 && fi.Mode().IsRegular() {
		id.key = id.inode
	}
	return id
}
