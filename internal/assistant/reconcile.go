package assistant

import (
	"context"
	"encoding/json"
	"fmt"

	"car/internal/assistant/claim"
	"car/internal/assistant/llm"
	"car/internal/engine"
	"car/internal/engine/approval"
	"car/internal/engine/ir"
)

// reconcile answers the calls that the end of an earlier process left without a
// result, from what is known of their effects, so that every call has exactly one
// (P-WORK-2, A-DUR-4). What a person approved a moment ago and nothing started runs
// now, once; nothing else runs.
func (r *run) reconcile(ctx context.Context) error {
	calls := r.c.script.unanswered()
	if len(calls) == 0 {
		return nil
	}
	e := entry{Kind: entryResults, Message: llm.Message{Role: llm.User}}
	lost := false
	for i, c := range calls {
		f, err := r.settle(ctx, &call{ToolCall: c, id: ir.ActionID(c.ID), sequence: i + 1}, lost)
		if err != nil {
			return err
		}
		lost = lost || !f.ok
		e.Receipts = append(e.Receipts, f.receipts...)
		e.Message.Parts = append(e.Message.Parts, llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: c.ID, Text: f.text, IsError: !f.ok}})
		r.emit(Notice{Code: "reconciled", Text: fmt.Sprintf("%s of an earlier run: %s", c.Name, f.text)})
	}
	// The row belongs to the turn of its calls: both are left out together or not at all.
	turn := r.c.script.rows[len(r.c.script.rows)-1].turn
	r.c.script.add(row{entry: e, turn: turn})
	return r.c.checkpoint(ctx)
}

// fate is what became of a call whose process ended, and what the model is told.
type fate struct {
	text     string
	ok       bool
	receipts []claim.Receipt
}

// settle decides a call by the newest row of its effect. lost says that an earlier
// call of its step did not succeed.
func (r *run) settle(ctx context.Context, c *call, lost bool) (fate, error) {
	var effects []approval.Effect
	if lookup := r.c.runtime.Effects; lookup != nil {
		var err error
		if effects, err = lookup(ctx, r.c.id, c.ID); err != nil {
			return fate{}, err
		}
	}
	if len(effects) == 0 {
		return fate{text: fateText("tool call was interrupted before approval; not replayed")}, nil
	}
	e := effects[len(effects)-1]
	if e.State == approval.Approved && approval.Fresh(e.Updated, r.c.svc.cfg.Now()) {
		return r.replay(ctx, c, e, lost)
	}
	return fate{text: fateOf(e), ok: e.State == approval.Completed}, nil
}

// replay runs an effect that a person approved and that no process started. It goes
// the whole way again: policy and gates judge it anew, the engine holds the yes to
// exactly this scope, and dispatch writes its intent before it starts (A-DUR-4).
func (r *run) replay(ctx context.Context, c *call, e approval.Effect, lost bool) (fate, error) {
	if err := r.read(c); err != nil {
		return fate{text: fateText("action was approved and can not run any more: " + err.Error())}, nil
	}
	c.params = e.Scope.Parameters
	a := toolAction(c.id, c.Name, c.params)
	p := ir.Proposal{ID: ir.ProposalID("resume-" + c.ID), Source: resumeSource, Timestamp: r.c.svc.cfg.Now().UTC(), Context: map[string]any{}, Actions: []ir.Action{a}}
	o := engine.Options{Session: r.c.id, Turn: r.number, Refusal: engine.RefuseAction, FileRollback: engine.FilesStay}
	plan := []*call{c}
	w := newWatcher(r, plan)
	if lost {
		o.AfterFailure = c.id
	}
	o.Observer = w
	out, err := r.c.runtime.Engine.Execute(ctx, p, o)
	for _, res := range out.Results {
		if res.Status >= ir.Rejected {
			w.Finished(res)
		}
	}
	w.complete(ctx, plan)
	if err != nil {
		return fate{}, err
	}
	res := w.results[c.id]
	text := jsonText(map[string]any{"ok": worked(res), "action_id": string(e.ID), "output": resultText(c.Name, res, resultBytes)})
	return fate{text: text, ok: worked(res), receipts: []claim.Receipt{r.receipt(c, res)}}, nil
}

// resumeSource names the proposals of a resume in the record.
const resumeSource = "durable-resume"

// fateOf is what the model is told of an effect that does not run.
func fateOf(e approval.Effect) string {
	switch {
	case e.State == approval.Proposed:
		return fateText("approval was interrupted; action was not dispatched")
	case e.State == approval.Approved:
		return fateText("action was approved too long ago to run now; not replayed: call it again if it is still wanted, and it is asked afresh")
	case e.State == approval.Dispatched, e.State == approval.Indeterminate && e.Reason == approval.RestartReason:
		return fateText("action outcome is indeterminate after restart; it was not replayed")
	case e.State == approval.Completed || e.State == approval.Failed:
		if e.Receipt != "" {
			return e.Receipt
		}
		return jsonText(map[string]string{"status": e.State.String()})
	default:
		return fateText(fmt.Sprintf("durable action is %s; not replayed", e.State))
	}
}

func fateText(text string) string {
	b, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return text
	}
	return string(b)
}
