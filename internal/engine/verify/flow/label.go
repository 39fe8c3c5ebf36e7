package flow

import (
	"fmt"
	"strings"
)

// Confidentiality is who may learn a value. The zero value says nothing, which
// counts as public.
type Confidentiality uint8

// The confidentialities, from what anybody may learn to what nobody may.
const (
	ConfidentialityUnset Confidentiality = iota
	Public
	Internal
	Secret
)

var confidentialityLabels = []string{Public: "public", Internal: "internal", Secret: "secret"}

// String returns the wire label.
func (c Confidentiality) String() string { return word(confidentialityLabels, int(c)) }

// MarshalText writes the wire label.
func (c Confidentiality) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (c *Confidentiality) UnmarshalText(b []byte) error {
	i, err := parse("confidentiality", confidentialityLabels, string(b))
	*c = Confidentiality(i)
	return err
}

// Trust is whose hand a value comes from. The zero value says nothing, which counts
// as trusted.
type Trust uint8

// The trusts. Untrusted is the higher one, because joining takes it.
const (
	TrustUnset Trust = iota
	Trusted
	Untrusted
)

var trustLabels = []string{Trusted: "trusted", Untrusted: "untrusted"}

// String returns the wire label.
func (t Trust) String() string { return word(trustLabels, int(t)) }

// MarshalText writes the wire label.
func (t Trust) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (t *Trust) UnmarshalText(b []byte) error {
	i, err := parse("trust", trustLabels, string(b))
	*t = Trust(i)
	return err
}

// Label is what is known of a value. The zero value is the bottom of the lattice.
type Label struct {
	Confidentiality Confidentiality `json:"confidentiality"`
	Trust           Trust           `json:"trust"`
}

// Join is the least label that covers both.
func (l Label) Join(o Label) Label {
	return Label{max(l.Confidentiality, o.Confidentiality), max(l.Trust, o.Trust)}
}

func (l Label) check() error {
	if l.Confidentiality > Secret || l.Trust > Untrusted {
		return fmt.Errorf("unknown label %d/%d", l.Confidentiality, l.Trust)
	}
	return nil
}

// ToolLabels is what is said of a tool (V-FLOW-1).
type ToolLabels struct {
	// Capability is a word for what it can do, as net_send; orders may name it.
	Capability string `json:"capability,omitempty"`
	// Confidentiality and Trust are of its output.
	Confidentiality Confidentiality `json:"confidentiality,omitempty"`
	Trust           Trust           `json:"trust,omitempty"`
	// Sink says that what it is given leaves; MaxInput is the most it may be given,
	// unset is internal.
	Sink     bool            `json:"sink,omitempty"`
	MaxInput Confidentiality `json:"max_input,omitempty"`
	// RequiresTrusted says that untrusted input may not steer it.
	RequiresTrusted bool `json:"requires_trusted,omitempty"`
	// DeclassifiesTo is what its output is whatever its input was; unset declassifies
	// nothing.
	DeclassifiesTo Confidentiality `json:"-"`
}

// Strengthen adds what o says wherever that is stricter; it never loosens, and
// never declassifies (G-FLOW-1).
func (t ToolLabels) Strengthen(o ToolLabels) ToolLabels {
	if t.Capability == "" {
		t.Capability = o.Capability
	}
	t.Confidentiality, t.Trust = max(t.Confidentiality, o.Confidentiality), max(t.Trust, o.Trust)
	t.Sink, t.RequiresTrusted = t.Sink || o.Sink, t.RequiresTrusted || o.RequiresTrusted
	if o.MaxInput != ConfidentialityUnset && o.MaxInput < t.limit() {
		t.MaxInput = o.MaxInput
	}
	return t
}

func (t ToolLabels) limit() Confidentiality {
	if t.MaxInput == ConfidentialityUnset {
		return Internal
	}
	return t.MaxInput
}

func (t ToolLabels) output() Label { return Label{t.Confidentiality, t.Trust} }

// Unlabelled is what is assumed of a tool that nobody labelled (V-FLOW-1).
func Unlabelled() ToolLabels { return ToolLabels{Confidentiality: Internal, Trust: Untrusted} }

func word(table []string, i int) string {
	switch {
	case i == 0:
		return "unset"
	case i > 0 && i < len(table):
		return table[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func parse(kind string, table []string, text string) (int, error) {
	for i, label := range table {
		if label != "" && label == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q (one of %s)", kind, text, strings.TrimPrefix(strings.Join(table, ", "), ", "))
}
