package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"car/internal/engine/tool"
)

// maxJobs is how many jobs of a session may run at once (T-SHELL-10).
const maxJobs = 8

// errKilled is the end of a job that somebody wished.
var errKilled = errors.New("the job was ended")

// job is one command under way or ended, waited for or not. exit, err, redacted and
// took are set before ended is closed, by the goroutine that runs it.
type job struct {
	id      string // set by adopt, empty while the command is waited for
	command string
	kept    *capture
	began   time.Time
	end     context.CancelCauseFunc
	ended   chan struct{}

	exit     tool.Exit
	err      error
	redacted int
	took     time.Duration
}

// outcome is how a command that was waited for ended.
func (j *job) outcome() (tool.Outcome, error) {
	if j.err != nil {
		return tool.Outcome{}, j.err
	}
	o := j.soFar()
	o.Code, o.Signal, o.TimedOut, o.Duration = j.exit.Code, j.exit.Signal, j.exit.TimedOut, j.exit.Duration
	o.LeftRunning, o.Redacted = j.exit.LeftRunning, j.redacted
	return o, nil
}

func (j *job) soFar() tool.Outcome {
	text, truncated := j.kept.Text()
	return tool.Outcome{Output: text, Truncated: truncated, Total: j.kept.Total(), Spool: j.kept.Path(), Job: j.id}
}

// jobs are those of one session. Safe for concurrent use.
type jobs struct {
	substrate tool.Substrate
	now       func() time.Time
	// running counts the goroutines of commands, waited for or not.
	running sync.WaitGroup

	mu       sync.Mutex
	list     []*job
	reserved int
	closed   bool
}

var _ tool.Jobs = (*jobs)(nil)

// Jobs are the background commands of a session.
func (d *Dispatcher) Jobs(session string) tool.Jobs { return d.jobsOf(session) }

func (d *Dispatcher) jobsOf(session string) *jobs {
	list, _ := d.jobs.LoadOrStore(session, &jobs{substrate: d.cfg.Substrate, now: d.cfg.Now})
	return list.(*jobs)
}

// reserve keeps a place for a job that is about to start.
func (js *jobs) reserve() (release func(), err error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if err := js.room(); err != nil {
		return nil, err
	}
	js.reserved++
	return func() { js.mu.Lock(); js.reserved--; js.mu.Unlock() }, nil
}

// room says why there is no place for another job. The caller holds mu.
func (js *jobs) room() error {
	var busy []string
	for _, j := range js.list {
		if !isEnded(j) {
			busy = append(busy, j.id)
		}
	}
	switch {
	case js.closed:
		return &tool.Fault{Kind: tool.Canceled, Text: "the session is closed"}
	case len(busy)+js.reserved >= maxJobs:
		return &tool.Fault{Kind: tool.TooLarge,
			Text: fmt.Sprintf("%d jobs are running (%s), and a session may have %d; end one with shell_kill", len(busy), strings.Join(busy, ", "), maxJobs)}
	}
	return nil
}

// adopt makes a command that was started a job of the session. reserved says that its
// place is kept.
func (js *jobs) adopt(j *job, reserved bool) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	if err := js.room(); err != nil && (js.closed || !reserved) {
		return err
	}
	j.kept.keepAll()
	j.id = "j" + strconv.Itoa(len(js.list)+1)
	js.list = append(js.list, j)
	return nil
}

// endAll ends what runs and lets nothing start any more.
func (js *jobs) endAll() {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.closed = true
	for _, j := range js.list {
		j.end(errKilled)
	}
}

func isEnded(j *job) bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

func (js *jobs) describe(j *job) tool.Job {
	out := tool.Job{ID: j.id, Command: j.command, Running: !isEnded(j), Total: j.kept.Total(), Spool: j.kept.Path(), LastLine: j.kept.LastLine()}
	if out.Running {
		out.Duration = js.now().Sub(j.began)
		return out
	}
	out.Code, out.Signal, out.TimedOut, out.Duration, out.Redacted = j.exit.Code, j.exit.Signal, j.exit.TimedOut, j.took, j.redacted
	switch {
	case errors.Is(j.err, errKilled):
		out.Killed = true
	case j.err != nil:
		out.Err = j.err.Error()
	}
	return out
}

// List is every job of the session.
func (js *jobs) List() []tool.Job {
	js.mu.Lock()
	list := slices.Clone(js.list)
	js.mu.Unlock()
	out := make([]tool.Job, 0, len(list))
	for _, j := range list {
		out = append(out, js.describe(j))
	}
	return out
}

func (js *jobs) find(id string) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	var ids []string
	for _, j := range js.list {
		if j.id == id {
			return j, nil
		}
		ids = append(ids, j.id)
	}
	there := "no job was started in this session"
	if len(ids) > 0 {
		there = "there are " + strings.Join(ids, ", ")
	}
	return nil, &tool.Fault{Kind: tool.NotFound, Text: fmt.Sprintf("no job %q: %s", id, there)}
}

// Read returns a piece of a job's output, cut at rune borders.
func (js *jobs) Read(id string, since int64, limit int) (tool.JobOutput, error) {
	j, err := js.find(id)
	if err != nil {
		return tool.JobOutput{}, err
	}
	d := js.describe(j) // before the text, so that an ended job's text is all of it
	if since < 0 {
		since = max(0, j.kept.Total()-int64(limit))
	}
	from, raw := j.kept.Piece(since, limit, js.open)
	if keep := len(raw) - partRune(raw); keep > 0 {
		raw = raw[:keep]
	}
	return tool.JobOutput{Job: d, Text: strings.ToValidUTF8(string(raw), "\uFFFD"), From: from, Next: from + int64(len(raw))}, nil
}

func (js *jobs) open(path string) (io.ReaderAt, func() error, error) {
	f, err := js.substrate.FS().Open(path)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// partRune counts the bytes at the end that begin a rune and do not finish it.
func partRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Await waits for the end of a job, for limit at most.
func (js *jobs) Await(ctx context.Context, id string, limit time.Duration) (tool.Job, error) {
	j, err := js.find(id)
	if err != nil {
		return tool.Job{}, err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-j.ended:
	case <-timer.C:
	case <-ctx.Done():
		return tool.Job{}, context.Cause(ctx)
	}
	return js.describe(j), nil
}

// Kill ends a job and waits until nothing of it is left.
func (js *jobs) Kill(ctx context.Context, id string) (tool.Job, error) {
	j, err := js.find(id)
	if err != nil {
		return tool.Job{}, err
	}
	j.end(errKilled)
	select {
	case <-j.ended:
	case <-ctx.Done():
		return tool.Job{}, context.Cause(ctx)
	}
	return js.describe(j), nil
}
