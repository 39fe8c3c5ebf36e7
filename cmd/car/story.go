package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"car/internal/assistant"
	"car/internal/tui/safe"
)

// story tells a run on stderr as it goes, one line for each thing that happened.
type story interface {
	// tell is called with every event of the run, in order, by one goroutine.
	tell(e assistant.Event)
}

// silence tells nothing (--quiet).
type silence struct{}

func (silence) tell(assistant.Event) {}

// plainStory is for people: what the model says between its calls, and a row for
// each call with how it ended.
type plainStory struct {
	w       io.Writer
	verbose bool
	calls   map[string]assistant.ToolCall
	// Calls that run together end in any order; their rows keep the model's. next is
	// the sequence whose row comes next, ended holds those that came early.
	next  int
	ended map[int]assistant.ToolResult
	// said is the text since the last call; the last one is the answer and goes to stdout.
	said strings.Builder
}

func newPlainStory(w io.Writer, verbose bool) *plainStory {
	return &plainStory{w: w, verbose: verbose, calls: map[string]assistant.ToolCall{}, next: 1, ended: map[int]assistant.ToolResult{}}
}

func (s *plainStory) tell(e assistant.Event) {
	switch b := e.Body.(type) {
	case assistant.Token:
		s.said.WriteString(b.Delta)
	case assistant.ToolCall:
		s.flush()
		s.calls[b.CallID] = b
	case assistant.ToolResult:
		s.ended[b.Sequence] = b
		for r, ok := s.ended[s.next]; ok; r, ok = s.ended[s.next] {
			s.row(r)
			delete(s.ended, s.next)
			s.next++
		}
	case assistant.InferenceRetry:
		s.line("… %s: %s; again in %s", b.Model, b.Reason, (time.Duration(b.BackoffMS) * time.Millisecond).Round(100*time.Millisecond))
	case assistant.ApprovalResolved:
		if s.verbose {
			s.line("  %s by %s %s", b.Decision, b.By, b.Reason)
		}
	case assistant.GoalEvaluated:
		s.line("%s check %d: %s", mark(b.Met), b.Iteration, b.Reason)
		if b.Output != "" {
			s.under(b.Output)
		}
	case assistant.Notice:
		s.line("· %s", b.Text)
	case assistant.Usage:
		if s.verbose {
			s.line("· %d tokens in, %d out", b.Input+b.CacheRead+b.CacheWrite, b.Output)
		}
	}
}

// flush prints what the model said before it called; nobody needs it on stdout.
func (s *plainStory) flush() {
	for _, line := range strings.Split(strings.TrimSpace(s.said.String()), "\n") {
		if line != "" {
			s.line("%s", line)
		}
	}
	s.said.Reset()
}

func (s *plainStory) row(r assistant.ToolResult) {
	s.line("%s %-11s %s  %s%s", mark(r.OK), r.Tool, briefOf(s.calls[r.CallID].Params), (time.Duration(r.DurationMS) * time.Millisecond).String(), jobOf(r.Excerpt))
	if !r.OK {
		s.under(reasonOf(r.Excerpt))
	}
}

// under prints the end of a text below the line it belongs to.
func (s *plainStory) under(text string) {
	for _, line := range strings.Split(lastLines(text), "\n") {
		s.line("    %s", line)
	}
}

// jobOf says that a call is about a job, and how that stands: its row has ended, the
// job need not have (T-SHELL-10).
func jobOf(excerpt string) string {
	var result struct {
		Job    string `json:"job_id"`
		Status string `json:"status"`
	}
	if json.Unmarshal([]byte(excerpt), &result) != nil || result.Job == "" {
		return ""
	}
	return "  job " + result.Job + " " + result.Status
}

func (s *plainStory) line(format string, args ...any) {
	fmt.Fprintln(s.w, strings.TrimRight(safe.Line(fmt.Sprintf(format, args...)), " "))
}

func mark(ok bool) string {
	if ok {
		return "✓"
	}
	return "✗"
}

