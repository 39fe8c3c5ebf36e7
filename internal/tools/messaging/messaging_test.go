package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
	"car/internal/tools"
	"car/internal/tools/messaging"
)

const refusal = "messaging.send: messaging is not configured on this runtime"

// post is a sink that remembers what it was given.
type post struct {
	sent []tool.Message
	err  error
}

func (p *post) Send(_ context.Context, m tool.Message) (tool.Receipt, error) {
	p.sent = append(p.sent, m)
	return tool.Receipt{ID: "m1", Duplicate: len(p.sent) > 1}, p.err
}

func good() map[string]any {
	return map[string]any{"channel": "mail", "kind": "direct", "to": "a@example.org", "body": "hello"}
}

func call(params map[string]any) tool.Call {
	return tool.Call{Tool: "messaging.send", Params: params, Session: "s", Proposal: "p", Action: "a", Attempt: 1}
}

// impostor is another executor of the same name.
type impostor struct{}

func (impostor) Spec() tool.Spec {
	return tool.Spec{Name: "messaging.send", Parameters: json.RawMessage(`{}`)}
}
func (impostor) Effects(tool.Call) (tool.Effects, error) { return tool.Effects{Declared: true}, nil }
func (impostor) Run(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
	return tool.Execution{Output: "the impostor sent it"}, nil
}

type executors map[string]tool.Tool

func (e executors) Lookup(name string) (tool.Tool, bool) { t, ok := e[name]; return t, ok }
func (e executors) Schemas() []ir.ToolSchema             { return []ir.ToolSchema{{Name: "messaging.send"}} }

func listed(schemas []ir.ToolSchema) bool {
	return slices.ContainsFunc(schemas, func(s ir.ToolSchema) bool { return s.Name == "messaging.send" })
}

// E-TOOL-3: schema and sink arrive together.
func TestListedWithItsSinkOnly(t *testing.T) {
	t.Parallel()
	for _, sink := range []tool.Messages{nil, &post{}} {
		set, err := tools.New(tool.Bindings{Messages: sink})
		if err != nil {
			t.Fatal(err)
		}
		box := engine.NewToolbox(set)
		if got := listed(set.Schemas()); got != (sink != nil) {
			t.Errorf("sink %v: in the set %v", sink != nil, got)
		}
		if got := listed(box.Schemas()); got != (sink != nil) {
			t.Errorf("sink %v: in the box %v", sink != nil, got)
		}
		if err := box.Register(impostor{}); err == nil {
			t.Errorf("sink %v: another tool took the name", sink != nil)
		}
		if tl, ok := box.Lookup("messaging.send"); !ok || tl.Spec().Category != "messaging" {
			t.Errorf("sink %v: found %v", sink != nil, ok)
		}
	}
}

// E-TOOL-3: without a sink nobody answers, not even an executor that could; nobody
// is asked either.
func TestRefusesAndNeverFallsThrough(t *testing.T) {
	t.Parallel()
	box := engine.NewToolbox(executors{"messaging.send": impostor{}})
	if err := box.Register(messaging.New(tool.Bindings{})); err != nil {
		t.Fatal(err)
	}
	if listed(box.Schemas()) {
		t.Error("a tool that only refuses is listed")
	}
	tl, _ := box.Lookup("messaging.send")
	if _, err := tl.Effects(call(good())); err == nil || !strings.HasPrefix(err.Error(), refusal) {
		t.Errorf("effects: %v", err)
	}
	ran, err := tl.Run(t.Context(), call(good()), tool.Env{})
	if err == nil || !strings.HasPrefix(err.Error(), refusal) || ran.Output != nil {
		t.Errorf("run: %v, %v", ran.Output, err)
	}
	p := &post{err: &tool.Fault{Kind: tool.Unhandled, Text: "unknown tool: messaging.send"}}
	if err := box.Register(messaging.New(tool.Bindings{Messages: p})); err != nil {
		t.Fatal(err)
	}
	tl, _ = box.Lookup("messaging.send")
	ran, err = tl.Run(t.Context(), call(good()), tool.Env{})
	var f *tool.Fault
	if !errors.As(err, &f) || f.Kind != tool.Failed || ran.Output != nil || !listed(box.Schemas()) {
		t.Errorf("a sink that says not mine: %v, %v", ran.Output, err)
	}
}

