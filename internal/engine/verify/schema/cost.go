package schema

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxVisits bounds how many subschemas one value may be held against: references
// that fan out would else multiply without end (V-GEN-6). maxChain bounds how deep
// one value is passed on.
const (
	maxVisits = 10_000
	maxChain  = 512
)

// costError is a schema that would cost more than a check may.
type costError string

func (e costError) Error() string { return string(e) }

const cyclic costError = "its references lead back to themselves on the same value"

// affordable refuses schemas whose references are circular on one value or fan out.
func affordable(s *jsonschema.Schema) error {
	m := meter{visits: map[*jsonschema.Schema]int{}}
	m.later = append(m.later, s)
	for len(m.later) > 0 {
		next := m.later[len(m.later)-1]
		m.later = m.later[:len(m.later)-1]
		if _, err := m.measure(next, 0); err != nil {
			return err
		}
	}
	return nil
}

type meter struct {
	// visits counts the checks of one value that a schema causes; 0 while being counted.
	visits map[*jsonschema.Schema]int
	// later are schemas of parts of a value.
	later []*jsonschema.Schema
}

func (m *meter) measure(s *jsonschema.Schema, depth int) (int, error) {
	if n, known := m.visits[s]; known {
		if n == 0 {
			return 0, cyclic
		}
		return n, nil
	}
	if depth > maxChain {
		return 0, costError(fmt.Sprintf("its references are over %d deep", maxChain))
	}
	m.visits[s] = 0
	n := 1
	for _, same := range onSameValue(s) {
		k, err := m.measure(same, depth+1)
		if err != nil {
			return 0, err
		}
		if n += k; n > maxVisits {
			return 0, costError(fmt.Sprintf("its references multiply to over %d checks of one value", maxVisits))
		}
	}
	m.visits[s] = n
	for _, part := range onParts(s) {
		if _, known := m.visits[part]; !known {
			m.later = append(m.later, part)
		}
	}
	return n, nil
}

// onSameValue lists the subschemas that a value itself is held against.
func onSameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		list = append(list, s.DynamicRef.Ref)
	}
	list = append(append(append(list, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, d := range s.DependentSchemas {
		list = append(list, d)
	}
	for _, d := range s.Dependencies {
		list = append(list, schemaIn(d))
	}
	return present(list)
}

// onParts lists the subschemas of members, items and names.
func onParts(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.UnevaluatedItems, s.Contains, s.Items2020,
		schemaIn(s.AdditionalProperties), schemaIn(s.AdditionalItems), schemaIn(s.Items)}
	list = append(list, s.PrefixItems...)
	if items, ok := s.Items.([]*jsonschema.Schema); ok {
		list = append(list, items...)
	}
	for _, p := range s.Properties {
		list = append(list, p)
	}
	for _, p := range s.PatternProperties {
		list = append(list, p)
	}
	return present(list)
}

func schemaIn(v any) *jsonschema.Schema {
	s, _ := v.(*jsonschema.Schema)
	return s
}

func present(list []*jsonschema.Schema) []*jsonschema.Schema {
	kept := list[:0]
	for _, s := range list {
		if s != nil {
			kept = append(kept, s)
		}
	}
	return kept
}