// storyLines bounds what a row shows of a call that went wrong.
const storyLines = 6

// reasonOf is what went wrong with a call: its error where it has one, else the
// end of its output, which is where programs say what they found.
func reasonOf(excerpt string) string {
	var result map[string]any
	if json.Unmarshal([]byte(excerpt), &result) != nil {
		return lastLines(excerpt)
	}
	for _, name := range []string{"error", "output", "stderr", "content"} {
		if text, ok := result[name].(string); ok && strings.TrimSpace(text) != "" {
			return lastLines(text)
		}
	}
	return lastLines(excerpt)
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > storyLines {
		lines = append([]string{fmt.Sprintf("… %d lines", len(lines)-storyLines)}, lines[len(lines)-storyLines:]...)
	}
	return strings.Join(lines, "\n")
}

// jsonStory is the story of `car do --json`: one object a line, exactly one of
// completed and failed at the end (D-14).
type jsonStory struct {
	w     io.Writer
	calls map[string]assistant.ToolCall
	said  strings.Builder
}

// storyLine is one line of it.
type storyLine struct {
	Type    string         `json:"type"`
	Phase   string         `json:"phase"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

func newJSONStory(w io.Writer) *jsonStory {
	s := &jsonStory{w: w, calls: map[string]assistant.ToolCall{}}
	s.write(storyLine{Type: "started", Phase: "start", Message: "the run begins"})
	return s
}

func (s *jsonStory) tell(e assistant.Event) {
	switch b := e.Body.(type) {
	case assistant.Token:
		s.said.WriteString(b.Delta)
	case assistant.ToolCall:
		s.text()
		s.calls[b.CallID] = b
		s.write(storyLine{Type: "tool_called", Phase: "act", Message: b.Tool, Data: map[string]any{"call_id": b.CallID, "params": b.Params, "tier": b.Tier.String()}})
	case assistant.ToolResult:
		line := storyLine{Type: "tool_result", Phase: "act", Message: b.Tool, Data: map[string]any{"call_id": b.CallID, "ok": b.OK, "excerpt": b.Excerpt, "duration_ms": b.DurationMS}}
		if !b.OK {
			line.Type = "tool_failed"
		}
		s.write(line)
	case assistant.GoalEvaluated:
		s.write(storyLine{Type: "goal_evaluated", Phase: "check", Message: b.Reason, Data: map[string]any{"iteration": b.Iteration, "met": b.Met, "grounded": b.Grounded, "output": b.Output}})
	case assistant.Done:
		s.text()
		s.write(completion(b))
	case assistant.Failure:
		s.text()
		s.write(storyLine{Type: "failed", Phase: "end", Message: b.Error, Data: map[string]any{"code": b.Code}})
	case assistant.AuthRequired:
		s.write(storyLine{Type: "failed", Phase: "end", Message: b.Message, Data: map[string]any{"code": b.Reason, "help": b.Help}})
	}
}

// completion is the line of a run that finished: it says "well" only where nothing
// stands against it (P-TRUE-1).
func completion(d assistant.Done) storyLine {
	line := storyLine{Type: "completed", Phase: "end", Message: "the run ended well"}
	switch {
	case d.GoalUnevaluated:
		line.Message = "the run ended, and its goal is not verified"
	case len(d.Refused) > 0:
		line.Type, line.Message = "failed", "the run ended, and effects were refused that nothing else achieved"
		line.Data = map[string]any{"code": codeEffectRefused, "refused": d.Refused}
	}
	return line
}

func (s *jsonStory) text() {
	if text := strings.TrimSpace(s.said.String()); text != "" {
		s.write(storyLine{Type: "text", Phase: "think", Message: text})
	}
	s.said.Reset()
}

func (s *jsonStory) write(l storyLine) {
	if l.Data == nil {
		l.Data = map[string]any{}
	}
	// Data is plain JSON; a value that is not would be a defect of the event's own type.
	if line, err := json.Marshal(l); err == nil {
		fmt.Fprintf(s.w, "%s\n", line)
	}
}
