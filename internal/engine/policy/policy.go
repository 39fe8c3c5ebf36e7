package policy

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// Policy judges actions. It is immutable but for rate budgets, and safe for
// concurrent use.
type Policy struct {
	cfg Config
}

// New checks the configuration and returns a policy that judges by it.
func New(c Config) (*Policy, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Policy{cfg: c}, nil
}

// Judge says what policy makes of an action and the effects its tool declared.
// The same inputs and facts give the same judgement. It takes no rate budget.
func (p *Policy) Judge(a ir.Action, e tool.Effects) Judgement {
	j := Judgement{Verdict: Ask, Tier: ir.FullAccess, Reversibility: ir.Irreversible}
	j.Reasons = append(j.Reasons, Reason{Verdict: Ask, Text: fmt.Sprintf("%s is not known to policy", a.Tool), Rule: "unknown_tool"})
	for _, f := range p.cfg.Rules {
		for i, t := range f.Rules.DenyTool {
			if t == a.Tool {
				j.Verdict = Deny
				j.Violations = append(j.Violations, Violation{PolicyName: "deny_tool:" + t, ActionID: a.ID, Reason: "the tool is denied", File: f.Path, Line: f.line("deny_tool", i)})
			}
		}
	}
	return j
}

// Take takes one call from every rate budget that governs the action, or none
// and the violations when one of them is spent (G-POL-2). Admission calls it
// once for each admitted action.
func (p *Policy) Take(a ir.Action) []Violation { return nil }

// CheckState reports every require_state rule that the action does not meet.
// get reads a state key.
func (p *Policy) CheckState(a ir.Action, get func(key string) (any, bool)) []Violation { return nil }

func location(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
