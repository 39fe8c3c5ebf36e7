package main

import (
	"encoding/json"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/editfile"
	"car/internal/tools/readfile"
	"car/internal/tools/shell"
	"car/internal/tools/writefile"
)

// toolSet are the hands of a session, by name.
type toolSet struct{ byName map[string]tool.Tool }

func newTools(b tool.Bindings) (toolSet, error) {
	s := toolSet{map[string]tool.Tool{}}
	for _, t := range []tool.Tool{readfile.New(b), writefile.New(b), editfile.New(b), shell.New(b)} {
		s.byName[t.Spec().Name] = t
	}
	return s, nil
}
func (s toolSet) Lookup(n string) (tool.Tool, bool) { t, ok := s.byName[n]; return t, ok }
func (s toolSet) Schemas() []ir.ToolSchema {
	var out []ir.ToolSchema
	for _, n := range []string{"edit_file", "read_file", "shell", "write_file"} {
		sp := s.byName[n].Spec()
		out = append(out, ir.ToolSchema{Name: n, Description: sp.Description, Parameters: json.RawMessage(sp.Parameters)})
	}
	return out
}
