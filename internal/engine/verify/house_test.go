package verify_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/report"
	"car/internal/engine/verify/schema"
)

// change alters an action that a test makes.
type change func(*ir.Action)

func call(id, tool string, changes ...change) ir.Action {
	return made(ir.Action{ID: ir.ActionID(id), Type: ir.ToolCall, Tool: tool}, changes)
}

func write(id, key string, value any, changes ...change) ir.Action {
	return made(ir.Action{ID: ir.ActionID(id), Type: ir.StateWrite, Parameters: map[string]any{"key": key, "value": value}}, changes)
}

func assert(id, key string, want any, changes ...change) ir.Action {
	return made(ir.Action{ID: ir.ActionID(id), Type: ir.Assertion, Parameters: map[string]any{"key": key, "expected": want}}, changes)
}

func made(a ir.Action, changes []change) ir.Action {
	for _, c := range changes {
		c(&a)
	}
	return a
}

func params(pairs ...any) change {
	return func(a *ir.Action) {
		a.Parameters = map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			a.Parameters[pairs[i].(string)] = pairs[i+1]
		}
	}
}

func effect(key string, value any) change {
	return func(a *ir.Action) {
		if a.ExpectedEffects == nil {
			a.ExpectedEffects = map[string]any{}
		}
		a.ExpectedEffects[key] = value
	}
}

func needs(keys ...string) change {
	return func(a *ir.Action) { a.StateDependencies = append(a.StateDependencies, keys...) }
}

func when(key, operator string, value any) change {
	return func(a *ir.Action) {
		a.Preconditions = append(a.Preconditions, ir.Precondition{Key: key, Operator: operator, Value: value})
	}
}

func writesSet(keys ...string) change { return func(a *ir.Action) { a.WriteSet = keys } }

func requires(ids ...ir.ActionID) change { return func(a *ir.Action) { a.Dependencies = ids } }

func after(ids ...ir.ActionID) change { return func(a *ir.Action) { a.After = ids } }

func skip(a *ir.Action) { a.FailureBehavior = ir.Skip }

func undo(c ir.Compensation) change {
	return func(a *ir.Action) { a.Reversibility, a.Compensation = ir.Compensable, &c }
}

func plan(actions ...ir.Action) ir.Proposal { return ir.Proposal{ID: "p", Actions: actions} }

// echo is the registered tool of most tests, with one string parameter it needs.
func echo(t testing.TB, parameters string) *schema.Set {
	t.Helper()
	return schema.NewSet([]ir.ToolSchema{{Name: "echo", Parameters: json.RawMessage(parameters)}})
}

const echoParameters = `{"type":"object","properties":{"message":{"type":"string"},"times":{"type":["integer","null"]}},"required":["message"]}`

// messages are the result's issues as "severity check action: message".
func messages(r verify.Result) []string {
	var out []string
	for _, i := range r.Issues {
		out = append(out, fmt.Sprintf("%s %s %s: %s", i.Severity, i.Check, i.ActionID, i.Message))
	}
	return out
}

func want(t *testing.T, r verify.Result, issues ...string) {
	t.Helper()
	if got := messages(r); !slices.Equal(got, issues) {
		t.Errorf("issues:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(issues, "\n  "))
	}
}

func record(t *testing.T, r verify.Result, name string) verify.CheckRecord {
	t.Helper()
	for _, c := range r.Evidence.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no record of %s", name)
	return verify.CheckRecord{}
}

func condition(t *testing.T, text string) *goal.Condition {
	t.Helper()
	c, err := goal.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// holdsInvariants checks what is true of every result (V-VERIFY-6).
func holdsInvariants(t interface {
	Helper()
	Errorf(string, ...any)
}, r verify.Result) {
	t.Helper()
	perTier, total := map[report.Tier]int{}, 0
	for _, c := range r.Evidence.Checks {
		perTier[c.Tier] += c.Findings
		total += c.Findings
		if c.Verifies == "" || c.CannotVerify == "" {
			t.Errorf("%s says nothing of its scope", c.Name)
		}
		if !c.Ran && c.Findings > 0 {
			t.Errorf("%s did not run and found %d", c.Name, c.Findings)
		}
		if c.Name == "write_conflicts" && c.Findings != len(r.Conflicts) {
			t.Errorf("%d conflict findings, %d conflicts", c.Findings, len(r.Conflicts))
		}
	}
	if total != len(r.Issues) || r.Valid != (len(r.Errors()) == 0) {
		t.Errorf("%d findings, %d issues, %d errors, valid %v", total, len(r.Issues), len(r.Errors()), r.Valid)
	}
	for _, tier := range []report.Tier{report.DecisionProcedure, report.Heuristic, report.Sampled} {
		if n := len(r.WithTier(tier)); n != perTier[tier] {
			t.Errorf("%d issues of tier %s, %d findings", n, tier, perTier[tier])
		}
	}
	if r.Evidence.Confidence < 0 || r.Evidence.Confidence > 1 || !slices.IsSorted(r.Evidence.UntestedRegions) {
		t.Errorf("confidence %v, regions %q", r.Evidence.Confidence, r.Evidence.UntestedRegions)
	}
}
