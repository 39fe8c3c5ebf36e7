package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"car/internal/engine/admit"
	"car/internal/engine/redact"
	"car/internal/engine/tool"
)

// spawner runs the one shell text of a ticket. What comes back is cleaned of
// terminal control, redacted and bounded, in that order, so that no escape can
// hide a secret (T-SHELL-8, T-RED-4).
type spawner struct {
	substrate tool.Substrate
	redactor  *redact.Redactor
	text      string
	name      string
	progress  func(string)
	// network and git are what the verdict leaves the command beyond others.
	network, git bool
	now          func() time.Time
	// jobs is where a command goes on that is not waited for.
	jobs *jobs
	// patience is how long one that may be detached is waited for; 0 is to its end.
	patience time.Duration
}

// onlyGit reports commands that are all git's, which a person or a grant said yes
// to: they may change the repository's settings (G-TRUST-3).
func onlyGit(g admit.Grant) bool {
	for _, p := range g.Judgement.Programs {
		if len(p.Words) == 0 || p.Words[0] != "git" {
			return false
		}
	}
	return g.Approved && !g.Judgement.Undecided && len(g.Judgement.Programs) > 0
}

func spoolName(g admit.Grant) string {
	clean := func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}
	return fmt.Sprintf("%s-%d.txt", strings.Map(clean, g.Call.CallID), g.Attempt)
}

// Spawn runs the text that was judged, byte for byte (G-SHELL-5).
func (s *spawner) Spawn(ctx context.Context, c tool.Command) (tool.Outcome, error) {
	if c.Text != s.text {
		return tool.Outcome{}, errNotAdmitted()
	}
	j := s.start(ctx, c)
	defer s.report(j.kept)()
	var long <-chan time.Time
	if c.Detachable && s.patience > 0 {
		timer := time.NewTimer(s.patience)
		defer timer.Stop()
		long = timer.C
	}
	for {
		select {
		case <-long:
			if s.jobs.adopt(j, false) == nil {
				o := j.soFar()
				o.Duration = s.now().Sub(j.began)
				return o, nil
			}
			long = nil // no room for another job: it is waited for
			continue
		case <-ctx.Done():
			j.end(context.Cause(ctx))
			<-j.ended
		case <-j.ended:
		}
		return j.outcome()
	}
}

// Launch starts the text that was judged as a job of its session.
func (s *spawner) Launch(ctx context.Context, c tool.Command) (tool.Job, error) {
	if c.Text != s.text {
		return tool.Job{}, errNotAdmitted()
	}
	release, err := s.jobs.reserve()
	if err != nil {
		return tool.Job{}, err
	}
	defer release()
	j := s.start(ctx, c)
	if err := s.jobs.adopt(j, true); err != nil {
		j.end(err)
		<-j.ended
		return tool.Job{}, err
	}
	return s.jobs.describe(j), nil
}

func errNotAdmitted() error { return denied("the command is not the one that was admitted") }

// start runs the text in a goroutine of its own; ctx lends its values, not its end.
func (s *spawner) start(ctx context.Context, c tool.Command) *job {
	bounded, end := context.WithCancelCause(context.WithoutCancel(ctx))
	j := &job{began: s.now(), end: end, ended: make(chan struct{})}
	j.command, _ = s.redactor.String(c.Text)
	j.kept = newCapture(func() (io.WriteCloser, string, error) { return s.substrate.Spool(s.name) })
	s.jobs.running.Go(func() {
		defer close(j.ended)
		defer end(nil)
		defer func() {
			if p := recover(); p != nil {
				j.err = fmt.Errorf("shell panicked: %v", p)
			}
		}()
		masked := s.redactor.Writer(j.kept)
		clean := newCleaner(masked)
		exit, err := s.substrate.Exec(bounded, tool.Exec{Text: c.Text, Timeout: c.Timeout, Network: s.network, Git: s.git}, clean)
		j.err = errors.Join(err, clean.Close(), masked.Close(), j.kept.Close())
		j.exit, j.redacted, j.took = exit, masked.Hits(), s.now().Sub(j.began)
	})
	return j
}

// report passes the last line on twice a second until it is stopped (T-SHELL-9).
func (s *spawner) report(kept *capture) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		last := ""
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				if line := kept.LastLine(); line != last {
					last = line
					s.progress(line)
				}
			}
		}
	}()
	return func() { close(quit); <-ended }
}
