package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"car/internal/engine/verify/report"
)

// leaf is one finding of the library in our words (V-SCHEMA-2). path is a JSON
// pointer without the first slash.
type leaf struct{ path, keyword, text string }

// sortLeaves orders findings by place and keyword; the text settles what the
// library found in the order of a map.
func sortLeaves(leaves []leaf) {
	slices.SortStableFunc(leaves, func(a, b leaf) int {
		return strings.Compare(a.path+"\x00"+a.keyword+"\x00"+a.text, b.path+"\x00"+b.keyword+"\x00"+b.text)
	})
}

// collect walks the library's tree to its leaves. Alternatives are one finding.
func collect(e *jsonschema.ValidationError, params map[string]any) []leaf {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return []leaf{alternatives(e, "anyOf", params)}
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			p := pointer(e.InstanceLocation...)
			return []leaf{{p, "oneOf", subject(p) + " matches more than one of its alternatives"}}
		}
		return []leaf{alternatives(e, "oneOf", params)}
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		var leaves []leaf
		for _, cause := range e.Causes {
			leaves = append(leaves, collect(cause, params)...)
		}
		return leaves
	default:
		return leafOf(e, params)
	}
}

// alternatives names the closest of several that do not match: fewest leaves, then the first.
func alternatives(e *jsonschema.ValidationError, keyword string, params map[string]any) leaf {
	path := pointer(e.InstanceLocation...)
	closest := ""
	fewest := -1
	for _, cause := range e.Causes {
		leaves := collect(cause, params)
		sortLeaves(leaves)
		if len(leaves) > 0 && (fewest < 0 || len(leaves) < fewest) {
			fewest, closest = len(leaves), leaves[0].text
		}
	}
	text := fmt.Sprintf("%s matches none of its %d alternatives", subject(path), len(e.Causes))
	if closest != "" {
		text += "; closest: " + closest
	}
	return leaf{path, keyword, text}
}

// leafOf gives a leaf its sentence. No value of the call appears in it.
func leafOf(e *jsonschema.ValidationError, params map[string]any) []leaf {
	path := pointer(e.InstanceLocation...)
	one := func(keyword, format string, args ...any) []leaf {
		return []leaf{{path, keyword, subject(path) + " " + fmt.Sprintf(format, args...)}}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return one("type", "has wrong type: expected %s, got %s", strings.Join(k.Want, "|"), typeOf(at(params, e.InstanceLocation)))
	case *kind.Required:
		return missing(e.InstanceLocation, k.Missing)
	case *kind.AdditionalProperties:
		return unknown(e.InstanceLocation, k.Properties)
	case *kind.Enum:
		return one("enum", "must be one of %s", enumWords(k.Want))
	case *kind.Const:
		return one("const", "must be %s", report.ClipValue(k.Want))
	case *kind.Pattern:
		return one("pattern", "must match pattern '%s'", report.Clip(k.Want))
	case *kind.Format:
		return one("format", "must be a valid %s", report.Clip(k.Want))
	case *kind.FalseSchema:
		return one("false", "is not allowed")
	case *kind.DependentRequired:
		return dependent(e.InstanceLocation, k.Prop, k.Missing)
	case *kind.Dependency:
		return dependent(e.InstanceLocation, k.Prop, k.Missing)
	case *kind.Not:
		return one("not", "matches what its schema rules out")
	case *kind.PropertyNames:
		// The library does not keep the place of a name past its siblings; the name says enough.
		name := report.Clip(k.Property)
		return []leaf{{name, "propertyNames", fmt.Sprintf("parameter name '%s' violates propertyNames", name)}}
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
		return "must be >= " + report.Clip(k.Want.RatString())
	case *kind.Maximum:
		return "must be <= " + report.Clip(k.Want.RatString())
	case *kind.ExclusiveMinimum:
		return "must be > " + report.Clip(k.Want.RatString())
	case *kind.ExclusiveMaximum:
		return "must be < " + report.Clip(k.Want.RatString())
	case *kind.MultipleOf:
		return "must be a multiple of " + report.Clip(k.Want.RatString())
	case *kind.MinLength:
		return fmt.Sprintf("must have length >= %d", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have length <= %d", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d properties", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d properties", k.Want)
	case *kind.UniqueItems:
		return "must not repeat an item"
	default:
		return ""
	}
}

func missing(location, names []string) []leaf {
	var leaves []leaf
	for _, name := range names {
		if path := pointer(location...); path != "" {
			leaves = append(leaves, leaf{path, "required", fmt.Sprintf("%s is missing required property '%s'", subject(path), report.Clip(name))})
			continue
		}
		leaves = append(leaves, leaf{pointer(name), "required", fmt.Sprintf("missing required parameter '%s'", report.Clip(name))})
	}
	return leaves
}

func unknown(location, names []string) []leaf {
	var leaves []leaf
	for _, name := range names {
		path := join(location, name)
		leaves = append(leaves, leaf{path, "additionalProperties", "unknown " + subject(path)})
	}
	return leaves
}

func dependent(location []string, given string, names []string) []leaf {
	var leaves []leaf
	for _, name := range names {
		path := join(location, name)
		leaves = append(leaves, leaf{path, "dependentRequired", fmt.Sprintf("%s is required when '%s' is given", subject(path), report.Clip(join(location, given)))})
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
	words := make([]string, 0, 9)
	for i, w := range want {
		if i == 8 {
			words = append(words, "…")
			break
		}
		words = append(words, report.ClipValue(w))
	}
	return strings.Join(words, ", ")
}

// subject names the value that a finding speaks of.
func subject(path string) string {
	if path == "" {
		return "the parameter object"
	}
	return fmt.Sprintf("parameter '%s'", report.Clip(path))
}

// pointer is a JSON pointer without the first slash.
func pointer(location ...string) string {
	escaped := make([]string, len(location))
	for i, step := range location {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
	}
	return strings.Join(escaped, "/")
}

func join(location []string, name string) string {
	return pointer(append(slices.Clone(location), name)...)
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
