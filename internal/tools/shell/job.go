package shell

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

// started is the result of a command that was not waited for to its end. It has no
// exit code: nobody knows it yet.
type started struct {
	JobID      string `json:"job_id"`
	Status     string `json:"status"`
	Output     string `json:"output,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
	Note       string `json:"note"`
}

// soFarBytes is how much of the output so far stands in the result of a command that
// went on as a job; shell_output has the rest.
const soFarBytes = 4 << 10

// launch starts a job (T-SHELL-10).
func launch(ctx context.Context, env tool.Env, in input, timeout time.Duration, note string) (tool.Execution, error) {
	if env.Launch == nil {
		return tool.Execution{}, wire.Fault(tool.Unsupported, "nothing can run in the background here; run it in the foreground")
	}
	if in.Timeout == nil {
		timeout = 0
	}
	j, err := env.Launch.Launch(ctx, tool.Command{Text: *in.Command, Timeout: timeout})
	if err != nil {
		return tool.Execution{}, err
	}
	limit := "it ends with the session at the latest"
	if timeout > 0 {
		limit = fmt.Sprintf("it ends after %d s at the latest", int(timeout.Seconds()))
	}
	return goesOn(started{JobID: j.ID, Note: join([]string{note, "it has only been started: shell_output says how it goes, shell_kill ends it; " + limit})})
}

// wentOn is the result of a command that took so long that it is a job now.
func wentOn(o tool.Outcome, timeout time.Duration) (tool.Execution, error) {
	tail := o.Output[max(0, len(o.Output)-soFarBytes):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return goesOn(started{JobID: o.Job, Output: tail, DurationMS: o.Duration.Milliseconds(), Note: fmt.Sprintf(
		"it is still running and goes on as a job: shell_output waits for it and reads it, shell_kill ends it; it ends at its limit of %d s", int(timeout.Seconds()))})
}

func goesOn(s started) (tool.Execution, error) {
	s.Status = "running"
	out, err := wire.Out(s)
	return tool.Execution{Output: out, Blocks: []ir.Block{{Kind: ir.BlockText, Text: strings.TrimRight(s.Output+"\nruns as job "+s.JobID, "\n")}}}, err
}
