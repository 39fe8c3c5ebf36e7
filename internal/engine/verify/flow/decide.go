package flow

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/ir"
)

// Disposition is what a violation is worth. The zero value blocks.
type Disposition uint8

// The dispositions, from the strictest.
const (
	Block Disposition = iota
	Approve
	Allow
)

// String returns the wire label.
func (d Disposition) String() string {
	switch d {
	case Block:
		return "block"
	case Approve:
		return "approve"
	case Allow:
		return "allow"
	default:
		return fmt.Sprintf("unknown(%d)", uint8(d))
	}
}

// MarshalText writes the wire label.
func (d Disposition) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (d *Disposition) UnmarshalText(b []byte) error {
	for _, known := range []Disposition{Block, Approve, Allow} {
		if known.String() == string(b) {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("unknown disposition %q (one of block, approve, allow)", b)
}

// GatePolicy says what each kind of violation is worth (V-FLOW-3).
type GatePolicy struct {
	Exfiltration       Disposition `json:"exfiltration"`
	UntrustedInfluence Disposition `json:"untrusted_influence"`
	ForbiddenOrder     Disposition `json:"forbidden_order"`
}

// DefaultGatePolicy is what holds where nobody said otherwise.
func DefaultGatePolicy() GatePolicy {
	return GatePolicy{Exfiltration: Block, UntrustedInfluence: Approve, ForbiddenOrder: Approve}
}

// Strengthen takes the stricter word for each kind.
func (p GatePolicy) Strengthen(o GatePolicy) GatePolicy {
	return GatePolicy{min(p.Exfiltration, o.Exfiltration), min(p.UntrustedInfluence, o.UntrustedInfluence), min(p.ForbiddenOrder, o.ForbiddenOrder)}
}

// Of is what a violation is worth. One that is not certain is a question at most: a
// guess must not refuse for good.
func (p GatePolicy) Of(v Violation) Disposition {
	d := map[Kind]Disposition{Exfiltration: p.Exfiltration, UntrustedInfluence: p.UntrustedInfluence, ForbiddenOrder: p.ForbiddenOrder}[v.Kind]
	if d == Block && !v.Certain {
		return Approve
	}
	return d
}

// Outcome is what a decision comes to. The zero value rejects.
type Outcome uint8

// The outcomes, from the strictest.
const (
	Reject Outcome = iota
	NeedsApproval
	Accept
)

// Decision is what a report is worth.
type Decision struct {
	Outcome Outcome
	// Blocked are the actions that are refused, and Reason why.
	Blocked []ir.ActionID
	Reason  string
	// Asks are the questions about actions that are not refused.
	Asks []Ask
}

// Ask is a question about one action. Subject names what it is about, for a
// fingerprint.
type Ask struct {
	Action  ir.ActionID
	Reason  string
	Subject []string
}

// Decide weighs a report by a policy; the strictest word about an action wins.
func Decide(r Report, p GatePolicy) Decision {
	d := Decision{Outcome: Accept}
	var reasons []string
	for _, v := range r.Violations {
		if p.Of(v) != Block {
			continue
		}
		d.Outcome = Reject
		if !slices.Contains(d.Blocked, v.Sink) {
			d.Blocked = append(d.Blocked, v.Sink)
		}
		reasons = append(reasons, v.Explanation)
	}
	d.Reason = strings.Join(reasons, "; ")
	for _, v := range r.Violations {
		if p.Of(v) != Approve || slices.Contains(d.Blocked, v.Sink) {
			continue
		}
		if d.Outcome == Accept {
			d.Outcome = NeedsApproval
		}
		d.ask(v)
	}
	return d
}

// ask adds a violation to the one question about its action.
func (d *Decision) ask(v Violation) {
	subject := strings.Join([]string{v.Kind.String(), string(v.Source), v.Key, v.Label.Confidentiality.String()}, " ")
	for i := range d.Asks {
		if d.Asks[i].Action == v.Sink {
			d.Asks[i].Reason += "; " + v.Explanation
			d.Asks[i].Subject = append(d.Asks[i].Subject, subject)
			return
		}
	}
	d.Asks = append(d.Asks, Ask{Action: v.Sink, Reason: v.Explanation, Subject: []string{subject}})
}
