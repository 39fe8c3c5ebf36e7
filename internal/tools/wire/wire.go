// Package wire turns the parameters of a call into a tool's own struct, and the
// struct of a result into the I-JSON that Execution holds. Tools name their
// fields once, in struct tags, exactly as the specification does.
//
// It imports engine/tool only.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"car/internal/engine/tool"
)

// In decodes parameters. A value of the wrong kind or an unknown name is a
// BadArgs fault that names it; the schema has normally refused both before.
func In[T any](params map[string]any) (T, error) {
	var in T
	data, err := json.Marshal(params)
	if err != nil {
		return in, Bad("parameters are not JSON: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err = dec.Decode(&in)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return in, Bad("parameter '%s' must be %s, not %s", kind.Field, article(kind.Type.String()), kind.Value)
	case err != nil:
		return in, Bad("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return in, nil
}

func article(goType string) string {
	switch {
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case strings.HasPrefix(goType, "[]"):
		return "an array"
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "a string"
	}
	return "an object"
}

// Out encodes a result struct as I-JSON. It fails only for values that are no JSON.
func Out(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	var out any
	err = json.Unmarshal(data, &out)
	return out, err
}

// Bad is a fault for parameters that cannot mean anything.
func Bad(format string, args ...any) error { return fault(tool.BadArgs, format, args) }

// Fault is a typed failure with a formatted text.
func Fault(kind tool.FaultKind, format string, args ...any) error { return fault(kind, format, args) }

func fault(kind tool.FaultKind, format string, args []any) error {
	return &tool.Fault{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// Canceled is the failure of a tool whose context ended; nil while it stands.
func Canceled(err error) error {
	if err == nil {
		return nil
	}
	return &tool.Fault{Kind: tool.Canceled, Text: "canceled: " + err.Error()}
}
