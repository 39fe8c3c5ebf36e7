package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
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
	required []string
	// types are the words of each property's declared type.
	types map[string][]string
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
		s.root = rootOf(object)
		if len(object) == 0 {
			return s, nil
		}
	} else if doc != false {
		return s, nil
	}
	if len(raw) > maxBytes {
		s.Degraded = "it is larger than 256 KiB"
		return s, nil
	}
	if err := ir.CheckText(raw); err != nil {
		s.Degraded = report.Clip("it is not I-JSON: " + err.Error())
		return s, nil
	}
	compiled, err := compile(doc)
	if err == nil {
		err = affordable(compiled)
	}
	if err != nil {
		s.Degraded = reasonOf(err)
		return s, nil
	}
	s.compiled = compiled
	return s, nil
}

func rootOf(object map[string]any) root {
	r := root{types: map[string][]string{}}
	names, _ := object["required"].([]any)
	for _, name := range names {
		if name, ok := name.(string); ok {
			r.required = append(r.required, name)
		}
	}
	properties, _ := object["properties"].(map[string]any)
	for name, property := range properties {
		if property, ok := property.(map[string]any); ok {
			r.types[name] = typeWords(property["type"])
		}
	}
	return r
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

// reasonOf says in a few words why a schema cannot be used.
func reasonOf(err error) string {
	var (
		away    *jsonschema.LoadURLError
		pattern *jsonschema.InvalidRegexError
		invalid *jsonschema.SchemaValidationError
		dear    costError
	)
	switch {
	case errors.As(err, &away):
		return fmt.Sprintf("it refers to '%s', and nothing outside the schema is fetched", report.Clip(away.URL))
	case errors.As(err, &pattern):
		return fmt.Sprintf("pattern '%s' is not RE2", report.Clip(pattern.Regex))
	case errors.As(err, &invalid):
		return invalidity(invalid)
	case errors.As(err, &dear):
		return string(dear)
	default:
		return "it uses a keyword or reference that cannot be checked here"
	}
}

// invalidity names the first place at which a schema is no schema, or a pattern that
// is written in another dialect. The library walks maps, so first is by the name of
// the place.
func invalidity(e *jsonschema.SchemaValidationError) string {
	var found *jsonschema.ValidationError
	if !errors.As(e.Err, &found) {
		return "it is no valid JSON Schema"
	}
	var reasons []string
	for open := []*jsonschema.ValidationError{found}; len(open) > 0; {
		at := open[len(open)-1]
		open = append(open[:len(open)-1], at.Causes...)
		if f, ok := at.ErrorKind.(*kind.Format); ok && f.Want == "regex" {
			reasons = append(reasons, fmt.Sprintf("\x00pattern '%s' is not RE2", report.Clip(fmt.Sprint(f.Got))))
		}
		if len(at.Causes) == 0 {
			reasons = append(reasons, fmt.Sprintf("it is no valid JSON Schema at '%s'", report.Clip(pointer(at.InstanceLocation...))))
		}
	}
	return strings.TrimPrefix(slices.Min(reasons), "\x00")
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
	sortLeaves(leaves)
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
	for _, name := range s.root.required {
		if _, ok := params[name]; !ok {
			findings = append(findings, fmt.Sprintf("missing required parameter '%s'", report.Clip(name)))
			said["required\x00"+pointer(name)] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(params)) {
		types := s.root.types[key]
		if len(types) == 0 || slices.ContainsFunc(types, func(word string) bool { return matches(word, params[key]) }) {
			continue
		}
		findings = append(findings, fmt.Sprintf("parameter '%s' has wrong type: expected %s, got %s", report.Clip(pointer(key)), strings.Join(types, "|"), typeOf(params[key])))
		said["type\x00"+pointer(key)] = true
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

func matches(word string, v any) bool {
	switch word {
	case "null", "boolean", "number", "string", "array", "object":
		return typeOf(v) == word
	case "integer":
		return typeOf(v) == "number" && isWhole(v)
	default:
		return true // an unknown type word accepts
	}
}

// isWhole accepts 5.0, and every Go number that has no fraction.
func isWhole(v any) bool {
	switch v := v.(type) {
	case float64:
		return v == math.Trunc(v) && !math.IsInf(v, 0)
	case float32:
		return isWhole(float64(v))
	case json.Number:
		f, err := v.Float64()
		return err == nil && isWhole(f)
	default:
		return true
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
