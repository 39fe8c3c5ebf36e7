package tool

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"
)

// Substrate is the place where hands act: this machine, a sandbox, a container
// (T-SUB-1). It is injected by cmd/car and carries Env. Its methods confine to
// the root but judge nothing. Safe for concurrent use.
type Substrate interface {
	// Name is a short stable word: "local", "sandbox", "docker:<image>".
	Name() string
	Describe() Description
	// Exec runs shell text. Both streams go to w in arrival order. It returns when
	// the shell has ended and its pipes were drained or abandoned, or ctx is done and the group was killed.
	Exec(ctx context.Context, e Exec, w io.Writer) (Exit, error)
	FS() FS
	// Spool opens a new 0600 file below the session's scratch for output beyond bounds.
	Spool(name string) (io.WriteCloser, string, error)
	// Close ends every process that this substrate still owns and removes the scratch folder.
	Close() error
}

// Description says what a substrate is and what it really confines (P-GUARD-7).
type Description struct {
	// Root is the canonical absolute path of the workspace; Scratch is the session's TMPDIR.
	Root    string
	Scratch string
	// Dialect is the shell that runs Exec: "bash" or "sh".
	Dialect string
	// Confinement names what holds shell children: "none", "landlock", "bwrap", "container".
	Confinement string
	// Limits are sentences about what is not enforced, for the start line and doctor.
	Limits []string
}

// Remover is an FS that can also take things away, for undoing what created them.
type Remover interface {
	// Remove takes away a regular file, or a folder that is empty, after verify
	// agreed to what is there now (nil content for a folder, os.ErrNotExist where nothing is).
	Remove(path string, verify func(now []byte, err error) error) error
}

// Programs is a substrate that can also run a program without a shell between
// (E-TOOL-2). What it starts is owned as Exec's is.
type Programs interface {
	// RunProgram gives the program stdin and closes it. It returns as Exec does; the
	// streams go to their own writers, from goroutines of their own. What cannot be
	// started is a *Fault.
	RunProgram(ctx context.Context, p Program, stdin []byte, stdout, stderr io.Writer) (Exit, error)
}

// Servers is a substrate that can also run a program for as long as it is spoken to
// (T-MCP-5). What it starts is owned as Exec's is.
type Servers interface {
	// RunServer carries stdin to the program until either ends, and closes it. It
	// returns as RunProgram does; a writer that blocks holds it up.
	RunServer(ctx context.Context, p Program, stdin io.ReadCloser, stdout, stderr io.Writer) (Exit, error)
}

// Program is a program that somebody from outside defined.
type Program struct {
	// Command is a path, relative to Dir unless absolute, or a bare name that is
	// looked for on PATH outside the workspace.
	Command string
	Args    []string
	// Env is put over the variables that every child gets.
	Env map[string]string
	// Dir is where it runs, relative to the root unless absolute; empty is the root.
	Dir string
}

// Exec is shell text to run, byte for byte (G-SHELL-5).
type Exec struct {
	Text    string
	Timeout time.Duration
	// Network lets the command use the machine's network; without it a confining
	// substrate gives it none (P-GUARD-7).
	Network bool
	// Git leaves the repository's own hooks and settings open to the command, which
	// are otherwise kept as they are where the substrate can (D-5).
	Git bool
}

// Exit is how a process ended.
type Exit struct {
	Code        int
	Signal      string
	TimedOut    bool
	Duration    time.Duration
	LeftRunning []int
}

// FS is the file system below Env: rooted handles, literal paths, no judgement
// of protected names. Paths outside the root are for reading only.
type FS interface {
	Stat(path string) (Info, error)
	Lstat(path string) (Info, error)
	Readlink(path string) (string, error)
	Open(path string) (File, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	// Replace writes a temporary file beside the target, fsyncs, calls verify with
	// what is there now (nil, os.ErrNotExist where nothing is) and renames only if verify returns nil.
	Replace(path string, content []byte, mode os.FileMode, verify func(now []byte, err error) error) (Info, error)
}
