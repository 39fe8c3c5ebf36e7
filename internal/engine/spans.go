package engine

import (
	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/span"
)

// tracing is the spans of a generation: the proposal's and below it one an action
// (E-LOG-4). A nil tracing records none and costs nothing.
type tracing struct {
	recorder *span.Recorder
	root     span.Ref
	// actions are the spans by index; zero is one that has not begun.
	actions []span.Ref
}

// beginSpans begins the generation's span, below that of the run it belongs to.
func (r *run) beginSpans() {
	if r.rt.cfg.Spans == nil {
		return
	}
	t := &tracing{recorder: r.rt.cfg.Spans, actions: make([]span.Ref, len(r.p.Actions))}
	t.root = t.recorder.Start("proposal.execute", r.spanAbove, span.Attr{Key: "proposal_id", Value: string(r.p.ID)})
	r.spans = t
}

// endSpans ends the generation's span, and with it whatever is still open below.
func (r *run) endSpans(whole *admit.Rejection) {
	if r.spans == nil {
		return
	}
	status := span.OK
	if whole != nil || r.abort != nil || r.rollback != nil || r.brokenNow() != nil || len(r.preimages) == 0 {
		status = span.Error
	}
	r.spans.recorder.End(r.spans.root, status)
}

// beginSpan begins an action's span when its turn has come.
func (r *run) beginSpan(i int) {
	if t := r.spans; t != nil {
		t.actions[i] = t.start(r.p.Actions[i])
	}
}

// endSpan ends an action's span with its result, also of one that had no turn.
func (r *run) endSpan(i int, s ir.Status) {
	t := r.spans
	if t == nil {
		return
	}
	if t.actions[i] == (span.Ref{}) {
		t.actions[i] = t.start(r.p.Actions[i])
	}
	status := span.Unset
	switch s {
	case ir.Succeeded:
		status = span.OK
	case ir.Failed, ir.Rejected:
		status = span.Error
	}
	t.recorder.End(t.actions[i], status)
}

func (t *tracing) start(a ir.Action) span.Ref {
	attributes := []span.Attr{{Key: "action_id", Value: string(a.ID)}}
	if a.Tool != "" {
		attributes = append(attributes, span.Attr{Key: "tool", Value: a.Tool})
	}
	return t.recorder.Start("action."+a.Type.String(), t.root, attributes...)
}

// traceBelow has a run's spans stand below those of the run that it belongs to.
func (r *run) traceBelow(outer *run) {
	if outer.spans != nil {
		r.spanAbove = outer.spans.root
	}
}
