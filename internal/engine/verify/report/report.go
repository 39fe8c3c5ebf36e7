package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"car/internal/engine/ir"
)

// Tier is the kind of a check (V-GEN-3): how it arrived at what it reports. Kinds
// are not grades; nothing orders them, and none of them is a proof. The zero value
// is unset.
type Tier uint8

// The kinds.
const (
	TierUnset Tier = iota
	// DecisionProcedure decides its property exactly over the inputs it was given.
	DecisionProcedure
	// Heuristic is a proxy, wrong both ways on its own inputs.
	Heuristic
	// Sampled saw a part of a space; its silence speaks for the sample.
	Sampled
)

var tierLabels = []string{DecisionProcedure: "decision_procedure", Heuristic: "heuristic", Sampled: "sampled"}

// String returns the wire label.
func (t Tier) String() string { return labelOf(tierLabels, int(t)) }

// MarshalText writes the wire label.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (t *Tier) UnmarshalText(b []byte) error {
	i, err := parseLabel("tier", tierLabels, string(b))
	*t = Tier(i)
	return err
}

// Severity is how bad a finding is if it is right (V-GEN-4). The zero value is unset.
type Severity uint8

// The severities. A report with an error is not valid.
const (
	SeverityUnset Severity = iota
	Info
	Warning
	Error
)

var severityLabels = []string{Info: "info", Warning: "warning", Error: "error"}

// String returns the wire label.
func (s Severity) String() string { return labelOf(severityLabels, int(s)) }

// MarshalText writes the wire label.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (s *Severity) UnmarshalText(b []byte) error {
	i, err := parseLabel("severity", severityLabels, string(b))
	*s = Severity(i)
	return err
}

func labelOf(table []string, i int) string {
	if i < len(table) && table[i] != "" {
		return table[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func parseLabel(kind string, table []string, text string) (int, error) {
	for i, label := range table {
		if label != "" && label == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q (one of %s)", kind, text, strings.TrimPrefix(strings.Join(table, ", "), ", "))
}

// Scope is what a report of one kind says about itself (V-GEN-3). Reports embed it.
type Scope struct {
	Tier Tier `json:"tier"`
	// CannotVerify names what the report does not speak of, even where it is clean.
	CannotVerify []string `json:"cannot_verify"`
}

// Explanation says of one finding why it is so and what to do (V-BEYOND-5).
type Explanation struct {
	Because []string `json:"because"`
	// Witness is a smallest part of the plan that shows the same finding alone, in
	// proposal order; empty where no action is needed for it or none was isolated.
	Witness []ir.ActionID `json:"witness"`
	Fix     string        `json:"fix"`
}

// clipBytes bounds what somebody else wrote inside a message (V-GEN-5).
const clipBytes = 256

// Clip fits text that a model or file wrote into a message: valid UTF-8, 256 bytes
// at most, a cut marked (V-GEN-5). Fields that carry such text are not clipped.
func Clip[S ~string](text S) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	if len(s) <= clipBytes {
		return s
	}
	const mark = "…"
	end := clipBytes - len(mark)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// ClipValue is a value as compact canonical JSON, clipped.
func ClipValue(v any) string {
	text, err := ir.Canonical(v)
	if err != nil {
		return "a value that JSON cannot hold"
	}
	return Clip(string(text))
}
