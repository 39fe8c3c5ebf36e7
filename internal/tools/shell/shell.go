// Package shell is the shell tool: one shell text, run to its end in the working
// directory (T-SHELL). The engine parses and judges the text before; what it
// returns is already cleaned, redacted and bounded by Env.
//
// It acts through tool.Env and imports engine/ir and engine/tool only.
package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

const (
	defaultSeconds = 120
	maxSeconds     = 600
)

const schema = `{
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "Shell text, run as it is. No terminal and no input: it cannot ask anything."},
    "timeout_secs": {"type": "integer", "description": "Limit in seconds, 120 unless given, 600 at most."},
    "background": {"type": "boolean", "description": "Start it as a job and do not wait: for servers and watchers. No limit unless timeout_secs is given."}
  },
  "required": ["command"],
  "additionalProperties": false
}`

type input struct {
	Command *string `json:"command"`
	Timeout *int64  `json:"timeout_secs"`
	// Background starts a job (T-SHELL-10).
	Background bool `json:"background"`
}

// output has the names of T-SHELL-7.
type output struct {
	Output      string `json:"output"`
	ExitCode    int    `json:"exit_code"`
	TimedOut    bool   `json:"timed_out"`
	DurationMS  int64  `json:"duration_ms"`
	Truncated   bool   `json:"truncated,omitempty"`
	Spool       string `json:"spool,omitempty"`
	Signal      string `json:"signal,omitempty"`
	CwdMissing  bool   `json:"cwd_missing,omitempty"`
	LeftRunning []int  `json:"left_running,omitempty"`
	Redacted    int    `json:"redacted,omitempty"`
	Note        string `json:"note,omitempty"`
}

type shell struct{ dialect string }

// New returns the tool, nil where no substrate runs shell texts.
func New(b tool.Bindings) tool.Tool {
	if b.Describe.Dialect == "" {
		return nil
	}
	return shell{dialect: b.Describe.Dialect}
}

// Spec names the dialect and what a model must know before it writes a text (T-SHELL-1, 2).
func (s shell) Spec() tool.Spec {
	runs := map[string]string{"bash": "bash --noprofile --norc -c", "sh": "sh -c (POSIX only, no bash features)", "cmd": "cmd /C"}[s.dialect]
	return tool.Spec{
		Name: "shell",
		Description: "Run a command with " + runs + " in the working directory. A `cd` does not carry over to the next call. " +
			"stdout and stderr come back merged; a non-zero exit is a result, not an error. There is no terminal and no input: " +
			"pass -y, -m, --no-edit and the like. A server or a watcher needs background: true; shell_output then reads it and shell_kill ends it. Temporary files belong in $TMPDIR; writing to /tmp by name is refused. " +
			"sudo, environment dumps, reading credentials, force pushes and writes outside the working directory are denied; " +
			"pushing, publishing, rewriting history and discarding work ask the person first. " +
			"Prefer read_file, edit_file, grep_files and find_files to cat, sed, grep and find.",
		Parameters: json.RawMessage(schema), Effect: tool.Outward, Category: "shell", Version: "1",
	}
}

// Effects declares the text; what it would do is the engine's to read out of it.
func (shell) Effects(call tool.Call) (tool.Effects, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Effects{}, err
	}
	return tool.Effects{Declared: true, Shell: tool.Shell{Text: *in.Command}}, nil
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	switch {
	case err != nil:
		return in, err
	case in.Command == nil:
		return in, wire.Bad("missing 'command' parameter")
	case strings.TrimSpace(*in.Command) == "":
		return in, wire.Bad("the 'command' parameter is empty")
	case strings.ContainsRune(*in.Command, 0):
		return in, wire.Bad("the command holds a NUL byte; no shell can take it")
	}
	return in, nil
}

// limit clamps the timeout and says so (T-SHELL-3).
func (in input) limit() (time.Duration, string) {
	if in.Timeout == nil {
		return defaultSeconds * time.Second, ""
	}
	secs := min(max(*in.Timeout, 1), maxSeconds)
	note := ""
	if secs != *in.Timeout {
		note = fmt.Sprintf("timeout_secs %d is out of range, %d was used", *in.Timeout, secs)
	}
	return time.Duration(secs) * time.Second, note
}

// Run runs the text.
func (shell) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	timeout, note := in.limit()
	if in.Background {
		return launch(ctx, env, in, timeout, note)
	}
	o, err := env.Spawn.Spawn(ctx, tool.Command{Text: *in.Command, Timeout: timeout, Detachable: in.Timeout == nil})
	if err != nil {
		return tool.Execution{}, err
	}
	if o.Job != "" {
		return wentOn(o, timeout)
	}
	out := output{
		Output: o.Output, ExitCode: o.Code, TimedOut: o.TimedOut, DurationMS: o.Duration.Milliseconds(), Truncated: o.Truncated,
		Spool: o.Spool, Signal: o.Signal, LeftRunning: o.LeftRunning, Redacted: o.Redacted,
	}
	notes := []string{note, explain(o, timeout)}
	if o.Signal == "" {
		out.Signal = signalOf(o.Code)
	}
	if _, err := env.Files.Stat("."); errors.Is(err, fs.ErrNotExist) {
		out.CwdMissing = true
		notes = append(notes, "the working directory is gone; nothing can run until it is back")
	}
	out.Note = join(notes)
	result, err := wire.Out(out)
	return tool.Execution{Output: result, Blocks: blocks(o)}, err
}

// explain says what an exit means where the number alone would mislead.
func explain(o tool.Outcome, timeout time.Duration) string {
	var said []string
	switch {
	case o.TimedOut:
		said = append(said, fmt.Sprintf("ended at its limit of %d s", int(timeout.Seconds())))
	case o.Code == 127:
		said = append(said, "a command was not found on PATH")
	}
	if len(o.LeftRunning) > 0 {
		said = append(said, "it left processes running; they end with the session")
	}
	return join(said)
}

func join(notes []string) string {
	var kept []string
	for _, n := range notes {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return strings.Join(kept, "; ")
}

// signalOf names the signal that a shell reports of a child as 128+n (T-SHELL-7).
func signalOf(code int) string {
	return map[int]string{
		129: "SIGHUP", 130: "SIGINT", 131: "SIGQUIT", 132: "SIGILL", 133: "SIGTRAP", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE",
		137: "SIGKILL", 139: "SIGSEGV", 141: "SIGPIPE", 143: "SIGTERM", 152: "SIGXCPU", 153: "SIGXFSZ",
	}[code]
}

func blocks(o tool.Outcome) []ir.Block {
	signal := o.Signal
	if signal == "" {
		signal = signalOf(o.Code)
	}
	exit := ir.Block{Kind: ir.BlockExit, Exit: &ir.ExitStatus{Code: o.Code, Signal: signal, TimedOut: o.TimedOut, DurationMS: o.Duration.Milliseconds()}}
	if o.Output == "" {
		return []ir.Block{exit}
	}
	text := ir.Block{Kind: ir.BlockText, Text: o.Output, Title: o.Spool}
	if o.Truncated {
		text.Omitted = max(o.Total-int64(len(o.Output)), 0)
	}
	return []ir.Block{text, exit}
}
