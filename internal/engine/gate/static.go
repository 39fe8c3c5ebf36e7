package gate

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/verify"
	"car/internal/engine/verify/report"
	"car/internal/engine/verify/schema"
)

// Registry lists the tools that are bound now. Safe for concurrent use.
type Registry interface{ Schemas() []ir.ToolSchema }

// Static refuses what verification finds wrong whatever the tools do (V-VERIFY-9): of
// everything that it can see about a plan, only that blocks. Safe for concurrent use.
type Static struct {
	tools Registry

	// Guarded by mu: the schemas as they were compiled, for as long as the tools stay the same.
	mu       sync.Mutex
	known    []ir.ToolSchema
	compiled *schema.Set
}

// NewStatic builds the gate over the live registry.
func NewStatic(tools Registry) *Static { return &Static{tools: tools} }

// Name is the gate's name.
func (g *Static) Name() string { return admit.StaticVerification }

// Check verifies a proposal and refuses the actions that cannot be right.
func (g *Static) Check(_ context.Context, v admit.View) (admit.Opinion, error) {
	result := verify.Verify(v.Proposal, verify.Options{Schemas: g.schemas(v), MaxActions: -1})
	o := admit.Opinion{Verdict: policy.Allow}
	var reasons []string
	for _, issue := range verify.Blocking(result) {
		o.Verdict = policy.Deny
		if slices.ContainsFunc(v.Proposal.Actions, func(a ir.Action) bool { return a.ID == issue.ActionID }) && !slices.Contains(o.Blocked, issue.ActionID) {
			o.Blocked = append(o.Blocked, issue.ActionID)
		}
		reasons = append(reasons, "'"+report.Clip(string(issue.ActionID))+"': "+issue.Message)
	}
	o.Reason = strings.Join(reasons, "; ")
	return o, nil
}

// schemas are those of the tools that are bound, nil where none is: then there is
// nothing to hold a call against. A tool that admission found is bound, listed or not.
func (g *Static) schemas(v admit.View) *schema.Set {
	tools := g.tools.Schemas()
	for _, a := range v.Proposal.Actions {
		_, open := v.Judged[a.ID]
		if open && a.Tool != "" && !slices.ContainsFunc(tools, func(t ir.ToolSchema) bool { return t.Name == a.Tool }) {
			tools = append(slices.Clone(tools), ir.ToolSchema{Name: a.Tool})
		}
	}
	if len(tools) == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	same := func(a, b ir.ToolSchema) bool { return a.Name == b.Name && bytes.Equal(a.Parameters, b.Parameters) }
	if g.compiled == nil || !slices.EqualFunc(g.known, tools, same) {
		g.known, g.compiled = tools, schema.NewSet(tools)
	}
	return g.compiled
}
