package verify_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/report"
)

func many(n int) ir.Proposal {
	var p ir.Proposal
	for i := range n {
		p.Actions = append(p.Actions, call(fmt.Sprintf("a%d", i), fmt.Sprintf("t%d", i)))
	}
	return p
}

// V-VERIFY-13, V-VERIFY-4: limit_is_inside_one_more_is_not, over_limit_warns, bound_count_one_or_zero.
func TestResourceBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		actions, limit, findings int
	}{{30, 30, 0}, {31, 30, 1}, {35, 30, 1}, {30, 0, 0}, {31, 0, 1}, {2000, -1, 0}, {1, 1, 0}} {
		r := verify.Verify(many(c.actions), verify.Options{MaxActions: c.limit})
		if got := record(t, r, "resource_bounds").Findings; got != c.findings || len(r.Issues) != c.findings {
			t.Errorf("%d actions, limit %d: %d findings, issues %q", c.actions, c.limit, got, messages(r))
		}
	}
	r := verify.Verify(many(32), verify.Options{})
	if want(t, r, "warning resource_bounds a0: excessive actions: 32 (limit 30)"); !r.Valid || len(r.Issues[0].Explain.Witness) != 31 {
		t.Errorf("valid %v, witness of %d", r.Valid, len(r.Issues[0].Explain.Witness))
	}
}

// V-VERIFY-13, V-GAP-2: duplicate_warns, triple_is_error; calls are compared by whole name and by value.
func TestLoops(t *testing.T) {
	t.Parallel()
	want(t, verify.Verify(plan(call("a1", "s"), call("a2", "s")), verify.Options{}), "warning loop_detection proposal: duplicate tool call: s (2x)")
	r := verify.Verify(plan(call("a1", "s"), call("a2", "s"), call("a3", "s")), verify.Options{})
	want(t, r, "error loop_detection proposal: repeated identical tool call: s (3x) — likely loop")
	if i := r.Issues[0]; i.Tier != report.Heuristic || !slices.Equal(i.Explain.Witness, []ir.ActionID{"a1", "a2", "a3"}) {
		t.Errorf("issue %+v", i)
	}
	want(t, verify.Verify(plan(
		call("a1", "ns:get", params("a", 1.0, "b", []any{2.0})), call("a2", "ns:put", params("a", 1.0, "b", []any{2.0})),
		call("a3", "ns:get", params("b", []any{2.0}, "a", 1)), call("a4", "ns:get", params("a", 1.0, "b", []any{3.0})),
	), verify.Options{}), "warning loop_detection proposal: duplicate tool call: ns:get (2x)")
}

// V-VERIFY-13: loop_count_is_own_not_total, precondition_count_equals_issues, param_count, undo_tool_count_zero_when_registered, action_ref_count.
func TestCounts(t *testing.T) {
	t.Parallel()
	p := plan(
		call("a1", "echo", when("x", "exists", nil), when("y", "gt", 1.0), undo(ir.Compensation{Type: "tool", Tool: "echo", Parameters: map[string]any{"message": "m"}})),
		call("a2", "echo", undo(ir.Compensation{Type: "action_ref", ActionID: "gone"})), call("a3", "echo"),
		call("a4", "echo", params("message", 1.0, "times", "x")),
	)
	r := verify.Verify(p, verify.Options{Schemas: echo(t, echoParameters), MaxActions: 3})
	holdsInvariants(t, r)
	for name, n := range map[string]int{"resource_bounds": 1, "loop_detection": 1, "preconditions": 2, "param_schema": 5, "compensation_resolution": 1, "tool_existence": 0} {
		if got := record(t, r, name).Findings; got != n {
			t.Errorf("%s: %d findings, want %d in %q", name, got, n, messages(r))
		}
	}
}

