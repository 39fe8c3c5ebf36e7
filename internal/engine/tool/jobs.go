package tool

import (
	"context"
	"time"
)

// Launcher starts the shell text of a ticket and does not wait for it (T-SHELL-10).
type Launcher interface {
	// Launch returns once the job is under way. More jobs than a session may have are a
	// TooLarge fault.
	Launch(ctx context.Context, c Command) (Job, error)
}

// Jobs are the commands of a session that run beside its calls. They outlive a turn
// and not the session (T-SHELL-10). An id that no job of the session has is a
// NotFound fault that names those there are. Safe for concurrent use.
type Jobs interface {
	// List is every job in the order in which they started, ended ones too.
	List() []Job
	// Read returns at most limit bytes of output from byte since on; a negative since
	// means the last of it. What was read can be read again (D-37).
	Read(id string, since int64, limit int) (JobOutput, error)
	// Await returns when the job has ended, limit has passed or ctx is done.
	Await(ctx context.Context, id string, limit time.Duration) (Job, error)
	// Kill ends the job and everything it started, and waits for that. Killing one that
	// has ended changes nothing.
	Kill(ctx context.Context, id string) (Job, error)
}

// Job is a command that runs, or ran, beside the calls of its session.
type Job struct {
	ID string
	// Command is the shell text, redacted.
	Command string
	Running bool
	// Killed says that it was ended by somebody's wish.
	Killed   bool
	Code     int
	Signal   string
	TimedOut bool
	// Err is why there is no exit, empty where there is one.
	Err string
	// Duration is how long it has run, or ran.
	Duration time.Duration
	// Total counts the bytes of output so far; Spool is a path with all of it.
	Total    int64
	Spool    string
	LastLine string
	// Redacted counts secrets that were masked, once it has ended.
	Redacted int
}

// JobOutput is a piece of a job's output.
type JobOutput struct {
	Job  Job
	Text string
	// From is where Text begins and Next where the next piece does; From is later than
	// asked for where the output between is no longer kept.
	From, Next int64
}
