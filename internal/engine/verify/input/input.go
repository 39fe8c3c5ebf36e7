// Package input decodes the JSON files of the verify rooms with one set of words:
// I-JSON alone, and what does not fit named by its path. It imports ir alone.
package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"car/internal/engine/ir"
)

// Decode reads JSON text into a value of Go. Unknown members are ignored, as the
// engine ignores them in a proposal. Errors are *ir.PathError values: text that is
// not I-JSON, trailing text, a member of another type.
func Decode(data []byte, into any) error {
	if err := ir.CheckText(data); err != nil {
		return err
	}
	return Part(data, "", into)
}

// Part decodes a part of text that Decode has checked; path is where it stands.
func Part(data []byte, path string, into any) error {
	err := json.Unmarshal(data, into)
	var mismatch *json.UnmarshalTypeError
	var inner *ir.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &inner):
		return &ir.PathError{Path: Join(path, inner.Path), Problem: inner.Problem}
	case errors.As(err, &mismatch):
		return &ir.PathError{Path: Join(path, mismatch.Field), Problem: fmt.Sprintf("%s does not fit, %s is needed", mismatch.Value, needed(mismatch.Type.Kind()))}
	default:
		return &ir.PathError{Path: path, Problem: err.Error()}
	}
}

// Join is the path of a member.
func Join(path, member string) string {
	switch {
	case path == "":
		return member
	case member == "" || member[0] == '[':
		return path + member
	default:
		return path + "." + member
	}
}

func needed(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "a whole number"
	}
}
