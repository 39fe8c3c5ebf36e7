//go:build !linux

package substrate

import "os"

// openInside opens a place below its door component by component.
func openInside(p place, flags int) (*os.File, error) { return descend(p, flags) }
