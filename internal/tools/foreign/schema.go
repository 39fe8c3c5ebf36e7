package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// What a foreign schema may be (T-SET-4).
const (
	maxSchema = 16 << 10
	maxDepth  = 12
)

// Schema is a JSON Schema with the words inside it made fit: descriptions, titles,
// enums and defaults. Nothing is an object of anything. What is no object, too
// large or too deep is an error, after which the tool is left out.
func Schema(raw json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return json.RawMessage(`{"type":"object"}`), nil
	case len(raw) > maxSchema:
		return nil, fmt.Errorf("its schema is %d bytes, %d at most", len(raw), maxSchema)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var schema any
	if err := dec.Decode(&schema); err != nil {
		return nil, fmt.Errorf("its schema is no JSON: %w", err)
	}
	if dec.More() {
		return nil, errors.New("its schema is more than one JSON value")
	}
	object, ok := schema.(map[string]any)
	if !ok {
		return nil, errors.New("its schema is no JSON object")
	}
	if err := clean(object, 1); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object); err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// clean makes the words of a schema fit in place. The members of "properties" and
// its like are schemas by names of their own, "description" among them.
func clean(schema map[string]any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("its schema is deeper than %d", maxDepth)
	}
	for name, v := range schema {
		switch name {
		case "description", "title", "$comment":
			if s, ok := v.(string); ok {
				schema[name] = Description(s)
			}
		case "enum", "default", "const", "examples":
			fit, err := value(v, depth+1)
			if err != nil {
				return err
			}
			schema[name] = fit
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if err := cleanNamed(v, depth); err != nil {
				return err
			}
		default:
			if err := cleanInside(v, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// cleanNamed cleans schemas that stand under names of the author's choice.
func cleanNamed(v any, depth int) error {
	named, ok := v.(map[string]any)
	if !ok {
		return cleanInside(v, depth)
	}
	for name, inner := range named {
		if fit := words(name); fit != name {
			return fmt.Errorf("its schema has a property whose name cannot be shown as it is: %q", fit)
		}
		if err := cleanInside(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func cleanInside(v any, depth int) error {
	switch v := v.(type) {
	case map[string]any:
		return clean(v, depth+1)
	case []any:
		if depth+1 > maxDepth {
			return fmt.Errorf("its schema is deeper than %d", maxDepth)
		}
		for _, item := range v {
			if err := cleanInside(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// value makes every text of a value fit.
func value(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("its schema is deeper than %d", maxDepth)
	}
	var err error
	switch v := v.(type) {
	case string:
		return Description(v), nil
	case []any:
		for i := range v {
			if v[i], err = value(v[i], depth+1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = value(v[name], depth+1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
