package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"car/internal/engine/ir"
)

// Set is the parameter schemas of tools (V-SCHEMA-3). Each is compiled when it is
// first asked for, once. Its owner keeps it for as long as the tools stay the same;
// it is safe for concurrent use.
type Set struct{ byTool map[string]func() *Schema }

// NewSet takes the tools that there are. Of two with one name the last counts. A
// schema that is no JSON is degraded like any other that cannot be used.
func NewSet(tools []ir.ToolSchema) *Set {
	set := &Set{byTool: make(map[string]func() *Schema, len(tools))}
	for _, t := range tools {
		set.byTool[t.Name] = sync.OnceValue(func() *Schema { return compileOrDegrade(t.Parameters) })
	}
	return set
}

func compileOrDegrade(raw json.RawMessage) *Schema {
	s, err := Compile(raw)
	if err != nil {
		return &Schema{Degraded: "it is not JSON"}
	}
	return s
}

// Has reports whether a tool is in the set. A nil set has none.
func (s *Set) Has(tool string) bool {
	if s == nil {
		return false
	}
	_, ok := s.byTool[tool]
	return ok
}

// Names are the tools of the set, sorted; a nil set has none.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.byTool))
}

// Schema is a tool's schema, nil for a tool that is not in the set. A nil schema
// accepts everything.
func (s *Set) Schema(tool string) *Schema {
	if !s.Has(tool) {
		return nil
	}
	return s.byTool[tool]()
}

// Check lists every finding about a call's parameters; an unregistered tool has none.
func (s *Set) Check(tool string, params map[string]any) []string { return s.Schema(tool).Check(params) }
