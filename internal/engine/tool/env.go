package tool

import (
	"context"
	"io"
	"io/fs"
	"time"

	"car/internal/engine/ir"
)

// Env is what dispatch lends a tool for one attempt (E-EXEC-3). It can do what
// the ticket says and no more, journals what it changes and redacts what it
// brings back. Fields that a call has no right to are nil.
type Env struct {
	Files  Files
	Writer Writer
	Eraser Eraser
	Seen   Ledger
	Spawn  Spawner
	// Launch starts the same text as Spawn runs and does not wait for it.
	Launch Launcher
	// Jobs are the session's background commands; nil where the host keeps none.
	Jobs Jobs
	// Program runs the one program that the call declared; nil where it declared none.
	Program Runner
	// Web reaches the hosts that the call declared; nil where it declared none.
	Web      Web
	State    State
	Progress func(tail string)
	// Dialect is the shell that Spawn runs, for messages: "bash" or "sh".
	Dialect string
}

// Files reads below the root, and outside it where the ticket allows. Paths are
// as a call spells them. Every error that is not a plain "not found" is a *Fault
// whose text can go to the model. Safe for concurrent use.
type Files interface {
	// Stat follows links inside the root.
	Stat(path string) (Info, error)
	// Open opens a regular file and nothing else; devices, FIFOs and sockets are
	// refused before a blocking open (T-FILE-6).
	Open(path string) (File, error)
	// ReadDir lists a directory in byte order of the names.
	ReadDir(path string) ([]fs.DirEntry, error)
}

// File is an open regular file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Info() Info
}

// Info is what a path is, after links inside the root were followed.
type Info struct {
	// Path is the resolved path relative to the root with slashes, or absolute when outside.
	Path    string
	Size    int64
	Mode    fs.FileMode
	ModTime time.Time
	// Key is the file's identity, the same for every name and link of it (T-FILE-7).
	Key string
	// Links counts hard links, 1 where the system does not tell.
	Links uint64
	// Outside is true for a path that is not below the root.
	Outside bool
	// Secret is true for a file whose content must not be shown (T-FILE-5).
	Secret bool
}

// Writer changes files below the root, atomically and journalled (T-FILE-13).
type Writer interface {
	// Replace puts content at path. Parents are made. It compares what is there
	// with r.Expect just before the rename and answers *StaleError when it differs.
	Replace(ctx context.Context, path string, r Replacement) (ir.FileChange, error)
}

// Eraser takes files away, as carefully as Writer writes them.
type Eraser interface {
	// Remove takes away the file at path if its content is expect. A folder is
	// removed, with an empty expect, if it is empty.
	Remove(ctx context.Context, path string, expect ir.Digest) (ir.FileChange, error)
}

// Replacement is new content for a path. Mode and other attributes of an
// existing file are kept.
type Replacement struct {
	Content []byte
	// Expect is the digest of the content that must be there; empty means that nothing may be there.
	Expect ir.Digest
}

// StaleError says that a file is not what the call believed (P-WORK-5).
type StaleError struct {
	Path string
	// Fresh is the content now, nil when the file is gone.
	Fresh []byte
}

// Error says which file changed.
func (e *StaleError) Error() string { return e.Path + " changed since it was read" }

// Ledger remembers what this session read, so that nothing is edited unseen
// (T-FILE-7..9). Keys are Info.Key. Safe for concurrent use.
type Ledger interface {
	Note(key string, r Reading)
	Lookup(key string) (Reading, bool)
}

// Reading is what a session saw of a file: a digest of its raw bytes, and
// whether all of it was shown.
type Reading struct {
	Digest ir.Digest
	Full   bool
	// Lines counts the lines shown from the first one on without a gap, so that
	// pages add up to a full reading.
	Lines int
	// Content is what was read, for a diff when the file changes from outside
	// (T-FILE-8); nil when it was too large to keep.
	Content []byte
}

// Spawner runs shell text to its end. The process is owned: stop, exit and
// cancel leave none of it (P-PROC-2).
type Spawner interface {
	Spawn(ctx context.Context, c Command) (Outcome, error)
}

// Runner runs the program that was admitted (Effects.Program), as it was
// admitted, to its end. The process is owned (P-PROC-2).
type Runner interface {
	// Run gives the program stdin. More answer than the engine takes is a TooLarge fault.
	Run(ctx context.Context, stdin []byte) (Answer, error)
}

// Answer is how a program ended. A non-zero code is an answer, not an error.
type Answer struct {
	// Stdout is all of it, as it came; what a tool makes of it is redacted by
	// dispatch when it leaves the engine (D-38).
	Stdout []byte
	// Stderr is the end of it, clean of terminal control and redacted.
	Stderr string
	Code   int
	Signal string
}

// Command is shell text for the substrate's dialect, run in the root.
type Command struct {
	Text string
	// Timeout ends the command; 0 is none beyond ctx.
	Timeout time.Duration
	// Detachable lets the host go on with the command as a job when it takes long (T-SHELL-10).
	Detachable bool
}

// Outcome is how a command ended. A non-zero code is an outcome, not an error.
type Outcome struct {
	// Output is both streams in arrival order, redacted, with both ends kept when it was long.
	Output    string
	Truncated bool
	// Total counts the bytes of the whole output before truncation.
	Total int64
	// Spool is a path with all of the output, empty when Output is all.
	Spool    string
	Code     int
	Signal   string
	TimedOut bool
	Duration time.Duration
	// LeftRunning are processes that outlived the shell and were ended or are watched (T-SHELL-5).
	LeftRunning []int
	// Redacted counts secrets that were masked.
	Redacted int
	// Job is the id of the job that the command goes on as; then it has not ended, and
	// Output is what came so far.
	Job string
}

// State is the store as one attempt sees it: buffered, atomic on success (E-EXEC-8).
type State interface {
	Get(key string) (any, bool)
	Set(key string, value any) error
}
