package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// evidence says what the verdict stands on (V-VERIFY-6, V-VERIFY-8).
func (r *run) evidence(result Result) Evidence {
	e := Evidence{Assumptions: []string{"supplied initial-state values are accurate", "tool implementations honor their declared effects and side effects"},
		UntestedRegions: r.untested(), ResidualRisks: []string{}}
	for _, c := range table {
		e.Checks = append(e.Checks, CheckRecord{Name: c.name, Ran: c.ran == nil || c.ran(r), Verifies: c.verifies(r), CannotVerify: c.cannotVerify(r),
			Findings: r.counts[c.name], Tier: c.tier})
	}
	calls := slices.ContainsFunc(r.p.Actions, func(a ir.Action) bool { return a.Type == ir.ToolCall })
	if calls && r.o.Schemas == nil {
		e.Assumptions = append(e.Assumptions, "tool_call parameters are well-formed (no schemas supplied to check them)")
	}
	warnings := len(result.Warnings())
	if n := len(r.conflicts); n > 0 {
		e.ResidualRisks = append(e.ResidualRisks, fmt.Sprintf("%d undeclared write conflict(s) — last-writer-wins at runtime", n))
	}
	if warnings > 0 {
		e.ResidualRisks = append(e.ResidualRisks, fmt.Sprintf("%d warning(s) not blocking the verdict", warnings))
	}
	if len(e.UntestedRegions) > 0 {
		e.ResidualRisks = append(e.ResidualRisks, "outcomes depending on runtime tool output or runtime-set state are unverified")
	}
	e.Confidence = r.confidence(calls, len(e.UntestedRegions), warnings)
	return e
}

// untested lists what only a run tells.
func (r *run) untested() []string {
	regions := append([]string{}, r.notes...)
	for i, a := range r.p.Actions {
		if a.Type != ir.ToolCall {
			continue
		}
		if a.Tool != "" {
			regions = append(regions, fmt.Sprintf("runtime output of tool '%s' (action %s)", report.Clip(a.Tool), r.name(i)))
		}
		for _, key := range slices.Sorted(maps.Keys(a.ExpectedEffects)) {
			regions = append(regions, fmt.Sprintf("state key '%s' (value set at runtime by action %s)", report.Clip(key), r.name(i)))
		}
		for _, key := range r.plan.Opaque(i) {
			regions = append(regions, fmt.Sprintf("state key '%s' (written at runtime by action %s, value undeclared)", report.Clip(key), r.name(i)))
		}
	}
	slices.Sort(regions)
	return slices.Compact(regions)
}

// confidence is how much was looked at, from 0 to 1 in steps that print well.
func (r *run) confidence(calls bool, regions, warnings int) float64 {
	c := 1.0
	if calls && !r.registry.given {
		c -= 0.15
	}
	if calls && r.o.Schemas == nil {
		c -= 0.20
	}
	c -= min(0.02*float64(regions), 0.25)
	c -= min(0.05*float64(warnings), 0.20)
	return math.Round(max(0, min(1, c))*1e4) / 1e4
}
