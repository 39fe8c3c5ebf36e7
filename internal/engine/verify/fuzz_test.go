package verify_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/montecarlo"
	planning "car/internal/engine/verify/plan"
	"car/internal/engine/verify/render"
	"car/internal/engine/verify/schema"
	"car/internal/engine/verify/txn"
)

// V-BEYOND-7, V-GEN-6: any proposal with any state and tools: no panic, the
// invariants, the same bytes twice, no input changed.
func FuzzProposal(f *testing.F) {
	f.Add(`{"actions":[{"type":"tool_call","tool":"t","parameters":{"n":1},"expected_effects":{"k":1},"write_set":["l"],"dependencies":["b"]},{"id":"b","type":"assertion","parameters":{"key":"k"},"state_dependencies":["l"]}]}`, `{"k":2}`, `["t"]`)
	f.Add(`{"actions":[{"id":"a","type":"state_write","parameters":{"key":"k"},"compensation":{"type":"action_ref","action_id":"a"},"reversibility":"compensable"},{"id":"a","type":"state_read","after":["a","zz"]}]}`, `{}`, `{"t":{"type":"object"}}`)
	f.Add(`{"actions":[{"id":"a","type":"tool_call","tool":"t","preconditions":[{"key":"k","operator":"contains","value":[1]}],"failure_behavior":"skip"},{"id":"b","type":"tool_call","tool":"t","write_set":["k"],"failure_behavior":"skip","assumptions":[{"key":"k","expected_value":null,"read_version":3}]}]}`, `{"k":[1]}`, `[]`)
	f.Fuzz(func(t *testing.T, text, state, tools string) {
		p, err := ir.DecodeProposal([]byte(text), ir.Defaults{NewID: func() string { return "new" }, Now: func() time.Time { return time.Unix(0, 0) }})
		if err != nil {
			return
		}
		o := verify.Options{}
		if ir.CheckText([]byte(state)) == nil {
			_ = json.Unmarshal([]byte(state), &o.State) // another shape is no state
		}
		if r, err := schema.DecodeTools([]byte(tools)); err == nil {
			o.ToolNames, o.Schemas = r.Names, r.Schemas
		}
		before := asText(t, p)
		answer := func() string {
			r := verify.Verify(p, o)
			holdsInvariants(t, r)
			render.Verification(p, r, render.Style{Columns: 40})
			cfg := montecarlo.DefaultConfig()
			cfg.Trials = 3
			odds, err := montecarlo.Run(context.Background(), p, montecarlo.Input{State: o.State}, cfg)
			if err != nil && len(p.Actions) <= 10_000 {
				t.Fatal(err)
			}
			steps, err := planning.Check(planning.FromProposal(p, o.State, nil, planning.Partial))
			if err != nil && len(p.Actions) < 100 {
				t.Fatal(err)
			}
			return asText(t, []any{r, verify.Simulate(p, o), verify.Optimize(p), verify.OptimizeFor(p, o.State), verify.Equivalent(p, p, verify.EquivalenceOptions{Derive: true}), odds, steps, txn.Check(p, txn.View{})})
		}
		if one, two := answer(), answer(); one != two {
			t.Fatalf("%s\nthen\n%s", one, two)
		}
		if asText(t, p) != before {
			t.Fatal("the proposal was changed")
		}
	})
}
