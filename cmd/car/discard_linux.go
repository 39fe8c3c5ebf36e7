package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput throws away what was typed and not read yet.
func discardInput(f *os.File) {
	// A terminal that can not do it asks all the same; enter alone answers nothing.
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
