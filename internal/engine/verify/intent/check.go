package intent

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify/match"
	"car/internal/engine/verify/report"
)

// Class is where an action stands. The zero value is unset.
type Class uint8

// The classes, from the mildest.
const (
	ClassUnset Class = iota
	InIntent
	Drift
	TaintedDrift
	Forbidden
)

var classLabels = []string{InIntent: "in_intent", Drift: "drift", TaintedDrift: "tainted_drift", Forbidden: "forbidden"}

// String returns the wire label.
func (c Class) String() string { return word(classLabels, int(c)) }

// MarshalText writes the wire label.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Kind is how an action leaves the intent. The zero value is unset.
type Kind uint8

// The kinds of violation.
const (
	KindUnset Kind = iota
	ForbiddenCapability
	ToolNotAllowed
	CommandNotAllowed
	PathNotAllowed
	HostNotAllowed
)

var kindLabels = []string{ForbiddenCapability: "forbidden_capability", ToolNotAllowed: "tool_not_allowed",
	CommandNotAllowed: "command_not_allowed", PathNotAllowed: "path_not_allowed", HostNotAllowed: "host_not_allowed"}

// String returns the wire label.
func (k Kind) String() string { return word(kindLabels, int(k)) }

// MarshalText writes the wire label.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Violation is one way in which an action leaves the intent.
type Violation struct {
	Kind     Kind        `json:"kind"`
	ActionID ir.ActionID `json:"action_id"`
	// Detail is the tool, command, path, host or capability.
	Detail string `json:"detail"`
}

// Finding is where one action stands.
type Finding struct {
	ActionID     ir.ActionID `json:"action_id"`
	Class        Class       `json:"class"`
	Violations   []Violation `json:"violations"`
	InfluencedBy []string    `json:"influenced_by"`
}

// Report is what Check found, one finding an action, in their order.
type Report struct {
	report.Scope
	Actions []Finding `json:"actions"`
}

// Check sorts actions by a spec (V-INTENT-2). A pattern that means nothing is an error.
func Check(s Spec, actions []Action) (Report, error) {
	if err := s.Validate(); err != nil {
		return Report{}, err
	}
	r := Report{Scope: report.Scope{Tier: report.DecisionProcedure, CannotVerify: []string{
		"whether the goal's words are served", "harm inside the intent", "facts that policy could not find out",
	}}, Actions: make([]Finding, len(actions))}
	for i := range actions {
		r.Actions[i] = s.find(&actions[i])
	}
	return r, nil
}

func (s Spec) find(a *Action) Finding {
	f := Finding{ActionID: a.ID, Class: InIntent, Violations: []Violation{}, InfluencedBy: a.InfluencedBy}
	add := func(k Kind, detail string) {
		if v := (Violation{k, a.ID, detail}); !slices.Contains(f.Violations, v) {
			f.Violations = append(f.Violations, v)
		}
	}
	for _, c := range a.Facts.Capabilities {
		if slices.Contains(s.ForbiddenCapabilities, c) {
			add(ForbiddenCapability, c.String())
			f.Class = Forbidden
		}
	}
	s.leaves(a, add)
	if f.Class != Forbidden && len(f.Violations) > 0 {
		f.Class = Drift
		if a.Tainted {
			f.Class = TaintedDrift
		}
	}
	return f
}

// leaves lists everything that the allowlists do not name. What is not known is
// not allowed.
func (s Spec) leaves(a *Action, add func(Kind, string)) {
	const unknown = "not known before it runs"
	if s.AllowedTools != nil && a.Tool != "" && !slices.Contains(s.AllowedTools, a.Tool) {
		add(ToolNotAllowed, a.Tool)
	}
	if s.AllowedCommands != nil {
		for _, words := range a.Facts.Commands {
			if !slices.ContainsFunc(s.AllowedCommands, func(run string) bool { return match.Run(run, words) }) {
				add(CommandNotAllowed, strings.Join(words[:min(2, len(words))], " "))
			}
		}
		if a.Facts.UnknownCommands {
			add(CommandNotAllowed, unknown)
		}
	}
	if s.AllowedPaths != nil {
		for _, p := range a.Facts.Paths {
			if !slices.ContainsFunc(s.AllowedPaths, func(glob string) bool { return match.Path(glob, p) }) {
				add(PathNotAllowed, p)
			}
		}
		if a.Facts.UnknownPaths {
			add(PathNotAllowed, unknown)
		}
	}
	if s.AllowedHosts != nil {
		for _, h := range a.Facts.Hosts {
			if !slices.ContainsFunc(s.AllowedHosts, func(pattern string) bool { return match.Host(pattern, h) }) {
				add(HostNotAllowed, h)
			}
		}
		if a.Facts.UnknownHosts {
			add(HostNotAllowed, unknown)
		}
	}
}

// Outcome is what a decision comes to. The zero value rejects.
type Outcome uint8

// The outcomes, from the strictest.
const (
	Reject Outcome = iota
	NeedsApproval
	Accept
)

// Verdict is what one action's finding is worth.
type Verdict struct {
	Action  ir.ActionID
	Outcome Outcome
	Reason  string
	// Subject names what a question is about, for a fingerprint.
	Subject []string
}

// Decide weighs a report: what is forbidden and what untrusted output led out of the
// intent is refused, whatever anybody approved; other drift is as told (V-INTENT-2).
// Actions that stay inside are not in the answer.
func Decide(r Report, onDrift Disposition) []Verdict {
	var out []Verdict
	for _, f := range r.Actions {
		v := Verdict{Action: f.ActionID}
		switch {
		case f.Class == InIntent || f.Class == Drift && onDrift == Allow:
			continue
		case f.Class == Drift && onDrift == RequireApproval:
			v.Outcome = NeedsApproval
		}
		v.Reason = f.reason()
		for _, one := range f.Violations {
			v.Subject = append(v.Subject, one.Kind.String()+" "+one.Detail)
		}
		out = append(out, v)
	}
	return out
}

// reason says in one sentence how an action leaves the intent, and under whose hand.
func (f Finding) reason() string {
	parts := make([]string, 0, len(f.Violations))
	for _, v := range f.Violations {
		parts = append(parts, fmt.Sprintf("%s: %s", strings.ReplaceAll(v.Kind.String(), "_", " "), report.Clip(v.Detail)))
	}
	text := strings.Join(parts, ", ")
	switch f.Class {
	case Forbidden:
		return "the intent forbids this (" + text + ")"
	case TaintedDrift:
		return "this leaves the intent (" + text + ") and is influenced by untrusted output of " + report.Clip(strings.Join(f.InfluencedBy, ", "))
	default:
		return "this leaves the intent (" + text + ")"
	}
}
