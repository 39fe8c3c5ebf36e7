package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// NewerError is a database that a newer release wrote: exit 2 (A-DUR-1).
type NewerError struct {
	Path string
	Has  int
	// Knows is the newest schema of this release.
	Knows int
}

// Error says what to do.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has schema %d, this car knows up to %d: use the newer car that wrote it, or another CAR_HOME", e.Path, e.Has, e.Knows)
}

// DamagedError is a file that is no database or is not whole.
type DamagedError struct {
	Path string
	Err  error
}

// Error says what to do.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged or no car database (%v): move it away to start anew, or restore a copy", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// BusyError is a session that another process holds; its code is session_busy (A-SVC-11).
type BusyError struct {
	Session string
	Holder  Holder
	// Beat is the holder's last sign of life.
	Beat time.Time
	// Ago is how long before now that was.
	Ago time.Duration
}

// Error names the holder and the way out.
func (e *BusyError) Error() string {
	return fmt.Sprintf("session %s is open in another car (pid %d, last seen %s ago): end it there, or go on with a copy of it (--fork)",
		e.Session, e.Holder.PID, e.Ago.Round(time.Second))
}

// LeaseLostError is a session that this process no longer holds: another one took
// it over after a long silence. Nothing was written.
type LeaseLostError struct{ Session string }

// Error says what happened.
func (e *LeaseLostError) Error() string {
	return fmt.Sprintf("session %s was taken over or closed by another car while this one was silent: resume it there, or fork it", e.Session)
}

// NotFoundError is a row that is not there.
type NotFoundError struct {
	Kind string
	ID   string
}

// Error names it.
func (e *NotFoundError) Error() string { return fmt.Sprintf("no %s %q", e.Kind, e.ID) }

// explain gives SQLite's own words a subject and a way out; our errors pass.
func explain(path string, err error) error {
	switch code := codeOf(err); {
	case code == 0, errors.Is(err, syscall.ENOSPC): // nothing of SQLite's, or told already
		return err
	case isBusy(err):
		return fmt.Errorf("%s is kept locked by another process: %w", path, err)
	case code&0xff == sqlite3.SQLITE_NOTADB, code&0xff == sqlite3.SQLITE_CORRUPT:
		return &DamagedError{Path: path, Err: err}
	case code&0xff == sqlite3.SQLITE_FULL:
		return fullDisk(path, err)
	case code&0xff == sqlite3.SQLITE_IOERR && noSpace(filepath.Dir(path)):
		return fullDisk(path, err) // SQLite's side files tell a full disk as bad input and output
	case code&0xff == sqlite3.SQLITE_READONLY, code&0xff == sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%s cannot be written: %w", path, err)
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
}

// fullDisk says what a person can do about it; the cause is syscall.ENOSPC.
func fullDisk(path string, err error) error {
	return fmt.Errorf("%s: the disk is full, nothing was recorded: free some space on it and run this again: %w: %w", path, syscall.ENOSPC, err)
}

// noSpace reports whether the directory's disk takes no page more.
func noSpace(dir string) bool {
	f, err := os.CreateTemp(dir, ".space-")
	if err == nil {
		_, err = f.Write(make([]byte, 64<<10))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return errors.Is(err, syscall.ENOSPC)
}
