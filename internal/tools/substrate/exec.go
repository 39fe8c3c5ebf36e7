package substrate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"car/internal/engine/tool"
)

const (
	// grace is the time between asking processes to end and ending them (T-SHELL-4).
	grace = 2 * time.Second
	// cancelGrace is the same on cancel: a tool that takes longer than 2 s to end is
	// given up by dispatch (E-EXEC-6), and its exit would be lost.
	cancelGrace = 1500 * time.Millisecond
	// closingGrace is the same when the session ends, so that Close takes under 3 s.
	closingGrace = time.Second
	// drain is how long output may still come once the shell has ended (T-SHELL-5).
	drain = 500 * time.Millisecond
	// pace is how often processes are looked at while they are expected to end.
	pace = 20 * time.Millisecond
	// maxText is what one argument of a process may hold on Linux, less a margin.
	maxText = 128<<10 - 512
)

// run is one shell text or program under way.
type run struct {
	cmd *exec.Cmd
	pid int
	// begin starts the process; it is the shell's or the program's, and waited for here.
	begin   func() (*os.Process, error)
	process *os.Process
	state   *os.ProcessState
	// outputs are our ends of the pipes that the child writes to, each with its seal.
	outputs []*os.File
	seals   []*seal
	// theirs are the child's ends, closed here once it has them.
	theirs []*os.File
	// stdin is our end of the child's input and input what goes in; nil is an empty input.
	stdin *os.File
	input io.Reader
	// exited is closed by the goroutine that waits for the shell; waitErr is set before.
	exited  chan struct{}
	waitErr error
	// drained is closed when the goroutines that copy output are done.
	drained chan struct{}
	kin     kin
}

// Exec runs text in the workspace. Cancel of ctx ends the processes and returns
// the exit beside the cause of the cancel.
func (l *local) Exec(ctx context.Context, e tool.Exec, w io.Writer) (tool.Exit, error) {
	if err := checkText(e.Text); err != nil {
		return tool.Exit{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Exit{}, context.Cause(ctx)
	}
	if err := l.enter(); err != nil {
		return tool.Exit{}, err
	}
	defer l.runs.Done()
	began := l.cfg.Now()
	r, err := l.start(e, w)
	if err != nil {
		return tool.Exit{}, err
	}
	return l.see(ctx, r, began, e.Timeout)
}

// see waits for a run that was launched, to its very end.
func (l *local) see(ctx context.Context, r *run, began time.Time, timeout time.Duration) (tool.Exit, error) {
	timedOut, cause := l.await(ctx, r, timeout)
	exit := tool.Exit{TimedOut: timedOut, LeftRunning: l.settle(r)}
	exit.Code, exit.Signal = exitOf(r.state)
	exit.Duration = l.cfg.Now().Sub(began)
	return exit, cause
}

func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return &tool.Fault{Kind: tool.BadArgs, Text: "the command is empty"}
	case strings.ContainsRune(text, 0):
		return &tool.Fault{Kind: tool.BadArgs, Text: "the command holds a NUL byte; no shell can take it"}
	case len(text) > maxText:
		return &tool.Fault{Kind: tool.TooLarge, Text: fmt.Sprintf("the command is %d bytes, the system takes %d; write a script file and run it", len(text), maxText)}
	}
	return nil
}

// start launches the shell.
func (l *local) start(e tool.Exec, w io.Writer) (*run, error) {
	text := e.Text
	cmd := exec.Command(l.shell.path)
	cmd.Args = append(append(cmd.Args, l.shell.args...), text)
	cmd.Dir, cmd.Env = l.desc.Root, l.env
	ownSession(cmd, l.shell, text)
	r := newRun(cmd)
	both, err := r.pipe(w)
	if err != nil {
		return nil, fmt.Errorf("shell: %w", err)
	}
	cmd.Stdout, cmd.Stderr = both, both
	l.confined(r, kind{network: e.Network, git: e.Git})
	return r, l.launch(r)
}

func newRun(cmd *exec.Cmd) *run {
	r := &run{cmd: cmd, exited: make(chan struct{}), drained: make(chan struct{})}
	r.begin = func() (*os.Process, error) {
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return cmd.Process, nil
	}
	return r
}

