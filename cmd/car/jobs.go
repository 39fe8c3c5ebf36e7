package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"car/internal/engine/tool"
	"car/internal/tui"
)

// watchedPatience is how long a command without a limit of its own is waited for where
// a person watches (T-SHELL-10).
const watchedPatience = 30 * time.Second

func (h *house) patience() time.Duration {
	if h.watched {
		return watchedPatience
	}
	return 0
}

// runningJobs are the background commands that end with the session.
func (r *engineRoom) runningJobs() []tool.Job {
	if r.runtime == nil {
		return nil
	}
	var running []tool.Job
	for _, j := range r.runtime.Jobs(r.id).List() {
		if j.Running {
			running = append(running, j)
		}
	}
	return running
}

// tellEnded says what became of jobs that were running when the session ended.
func (h *house) tellEnded(jobs []tool.Job) {
	for _, j := range jobs {
		h.notice(fmt.Sprintf("job %s was still running after %s and was ended with the session: %s", j.ID, j.Duration.Round(time.Second/10), oneLine(j.Command)))
	}
}

// oneLine is the beginning of a shell text.
func oneLine(text string) string {
	first, _, cut := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(first); len(runes) > 120 {
		first, cut = string(runes[:120]), true
	}
	if cut {
		first += "…"
	}
	return first
}

func (s *session) slashJobs(context.Context, string) (tui.Result, error) {
	var b strings.Builder
	for _, j := range s.room.runtime.Jobs(s.id).List() {
		fmt.Fprintf(&b, "%-4s %-10s %8s  %s\n", j.ID, jobWord(j), j.Duration.Round(time.Second/10), oneLine(j.Command))
		if j.Running && j.LastLine != "" {
			fmt.Fprintf(&b, "     %s\n", oneLine(j.LastLine))
		}
	}
	if b.Len() == 0 {
		return tui.Result{Text: "No command runs in the background."}, nil
	}
	return fenced(b.String()), nil
}

// jobWord is how a job stands, in a word or two.
func jobWord(j tool.Job) string {
	switch {
	case j.Running:
		return "running"
	case j.Killed:
		return "killed"
	case j.Err != "":
		return "failed"
	case j.TimedOut:
		return "timed out"
	}
	return fmt.Sprintf("exit %d", j.Code)
}
