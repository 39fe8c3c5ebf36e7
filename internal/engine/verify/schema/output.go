package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CheckOutput lists every finding about a tool's output against its return
// schema; none means that it passes (E-EXEC-9).
func (s *Schema) CheckOutput(output any) []string {
	if s == nil || s.compiled == nil {
		return nil
	}
	err := s.compiled.Validate(output)
	var invalid *jsonschema.ValidationError
	if err == nil || !errors.As(err, &invalid) {
		return nil
	}
	object, _ := output.(map[string]any)
	var findings []string
	for _, leaf := range collect(invalid, object) {
		findings = append(findings, leaf.text)
	}
	return findings
}