// pipe makes an output of the child that ends in w, and returns the child's end.
func (r *run) pipe(w io.Writer) (*os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.outputs, r.seals, r.theirs = append(r.outputs, ours), append(r.seals, &seal{w: w}), append(r.theirs, theirs)
	return theirs, nil
}

// wait waits for the process; what exec.Cmd started it has to put away.
func (r *run) wait() {
	if r.process != r.cmd.Process {
		r.state, r.waitErr = r.process.Wait()
		return
	}
	r.waitErr = r.cmd.Wait()
	r.state = r.cmd.ProcessState
}

// closeAll closes the ends that are given, of a run that was not or no longer needs them.
func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// launch starts the child and the goroutines that wait for it and carry its
// input and its output.
func (l *local) launch(r *run) error {
	err := l.owned.start(r)
	closeAll(r.theirs)
	if err != nil {
		closeAll(r.outputs)
		if r.stdin != nil {
			r.stdin.Close()
		}
		if _, gone := os.Stat(r.cmd.Dir); gone != nil {
			return &tool.Fault{Kind: tool.NotFound, Text: "the working directory is gone: " + r.cmd.Dir}
		}
		return fmt.Errorf("start %s: %w", r.cmd.Path, err)
	}
	go func() {
		defer close(r.exited)
		r.wait()
	}()
	if r.stdin != nil {
		l.drains.Go(func() {
			// A child that does not want its input has said so by closing it.
			_, _ = io.Copy(r.stdin, r.input)
			r.stdin.Close()
		})
	}
	var streams sync.WaitGroup
	for i, ours := range r.outputs {
		streams.Go(func() {
			// A child that keeps the pipe writes into nothing after the seal, so that it
			// neither dies of a closed pipe nor blocks on a full one (T-SHELL-5).
			_, _ = io.Copy(r.seals[i], ours)
			ours.Close()
		})
	}
	l.drains.Go(func() {
		defer close(r.drained)
		streams.Wait()
	})
	return nil
}

// await returns when the shell has ended by itself or was ended.
func (l *local) await(ctx context.Context, r *run, timeout time.Duration) (timedOut bool, cause error) {
	var limit <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-r.exited:
		return false, nil
	case <-limit:
		l.stop(r, grace)
		return true, nil
	case <-ctx.Done():
		l.stop(r, cancelGrace)
		return false, context.Cause(ctx)
	case <-l.closing:
		l.stop(r, closingGrace)
		return false, &tool.Fault{Kind: tool.Canceled, Text: "the session was closed"}
	}
}

// stop asks the shell and all it started to end, and ends them after the grace.
func (l *local) stop(r *run, grace time.Duration) {
	l.owned.signal(r, false)
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if isClosed(r.exited) && !l.owned.alive(r) {
				return
			}
			continue
		case <-deadline.C:
		}
		break
	}
	for range 10 {
		l.owned.signal(r, true)
		<-tick.C
		if isClosed(r.exited) && !l.owned.alive(r) {
			return
		}
	}
	<-r.exited
}

// settle drains the output, seals it, and says what outlived the shell. What is
// just about to end gets the time of the drain to do so.
func (l *local) settle(r *run) []int {
	deadline := time.NewTimer(drain)
	defer deadline.Stop()
	select {
	case <-r.drained:
		l.linger(r, deadline.C)
	case <-deadline.C:
	}
	for _, s := range r.seals {
		s.close()
	}
	if r.stdin != nil {
		_ = r.stdin.SetWriteDeadline(time.Unix(1, 0))
	}
	left := l.owned.finish(r)
	if len(left) == 0 {
		// Nobody of ours holds the pipes, so nobody is worth a goroutine.
		for _, ours := range r.outputs {
			_ = ours.SetReadDeadline(time.Unix(1, 0))
		}
	}
	return left
}

func (l *local) linger(r *run, deadline <-chan time.Time) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for l.owned.alive(r) {
		select {
		case <-deadline:
			return
		case <-tick.C:
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// seal passes writes on until it is closed, then drops them: nothing is written
// to the caller's writer after Exec returned.
type seal struct {
	mu     sync.Mutex
	w      io.Writer
	closed bool
}

func (s *seal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return len(p), nil
	}
	if _, err := s.w.Write(p); err != nil {
		s.closed = true
	}
	return len(p), nil
}

func (s *seal) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
