package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// E-SESS-1: session rules add to the global ones and cannot loosen; a session
// that is closed refuses; a rule that panics denies.
func TestRules(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	deny := func(name, why string) engine.Rule {
		return engine.Rule{Name: name, Description: "says " + why, Check: func(ir.Action, func(string) (any, bool)) string { return why }}
	}
	session := h.OpenSession()
	must(t, h.AddRule("", deny("global", "")))
	must(t, h.AddRule(session, deny("mine", "not here")))
	must(t, h.AddRule(session, engine.Rule{Name: "odd", Check: func(ir.Action, func(string) (any, bool)) string { panic("boom") }}))
	run := func(id string, o engine.Options) string {
		p := plan(t, call("write", `"failure_behavior":"skip"`))
		p.ID = ir.ProposalID(id)
		return h.execute(t, p, o).Results[0].Error
	}
	if got := run("in", engine.Options{PolicySession: session}); got != "denied by policy: policy 'mine': not here; policy 'odd': rule panicked: boom" {
		t.Errorf("%q", got)
	}
	if got := run("out", engine.Options{}); got != "" {
		t.Errorf("a session's rule reached outside: %q", got)
	}
	infos, err := h.Rules(session)
	if err != nil || len(infos) != 2 || infos[0] != (engine.RuleInfo{Name: "mine", Description: "says not here"}) {
		t.Errorf("%+v %v", infos, err)
	}
	if n, err := h.RemoveRules(session, "mine"); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if n, err := h.RemoveRules(session, "mine"); n != 0 || err != nil {
		t.Errorf("removed %d again, %v", n, err)
	}
	if !h.HasSession(session) || !h.CloseSession(session) || h.CloseSession(session) || h.HasSession(session) {
		t.Error("open, exists and close disagree")
	}
	if got := run("closed", engine.Options{PolicySession: session}); !strings.Contains(got, "unknown session id '"+session+"'") {
		t.Errorf("a closed session let the call through: %q", got)
	}
	if err := h.AddRule(session, deny("late", "x")); err == nil || err.Error() != "unknown session id '"+session+"'" {
		t.Errorf("%v", err)
	}
}

