package ir_test

import (
	"encoding"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine/ir"
)

// E-IR-7: the counts partition the results by status.
func TestCostSummary(t *testing.T) {
	t.Parallel()
	call, write := ir.Action{Type: ir.ToolCall}, ir.Action{Type: ir.StateWrite}
	var got ir.CostSummary
	for _, r := range []struct {
		a ir.Action
		r ir.ActionResult
	}{
		{call, ir.ActionResult{Status: ir.Succeeded, Attempts: 3, DurationMS: 5}},
		{call, ir.ActionResult{Status: ir.Failed, Attempts: 1, DurationMS: 7}},
		{call, ir.ActionResult{Status: ir.Rejected}},
		{call, ir.ActionResult{Status: ir.Skipped}},
		{call, ir.ActionResult{Status: ir.Succeeded}}, // answered from a cache
		{write, ir.ActionResult{Status: ir.Succeeded, Attempts: 1, DurationMS: 1}},
	} {
		got.Add(r.a, r.r)
	}
	want := ir.CostSummary{ToolCalls: 2, ActionsExecuted: 4, ActionsRejected: 1, ActionsSkipped: 1, TotalDurationMS: 13, Retries: 2, ToolAttempts: 4}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// E-IR-7, named behaviour "old cost summary decodes".
func TestOldCostSummaryDecodes(t *testing.T) {
	t.Parallel()
	var got ir.CostSummary
	if err := json.Unmarshal([]byte(`{"tool_calls":1,"actions_executed":2,"actions_skipped":3,"total_duration_ms":4,"retries":5}`), &got); err != nil {
		t.Fatal(err)
	}
	want := ir.CostSummary{ToolCalls: 1, ActionsExecuted: 2, ActionsSkipped: 3, TotalDurationMS: 4, Retries: 5}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// E-IR-7: the worst reversibility, and an empty batch is reversible.
func TestRollbackContract(t *testing.T) {
	t.Parallel()
	batch := func(rs ...ir.Reversibility) (actions []ir.Action) {
		for _, r := range rs {
			actions = append(actions, ir.Action{Reversibility: r})
		}
		return actions
	}
	for _, c := range []struct {
		actions []ir.Action
		want    ir.Reversibility
	}{
		{nil, ir.Reversible},
		{batch(ir.Reversible, ir.Reversible), ir.Reversible},
		{batch(ir.Reversible, ir.Compensable), ir.Compensable},
		{batch(ir.Compensable, ir.Irreversible, ir.Reversible), ir.Irreversible},
		{batch(ir.Reversible, ir.Reversibility(0)), ir.Irreversible},
	} {
		if got := ir.RollbackContract(c.actions); got != c.want {
			t.Errorf("%v: %s, want %s", c.actions, got, c.want)
		}
	}
}

// E-IR-6, F-2: nothing done is no success, and what was rolled back is none either.
func TestAllSucceeded(t *testing.T) {
	t.Parallel()
	good := ir.ActionResult{Status: ir.Succeeded}
	for _, c := range []struct {
		results []ir.ActionResult
		want    bool
	}{
		{nil, false},
		{[]ir.ActionResult{good, good}, true},
		{[]ir.ActionResult{good, {Status: ir.Skipped}}, false},
		{[]ir.ActionResult{good, {Status: ir.Succeeded, RolledBack: true}}, false},
	} {
		if got := (ir.ProposalResult{Results: c.results}).AllSucceeded(); got != c.want {
			t.Errorf("%v: %v", c.results, got)
		}
	}
}

// E-IR-5, F-1: a null that was set is not a deletion, on the wire and back.
func TestStateChangeTellsNullFromDeletion(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]ir.StateChange{
		`{"op":"set","value":null}`:    {Op: "set"},
		`{"op":"set","value":{"a":1}}`: {Op: "set", Value: map[string]any{"a": 1.0}},
		`{"op":"delete"}`:              {Op: "delete"},
	} {
		got, err := json.Marshal(change)
		if err != nil || string(got) != want {
			t.Errorf("%+v is written %s (%v), want %s", change, got, err, want)
		}
		var back ir.StateChange
		if err := json.Unmarshal(got, &back); err != nil || !cmp.Equal(back, change) {
			t.Errorf("%s is read as %+v (%v)", got, back, err)
		}
	}
}

// label is an enum of this package as its wire sees it.
type label interface {
	encoding.TextMarshaler
	String() string
}

// E-IR-8: each enum has one label table, and its labels round-trip.
func TestLabelsRoundTrip(t *testing.T) {
	t.Parallel()
	roundTrip(t, ir.ToolCall, "tool_call", "state_write", "state_read", "assertion")
	roundTrip(t, ir.OneShot, "one_shot", "streaming", "long_running")
	roundTrip(t, ir.Irreversible, "irreversible", "compensable", "reversible")
	roundTrip(t, ir.Abort, "abort", "retry", "skip")
	roundTrip(t, ir.Proposed, "proposed", "validated", "executing", "rejected", "succeeded", "failed", "skipped")
	roundTrip(t, ir.ReadOnly, "read_only", "sandbox_edit", "full_access")
	roundTrip(t, ir.ClassTimeout, "timeout", "rejected_by_policy", "validation", "tool_error", "unknown", "canceled")
	roundTrip(t, ir.UserDefined, "user_defined", "builtin", "subprocess", "mcp")
	roundTrip(t, ir.PermissionAsk, "ask_user", "allow", "deny")
	roundTrip(t, ir.ChunkText, "text", "data", "progress", "done", "error")
	roundTrip(t, ir.StreamRunning, "running", "succeeded", "failed", "cancelled")
	roundTrip(t, ir.BlockText, "text", "diff", "table", "files", "exit", "commands")
}

// roundTrip checks that the values from first on have these labels, in order, and no more.
func roundTrip[T interface {
	~uint8
	label
}, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, first T, labels ...string) {
	t.Helper()
	for i, want := range labels {
		v := first + T(i)
		var back T
		if err := P(&back).UnmarshalText([]byte(want)); err != nil || back != v || v.String() != want {
			t.Errorf("%T(%d) is %q and reads back as %d (%v), want %q", v, uint8(v), v, uint8(back), err, want)
		}
		if err := P(&back).UnmarshalText([]byte(want + "s")); err == nil {
			t.Errorf("%T reads %q", v, want+"s")
		}
	}
	beyond := first + T(len(labels))
	var back T
	if err := P(&back).UnmarshalText([]byte(beyond.String())); err == nil {
		t.Errorf("%T has a value beyond its labels: %s", beyond, beyond)
	}
}

// G-TIER-1: needed and unset is the most, granted and unset covers nothing.
func TestTierFailsClosed(t *testing.T) {
	t.Parallel()
	if ir.TierUnset.Needed() != ir.FullAccess || ir.TierUnset.Covers(ir.ReadOnly) || ir.SandboxEdit.Covers(ir.TierUnset) {
		t.Error("an unset tier lets something through")
	}
	if !ir.FullAccess.Covers(ir.TierUnset) || !ir.SandboxEdit.Covers(ir.ReadOnly) || ir.ReadOnly.Covers(ir.SandboxEdit) || ir.ReadOnly.Higher(ir.FullAccess) != ir.FullAccess {
		t.Error("the tiers are out of order")
	}
}
