package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"car/internal/engine/ir"
)

// Registry is the tools that a file names (V-CLI-1). Schemas is nil where it gave
// names alone, so that existence is all that can be checked.
type Registry struct {
	Names   []string
	Schemas *Set
}

// DecodeTools reads tools from JSON: an array of tool schemas, an object from name
// to a tool schema or to the JSON Schema of its parameters, or an array of names.
// Errors are *ir.PathError values, wrapped: text that is not I-JSON, another shape, a
// tool without a name.
func DecodeTools(data []byte) (Registry, error) {
	r, err := decodeTools(data)
	if err != nil {
		return Registry{}, fmt.Errorf("decode tools: %w", err)
	}
	return r, nil
}

func decodeTools(data []byte) (Registry, error) {
	if err := ir.CheckText(data); err != nil {
		return Registry{}, err
	}
	switch bytes.TrimLeft(data, " \t\r\n")[0] {
	case '{':
		return decodeMap(data)
	case '[':
		return decodeList(data)
	default:
		return Registry{}, &ir.PathError{Problem: "an array of tools, an array of names or an object from name to schema is needed"}
	}
}

func decodeMap(data []byte) (Registry, error) {
	var byName map[string]json.RawMessage
	if err := json.Unmarshal(data, &byName); err != nil {
		return Registry{}, err
	}
	var tools []ir.ToolSchema
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		tool := ir.ToolSchema{Parameters: byName[name]}
		// "parameters" is no keyword of JSON Schema, so what has it is a whole tool.
		var whole struct {
			Parameters json.RawMessage `json:"parameters"`
		}
		if json.Unmarshal(byName[name], &whole) == nil && whole.Parameters != nil {
			tool.Parameters = whole.Parameters
		}
		tool.Name = name
		tools = append(tools, tool)
	}
	return registryOf(tools), nil
}

func decodeList(data []byte) (Registry, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return Registry{}, err
	}
	r := Registry{Names: []string{}}
	var tools []ir.ToolSchema
	for i, item := range items {
		var name string
		if json.Unmarshal(item, &name) == nil && item[0] == '"' {
			r.Names = append(r.Names, name)
			continue
		}
		tool, err := decodeTool(item)
		if err != nil {
			return Registry{}, &ir.PathError{Path: fmt.Sprintf("[%d]", i), Problem: err.Error()}
		}
		tools = append(tools, tool)
	}
	switch {
	case len(tools) == 0:
		return r, nil
	case len(r.Names) > 0:
		return Registry{}, &ir.PathError{Problem: "names and tools are mixed; give all of one kind"}
	default:
		return registryOf(tools), nil
	}
}

func decodeTool(item []byte) (ir.ToolSchema, error) {
	var t ir.ToolSchema
	if err := json.Unmarshal(item, &t); err != nil {
		return t, fmt.Errorf("is no tool: %w", err)
	}
	if t.Name == "" {
		return t, fmt.Errorf("is no tool: a name is needed")
	}
	return t, nil
}

func registryOf(tools []ir.ToolSchema) Registry {
	r := Registry{Names: make([]string, 0, len(tools)), Schemas: NewSet(tools)}
	for _, t := range tools {
		r.Names = append(r.Names, t.Name)
	}
	return r
}
