//go:build !linux

package substrate

import (
	"io/fs"
	"os"
	"runtime"
)

// keepAttributes gives the new file the mode of the old one.
func keepAttributes(_, h *os.File, fi fs.FileInfo) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return h.Chmod(fi.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
}

// syncDir makes a rename durable where folders can be synced.
func syncDir(dir *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	h, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Sync()
}