// E-PIPE-4: register appends, replace keeps the first place and drops the twins, clear restores ungated.
func TestGateRegistry(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	for _, name := range []string{"a", "b", "c", "b"} {
		h.Gates().RegisterGate(named(name))
	}
	h.Gates().ReplaceGate(named("b"))
	h.Gates().ReplaceGate(named("d"))
	if got := h.Gates().GateNames(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("%v", got)
	}
	h.Gates().ClearGates()
	if got := h.Gates().GateNames(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// E-SESS-2: under a tenant, state actions and callback changes use the tenant's
// names, a tool's own keys stay shared, and no tenant sees or spells another's.
func TestTenants(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.tools["both"] = hand{effects: reads, run: func(_ context.Context, _ tool.Call, e tool.Env) (tool.Execution, error) {
		return tool.Execution{Output: "ok", StateChanges: map[string]ir.StateChange{"back": {Op: "set", Value: 1.0}}}, e.State.Set("own", 1.0)
	}}
	write := `"type":"state_write","parameters":{"key":"k","value":"a's"}`
	a := engine.Options{Scope: engine.Scope{TenantID: "a"}}
	r := h.execute(t, plan(t, write, call("both", `"expected_effects":{"back":1}`)), a)
	if !r.AllSucceeded() || !strings.HasPrefix(h.story(), "session_scope, proposal_received") {
		t.Fatalf("%+v %s", r.Results, h.story())
	}
	if got := h.state.Snapshot(""); len(got) != 1 || got["own"] != 1.0 {
		t.Errorf("shared: %v", got)
	}
	if got := h.state.Snapshot("a"); got["k"] != "a's" || got["back"] != 1.0 {
		t.Errorf("tenant a: %v", got)
	}
	read := plan(t, `"type":"state_read","parameters":{"key":"k"}`)
	read.ID = "p2"
	if r := h.execute(t, read, engine.Options{Scope: engine.Scope{TenantID: "b"}}); r.Results[0].Output != nil {
		t.Errorf("tenant b read %v", r.Results[0].Output)
	}
	spell := plan(t, `"type":"state_write","failure_behavior":"skip","parameters":{"key":"tenant:a:k","value":"mine"}`)
	spell.ID = "p3"
	h.execute(t, spell, engine.Options{})
	peek := plan(t, call("read", `"failure_behavior":"skip","preconditions":[{"key":"tenant:a:k","operator":"exists"}]`))
	peek.ID = "p4"
	if r := h.execute(t, peek, engine.Options{}); r.Results[0].Status != ir.Rejected {
		t.Error("a precondition without a tenant saw a tenant's key")
	}
	if got := h.state.Snapshot("a"); got["k"] != "a's" {
		t.Errorf("an action without a tenant wrote %v", got)
	}
}

// B-CONC-1: read-only proposals overlap; a tool that lied about reading fails.
func TestReadersShare(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	look := tool.Spec{Effect: tool.Read}
	meet := make(chan struct{})
	h.tools["meet"] = hand{spec: look, effects: reads, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		select { // both proposals are in here at once, or neither gets out
		case meet <- struct{}{}:
		case <-meet:
		}
		return tool.Execution{Output: "met"}, nil
	}}
	h.tools["liar"] = hand{spec: look, effects: reads, run: func(_ context.Context, _ tool.Call, e tool.Env) (tool.Execution, error) {
		return tool.Execution{}, e.State.Set("k", 1.0)
	}}
	done := make(chan ir.ProposalResult)
	for range 2 {
		p := plan(t, call("meet", ""))
		go func() {
			r, _ := h.Execute(t.Context(), p, engine.Options{Session: "s"})
			done <- r
		}()
	}
	for range 2 {
		if r := <-done; !r.AllSucceeded() {
			t.Errorf("%+v", r.Results)
		}
	}
	if r := h.execute(t, plan(t, call("liar", "")), engine.Options{}); r.Results[0].Status != ir.Failed || len(h.state.Snapshot("")) != 0 {
		t.Errorf("a read-only tool wrote: %+v", r.Results)
	}
}

// B-CONC-2: what a question waited over is checked again when state moved meanwhile.
func TestRecheckAfterAQuestion(t *testing.T) {
	t.Parallel()
	var h *house
	h = build(t, func(c *engine.Config, _ *house) {
		c.Approver = approverFunc(func(context.Context, []admit.Request) ([]admit.Decision, error) {
			p := plan(t, `"type":"state_write","parameters":{"key":"gone"}`)
			p.ID = "other"
			h.execute(t, p, engine.Options{})
			return []admit.Decision{{Kind: admit.AllowOnce, By: "user"}}, nil
		})
	})
	r := h.execute(t, plan(t, call("write", `"parameters":{"policy":"ask"},"preconditions":[{"key":"gone","operator":"not_exists"}]`)), engine.Options{})
	if r.Results[0].Status != ir.Rejected || r.Results[0].Error != "precondition failed: gone not_exists" {
		t.Errorf("%+v", r.Results[0])
	}
}

// E-FAIL-5: a harness caps retries, sets the first wait and the replan budget; changes land whole, absent changes nothing.
func TestHarness(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	many := call("fail", `"failure_behavior":"retry","max_retries":3`)
	attempts := func(id string) int {
		p := plan(t, many)
		p.ID = ir.ProposalID(id)
		h.waited = nil
		return h.execute(t, p, engine.Options{}).Results[0].Attempts
	}
	if n := attempts("absent"); n != 4 {
		t.Errorf("absent: %d attempts", n)
	}
	h.SetHarness(&engine.Harness{})
	if n := attempts("zero"); n != 1 {
		t.Errorf("harness 0: %d attempts", n)
	}
	h.UpdateHarness(func(c *engine.Harness) *engine.Harness { c.MaxRetries, c.RetryBackoff = 2, 20*time.Second; return c })
	if n := attempts("two"); n != 3 || len(h.waited) != 2 || h.waited[0] != 20*time.Second || h.waited[1] != 30*time.Second {
		t.Errorf("%d attempts, waits %v", n, h.waited)
	}
	done := make(chan struct{})
	for range 50 {
		go func() {
			h.UpdateHarness(func(c *engine.Harness) *engine.Harness { c.MaxRetries++; return c })
			done <- struct{}{}
		}()
	}
	for range 50 {
		<-done
	}
	h.UpdateHarness(func(c *engine.Harness) *engine.Harness {
		if c.MaxRetries != 52 {
			t.Errorf("concurrent updates lost: %d", c.MaxRetries)
		}
		return nil
	})
	if n := attempts("absent again"); n != 4 {
		t.Errorf("absent again: %d attempts", n)
	}
}

// E-PIPE-5, E-PIPE-6: an approved fingerprint admits the re-run; a decision that
// cannot be kept is none and leaves no event.
func TestAnApprovedFingerprintAdmitsTheRerun(t *testing.T) {
	t.Parallel()
	h := build(t, func(c *engine.Config, h *house) { c.Book = h.db })
	asks := func(id string) ir.ActionResult {
		p := plan(t, call("write", `"failure_behavior":"skip","parameters":{"policy":"ask"}`))
		p.ID = ir.ProposalID(id)
		return h.execute(t, p, engine.Options{}).Results[0]
	}
	first := asks("one")
	_, after, found := strings.Cut(first.Error, "approve fingerprint '")
	if first.Status != ir.Rejected || !found {
		t.Fatalf("%+v", first)
	}
	must(t, h.Decide(t.Context(), after[:64], true, "ann", "fine"))
	if again := asks("two"); again.Status != ir.Succeeded || !strings.HasPrefix(again.AllowedBy, "ledger:") {
		t.Errorf("%+v", again)
	}
	if !strings.Contains(h.story(), "approval_recorded") {
		t.Error("the decision is not in the log")
	}
	must(t, h.Decide(t.Context(), after[:64], false, "ann", "no more"))
	if again := asks("three"); again.Status != ir.Rejected || !strings.HasPrefix(again.Error, "rejected by operator (gate: policy; fingerprint: ") {
		t.Errorf("%+v", again)
	}
	bare := build(t, nil)
	if err := bare.Decide(t.Context(), "f", true, "ann", ""); err == nil || bare.story() != "" {
		t.Errorf("%v, log %q", err, bare.story())
	}
}

// B-SESS-1, E-SESS-3: a session and a scope combine: both rule sets, the tenant's
// state, and a rule reads the keys where its action runs.
func TestSessionAndTenant(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	session := h.OpenSession()
	must(t, h.AddRule("", engine.Rule{Name: "global", Check: func(a ir.Action, _ func(string) (any, bool)) string {
		if a.Tool == "read" {
			return "no reads"
		}
		return ""
	}}))
	must(t, h.AddRule(session, engine.Rule{Name: "limit", Check: func(a ir.Action, get func(string) (any, bool)) string {
		if _, there := get("k"); there && a.Type == ir.StateWrite {
			return "k is set"
		}
		return ""
	}}))
	write := `"type":"state_write","failure_behavior":"skip","parameters":{"key":"k","value":1}`
	both := engine.Options{PolicySession: session, Scope: engine.Scope{TenantID: "a"}}
	r := h.execute(t, plan(t, write, write+`,"after":["a1"]`, call("read", `"failure_behavior":"skip"`)), both)
	if statuses(r) != "succeeded rejected rejected" || !strings.Contains(r.Results[1].Error, "k is set") || !strings.Contains(r.Results[2].Error, "no reads") {
		t.Errorf("%+v", r.Results)
	}
	p := plan(t, write)
	p.ID = "b"
	if r := h.execute(t, p, engine.Options{PolicySession: session, Scope: engine.Scope{TenantID: "b"}}); !r.AllSucceeded() {
		t.Errorf("tenant b was judged by tenant a's state: %+v", r.Results)
	}
}

// E-PIPE-2: off looks at nothing, warn logs and runs, strict logs and rejects
// all; ids that stand twice leave no conflict event, since they come first.
func TestTransactionModes(t *testing.T) {
	t.Parallel()
	hazard := []string{call("write", `"failure_behavior":"skip","write_set":["k"]`), call("write", `"failure_behavior":"skip","write_set":["k"]`)}
	for mode, want := range map[engine.TransactionMode]struct{ statuses, story string }{
		engine.TransactionsOff:    {"succeeded succeeded", "proposal_received"},
		engine.TransactionsWarn:   {"succeeded succeeded", "transaction_conflict, proposal_received"},
		engine.TransactionsStrict: {"rejected rejected", "transaction_conflict, state_rollback"},
	} {
		h := build(t, func(c *engine.Config, _ *house) { c.Transactions = mode })
		r := h.execute(t, plan(t, hazard...), engine.Options{})
		if statuses(r) != want.statuses || !strings.HasPrefix(h.story(), want.story) {
			t.Errorf("mode %d: %s, %s", mode, statuses(r), h.story())
		}
		if mode == engine.TransactionsStrict && r.Results[0].Error != "transactional conflict with current shared state (strict mode); see TransactionConflict events for details and resolution" {
			t.Errorf("%q", r.Results[0].Error)
		}
		double := plan(t, hazard...)
		double.Actions[1].ID = "a1"
		h = build(t, func(c *engine.Config, _ *house) { c.Transactions = mode })
		if h.execute(t, double, engine.Options{}); h.story() != "state_rollback" {
			t.Errorf("duplicate ids: %s", h.story())
		}
	}
}

// E-SESS-3: a strict check sees the tenant's copy of a key.
func TestStrictSeesTheTenantsCopy(t *testing.T) {
	t.Parallel()
	h := build(t, func(c *engine.Config, _ *house) { c.Transactions = engine.TransactionsStrict })
	a := engine.Options{Scope: engine.Scope{TenantID: "a"}}
	h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":1}`), a)
	believes := plan(t, `"type":"state_read","parameters":{"key":"k"},"assumptions":[{"key":"k","expected_value":1}]`)
	for i, o := range []engine.Options{a, {Scope: engine.Scope{TenantID: "b"}}} {
		believes.ID = ir.ProposalID(string(rune('x' + i)))
		if r := h.execute(t, believes, o); r.AllSucceeded() != (i == 0) {
			t.Errorf("tenant %s: %+v", o.Scope.TenantID, r.Results)
		}
	}
}
