//go:build !linux && !darwin

package store

import "os"

// Self returns this process as a holder. Without a boot id a holder is judged by
// its beat alone.
func Self() Holder { return Holder{PID: os.Getpid()} }

// onNetwork does not know here; SQLite falls back by itself where it can tell.
func onNetwork(string) bool { return false }
