package tools

import (
	"encoding/json"
	"fmt"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

//go:generate go run ./newtool

// Set is the tools that are bound for a session. Immutable, safe for concurrent use.
type Set struct {
	byName map[string]tool.Tool
	names  []string
}

// New binds every tool whose binding is there; one that is sure to fail is not
// in the set (T-SET-2). Two tools of one name are an error that names both (T-SET-6).
func New(b tool.Bindings) (*Set, error) { return bind(constructors(), b) }

func bind(constructors []func(tool.Bindings) tool.Tool, b tool.Bindings) (*Set, error) {
	s := &Set{byName: map[string]tool.Tool{}}
	for _, construct := range constructors {
		t := construct(b)
		if t == nil {
			continue
		}
		name := t.Spec().Name
		if other, found := s.byName[name]; found {
			return nil, fmt.Errorf("tools %T and %T are both named %q", other, t, name)
		}
		if !json.Valid(t.Spec().Parameters) {
			return nil, fmt.Errorf("tool %q: its parameters are no JSON Schema", name)
		}
		s.byName[name] = t
		if x, ok := t.(tool.Exclusive); ok && !x.Listed() {
			continue // it answers, and no model is told of it
		}
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	return s, nil
}

// Names lists the tools, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Lookup finds a tool by its name.
func (s *Set) Lookup(name string) (tool.Tool, bool) {
	t, found := s.byName[name]
	return t, found
}

// Source is who the tools of a set come from: every one is built in (E-EXEC-13).
func (s *Set) Source(string) ir.ToolSource { return ir.Builtin }

// Unknown is the failure for a name that no tool has; it is typed, so that
// nobody reads its text (T-SET-7).
func Unknown(name string) error {
	return &tool.Fault{Kind: tool.Unhandled, Text: "unknown tool: " + name}
}

// Schemas are what a model is told, sorted by name.
func (s *Set) Schemas() []ir.ToolSchema {
	schemas := make([]ir.ToolSchema, 0, len(s.names))
	for _, e := range s.Entries() {
		schemas = append(schemas, e.Schema)
	}
	return schemas
}

// Entries are the schemas with what models do not see, sorted by name (E-IR-4).
func (s *Set) Entries() []ir.ToolEntry {
	entries := make([]ir.ToolEntry, 0, len(s.names))
	for _, name := range s.names {
		entries = append(entries, entryOf(s.byName[name].Spec()))
	}
	return entries
}

func entryOf(spec tool.Spec) ir.ToolEntry {
	e := ir.ToolEntry{
		Schema: ir.ToolSchema{
			Name: spec.Name, Source: ir.Builtin, Description: spec.Description, Parameters: spec.Parameters, Returns: spec.Returns,
			CacheTTLSecs: uint64(spec.CacheTTL.Seconds()), RateLimit: spec.RateLimit,
		},
		Source: ir.Builtin, Permission: ir.PermissionAsk, SideEffects: true, Category: spec.Category, CountField: spec.CountField,
	}
	if spec.Effect == tool.Read {
		e.Permission, e.SideEffects, e.ReadOnly = ir.PermissionAllow, false, true
	}
	return e
}
