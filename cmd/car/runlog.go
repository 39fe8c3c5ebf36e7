package main

import (
	"time"

	"car/internal/assistant"
)

// runLog is what one run came to, gathered from its wire events: the source of
// the document of --json and of the exit code. It is fed by one goroutine.
type runLog struct {
	session string
	started time.Time
	ended   time.Time

	inferences int
	model      string
	calls      map[string]assistant.ToolCall
	results    []assistant.ToolResult
	goals      []assistant.GoalEvaluated
	report     assistant.ReceiptReport
	// end is the one terminal event, nil while the run goes on.
	end assistant.Body
}

func newRunLog(session string, now time.Time) *runLog {
	return &runLog{session: session, started: now, calls: map[string]assistant.ToolCall{}}
}

// add takes an event in.
func (r *runLog) add(e assistant.Event) {
	switch b := e.Body.(type) {
	case assistant.InferenceStarted:
		r.inferences++
		if r.model == "" {
			r.model = b.Model
		}
	case assistant.ModelServed:
		r.model = b.ModelID
	case assistant.ToolCall:
		r.calls[b.CallID] = b
	case assistant.ToolResult:
		r.results = append(r.results, b)
	case assistant.GoalEvaluated:
		r.goals = append(r.goals, b)
	case assistant.ReceiptReport:
		r.report = b
	}
	if e.Body.Kind().Terminal() {
		r.end, r.ended = e.Body, e.Time
	}
}

// failed counts the calls that did not do what they should.
func (r *runLog) failed() int {
	n := 0
	for _, result := range r.results {
		if !result.OK {
			n++
		}
	}
	return n
}

// answer is the text that the run leaves, and whether it is an ordinary end.
func (r *runLog) answer() (text string, ok bool) {
	switch b := r.end.(type) {
	case assistant.Done:
		return b.Text, true
	case assistant.Failure:
		return b.Text, false
	}
	return "", false
}