// V-VERIFY-13, V-VERIFY-6: every_check_declares_scope, existence_ran_when_it_found, skipped_schema_docks_and_is_assumed, table order.
func TestRecords(t *testing.T) {
	t.Parallel()
	names := []string{"resource_bounds", "loop_detection", "preconditions", "state_dependencies", "tool_existence", "param_schema", "compensation_resolution", "write_conflicts",
		"action_ids", "dependency_cycles", "unknown_reads", "read_races", "inert_effects", "goal"}
	for _, c := range []struct {
		p   ir.Proposal
		o   verify.Options
		off []string
	}{
		{many(1), verify.Options{}, []string{"tool_existence", "param_schema", "compensation_resolution", "goal"}},
		{plan(call("a1", "")), verify.Options{}, []string{"param_schema", "compensation_resolution", "goal"}},
		{many(1), verify.Options{ToolNames: []string{"t0"}}, []string{"param_schema", "goal"}},
		{many(1), verify.Options{Schemas: echo(t, `{}`)}, []string{"goal"}},
		{plan(call("a1", "x", undo(ir.Compensation{Type: "action_ref", ActionID: "a2"})), write("a2", "k", 1.0)), verify.Options{}, []string{"tool_existence", "param_schema", "goal"}},
		{plan(call("a1", "x", func(a *ir.Action) { a.Reversibility = ir.Compensable })), verify.Options{}, []string{"tool_existence", "param_schema", "goal"}},
		{many(1), verify.Options{Goal: condition(t, `{"type":"plan_achieved"}`)}, []string{"tool_existence", "param_schema", "compensation_resolution"}},
	} {
		r := verify.Verify(c.p, c.o)
		holdsInvariants(t, r)
		var got, off []string
		for _, check := range r.Evidence.Checks {
			got = append(got, check.Name)
			if !check.Ran {
				off = append(off, check.Name)
			}
			if heuristic := check.Name == "loop_detection"; heuristic != (check.Tier == report.Heuristic) || check.Tier == report.Sampled {
				t.Errorf("%s has tier %s", check.Name, check.Tier)
			}
		}
		if !slices.Equal(got, names) || !slices.Equal(off, c.off) {
			t.Errorf("checks %v; off %v, want off %v", got, off, c.off)
		}
	}
}

// V-VERIFY-8, V-VERIFY-13: confidence_docks_each_skip_once, confidence_scales_and_clamps, pure_writes_full_confidence.
func TestConfidence(t *testing.T) {
	t.Parallel()
	writes := plan(write("a1", "x", 1.0), write("a2", "y", 1.0))
	one := plan(call("a1", "echo", params("message", "m")))
	loops := plan(call("a1", "echo", params("message", "m")), call("a2", "echo", params("message", "m")))
	wide := plan()
	for i := range 10 {
		wide.Actions = append(wide.Actions, call(fmt.Sprint("a", i), "echo", params("message", fmt.Sprint(i)), effect("k", float64(i))))
	}
	for _, c := range []struct {
		p    ir.Proposal
		o    verify.Options
		want float64
	}{
		{writes, verify.Options{}, 1}, {one, verify.Options{}, 1 - .15 - .20 - .02}, {one, verify.Options{ToolNames: []string{"echo"}}, 1 - .20 - .02},
		{one, verify.Options{Schemas: echo(t, `{}`)}, 1 - .02}, {loops, verify.Options{Schemas: echo(t, `{}`)}, 1 - .04 - .05},
		{wide, verify.Options{}, 1 - .15 - .20 - .25 - .20},
	} {
		if got := verify.Verify(c.p, c.o).Evidence.Confidence; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d actions: confidence %v, want %v", len(c.p.Actions), got, c.want)
		}
	}
}

