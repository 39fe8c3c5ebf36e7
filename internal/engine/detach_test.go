package engine_test

import (
	"context"
	"testing"

	"car/internal/engine"
	"car/internal/engine/approval"
	"car/internal/engine/handle"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// E-DET-1, E-PIPE-10: the DAG goes on beside a stream, whose row closes with it;
// a tool without a stream says so; what it says is redacted.
func TestDetached(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	release, ended := make(chan struct{}), make(chan struct{})
	h.tools["watch"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{Stream: func(_ context.Context, emit func(ir.Chunk)) {
			defer close(ended)
			<-release
			emit(ir.Chunk{Kind: ir.ChunkDone, Result: "all"})
		}}, nil
	}}
	r := h.execute(t, plan(t, call("watch", `"invocation_mode":"streaming"`), call("write", ""), call("write", `"invocation_mode":"long_running","failure_behavior":"skip"`)), engine.Options{})
	out, _ := r.Results[0].Output.(map[string]any)
	id, _ := out["tool_handle"].(string)
	if statuses(r) != "succeeded succeeded skipped" || out["status"] != "running" ||
		r.Results[2].Error != "tool 'write': this executor does not support streaming/long-running invocation" {
		t.Fatalf("%+v", r.Results)
	}
	if open, err := h.db.InState(t.Context(), "s", approval.Dispatched); err != nil || len(open) != 1 {
		t.Errorf("rows in flight %+v %v", open, err)
	}
	close(release)
	<-ended
	var p handle.Poll
	for p.Status == ir.StreamRunning { // the chunk is on its way
		p, _ = h.Streams().Poll(id)
	}
	must(t, h.Close(t.Context()))
	if done, err := h.db.InState(t.Context(), "s", approval.Completed); err != nil || len(done) != 2 || p.Result != "all" {
		t.Errorf("%+v, rows %+v %v", p, done, err)
	}
}

// E-DET-3: an abort leaves no handle running.
func TestAbortCancelsDetached(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.tools["watch"] = hand{effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{Stream: func(ctx context.Context, _ func(ir.Chunk)) { <-ctx.Done() }}, nil
	}}
	r := h.execute(t, plan(t, call("watch", `"invocation_mode":"streaming"`), call("fail", "")), engine.Options{})
	id, _ := r.Results[0].Output.(map[string]any)["tool_handle"].(string)
	if p, ok := h.Streams().Poll(id); !ok || p.Status != ir.StreamCancelled {
		t.Errorf("%+v %v", p, ok)
	}
	must(t, h.Close(t.Context()))
}
