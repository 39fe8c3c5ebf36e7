package receipt

import (
	"fmt"

	"car/internal/engine/ir"
)

// Kind is what a claim says of a tool.
type Kind uint8

// The kinds of claims. The zero value is no kind and proves nothing.
const (
	KindUnset Kind = iota
	// Invoked says that the tool ran.
	Invoked
	// Count says how much it found.
	Count
	// Absence says that it found nothing.
	Absence
)

var kindLabels = [...]string{"", "invoked", "count", "absence"}

// String returns the wire label.
func (k Kind) String() string {
	if k > KindUnset && int(k) < len(kindLabels) {
		return kindLabels[k]
	}
	return fmt.Sprintf("unknown(%d)", uint8(k))
}

// MarshalText writes the label.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a label; an unknown one is an error.
func (k *Kind) UnmarshalText(text []byte) error {
	for i, label := range kindLabels {
		if i > 0 && label == string(text) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("unknown kind of claim %q, not invoked, count or absence", text)
}

// Claim is what somebody says of a call. CallID and Count are optional: without a
// call any of the tool's will do.
type Claim struct {
	Kind   Kind        `json:"kind"`
	Tool   string      `json:"tool"`
	CallID ir.ActionID `json:"call_id,omitempty"`
	Count  *int        `json:"count,omitempty"`
	// Text is the claim as it was worded, for whoever reads the report.
	Text string `json:"text,omitempty"`
}

// The kinds of hallucinations (E-RCPT-1).
const (
	FabricatedToolReference = "fabricated_tool_reference"
	CountMisstatement       = "count_misstatement"
	FalseAbsence            = "false_absence"
)

// Hallucination is a claim that the receipts contradict.
type Hallucination struct {
	Kind        string `json:"kind"`
	Tool        string `json:"tool"`
	ClaimText   string `json:"claim_text,omitempty"`
	Explanation string `json:"explanation"`
}

// Ungroundable is a claim that nothing here can judge.
type Ungroundable struct {
	Tool        string `json:"tool"`
	ClaimText   string `json:"claim_text,omitempty"`
	Explanation string `json:"explanation"`
}

// Report is what the receipts say of some claims. Grounded means that they
// contradict none.
type Report struct {
	Grounded       bool            `json:"grounded"`
	Hallucinations []Hallucination `json:"hallucinations"`
	Ungroundable   []Ungroundable  `json:"ungroundable,omitempty"`
}

// evicted is why a claim cannot be judged where receipts may be gone.
const evicted = "window evicted"

// Verify compares claims with receipts. complete says that no receipt of the scope
// is missing; otherwise a claim without one is not called false (E-RCPT-2).
func Verify(claims []Claim, receipts []Receipt, complete bool) Report {
	report := Report{Hallucinations: []Hallucination{}}
	for _, c := range claims {
		kind, why := c.judge(matching(c, receipts), complete)
		switch {
		case why == "":
		case kind == "":
			report.Ungroundable = append(report.Ungroundable, Ungroundable{c.Tool, c.Text, why})
		default:
			report.Hallucinations = append(report.Hallucinations, Hallucination{kind, c.Tool, c.Text, why})
		}
	}
	report.Grounded = len(report.Hallucinations) == 0
	return report
}

// judge returns why a claim does not stand, and as what; a reason without a kind
// is one that cannot be judged, no reason is a claim that stands.
func (c Claim) judge(found []Receipt, complete bool) (kind, why string) {
	switch {
	case c.Kind <= KindUnset || c.Kind > Absence:
		return "", "the claim is of no known kind"
	case len(found) == 0 && !complete:
		return "", evicted
	case len(found) == 0 && c.CallID != "":
		return FabricatedToolReference, fmt.Sprintf("no call '%s' of '%s' ran", c.CallID, c.Tool)
	case len(found) == 0:
		return FabricatedToolReference, fmt.Sprintf("no call of '%s' ran", c.Tool)
	case c.Kind == Invoked:
		return "", ""
	}
	want, kind := 0, FalseAbsence
	if c.Kind == Count {
		if c.Count == nil {
			return "", "the claim names no count"
		}
		want, kind = *c.Count, CountMisstatement
	}
	counted := -1
	for _, r := range found {
		if r.ResultCount == nil {
			continue
		}
		if counted = *r.ResultCount; counted == want {
			return "", ""
		}
	}
	switch {
	case counted < 0:
		return "", fmt.Sprintf("the receipts of '%s' carry no count", c.Tool)
	case !complete && c.CallID == "":
		return "", evicted // the one that is meant may be gone
	case c.Kind == Absence:
		return kind, fmt.Sprintf("'%s' found %d", c.Tool, counted)
	default:
		return kind, fmt.Sprintf("%d claimed, '%s' found %d", want, c.Tool, counted)
	}
}

func matching(c Claim, receipts []Receipt) []Receipt {
	var found []Receipt
	for _, r := range receipts {
		if r.Tool == c.Tool && (c.CallID == "" || r.CallID == c.CallID) {
			found = append(found, r)
		}
	}
	return found
}
