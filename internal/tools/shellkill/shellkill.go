// Package shellkill is the shell_kill tool: it ends a background job of this session
// and everything that the job started (T-SHELL-10, P-PROC-2).
//
// It acts through tool.Env and imports engine/ir and engine/tool only.
package shellkill

import (
	"context"
	"encoding/json"
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

const schema = `{
  "type": "object",
  "properties": {"job_id": {"type": "string", "description": "The job to end."}},
  "required": ["job_id"],
  "additionalProperties": false
}`

type input struct {
	Job string `json:"job_id"`
}

type output struct {
	Job        string `json:"job_id"`
	Status     string `json:"status"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	TotalBytes int64  `json:"total_bytes"`
	Spool      string `json:"spool,omitempty"`
	Note       string `json:"note,omitempty"`
}

type killer struct{}

// New returns the tool, nil where no substrate runs shell texts.
func New(b tool.Bindings) tool.Tool {
	if b.Describe.Dialect == "" {
		return nil
	}
	return killer{}
}

// Spec says what is ended.
func (killer) Spec() tool.Spec {
	return tool.Spec{
		Name:        "shell_kill",
		Description: "End a background job of the shell tool and every process that it started. Its output stays readable.",
		Parameters:  json.RawMessage(schema), Effect: tool.Write, Category: "shell", Version: "1",
	}
}

// Effects are none beyond the session's own job.
func (killer) Effects(call tool.Call) (tool.Effects, error) {
	_, err := parse(call)
	return tool.Effects{Declared: true}, err
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	if err == nil && in.Job == "" {
		err = wire.Bad("missing 'job_id' parameter")
	}
	return in, err
}

// Run ends the job.
func (killer) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	if env.Jobs == nil {
		return tool.Execution{}, wire.Fault(tool.Unsupported, "this host keeps no background jobs")
	}
	j, err := env.Jobs.Kill(ctx, in.Job)
	if err != nil {
		return tool.Execution{}, err
	}
	out := output{Job: j.ID, Status: "killed", DurationMS: j.Duration.Milliseconds(), TotalBytes: j.Total, Spool: j.Spool}
	if !j.Killed {
		out.Status, out.Note = "exited", "it had ended by itself before"
		if j.Err == "" {
			out.ExitCode = &j.Code
		}
	}
	result, err := wire.Out(out)
	text := fmt.Sprintf("job %s %s", j.ID, out.Status)
	return tool.Execution{Output: result, Blocks: []ir.Block{{Kind: ir.BlockText, Text: text}}}, err
}
