package ir

import (
	"encoding/json"
	"fmt"
)

// Clone returns a deep copy of a value in the types of decoded JSON: nil, bool,
// float64, string, []any, map[string]any. A value that is not I-JSON is refused as
// by CheckValue. What is kept beside its maker is kept as a clone, so that nobody
// changes it afterwards.
func Clone(v any) (any, error) {
	if err := CheckValue(v); err != nil {
		return nil, err
	}
	return cloned(v)
}

func cloned(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, float64:
		return v, nil
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			item, err := cloned(v[i])
			if err != nil {
				return nil, err
			}
			copied[i] = item
		}
		return copied, nil
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name := range v {
			item, err := cloned(v[name])
			if err != nil {
				return nil, err
			}
			copied[name] = item
		}
		return copied, nil
	}
	if f, ok := number(v); ok {
		return f, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("clone: %w", err)
	}
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		return nil, fmt.Errorf("clone: %w", err)
	}
	return decoded, nil
}
