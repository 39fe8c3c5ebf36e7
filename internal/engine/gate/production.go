package gate

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// ProductionFile is `.car/production-gates.toml` with where it lies (G-PROD-1).
type ProductionFile struct {
	// Path is the file. Trusted says that a person trusts it: only then is a check
	// started. Outer is a project around this one, whose checks are not for here.
	Path    string `toml:"-"`
	Trusted bool   `toml:"-"`
	Outer   bool   `toml:"-"`

	// Required names kinds that need a gate beside those that always do.
	Required []Kind           `toml:"required"`
	Gates    []ProductionGate `toml:"gates"`
}

// ProductionGate demands a check before every command of a kind.
type ProductionGate struct {
	Name   string `toml:"name"`
	Action Kind   `toml:"action"`
	// Check is shell text that proves something by its exit code.
	Check string `toml:"check"`
}

// Validate reports every value that means nothing, with its key.
func (f ProductionFile) Validate() []error {
	var errs []error
	for i, g := range f.Gates {
		bad := func(key, problem string) { errs = append(errs, fmt.Errorf("gates[%d].%s: %s", i, key, problem)) }
		if strings.TrimSpace(g.Name) == "" {
			bad("name", "must not be blank")
		}
		if strings.TrimSpace(g.Check) == "" {
			bad("check", "must not be blank")
		}
		if g.Action == KindUnset {
			bad("action", "must not be blank")
		}
	}
	return errs
}

// Production is the gate that demands proof before consequence (G-PROD). It holds no
// state and is safe for concurrent use.
type Production struct{ files []ProductionFile }

// ProductionName is the gate's name in the log.
const ProductionName = "production"

// NewProduction checks the files and builds the gate.
func NewProduction(files []ProductionFile) (*Production, error) {
	for _, f := range files {
		if errs := f.Validate(); len(errs) > 0 {
			return nil, fmt.Errorf("%s: %w", f.Path, errs[0])
		}
	}
	return &Production{files: files}, nil
}

// Name is the gate's name.
func (g *Production) Name() string { return ProductionName }

// Check refuses commands with consequences that nothing guards, and demands the
// checks of those that are guarded.
func (g *Production) Check(_ context.Context, v admit.View) (admit.Opinion, error) {
	o := admit.Opinion{Verdict: policy.Allow}
	var reasons []string
	for _, a := range v.Proposal.Actions {
		j, open := v.Judged[a.ID]
		if !open {
			continue
		}
		checks, refusal := g.guards(a, j)
		if refusal != "" {
			o.Verdict = policy.Deny
			o.Blocked = append(o.Blocked, a.ID)
			reasons = append(reasons, fmt.Sprintf("'%s': %s", a.ID, refusal))
			continue
		}
		o.Checks = append(o.Checks, checks...)
	}
	o.Reason = strings.Join(reasons, "; ")
	return o, nil
}

// guards finds the checks of an action, in the order of the files, or why it may not run.
func (g *Production) guards(a ir.Action, j policy.Judgement) ([]admit.Check, string) {
	var checks []admit.Check
	for _, kind := range kindsOf(j) {
		found := false
		for _, f := range g.files {
			for _, one := range f.Gates {
				if one.Action != kind {
					continue
				}
				found = true
				if why := f.idle(one); why != "" {
					return nil, why
				}
				check := admit.Check{Action: a.ID, Name: one.Name, Text: one.Check, Tool: "shell", Parameters: map[string]any{"command": one.Check}}
				if !slices.ContainsFunc(checks, func(c admit.Check) bool { return c.Name == check.Name && c.Text == check.Text }) {
					checks = append(checks, check)
				}
			}
		}
		if !found && g.required(kind) {
			return nil, fmt.Sprintf("a %s command needs a required project gate, and there is none: add [[gates]] with name, action = %q and check to %s", kind, kind, g.where())
		}
	}
	return checks, ""
}

// idle says why a gate cannot prove anything here.
func (f ProductionFile) idle(g ProductionGate) string {
	switch {
	case f.Outer:
		return fmt.Sprintf("mandatory gate '%s' failed: it belongs to %s, a project around this one; work from there", g.Name, f.Path)
	case !f.Trusted:
		return fmt.Sprintf("mandatory gate '%s' failed: nobody trusts %s yet, so its check was not started; run `car trust`", g.Name, f.Path)
	}
	return ""
}

// required reports kinds that need a gate: a database always, a deployment where
// anybody has gates, and what the files name.
func (g *Production) required(k Kind) bool {
	if k == Database || k == Deployment && len(g.files) > 0 {
		return true
	}
	return slices.ContainsFunc(g.files, func(f ProductionFile) bool { return slices.Contains(f.Required, k) })
}

// where is the file to write a gate into.
func (g *Production) where() string {
	for _, f := range slices.Backward(g.files) {
		if !f.Outer {
			return f.Path
		}
	}
	return path.Join(".car", "production-gates.toml")
}
