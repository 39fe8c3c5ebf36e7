package ir

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Equal reports whether two JSON values are the same value: numbers by value,
// objects whatever their order (E-IR-2). I-JSON numbers are doubles, so that is
// how they compare; NaN equals nothing.
func Equal(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	a, b = plain(a), plain(b)
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalObjects(a, b)
	}
	return false
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for name, x := range a {
		y, ok := b[name]
		if !ok || !Equal(x, y) {
			return false
		}
	}
	return true
}

// number reads any Go number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case nil, bool, string, []any, map[string]any:
		return 0, false
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	switch v := reflect.ValueOf(v); {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// plain turns a typed Go value into the types of decoded JSON. Those types come
// back as they are; what does not encode comes back as it is too and equals nothing.
func plain(v any) any {
	switch v.(type) {
	case nil, bool, string, float64, []any, map[string]any:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var decoded any
	if json.Unmarshal(text, &decoded) != nil {
		return v
	}
	return decoded
}

// Holds tests a state key's value, or its absence, against the condition
// (E-IR-2). Whatever it does not understand does not hold.
func (p Precondition) Holds(value any, present bool) bool {
	switch p.Operator {
	case "exists":
		return present
	case "not_exists":
		return !present
	case "neq":
		return !present || !Equal(value, p.Value)
	case "eq":
		return present && Equal(value, p.Value)
	case "contains":
		return present && contains(value, p.Value)
	}
	x, okX := number(value)
	y, okY := number(p.Value)
	if !present || !okX || !okY {
		return false
	}
	switch p.Operator {
	case "gt":
		return x > y
	case "lt":
		return x < y
	case "gte":
		return x >= y
	case "lte":
		return x <= y
	}
	return false
}

// contains is substring for text and membership for a list.
func contains(value, part any) bool {
	switch value := plain(value).(type) {
	case string:
		part, ok := part.(string)
		return ok && strings.Contains(value, part)
	case []any:
		for _, item := range value {
			if Equal(item, part) {
				return true
			}
		}
	}
	return false
}
