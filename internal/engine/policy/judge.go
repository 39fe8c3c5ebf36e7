package policy

import (
	"sort"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// judge is one judgement in the making. It is used once, by one goroutine.
type judge struct {
	p      *Policy
	r      *resolver
	action ir.ActionID

	// script and calls are the text being judged and what came of its commands.
	script *shell.Script
	calls  []*call
	depth  int

	tier       ir.Tier
	rev        ir.Reversibility
	verdict    Verdict
	always     bool
	undecided  bool
	allowedAll bool
	commands   int

	reasons    []Reason
	violations []Violation
	targets    []string
	hosts      []string
	network    bool
	views      []ir.CommandView
	runs       [][]string
	programs   []Program
	reads      []Read
	deletes    bool
}

func (p *Policy) newJudge(id ir.ActionID) *judge {
	return &judge{p: p, r: newResolver(p), action: id, tier: ir.ReadOnly, rev: ir.Reversible, verdict: Allow, allowedAll: true}
}

// add takes what came of one call into the whole.
func (j *judge) add(c *call) {
	j.tier = j.tier.Higher(c.tier)
	j.rev = j.rev.Worse(c.rev)
	j.verdict = j.verdict.Stricter(c.verdict)
	j.always = j.always || c.always
	j.noteProgram(c)
}

// violate records a rule that denies.
func (j *judge) violate(v Violation, wayOut string) {
	v.ActionID = j.action
	for _, o := range j.violations {
		if o == v {
			return
		}
	}
	j.violations = append(j.violations, v)
	j.verdict = Deny
	j.reasons = append(j.reasons, Reason{Verdict: Deny, Text: v.Reason, Rule: v.PolicyName, File: v.File, Line: v.Line, WayOut: wayOut})
}

// done combines rules, tier, posture and what was granted (G-TIER-4).
func (j *judge) done() Judgement {
	if c := j.p.cfg.Ceiling; c != ir.TierUnset && j.tier > c && j.verdict != Deny {
		j.verdict = Deny
		j.say(Reason{Verdict: Deny, Rule: ruleCeiling, Text: "it needs " + j.tier.String() + ", and this run may do no more than " + c.String(), WayOut: "look only, or ask the person to end the read-only mode"})
	}
	if j.verdict == Deny {
		j.tier = ir.FullAccess
		j.rev = ir.Irreversible
	}
	out := Judgement{
		Tier: j.tier, Reversibility: j.rev, Violations: j.violations, Commands: j.views, Runs: j.runs,
		Targets: j.targets, Hosts: j.hosts, Network: j.network, AskAlways: j.always && j.verdict != Deny,
		Programs: j.programs, Reads: j.reads, Deletes: j.deletes, Undecided: j.undecided,
	}
	out.Verdict = j.decide()
	if out.Verdict != Allow && len(j.reasons) == 0 {
		j.reasons = append(j.reasons, Reason{Verdict: out.Verdict, Rule: ruleTier, Text: "needs " + j.tier.String()})
	}
	sort.SliceStable(j.reasons, func(a, b int) bool { return j.reasons[a].Verdict < j.reasons[b].Verdict })
	out.Reasons = j.reasons
	// Every built-in refusal is a violation too, so that none is lost to whoever lists them.
	for _, r := range j.reasons {
		if r.Verdict == Deny && !j.violated(r) {
			out.Violations = append(out.Violations, Violation{PolicyName: r.Rule, ActionID: j.action, Reason: r.Text})
		}
	}
	return out
}

func (j *judge) violated(r Reason) bool {
	for _, v := range j.violations {
		if v.PolicyName == r.Rule && v.Reason == r.Text {
			return true
		}
	}
	return false
}

func (j *judge) decide() Verdict {
	switch {
	case j.verdict == Deny:
		return Deny
	case j.always:
		return Ask
	case j.tier <= ir.ReadOnly:
		return Allow
	case j.commands > 0 && j.allowedAll && !j.undecided:
		// A person's own allow rules cover every command.
		return Allow
	case j.p.cfg.Granted != ir.TierUnset && j.p.cfg.Granted.Covers(j.tier):
		return Allow
	case j.tier > ir.SandboxEdit:
		return Ask
	}
	switch j.p.cfg.Posture {
	case Trusting:
		return Allow
	case Balanced:
		if j.p.cfg.Confined && j.rev != ir.Irreversible {
			return Allow
		}
	}
	return Ask
}
