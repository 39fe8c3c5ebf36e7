package main

import (
	"encoding/json"
	"fmt"
	"time"

	"car/internal/assistant/project"
	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools"
	"car/internal/tools/subprocess"
)

// toolbox is our own tools with the programs of tools.toml beside them (E-TOOL-2).
func (h *house) toolbox(b tool.Bindings) (*engine.Toolbox, error) {
	ours, err := tools.New(b)
	if err != nil {
		return nil, err
	}
	box := engine.NewToolbox(ours)
	for _, t := range h.project.Tools {
		if err := addProgram(box, t); err != nil {
			return nil, usageError(fmt.Errorf("%s: %w", t.From, err))
		}
	}
	return box, nil
}

// addProgram adds one. It can not take the name of another tool: what a name does is
// not for a file to change.
func addProgram(box *engine.Toolbox, t project.Tool) error {
	made, err := programTool(t)
	if err != nil {
		return err
	}
	name := made.Spec().Name
	if _, taken := box.Lookup(name); taken {
		return fmt.Errorf("there is a tool %q already; give this one another name", name)
	}
	return box.Register(made)
}

func programTool(t project.Tool) (tool.Tool, error) {
	parameters, err := schemaText(t.Parameters)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	returns, err := schemaText(t.Returns)
	if err != nil {
		return nil, fmt.Errorf("returns: %w", err)
	}
	d := subprocess.Definition{
		Name: t.Name, Description: t.Description, Parameters: parameters, Returns: returns, Timeout: time.Duration(t.TimeoutSecs) * time.Second,
		Program: tool.Program{Command: t.Command, Args: t.Args, Env: t.Env, Dir: t.Dir}, Check: unchanged(t.Pins),
	}
	if l := t.RateLimit; l != nil {
		d.RateLimit = &ir.RateLimit{MaxCalls: uint64(l.MaxCalls), IntervalSecs: l.IntervalSecs}
	}
	return subprocess.New(d)
}

// schemaText is a schema of a TOML file as JSON; none is none.
func schemaText(schema map[string]any) (json.RawMessage, error) {
	if schema == nil {
		return nil, nil
	}
	return json.Marshal(schema)
}

// unchanged refuses once a file that a tool runs is no longer the one that a person
// trusted (D-31).
func unchanged(pins []project.File) func() error {
	return func() error {
		for _, f := range pins {
			if digest, err := project.DigestOfFile(f.Root, f.Name); err != nil || digest != f.Digest {
				return fmt.Errorf("%s changed since you trusted it; look at it and run `car trust`", f.Name)
			}
		}
		return nil
	}
}