// V-VERIFY-8, V-VERIFY-13: schema_assumption_needs_both, warning_line_has_count_or_is_absent, conflict_is_warning_and_risk,
// regions_drive_risk_line, effect_keys_and_outputs_untested.
func TestAssumptionsRegionsRisks(t *testing.T) {
	t.Parallel()
	const assumed = "tool_call parameters are well-formed (no schemas supplied to check them)"
	e := verify.Verify(plan(write("a1", "x", 1.0)), verify.Options{}).Evidence
	if len(e.UntestedRegions) != 0 || len(e.ResidualRisks) != 0 || slices.Contains(e.Assumptions, assumed) || len(e.Assumptions) != 2 {
		t.Errorf("pure writes: %+v", e)
	}
	if e := verify.Verify(many(1), verify.Options{Schemas: echo(t, `{}`)}).Evidence; slices.Contains(e.Assumptions, assumed) {
		t.Error("assumed what was checked")
	}
	r := verify.Verify(plan(call("a2", "t", params("n", 1.0), effect("k", 1.0), writesSet("w", "k")), call("a1", "t", effect("k", 2.0))), verify.Options{})
	want(t, r, "warning write_conflicts a2: write conflict on 'k' with action a1 (no dependency declared)")
	if e := r.Evidence; !slices.Contains(e.Assumptions, assumed) || !slices.Equal(e.UntestedRegions, []string{
		"runtime output of tool 't' (action a1)", "runtime output of tool 't' (action a2)",
		"state key 'k' (value set at runtime by action a1)", "state key 'k' (value set at runtime by action a2)",
		"state key 'w' (written at runtime by action a2, value undeclared)",
	}) || !slices.Equal(e.ResidualRisks, []string{
		"1 undeclared write conflict(s) — last-writer-wins at runtime", "1 warning(s) not blocking the verdict",
		"outcomes depending on runtime tool output or runtime-set state are unverified",
	}) {
		t.Errorf("evidence %+v", e)
	}
}

// V-VERIFY-7: what a pass says fits what was supplied.
func TestScopes(t *testing.T) {
	t.Parallel()
	bare, full := verify.Verify(many(1), verify.Options{}), verify.Verify(many(1), verify.Options{Schemas: echo(t, `{}`), Goal: condition(t, `{"type":"plan_achieved"}`)})
	noTool := verify.Verify(plan(call("a1", "")), verify.Options{})
	for _, c := range []struct {
		r           verify.Result
		name, words string
	}{
		{bare, "tool_existence", "skipped"}, {noTool, "tool_existence", "structure only"}, {full, "tool_existence", "registered"},
		{bare, "param_schema", "skipped"}, {full, "param_schema", "every keyword"}, {bare, "goal", "skipped"}, {full, "goal", "meets the goal"}, {bare, "resource_bounds", "(30)"},
	} {
		if got := record(t, c.r, c.name).Verifies; !strings.Contains(got, c.words) {
			t.Errorf("%s verifies %q, want %q in it", c.name, got, c.words)
		}
	}
}

// V-GEN-3, V-VERIFY-13: only_loop_rule_is_heuristic_nothing_sampled, records_and_issues_agree, tier_is_snake_case.
func TestTiers(t *testing.T) {
	t.Parallel()
	for tier, label := range map[report.Tier]string{report.DecisionProcedure: "decision_procedure", report.Heuristic: "heuristic", report.Sampled: "sampled"} {
		var back report.Tier
		text, err := tier.MarshalText()
		if err != nil || string(text) != label || back.UnmarshalText(text) != nil || back != tier {
			t.Errorf("tier %d is %q, back %d", tier, text, back)
		}
	}
	var s report.Severity
	if s.UnmarshalText([]byte("fatal")) == nil || new(report.Tier).UnmarshalText(nil) == nil {
		t.Error("an unknown label was read")
	}
	r := verify.Verify(plan(call("a1", "s"), call("a2", "s"), call("a3", "", needs("x"))), verify.Options{MaxActions: 1})
	holdsInvariants(t, r)
	if h := r.WithTier(report.Heuristic); len(h) != 1 || h[0].Check != "loop_detection" || len(r.WithTier(report.Sampled)) != 0 {
		t.Errorf("heuristic issues %+v", h)
	}
}
