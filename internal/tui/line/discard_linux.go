package line

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard throws away what was typed and not read yet, so that it answers nothing.
// It does nothing where f is no terminal.
func discard(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
