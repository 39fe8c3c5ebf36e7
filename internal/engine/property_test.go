package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"car/internal/engine"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// drawProposal makes any proposal that decodes: dependencies forward and back,
// every action type and failure behaviour, tools that work, fail, panic and lie.
func drawProposal(t *rapid.T) ir.Proposal {
	n := rapid.IntRange(0, 8).Draw(t, "n")
	p := ir.Proposal{ID: "p", Source: "rapid"}
	keys := rapid.SampledFrom([]string{"k1", "k2", "k3"})
	for i := range n {
		a := ir.Action{ID: ir.ActionID(fmt.Sprintf("a%d", i)), Parameters: map[string]any{"key": keys.Draw(t, "key"), "value": float64(i)},
			FailureBehavior: rapid.SampledFrom([]ir.FailureBehavior{ir.Abort, ir.Retry, ir.Skip}).Draw(t, "behaviour"),
			MaxRetries:      uint32(rapid.IntRange(0, 2).Draw(t, "retries"))}
		a.Type = rapid.SampledFrom([]ir.ActionType{ir.ToolCall, ir.ToolCall, ir.StateWrite, ir.StateRead, ir.Assertion}).Draw(t, "type")
		if a.Type == ir.ToolCall {
			a.Tool = rapid.SampledFrom([]string{"write", "read", "fail", "panic", "set", "nope"}).Draw(t, "tool")
			a.Parameters["policy"] = rapid.SampledFrom([]string{"", "", "ask", "deny", "full"}).Draw(t, "policy")
		}
		// Now and then any action may be named, so that cycles come up too.
		last := i - 1
		if rapid.IntRange(0, 19).Draw(t, "wild") == 0 {
			last = n - 1
		}
		if last >= 0 && rapid.Bool().Draw(t, "linked") {
			a.After = []ir.ActionID{ir.ActionID(fmt.Sprintf("a%d", rapid.IntRange(0, last).Draw(t, "after")))}
		}
		if last >= 0 && rapid.Bool().Draw(t, "depends") {
			a.Dependencies = []ir.ActionID{ir.ActionID(fmt.Sprintf("a%d", rapid.IntRange(0, last).Draw(t, "on")))}
		}
		p.Actions = append(p.Actions, a)
	}
	return p.Fill(ir.Defaults{NewID: func() string { return "x" }, Now: nil})
}

// E-PIPE-1, E-EXEC-12, E-STATE-2, E-LOG: whatever is proposed, each action has
// exactly one result in its place and one terminal event, an abort leaves state as
// it was, a failed attempt's writes are never seen, and nothing panics or hangs.
func TestAnyProposal(t *testing.T) {
	h := build(t, func(c *engine.Config, _ *house) { c.Approver = yes{} })
	h.tools["set"] = hand{effects: reads, run: func(_ context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
		if err := e.State.Set("set", c.Params["value"]); err != nil {
			return tool.Execution{}, err
		}
		if c.Attempt == 1 {
			return tool.Execution{}, errors.New("only the second time")
		}
		return tool.Execution{Output: "ok"}, nil
	}}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProposal(t)
		round++
		p.ID = ir.ProposalID(fmt.Sprintf("p%d", round))
		before := h.state.Snapshot("")
		r, err := h.Execute(context.Background(), p, engine.Options{Session: "s", CallPrefix: string(p.ID) + "/",
			Refusal: rapid.SampledFrom([]engine.Refusal{engine.RefuseProposal, engine.RefuseAction}).Draw(t, "refusal")})
		if err != nil {
			t.Fatal(err)
		}
		checkResults(t, h, p, r)
		if r.Rollback != nil || len(r.AcceptedPreimages) == 0 {
			if after := h.state.Snapshot(""); !maps.EqualFunc(before, after, ir.Equal) {
				t.Fatalf("an aborted or refused proposal changed state from %v to %v", before, after)
			}
		}
	})
}

