package approval_test

import (
	"testing"

	"car/internal/engine/approval"
)

// A-APPR-6: these moves, and nothing else.
func TestMoves(t *testing.T) {
	t.Parallel()
	allowed := map[[2]string]bool{
		{"", "proposed"}:                true,
		{"proposed", "approved"}:        true,
		{"proposed", "denied"}:          true,
		{"approved", "dispatched"}:      true,
		{"dispatched", "completed"}:     true,
		{"dispatched", "failed"}:        true,
		{"dispatched", "indeterminate"}: true,
	}
	terminal := map[string]bool{"completed": true, "failed": true, "denied": true, "indeterminate": true}
	seen := 0
	for from := approval.StateUnset; from <= approval.Indeterminate+2; from++ {
		for to := approval.StateUnset; to <= approval.Indeterminate+2; to++ {
			want := allowed[[2]string{from.String(), to.String()}]
			if got := from.MayBecome(to); got != want {
				t.Errorf("%q may become %q = %v, want %v", from, to, got, want)
			}
			if want {
				seen++
			}
		}
		if from <= approval.Indeterminate && from.Terminal() != terminal[from.String()] {
			t.Errorf("%q terminal = %v", from, from.Terminal())
		}
	}
	if seen != len(allowed) {
		t.Errorf("saw %d of %d moves: a label is missing", seen, len(allowed))
	}
}

// A-DUR-3: a state comes back from its label; no other text is a state.
func TestStateLabels(t *testing.T) {
	t.Parallel()
	for s := approval.Proposed; s <= approval.Indeterminate; s++ {
		if got, err := approval.ParseState(s.String()); err != nil || got != s {
			t.Errorf("%q is read as %v, %v", s, got, err)
		}
	}
	for _, text := range []string{"", "Approved", "done", "unknown(9)", " approved"} {
		if got, err := approval.ParseState(text); err == nil || got != approval.StateUnset {
			t.Errorf("%q is read as %v, %v, want an error", text, got, err)
		}
	}
}
