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
		return tool.Outcome{}, denied("the command is not the one that was admitted")
	}
	kept := newCapture(func() (io.WriteCloser, string, error) { return s.substrate.Spool(s.name) })
	masked := s.redactor.Writer(kept)
	clean := newCleaner(masked)
	stop := s.report(kept)
	exit, err := s.substrate.Exec(ctx, tool.Exec{Text: c.Text, Timeout: c.Timeout, Network: s.network, Git: s.git}, clean)
	stop()
	err = errors.Join(err, clean.Close(), masked.Close(), kept.Close())
	if err != nil {
		return tool.Outcome{}, err
	}
	text, truncated := kept.Text()
	return tool.Outcome{
		Output: text, Truncated: truncated, Total: kept.Total(), Spool: kept.Path(), Code: exit.Code, Signal: exit.Signal,
		TimedOut: exit.TimedOut, Duration: exit.Duration, LeftRunning: exit.LeftRunning, Redacted: masked.Hits(),
	}, nil
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
