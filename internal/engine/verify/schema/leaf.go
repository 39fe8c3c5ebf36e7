package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// leaf is one finding of the library in our words (V-SCHEMA-2).
type leaf struct{ path, keyword, text string }

// collect walks the library's tree to its leaves. Alternatives are one finding.
func collect(e *jsonschema.ValidationError, params map[string]any) []leaf {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return []leaf{alternatives(e, params)}
	case *kind.AdditionalProperties:
		var leaves []leaf
		for _, name := range k.Properties {
			p := join(e.InstanceLocation, name)
			leaves = append(leaves, leaf{p, "additionalProperties", fmt.Sprintf("unknown parameter '%s'", p)})
		}
		return leaves
	}
	if len(e.Causes) == 0 {
		return leafOf(e, params)
	}
	var leaves []leaf
	for _, cause := range e.Causes {
		leaves = append(leaves, collect(cause, params)...)
	}
	return leaves
}

// alternatives names the closest of several that do not match: fewest leaves, then the first.
func alternatives(e *jsonschema.ValidationError, params map[string]any) leaf {
	path := strings.Join(e.InstanceLocation, "/")
	closest := ""
	fewest := -1
	for _, cause := range e.Causes {
		leaves := collect(cause, params)
		if len(leaves) > 0 && (fewest < 0 || len(leaves) < fewest) {
			fewest, closest = len(leaves), leaves[0].text
		}
	}
	text := fmt.Sprintf("parameter '%s' matches none of its %d alternatives", path, len(e.Causes))
	if closest != "" {
		text += "; closest: " + closest
	}
	return leaf{path, "anyOf", text}
}

// leafOf gives a leaf its sentence. No value of the call appears in it.
func leafOf(e *jsonschema.ValidationError, params map[string]any) []leaf {
	path := strings.Join(e.InstanceLocation, "/")
	one := func(keyword, format string, args ...any) []leaf {
		return []leaf{{path, keyword, fmt.Sprintf("parameter '%s' ", path) + fmt.Sprintf(format, args...)}}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return one("type", "has wrong type: expected %s, got %s", strings.Join(k.Want, "|"), typeOf(at(params, e.InstanceLocation)))
	case *kind.Required:
		return missing(path, k.Missing)
	case *kind.Enum:
		return one("enum", "must be one of %s", enumWords(k.Want))
	case *kind.Const:
		return one("const", "must be %s", jsonText(k.Want))
	case *kind.Pattern:
		return one("pattern", "must match pattern '%s'", k.Want)
	case *kind.Format:
		return one("format", "must be a valid %s", k.Want)
	case *kind.FalseSchema:
		return one("false", "is not allowed")
	case *kind.DependentRequired:
		return dependent(path, k.Prop, k.Missing)
	case *kind.Not:
		return one("not", "matches none of its 1 alternatives")
	default:
		if text := boundText(e.ErrorKind); text != "" {
			return one(keywordOf(e), "%s", text)
		}
		return one(keywordOf(e), "violates %s", keywordOf(e))
	}
}

// boundText words the limits on numbers, lengths and counts; empty for anything else.
func boundText(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "must be >= " + k.Want.RatString()
	case *kind.Maximum:
		return "must be <= " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "must be > " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "must be < " + k.Want.RatString()
	case *kind.MultipleOf:
		return "must be a multiple of " + k.Want.RatString()
	case *kind.MinLength:
		return fmt.Sprintf("must have length >= %d", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have length <= %d", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items", k.Want)
	default:
		return ""
	}
}

func missing(path string, names []string) []leaf {
	var leaves []leaf
	for _, name := range names {
		if path == "" {
			leaves = append(leaves, leaf{name, "required", fmt.Sprintf("missing required parameter '%s'", name)})
			continue
		}
		leaves = append(leaves, leaf{path, "required", fmt.Sprintf("parameter '%s' is missing required property '%s'", path, name)})
	}
	return leaves
}

func dependent(path, given string, names []string) []leaf {
	var leaves []leaf
	for _, name := range names {
		leaves = append(leaves, leaf{path, "dependentRequired", fmt.Sprintf("parameter '%s' is required when '%s' is given", name, given)})
	}
	return leaves
}

func keywordOf(e *jsonschema.ValidationError) string {
	words := e.ErrorKind.KeywordPath()
	if len(words) == 0 {
		return strings.ToLower(reflect.TypeOf(e.ErrorKind).Elem().Name())
	}
	return words[len(words)-1]
}

func enumWords(want []any) string {
	words := make([]string, 0, 8)
	for i, w := range want {
		if i == 8 {
			words = append(words, "…")
			break
		}
		words = append(words, jsonText(w))
	}
	return strings.Join(words, ", ")
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "a value that has no JSON"
	}
	return string(b)
}

func join(location []string, name string) string {
	return strings.Join(append(append([]string(nil), location...), name), "/")
}

// at finds the instance that a finding speaks of, to name its type and nothing else.
func at(v any, location []string) any {
	for _, step := range location {
		switch t := v.(type) {
		case map[string]any:
			v = t[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}
