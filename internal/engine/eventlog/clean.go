package eventlog

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// maxDataDepth ends a value that holds itself. It is far above what the engine
// accepts from outside, so that a record can wrap whatever was accepted.
const maxDataDepth = 512

// cleaner makes the copy of an event's data that a log keeps: decoded JSON only,
// valid UTF-8, every string through redact. Names stay as they are.
type cleaner struct{ redact func(string) string }

func (c cleaner) object(m map[string]any, depth int) (map[string]any, error) {
	copied := make(map[string]any, len(m))
	for name, v := range m {
		item, err := c.value(v, depth)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		copied[strings.ToValidUTF8(name, "\uFFFD")] = item
	}
	return copied, nil
}

func (c cleaner) value(v any, depth int) (any, error) {
	if depth > maxDataDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDataDepth)
	}
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return c.text(v), nil
	case float64:
		return finite(v)
	case int:
		return float64(v), nil
	case map[string]any:
		return c.object(v, depth+1)
	case []any:
		return c.list(len(v), func(i int) any { return v[i] }, depth)
	case encoding.TextMarshaler:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
			return nil, nil
		}
		text, err := v.MarshalText()
		return c.text(string(text)), err
	case json.Marshaler:
		return c.encoded(v, depth)
	}
	return c.reflected(reflect.ValueOf(v), depth)
}

// text keeps what a record can hold: bytes that are no UTF-8, as an odd file name
// in an error has them, are marked and not a reason to lose the record.
func (c cleaner) text(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if c.redact != nil {
		s = c.redact(s)
	}
	return s
}

func (c cleaner) list(n int, at func(int) any, depth int) (any, error) {
	copied := make([]any, n)
	for i := range copied {
		item, err := c.value(at(i), depth+1)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		copied[i] = item
	}
	return copied, nil
}

// reflected takes named strings, other numbers and typed lists as they are, and
// everything else through its JSON.
func (c cleaner) reflected(v reflect.Value, depth int) (any, error) {
	switch {
	case v.Kind() == reflect.String:
		return c.text(v.String()), nil
	case v.Kind() == reflect.Bool:
		return v.Bool(), nil
	case v.CanInt():
		return float64(v.Int()), nil
	case v.CanUint():
		return float64(v.Uint()), nil
	case v.CanFloat():
		return finite(v.Float())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		return c.list(v.Len(), func(i int) any { return v.Index(i).Interface() }, depth)
	}
	return c.encoded(v.Interface(), depth)
}

func (c cleaner) encoded(v any, depth int) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		return nil, err
	}
	return c.value(decoded, depth)
}

func finite(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("number %v is not finite", f)
	}
	return f, nil
}
