// Package shelloutput is the shell_output tool: what a background job has said, and
// whether it still runs (T-SHELL-10). Reading takes nothing away: the same bytes can
// be read again (D-37).
//
// It acts through tool.Env and imports engine/ir and engine/tool only.
package shelloutput

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

const (
	// pieceBytes is how much output one call brings.
	pieceBytes = 12 << 10
	// maxWait is how long one call waits for a job to end, in seconds.
	maxWait = 60
	// listed is how much of a command stands in the list of jobs.
	listed = 200
)

const schema = `{
  "type": "object",
  "properties": {
    "job_id": {"type": "string", "description": "The job; without it, all jobs are listed."},
    "since": {"type": "integer", "description": "Byte to read from, for example the last next_since; without it, the end of the output."},
    "wait_secs": {"type": "integer", "description": "Wait up to this many seconds (60 at most) for the job to end first."}
  },
  "additionalProperties": false
}`

type input struct {
	Job   string `json:"job_id"`
	Since *int64 `json:"since"`
	Wait  int64  `json:"wait_secs"`
}

// state is a job, with the names of T-SHELL-7 for what has ended.
type state struct {
	Job        string `json:"job_id"`
	Status     string `json:"status"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	Signal     string `json:"signal,omitempty"`
	TimedOut   bool   `json:"timed_out,omitempty"`
	Error      string `json:"error,omitempty"`
	Command    string `json:"command"`
	DurationMS int64  `json:"duration_ms"`
	TotalBytes int64  `json:"total_bytes"`
	Spool      string `json:"spool,omitempty"`
	Redacted   int    `json:"redacted,omitempty"`
}

type output struct {
	state
	Output string `json:"output"`
	From   int64  `json:"since"`
	Next   int64  `json:"next_since"`
	// Truncated says that there is more behind next_since.
	Truncated bool   `json:"truncated,omitempty"`
	Note      string `json:"note,omitempty"`
}

type reader struct{}

// New returns the tool, nil where no substrate runs shell texts.
func New(b tool.Bindings) tool.Tool {
	if b.Describe.Dialect == "" {
		return nil
	}
	return reader{}
}

// Spec says how to read on and how to wait.
func (reader) Spec() tool.Spec {
	return tool.Spec{
		Name: "shell_output",
		Description: "Read the output of a background job of the shell tool, and whether it still runs or how it ended. " +
			"Reading takes nothing away. Pass next_since as since to read on, wait_secs to wait for its end; without job_id all jobs are listed.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "shell", Version: "1",
	}
}

// Effects are none: the jobs are the session's own.
func (reader) Effects(call tool.Call) (tool.Effects, error) {
	_, err := parse(call)
	return tool.Effects{Declared: true}, err
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	switch {
	case err != nil:
		return in, err
	case in.Since != nil && *in.Since < 0:
		return in, wire.Bad("since is %d; bytes are counted from 0", *in.Since)
	case in.Wait < 0 || in.Wait > maxWait:
		return in, wire.Bad("wait_secs is %d; it is 0 to %d", in.Wait, maxWait)
	case in.Job == "" && (in.Since != nil || in.Wait > 0):
		return in, wire.Bad("since and wait_secs belong to a job_id")
	}
	return in, nil
}

// Run reads.
func (reader) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	if env.Jobs == nil {
		return tool.Execution{}, wire.Fault(tool.Unsupported, "this host keeps no background jobs")
	}
	if in.Job == "" {
		return list(env.Jobs.List())
	}
	if in.Wait > 0 {
		if _, err := env.Jobs.Await(ctx, in.Job, time.Duration(in.Wait)*time.Second); err != nil {
			return tool.Execution{}, err
		}
	}
	since := int64(-1)
	if in.Since != nil {
		since = *in.Since
	}
	o, err := env.Jobs.Read(in.Job, since, pieceBytes)
	if err != nil {
		return tool.Execution{}, err
	}
	out := output{state: stateOf(o.Job), Output: o.Text, From: o.From, Next: o.Next, Truncated: o.Next < o.Job.Total}
	switch {
	case since > o.Job.Total:
		out.Note = fmt.Sprintf("there are only %d bytes so far", o.Job.Total)
	case since >= 0 && o.From > since:
		out.Note = fmt.Sprintf("bytes %d to %d are no longer kept", since, o.From)
	}
	result, err := wire.Out(out)
	return tool.Execution{Output: result, Blocks: blocks(o)}, err
}

func stateOf(j tool.Job) state {
	s := state{Job: j.ID, Status: "running", Command: j.Command, DurationMS: j.Duration.Milliseconds(), TotalBytes: j.Total, Spool: j.Spool, Redacted: j.Redacted}
	switch {
	case j.Running:
	case j.Killed:
		s.Status = "killed"
	case j.Err != "":
		s.Status, s.Error = "failed", j.Err
	default:
		s.Status, s.ExitCode, s.Signal, s.TimedOut = "exited", &j.Code, j.Signal, j.TimedOut
	}
	return s
}

func blocks(o tool.JobOutput) []ir.Block {
	var out []ir.Block
	if o.Text != "" {
		out = append(out, ir.Block{Kind: ir.BlockText, Text: o.Text, Title: o.Job.Spool})
	}
	if o.Job.Running || o.Job.Killed || o.Job.Err != "" {
		return append(out, ir.Block{Kind: ir.BlockText, Text: line(o.Job)})
	}
	return append(out, ir.Block{Kind: ir.BlockExit, Exit: &ir.ExitStatus{Code: o.Job.Code, Signal: o.Job.Signal, TimedOut: o.Job.TimedOut, DurationMS: o.Job.Duration.Milliseconds()}})
}

// line is a job in one line, for a person.
func line(j tool.Job) string {
	s := stateOf(j)
	text := fmt.Sprintf("%s %s", j.ID, s.Status)
	if s.ExitCode != nil {
		text += fmt.Sprintf(" %d", *s.ExitCode)
	}
	command, _, cut := strings.Cut(j.Command, "\n")
	if len(command) > listed {
		command, cut = strings.ToValidUTF8(command[:listed], ""), true
	}
	if cut {
		command += "…"
	}
	return fmt.Sprintf("%s, %s: %s", text, j.Duration.Round(100*time.Millisecond), command)
}

func list(jobs []tool.Job) (tool.Execution, error) {
	rows := make([]state, 0, len(jobs))
	lines := make([]string, 0, len(jobs))
	for _, j := range jobs {
		rows = append(rows, stateOf(j))
		lines = append(lines, line(j))
	}
	text := strings.Join(lines, "\n")
	if len(jobs) == 0 {
		text = "no jobs"
	}
	result, err := wire.Out(map[string]any{"jobs": rows})
	return tool.Execution{Output: result, Blocks: []ir.Block{{Kind: ir.BlockText, Text: text}}}, err
}
