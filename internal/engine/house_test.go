package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/redact"
	"car/internal/engine/state"
	"car/internal/engine/tool"
	"car/internal/engine/undo"
	"car/internal/tools/substrate"
)

// hand is a tool whose behaviour a test writes.
type hand struct {
	spec    tool.Spec
	effects tool.Effects
	run     func(ctx context.Context, c tool.Call, e tool.Env) (tool.Execution, error)
}

func (h hand) Spec() tool.Spec                           { return h.spec }
func (h hand) Effects(c tool.Call) (tool.Effects, error) { return h.effects, nil }
func (h hand) Run(ctx context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
	return h.run(ctx, c, e)
}

type hands map[string]tool.Tool

func (h hands) Lookup(name string) (tool.Tool, bool) { t, ok := h[name]; return t, ok }

func (h hands) Schemas() []ir.ToolSchema {
	var out []ir.ToolSchema
	for name := range h {
		out = append(out, ir.ToolSchema{Name: name, Parameters: json.RawMessage(`{}`)})
	}
	return out
}

// judge takes tier and verdict from the call's own parameters.
type judge struct{}

func (judge) Judge(a ir.Action, _ tool.Effects) policy.Judgement {
	j := policy.Judgement{Verdict: policy.Allow, Tier: ir.SandboxEdit, Reversibility: ir.Reversible}
	switch a.Parameters["policy"] {
	case "ask":
		j.Verdict, j.Reasons = policy.Ask, []policy.Reason{{Text: "asks"}}
	case "deny":
		j.Verdict, j.Violations = policy.Deny, []policy.Violation{{PolicyName: "deny_tool:x", Reason: "denied"}}
	case "full":
		j.Tier, j.Reversibility = ir.FullAccess, ir.Irreversible
	}
	return j
}

func (judge) Take(ir.Action) []policy.Violation { return nil }

func (judge) CheckState(a ir.Action, get func(string) (any, bool)) []policy.Violation {
	if _, present := get("ready"); a.Parameters["needs"] == "ready" && !present {
		return []policy.Violation{{PolicyName: "require_state:ready", Reason: "ready is not set"}}
	}
	return nil
}

// house is an engine with real rooms around it.
type house struct {
	*engine.Runtime
	log    *eventlog.Log
	state  *state.Store
	db     *store.DB
	root   string
	tools  hands
	config engine.Config
	undo   *undo.Journal
	waited []time.Duration
}

// write is an effect, read is not.
var (
	writes = tool.Effects{Declared: true, Writes: []string{"x"}}
	reads  = tool.Effects{Declared: true, Reads: []string{"."}}
)

func build(t testing.TB, change func(*engine.Config, *house)) *house {
	t.Helper()
	h := &house{root: t.TempDir(), state: state.New(), tools: hands{}}
	ok := func(ctx context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
		return tool.Execution{Output: "ok"}, nil
	}
	h.tools["read"] = hand{effects: reads, run: ok}
	h.tools["write"] = hand{effects: writes, run: ok}
	h.tools["fail"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{}, errors.New("it broke")
	}}
	h.tools["panic"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) { panic("boom") }}
	h.tools["wait"] = hand{effects: writes, run: func(ctx context.Context, _ tool.Call, _ tool.Env) (tool.Execution, error) {
		<-ctx.Done()
		return tool.Execution{}, ctx.Err()
	}}
	h.tools["exit1"] = hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		return tool.Execution{Output: map[string]any{"exit_code": 1.0}}, nil
	}}
	var err error
	h.log, err = eventlog.Open(eventlog.Config{Now: time.Now})
	must(t, err)
	h.db, err = store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "car.db"), Now: time.Now, Holder: store.Self()})
	must(t, err)
	t.Cleanup(func() { h.db.Close() })
	ledger, err := approval.New(approval.Config{Store: h.db, Now: time.Now})
	must(t, err)
	local, err := substrate.Open(substrate.Config{Root: h.root, ScratchBase: t.TempDir(), UID: "1", Session: "s", Dialect: "sh", Now: time.Now})
	must(t, err)
	t.Cleanup(func() { local.Close() })
	var mu sync.Mutex
	c := engine.Config{Tools: h.tools, Judge: judge{}, Recorder: ledger, Log: h.log, State: h.state, Substrate: local,
		Redactor: redact.New(nil), CarHome: filepath.Join(h.root, "home"), Now: time.Now,
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			h.waited = append(h.waited, d)
			return ctx.Err()
		}}
	if change != nil {
		change(&c, h)
	}
	h.config = c
	h.Runtime, err = engine.New(c)
	must(t, err)
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plan decodes actions as `car run` would and gives them ids a1, a2, …
func plan(t *testing.T, actions ...string) ir.Proposal {
	t.Helper()
	text := `{"id":"p1","actions":[`
	for i, a := range actions {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{"id":"a%d",%s}`, i+1, a)
	}
	p, err := ir.DecodeProposal([]byte(text+`]}`), ir.Defaults{NewID: func() string { return "id" }, Now: func() time.Time { return time.Unix(0, 0) }})
	must(t, err)
	return p
}

// call is the text of a tool call with more members.
func call(name string, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`"type":"tool_call","tool":%q%s`, name, more)
}

func (h *house) execute(t *testing.T, p ir.Proposal, o engine.Options) ir.ProposalResult {
	t.Helper()
	o.Session, o.CallPrefix = "s", string(p.ID)+"/"
	r, err := h.Execute(t.Context(), p, o)
	must(t, err)
	return r
}

// statuses is one word an action.
func statuses(r ir.ProposalResult) string {
	out := ""
	for i, a := range r.Results {
		if i > 0 {
			out += " "
		}
		out += a.Status.String()
	}
	return out
}

// story lists the log's event kinds with their action, oldest first.
func (h *house) story() string {
	events := h.log.Query(eventlog.Query{})
	slices.Reverse(events)
	var out []string
	for _, e := range events {
		out = append(out, strings.TrimSpace(e.Kind.String()+" "+string(e.ActionID)))
	}
	return strings.Join(out, ", ")
}

var _ admit.Log = (*eventlog.Log)(nil)

// named is a gate that allows and has a name.
type named string

func (n named) Name() string { return string(n) }

func (named) Check(context.Context, admit.View) (admit.Opinion, error) {
	return admit.Opinion{Verdict: policy.Allow}, nil
}
