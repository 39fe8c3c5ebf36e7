package verify

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/verify/report"
	"car/internal/engine/verify/schema"
)

const noTool = "tool_call action has no tool specified"

// findUnregistered is tool_existence: calls of tools that there are not.
func findUnregistered(r *run, i int) []finding {
	a := &r.p.Actions[i]
	switch {
	case !isCall(a):
		return nil
	case a.Tool == "":
		return []finding{on(i, noTool, "name the tool in the action's tool field")}
	case r.registry.lacks(a.Tool):
		return []finding{on(i, fmt.Sprintf("tool '%s' is not registered", report.Clip(a.Tool)), "use a registered tool, or register this one", r.registry.known(a.Tool))}
	default:
		return nil
	}
}

func toolMissing(r *run) bool {
	for i := range r.p.Actions {
		if isCall(&r.p.Actions[i]) && r.p.Actions[i].Tool == "" {
			return true
		}
	}
	return false
}

func existenceRan(r *run) bool { return r.registry.given || toolMissing(r) }

func existenceVerify(r *run) string {
	switch {
	case r.registry.given:
		return "every tool_call names a registered tool"
	case toolMissing(r):
		return "every tool_call names a tool (structure only: no registry was supplied)"
	default:
		return "(skipped: no tool registry was supplied)"
	}
}

// findBadParameters is param_schema: parameters that the tool's schema refuses; and,
// once a tool, that its schema cannot be used (V-SCHEMA-4).
func findBadParameters(r *run, i int) []finding {
	a := &r.p.Actions[i]
	if !isCall(a) || a.Tool == "" || !r.o.Schemas.Has(a.Tool) {
		return nil
	}
	s := r.o.Schemas.Schema(a.Tool)
	found := r.unusable(i, a.Tool, s)
	for _, text := range s.Check(a.Parameters) {
		found = append(found, on(i, fmt.Sprintf("tool '%s': %s", report.Clip(a.Tool), text), "correct the parameters of the call"))
	}
	return found
}

// unusable warns of a schema that could not be used, once for each tool.
func (r *run) unusable(i int, tool string, s *schema.Schema) []finding {
	if s.Degraded == "" || slices.Contains(r.degraded, tool) {
		return nil
	}
	r.degraded = append(r.degraded, tool)
	return []finding{on(i, fmt.Sprintf("tool '%s': parameter schema cannot be used (%s); only required and type were checked", report.Clip(tool), s.Degraded),
		"mend the tool's schema; the call is not at fault").warn()}
}

func schemaRan(r *run) bool { return r.o.Schemas != nil }

func schemaVerify(r *run) string {
	if r.o.Schemas == nil {
		return "(skipped: no tool schemas were supplied)"
	}
	return "parameters satisfy every keyword of their tool's JSON Schema, by the draft it names"
}

func schemaCannot(r *run) string {
	text := "that a well-formed value is the intended one, rules that the schema does not state, formats that the library does not know"
	if len(r.degraded) == 0 {
		return text
	}
	names := make([]string, len(r.degraded))
	for at, name := range r.degraded {
		names[at] = report.Clip(name)
	}
	return text + "; anything beyond required and type for: " + strings.Join(names, ", ")
}

// findInert is inert_effects: effects that the engine never applies (V-GAP-1).
func findInert(r *run, i int) []finding {
	if !r.plan.Inert(i) {
		return nil
	}
	return []finding{on(i, fmt.Sprintf("expected_effects on a %s action are never applied at execution", r.p.Actions[i].Type),
		"write each key with a state_write of its own, or declare the effects on the tool call that has them", "only a tool call's effects are its own to declare").warn()}
}
