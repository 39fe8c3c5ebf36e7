package eventlog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/eventlog"
)

// E-LOG-3: every kind there is, as it stands on disk. A rename shows here.
const everyKind = `
proposal_received action_validated action_retrying action_executing action_rejected policy_violation action_succeeded
action_failed action_skipped action_deduplicated state_changed state_committed state_snapshot state_rollback session_scope
transaction_conflict admission_gate_decision approval_recorded replan_attempted replan_rejected replan_proposal_received
replan_exhausted branch_decision alternative_rejected tool_receipt_hallucination
supervision_decision supervision_verb files_rolled_back turn_undone compensation_run tool_handle_cancelled
run_started run_completed turn_completed goal_evaluated inference_metered model_fallback permission_decision
skill_distilled evolution_triggered candidate_promoted candidate_rejected consolidated`

// Named behaviour "labels round-trip".
func TestKindLabelsRoundTrip(t *testing.T) {
	t.Parallel()
	want := strings.Fields(everyKind)
	var got []string
	for _, k := range eventlog.Kinds() {
		got = append(got, k.String())
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		var back eventlog.Kind
		if err := json.Unmarshal(text, &back); err != nil || back != k {
			t.Errorf("%s reads back as %v (%v)", text, back, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("kinds %v\nwant  %v", got, want)
	}
}

// A label that no table holds is refused both ways.
func TestUnknownKinds(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"", "Run_Started", "run_started ", "unknown(0)", "unknown(44)"} {
		if k, err := eventlog.ParseKind(label); err == nil || k != eventlog.KindUnset {
			t.Errorf("%q is kind %v", label, k)
		}
	}
	for _, k := range []eventlog.Kind{0, 44, 255} {
		if text, err := json.Marshal(k); err == nil {
			t.Errorf("kind %d is written %s", k, text)
		}
	}
}