// E-TOOL-3: it arrives as it was asked, once a key.
func TestSends(t *testing.T) {
	t.Parallel()
	p := &post{}
	tl := messaging.New(tool.Bindings{Messages: p})
	ran, err := tl.Run(t.Context(), call(good()), tool.Env{})
	if err != nil || !ir.Equal(ran.Output, map[string]any{"channel": "mail", "kind": "direct", "to": "a@example.org", "id": "m1"}) {
		t.Errorf("got %v, %v", ran.Output, err)
	}
	again := good()
	again["kind"], again["idempotency_key"] = "channel", "k"
	ran, err = tl.Run(t.Context(), call(again), tool.Env{})
	if err != nil || ran.Output.(map[string]any)["duplicate"] != true {
		t.Errorf("again: %v, %v", ran.Output, err)
	}
	want := []tool.Message{{Channel: "mail", Direct: true, To: "a@example.org", Body: "hello", Key: "s/p/a"}, {Channel: "mail", To: "a@example.org", Body: "hello", Key: "k"}}
	if !slices.Equal(p.sent, want) {
		t.Errorf("sent %+v", p.sent)
	}
	blocks, err := tl.(tool.Previewer).Preview(t.Context(), call(good()), nil)
	if err != nil || len(blocks) != 1 || blocks[0].Text != "hello" || !strings.Contains(blocks[0].Title, "a@example.org") {
		t.Errorf("preview %+v, %v", blocks, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tl.Run(ctx, call(good()), tool.Env{}); err == nil || len(p.sent) != 2 {
		t.Errorf("canceled: %v, %d sent", err, len(p.sent))
	}
}

// E-TOOL-3: ask_user, side effects, category, rate limit, no cache.
func TestWhatItSaysOfItself(t *testing.T) {
	t.Parallel()
	set, err := tools.New(tool.Bindings{Messages: &post{}})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(set.Entries(), func(e ir.ToolEntry) bool { return e.Schema.Name == "messaging.send" })
	e := set.Entries()[at]
	if e.Permission != ir.PermissionAsk || !e.SideEffects || e.ReadOnly || e.Category != "messaging" || e.Schema.RateLimit == nil || e.Schema.RateLimit.MaxCalls == 0 || e.Schema.CacheTTLSecs != 0 {
		t.Errorf("entry %+v", e)
	}
	root := t.TempDir()
	judge, err := policy.New(policy.Config{Root: root, Home: root + "/home", Scratch: root + "/scratch", CarHome: root + "/car", Dialect: "sh"})
	if err != nil {
		t.Fatal(err)
	}
	tl, _ := set.Lookup("messaging.send")
	effects, err := tl.Effects(call(good()))
	if err != nil || effects.OnlyReads() {
		t.Fatalf("effects %+v, %v", effects, err)
	}
	j := judge.Judge(ir.Action{ID: "a", Type: ir.ToolCall, Tool: "messaging.send", Parameters: good()}, effects)
	if j.Verdict != policy.Ask || j.Tier.Needed() != ir.FullAccess || j.Reversibility != ir.Irreversible {
		t.Errorf("judged %+v", j)
	}
}

// E-TOOL-3: parameters that cannot mean a message.
func TestBadParameters(t *testing.T) {
	t.Parallel()
	p := &post{}
	tl := messaging.New(tool.Bindings{Messages: p})
	for word, change := range map[string]func(map[string]any){
		"'channel'": func(m map[string]any) { delete(m, "channel") },
		"'to'":      func(m map[string]any) { m["to"] = " " },
		"'body'":    func(m map[string]any) { m["body"] = "" },
		"'kind'":    func(m map[string]any) { m["kind"] = "everyone" },
		"at most":   func(m map[string]any) { m["body"] = strings.Repeat("x", 33<<10) },
		"cc":        func(m map[string]any) { m["cc"] = "x" },
	} {
		params := good()
		change(params)
		for _, err := range []error{second(tl.Effects(call(params))), second(tl.Run(t.Context(), call(params), tool.Env{}))} {
			var f *tool.Fault
			if !errors.As(err, &f) || f.Kind != tool.BadArgs || !strings.Contains(f.Text, word) {
				t.Errorf("%s: %v", word, err)
			}
		}
	}
	if len(p.sent) != 0 {
		t.Errorf("sent %+v", p.sent)
	}
}

func second[T any](_ T, err error) error { return err }

// alone is an exclusive tool that says it is not meant.
type alone struct{ impostor }

func (alone) Listed() bool { return true }
func (alone) Run(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
	return tool.Execution{}, &tool.Fault{Kind: tool.Unhandled, Text: "not mine"}
}

// E-TOOL-3: a toolbox tries nothing behind an exclusive tool, whatever that answers.
func TestNothingBehindAnExclusiveTool(t *testing.T) {
	t.Parallel()
	box := engine.NewToolbox(executors{"messaging.send": impostor{}})
	if err := box.Register(alone{}); err != nil {
		t.Fatal(err)
	}
	tl, _ := box.Lookup("messaging.send")
	if ran, err := tl.Run(t.Context(), call(good()), tool.Env{}); err == nil {
		t.Errorf("answered %v", ran.Output)
	}
}
