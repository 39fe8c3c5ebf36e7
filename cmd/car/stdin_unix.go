//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// pendingBytes asks a pipe how much could be read from it at once.
func pendingBytes(f *os.File) int {
	n, err := unix.IoctlGetInt(int(f.Fd()), fionread)
	if err != nil {
		return 0
	}
	return n
}
