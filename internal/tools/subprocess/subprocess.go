package subprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/foreign"
	"car/internal/tools/wire"
)

// Definition is a tool as its owner describes it.
type Definition struct {
	// Name is what the program is asked for; models see it cleaned (T-SET-3).
	Name        string
	Description string
	// Parameters and Returns are JSON Schemas; none accepts everything.
	Parameters json.RawMessage
	Returns    json.RawMessage
	// Program is what a call starts.
	Program tool.Program
	// Timeout bounds an attempt whose action names no limit; 0 is none.
	Timeout   time.Duration
	RateLimit *ir.RateLimit
	// Check, if not nil, says why the program must not run now, such as that it is no
	// longer what a person trusted. It is asked before a call is judged and again
	// before it runs.
	Check func() error
}

// program is a tool over a definition. Immutable.
type program struct {
	def  Definition
	spec tool.Spec
}

// New checks a definition and makes the tool, or says what is wrong with which.
func New(d Definition) (tool.Tool, error) {
	name := foreign.Name(d.Name)
	switch {
	case name == "":
		return nil, errors.New("subprocess tool: Name is empty")
	case d.Program.Command == "":
		return nil, fmt.Errorf("subprocess tool %q: Program.Command is empty", name)
	}
	parameters, err := foreign.Schema(d.Parameters)
	if err != nil {
		return nil, fmt.Errorf("subprocess tool %q: %w", name, err)
	}
	var returns json.RawMessage
	if len(d.Returns) > 0 {
		if returns, err = foreign.Schema(d.Returns); err != nil {
			return nil, fmt.Errorf("subprocess tool %q: Returns: %w", name, err)
		}
	}
	version, err := version(d)
	if err != nil {
		return nil, fmt.Errorf("subprocess tool %q: %w", name, err)
	}
	d.Program.Args, d.Program.Env = slices.Clone(d.Program.Args), maps.Clone(d.Program.Env)
	description := d.Description
	if description == "" {
		description = "Subprocess tool: " + d.Program.Command
	}
	return &program{def: d, spec: tool.Spec{
		Name: name, Source: ir.Subprocess, Description: foreign.Description(description), Parameters: parameters, Returns: returns,
		Effect: tool.Outward, Category: "subprocess", Timeout: d.Timeout, RateLimit: d.RateLimit, Version: version,
	}}, nil
}

// version is the identity of what runs, so that a tool whose program, arguments,
// variables or folder changed is asked for again (G-APPR-1).
func version(d Definition) (string, error) {
	args, env := make([]any, len(d.Program.Args)), map[string]any{}
	for i, a := range d.Program.Args {
		args[i] = a
	}
	for name, value := range d.Program.Env {
		env[name] = value
	}
	digest, err := ir.DigestOf(map[string]any{"name": d.Name, "command": d.Program.Command, "args": args, "env": env, "dir": d.Program.Dir})
	return string(digest), err
}

// Spec is what models and people are told.
func (p *program) Spec() tool.Spec { return p.spec }

// Effects names the program and declares nothing: what it does, nobody knows.
func (p *program) Effects(tool.Call) (tool.Effects, error) {
	if err := p.check(); err != nil {
		return tool.Effects{}, err
	}
	run := p.def.Program
	return tool.Effects{Program: &run}, nil
}

func (p *program) check() error {
	if p.def.Check == nil {
		return nil
	}
	return p.def.Check()
}

// Preview shows the command, and of its variables only the names.
func (p *program) Preview(_ context.Context, _ tool.Call, _ tool.Files) ([]ir.Block, error) {
	words := []string{foreign.Description(p.def.Program.Command)}
	for _, a := range p.def.Program.Args {
		words = append(words, strconv.Quote(a))
	}
	text := strings.Join(words, " ")
	if p.def.Program.Dir != "" {
		text += "\nin " + foreign.Description(p.def.Program.Dir)
	}
	if names := slices.Sorted(maps.Keys(p.def.Program.Env)); len(names) > 0 {
		text += "\nwith " + foreign.Description(strings.Join(names, ", "))
	}
	return []ir.Block{{Kind: ir.BlockText, Title: "runs a program", Text: text}}, nil
}

// Run asks the program.
func (p *program) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	if env.Program == nil {
		return tool.Execution{}, wire.Fault(tool.Unsupported, "tool '%s': this substrate runs no programs", call.Tool)
	}
	if err := p.check(); err != nil {
		return tool.Execution{}, wire.Bad("tool '%s': %v", call.Tool, err)
	}
	request, err := requestOf(p.def.Name, call.Params)
	if err != nil {
		return tool.Execution{}, wire.Bad("tool '%s': %v", call.Tool, err)
	}
	answer, err := env.Program.Run(ctx, request)
	if err != nil {
		return tool.Execution{}, failed(call.Tool, err, answer.Stderr)
	}
	result, err := resultOf(answer)
	if err != nil {
		return tool.Execution{}, failed(call.Tool, err, answer.Stderr)
	}
	if len(call.ExpectedEffects) == 0 {
		return tool.Execution{Output: result}, nil
	}
	return openEnvelope(call.Tool, result)
}

// failed is a failure with its kind kept and the end of stderr behind it, in one line.
func failed(name string, err error, stderr string) error {
	kind, text := tool.Failed, err.Error()
	var f *tool.Fault
	if errors.As(err, &f) {
		kind = f.Kind
	}
	if !strings.HasPrefix(text, "tool '") {
		text = fmt.Sprintf("tool '%s': %s", name, text)
	}
	if said := strings.Join(strings.FieldsFunc(stderr, func(r rune) bool { return r == '\n' }), " | "); said != "" {
		text += "; stderr: " + said
	}
	return wire.Fault(kind, "%s", text)
}
