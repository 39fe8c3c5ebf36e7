package policy

import "fmt"

// Verdict is what policy says of an action. The zero value denies, so that
// silence refuses (P-GUARD-1).
type Verdict uint8

// The verdicts, from strictest to freest.
const (
	Deny Verdict = iota
	Ask
	Allow
)

// Stricter returns the stricter of the two: verdicts only ever combine this way.
func (v Verdict) Stricter(o Verdict) Verdict { return min(v, o) }

// String returns the wire label.
func (v Verdict) String() string {
	switch v {
	case Deny:
		return "deny"
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	default:
		return fmt.Sprintf("unknown(%d)", uint8(v))
	}
}

// MarshalText writes the wire label.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (v *Verdict) UnmarshalText(b []byte) error {
	for _, known := range []Verdict{Deny, Ask, Allow} {
		if known.String() == string(b) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q (one of deny, ask, allow)", b)
}

// Posture is how much goes without a question (G-TIER-4). The zero value asks most.
type Posture uint8

// The postures. Balanced is what a person gets who chose none.
const (
	Cautious Posture = iota
	Balanced
	Trusting
)

// String returns the label of configuration files.
func (p Posture) String() string {
	switch p {
	case Cautious:
		return "cautious"
	case Balanced:
		return "balanced"
	case Trusting:
		return "trusting"
	default:
		return fmt.Sprintf("unknown(%d)", uint8(p))
	}
}

// MarshalText writes the label.
func (p Posture) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a label; an unknown one is an error.
func (p *Posture) UnmarshalText(b []byte) error {
	for _, known := range []Posture{Cautious, Balanced, Trusting} {
		if known.String() == string(b) {
			*p = known
			return nil
		}
	}
	return fmt.Errorf("unknown posture %q (one of cautious, balanced, trusting)", b)
}
