package approval

import "fmt"

// State is where an effect stands. The zero value is unset.
type State uint8

// The states; see the package comment for the moves between them.
const (
	StateUnset State = iota
	Proposed
	Approved
	Dispatched
	Completed
	Failed
	Denied
	Indeterminate
)

var stateLabels = [...]string{"", "proposed", "approved", "dispatched", "completed", "failed", "denied", "indeterminate"}

// String returns the label that the store keeps.
func (s State) String() string {
	if int(s) < len(stateLabels) {
		return stateLabels[s]
	}
	return fmt.Sprintf("unknown(%d)", uint8(s))
}

// ParseState reads a stored label.
func ParseState(text string) (State, error) {
	for i, label := range stateLabels {
		if label == text && i > 0 {
			return State(i), nil
		}
	}
	return StateUnset, fmt.Errorf("unknown effect state %q", text)
}

// Terminal reports whether nothing follows this state.
func (s State) Terminal() bool { return s >= Completed }

// MayBecome reports whether the move is one of the machine's (A-APPR-6).
func (s State) MayBecome(next State) bool {
	switch s {
	case StateUnset:
		return next == Proposed
	case Proposed:
		return next == Approved || next == Denied
	case Approved:
		return next == Dispatched
	case Dispatched:
		return next == Completed || next == Failed || next == Indeterminate
	default:
		return false
	}
}