func checkResults(t *rapid.T, h *house, p ir.Proposal, r ir.ProposalResult) {
	if len(r.Results) != len(p.Actions) {
		t.Fatalf("%d results for %d actions", len(r.Results), len(p.Actions))
	}
	refused := len(r.AcceptedPreimages) == 0
	for i, res := range r.Results {
		if res.ActionID != p.Actions[i].ID {
			t.Fatalf("result %d is of %s", i, res.ActionID)
		}
		if res.Status < ir.Rejected {
			t.Fatalf("%s ended as %s", res.ActionID, res.Status)
		}
		ends := len(h.log.Query(eventlog.Query{ProposalID: p.ID, ActionID: res.ActionID, Kinds: []eventlog.Kind{
			eventlog.ActionSucceeded, eventlog.ActionFailed, eventlog.ActionRejected, eventlog.PolicyViolation, eventlog.ActionSkipped}}))
		if want := map[bool]int{true: 0, false: 1}[refused]; ends != want {
			t.Fatalf("%s has %d ends in the log, want %d", res.ActionID, ends, want)
		}
	}
	c := r.Cost
	if !refused && c.ActionsExecuted+c.ActionsRejected+c.ActionsSkipped != len(r.Results) {
		t.Fatalf("cost %+v does not partition %d results", c, len(r.Results))
	}
}

// trail is what the log says of a proposal, by action, without ids and times.
func (h *house) trail(id ir.ProposalID) map[ir.ActionID]string {
	trail := map[ir.ActionID]string{}
	events := h.log.Query(eventlog.Query{ProposalID: id})
	slices.Reverse(events)
	for _, e := range events {
		data := maps.Clone(e.Data)
		for _, volatile := range []string{"duration_ms", "effect_id", "fingerprint", "proposal_digest", "proposal"} {
			delete(data, volatile)
		}
		text, err := ir.Canonical(data)
		if err != nil {
			panic(err)
		}
		trail[e.ActionID] += fmt.Sprintf("%s %s\n", e.Kind, text)
	}
	return trail
}

// E-PIPE-1: the same proposal on the same state and the same tool outputs leaves
// the same record of every action, but for ids and times.
func TestExecutionIsDeterministic(t *testing.T) {
	one, two := build(t, func(c *engine.Config, _ *house) { c.Approver = yes{} }), build(t, func(c *engine.Config, _ *house) { c.Approver = yes{} })
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProposal(t)
		round++
		p.ID = ir.ProposalID(fmt.Sprintf("p%d", round))
		for _, h := range []*house{one, two} {
			if _, err := h.Execute(context.Background(), p, engine.Options{Session: "s", CallPrefix: string(p.ID) + "/"}); err != nil {
				t.Fatal(err)
			}
		}
		first, second := one.trail(p.ID), two.trail(p.ID)
		if !maps.Equal(first, second) {
			t.Fatalf("the records differ:\n%v\n%v", first, second)
		}
	})
}

// E-EXEC-11, E-EXEC-12: cancelled at any moment, every action still has its one
// result, no row is left in flight and no goroutine stays (goleak watches them all).
func TestCancelAnywhere(t *testing.T) {
	h := build(t, func(c *engine.Config, _ *house) { c.Approver = yes{} })
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProposal(t)
		round++
		p.ID = ir.ProposalID(fmt.Sprintf("p%d", round))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		when := int32(rapid.IntRange(0, 12).Draw(t, "when"))
		watch := &canceler{cancel: cancel}
		watch.left.Store(when)
		r, err := h.Execute(ctx, p, engine.Options{Session: "s", CallPrefix: string(p.ID) + "/", Observer: watch})
		if err != nil {
			t.Fatal(err)
		}
		checkResults(t, h, p, r)
		open, err := h.db.InState(context.Background(), "s", approval.Dispatched)
		if err != nil || len(open) != 0 {
			t.Fatalf("rows in flight after a cancel: %+v %v", open, err)
		}
	})
}

// canceler cancels after some notices.
type canceler struct {
	left   atomic.Int32
	cancel func()
}

func (c *canceler) tick() {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
}

func (c *canceler) Started(ir.Action, ir.Tier)                  { c.tick() }
func (c *canceler) Progress(ir.ActionID, string, time.Duration) {}
func (c *canceler) Finished(ir.ActionResult)                    { c.tick() }
