package assistant

import (
	"context"
	"encoding/json"
	"fmt"

	"car/internal/assistant/llm"
	"car/internal/engine/approval"
)

// reconcile answers the calls that the end of an earlier process left without a
// result, from what is known of their effects, so that every call has exactly one
// (P-WORK-2, A-DUR-4). It runs nothing.
func (r *run) reconcile(ctx context.Context) error {
	calls := r.c.script.unanswered()
	if len(calls) == 0 {
		return nil
	}
	m := llm.Message{Role: llm.User}
	for _, c := range calls {
		text, err := r.fate(ctx, c.ID)
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: c.ID, Text: text, IsError: true}})
		r.emit(Notice{Code: "reconciled", Text: fmt.Sprintf("%s of an earlier run: %s", c.Name, text)})
	}
	// The row belongs to the turn of its calls: both are left out together or not at all.
	turn := r.c.script.rows[len(r.c.script.rows)-1].turn
	r.c.script.add(row{entry: entry{Message: m, Kind: entryResults}, turn: turn})
	return r.c.checkpoint(ctx)
}

// fate is what the model is told of a call whose process ended.
func (r *run) fate(ctx context.Context, callID string) (string, error) {
	var effects []approval.Effect
	if lookup := r.c.runtime.Effects; lookup != nil {
		var err error
		if effects, err = lookup(ctx, r.c.id, callID); err != nil {
			return "", err
		}
	}
	if len(effects) == 0 {
		return fateText("tool call was interrupted before approval; not replayed"), nil
	}
	e := effects[len(effects)-1]
	switch {
	case e.State == approval.Proposed:
		return fateText("approval was interrupted; action was not dispatched"), nil
	case e.State == approval.Approved:
		return fateText("action was approved but not dispatched before the process ended; not replayed: call it again if it is still wanted"), nil
	case e.State == approval.Dispatched, e.State == approval.Indeterminate && e.Reason == approval.RestartReason:
		return fateText("action outcome is indeterminate after restart; it was not replayed"), nil
	case e.State == approval.Completed || e.State == approval.Failed:
		if e.Receipt != "" {
			return e.Receipt, nil
		}
		return jsonText(map[string]string{"status": e.State.String()}), nil
	default:
		return fateText(fmt.Sprintf("durable action is %s; not replayed", e.State)), nil
	}
}

func fateText(text string) string {
	b, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return text
	}
	return string(b)
}
