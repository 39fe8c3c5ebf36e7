package gate

import (
	"errors"

	"car/internal/engine/admit"
	"car/internal/engine/policy"
)

// Config is what the standard gates of a session are made of.
type Config struct {
	// Root and Scratch are the session's, absolute; List tells what folders hold.
	Root    string
	Scratch string
	List    Lister
	// Tools are those that are bound, for static verification.
	Tools Registry
	// The files in force, outermost first.
	Labels     []LabelFile
	Intents    []IntentFile
	Production []ProductionFile
	Rules      []policy.RuleFile
	// Influences name what stands in the prompt from the beginning and is not trusted.
	Influences []string
	// Broken is told of trace rules that were broken where nobody could refuse it; nil drops it.
	Broken func(policy.Violation)
}

// Standard builds the gates of a session in their order (G-GATE-2): static
// verification, information flow, intent where one is configured, production gates,
// trace rules where there are any.
// Permission tiers are admit's own. Its error joins everything that is wrong.
func Standard(c Config) ([]admit.Gate, error) {
	gates := []admit.Gate{NewStatic(c.Tools)}
	flow, err1 := NewFlow(FlowConfig{Root: c.Root, Files: c.Labels, List: c.List})
	gates = append(gates, flow)
	var err2 error
	if len(c.Intents) > 0 {
		var g *Intent
		g, err2 = NewIntent(IntentConfig{Root: c.Root, Scratch: c.Scratch, Files: c.Intents, Influences: c.Influences})
		gates = append(gates, g)
	}
	production, err3 := NewProduction(c.Production)
	gates = append(gates, production)
	trace, err4 := NewTrace(c.Rules, c.Broken)
	if err4 == nil && trace.rules.Len() > 0 {
		gates = append(gates, trace)
	}
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	return gates, nil
}
