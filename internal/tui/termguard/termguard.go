// Package termguard keeps the terminal quiet until main runs (D-16).
//
// Importing Bubble Tea v1 asks the terminal for its background colour from an
// init function, waits up to five seconds for the answer and swallows what the
// person typed meanwhile. It does not ask a dumb terminal. So this package, which
// imports the standard library only and is therefore initialised first, names the
// terminal dumb while the other packages initialise, and holds the collector back
// for the same few milliseconds.
//
// It is imported by cmd/car alone, whose main calls Restore in its first line. It
// is the one room of the program that keeps package variables and an init on
// purpose; nothing else may be added to it.
package termguard

import (
	"os"
	"runtime/debug"
)

var (
	term, had = os.LookupEnv("TERM")
	percent   = debug.SetGCPercent(-1)
)

func init() { os.Setenv("TERM", "dumb") }

// Restore gives the process its TERM and its collector back. Call it first in
// main, before any goroutine reads the environment.
func Restore() {
	debug.SetGCPercent(percent)
	if had {
		os.Setenv("TERM", term)
		return
	}
	os.Unsetenv("TERM")
}
