package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"car/internal/engine/ir"
)

// maxBytes bounds a schema that is compiled (V-SCHEMA-4).
const maxBytes = 256 << 10

// Schema is one tool's parameter schema, ready for use by any number of
// goroutines. The zero value and nil accept everything.
type Schema struct {
	root     root
	compiled *jsonschema.Schema
	// Degraded says why only required and type are checked; empty when all is.
	Degraded string
}

// root is what pass one needs: the reference's own subset (V-SCHEMA-1).
type root struct {
	Required   []string `json:"required"`
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
}

// Compile prepares a schema. Text that is no JSON is an error; a schema that
// the library cannot use is degraded, and says so (V-SCHEMA-4).
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return &Schema{}, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("parameter schema is not JSON: %w", err)
	}
	s := &Schema{}
	if object, ok := doc.(map[string]any); ok {
		if err := json.Unmarshal(raw, &s.root); err != nil {
			s.Degraded = "root is malformed"
			return s, nil
		}
		if len(object) == 0 {
			return s, nil
		}
	} else if doc != false {
		return s, nil
	}
	if len(raw) > maxBytes {
		s.Degraded = "larger than 256 KiB"
		return s, nil
	}
	s.compiled, err = compile(doc)
	if err != nil {
		s.Degraded = "it uses a keyword, pattern or reference that cannot be checked here"
	}
	return s, nil
}

func compile(doc any) (*jsonschema.Schema, error) {
	const name = "car:///parameters.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// noLoader refuses every reference that leaves the document (V-SCHEMA-4).
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references outside the schema are not followed")
}

// Check lists every finding about the parameters, in a stable order; none means
// that they pass.
func (s *Schema) Check(params map[string]any) []string {
	if s == nil {
		return nil
	}
	if params == nil {
		params = map[string]any{}
	}
	findings, said := s.checkRoot(params)
	if s.compiled == nil {
		return findings
	}
	err := s.compiled.Validate(any(params))
	var invalid *jsonschema.ValidationError
	if err == nil || !errors.As(err, &invalid) {
		return findings
	}
	leaves := collect(invalid, params)
	sort.SliceStable(leaves, func(i, j int) bool {
		if leaves[i].path != leaves[j].path {
			return leaves[i].path < leaves[j].path
		}
		return leaves[i].keyword < leaves[j].keyword
	})
	for _, leaf := range leaves {
		if !said[leaf.keyword+"\x00"+leaf.path] && !said[leaf.text] {
			said[leaf.text] = true
			findings = append(findings, leaf.text)
		}
	}
	return findings
}

// checkRoot is pass one: required and the declared types of root properties.
func (s *Schema) checkRoot(params map[string]any) ([]string, map[string]bool) {
	var findings []string
	said := map[string]bool{}
	for _, name := range s.root.Required {
		if _, ok := params[name]; !ok {
			findings = append(findings, fmt.Sprintf("missing required parameter '%s'", name))
			said["required\x00"+name] = true
		}
	}
	keys := make([]string, 0, len(params))
	for key := range params {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		property, declared := s.root.Properties[key]
		if !declared {
			continue
		}
		types := typeWords(property.Type)
		if len(types) == 0 || matchesAny(types, params[key]) {
			continue
		}
		findings = append(findings, fmt.Sprintf("parameter '%s' has wrong type: expected %s, got %s", key, strings.Join(types, "|"), typeOf(params[key])))
		said["type\x00"+key] = true
	}
	return findings, said
}

func typeWords(t any) []string {
	switch t := t.(type) {
	case string:
		return []string{t}
	case []any:
		var words []string
		for _, w := range t {
			if word, ok := w.(string); ok {
				words = append(words, word)
			}
		}
		return words
	default:
		return nil
	}
}

func matchesAny(types []string, v any) bool {
	for _, t := range types {
		if matches(t, v) {
			return true
		}
	}
	return false
}

func matches(word string, v any) bool {
	switch word {
	case "null", "boolean", "number", "string", "array", "object":
		return typeOf(v) == word
	case "integer":
		f, ok := v.(float64)
		return ok && f == float64(int64(f))
	default:
		return true // an unknown type word accepts
	}
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "number"
	}
}

// Set is the schemas of all tools, compiled once. Safe for concurrent use.
type Set struct{ byTool map[string]*Schema }

// CompileSet compiles every tool's parameters; the error names the tool (V-SCHEMA-3).
func CompileSet(tools []ir.ToolSchema) (*Set, error) {
	set := &Set{byTool: make(map[string]*Schema, len(tools))}
	for _, t := range tools {
		s, err := Compile(t.Parameters)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
		set.byTool[t.Name] = s
	}
	return set, nil
}

// Check lists every finding about a call's parameters; an unregistered tool has none.
func (s *Set) Check(tool string, params map[string]any) []string { return s.byTool[tool].Check(params) }
