package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine"
	"car/internal/engine/idem"
	"car/internal/engine/ir"
	"car/internal/engine/state"
	"car/internal/engine/tool"
)

// counting is a tool that counts its runs; its schema wants a number n.
func counting(name, schema string) (hand, *int) {
	ran := new(int)
	return hand{effects: reads, spec: tool.Spec{Name: name, Description: "counts", Parameters: json.RawMessage(schema), CacheTTL: time.Hour, Source: ir.Builtin},
		run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
			*ran++
			return tool.Execution{Output: float64(*ran)}, nil
		}}, ran
}

const numbered = `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"],"additionalProperties":false}`

// E-CKPT-1: a checkpoint is state, record and tools at a moment; restoring it puts
// state and tools back and leaves the record alone.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	var box *engine.Toolbox
	statePath := filepath.Join(t.TempDir(), "state.jsonl")
	h := build(t, func(c *engine.Config, h *house) {
		store, err := state.Open(state.Config{Path: statePath})
		must(t, err)
		t.Cleanup(func() { store.Close() })
		h.state, c.State = store, store
		box = engine.NewToolbox(nil)
		c.Tools = box
	})
	kept, _ := counting("kept", numbered)
	gone, _ := counting("gone", numbered)
	must(t, box.Register(kept))
	must(t, box.Register(gone))
	h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":{"deep":[1,null]}}`), engine.Options{Scope: engine.Scope{TenantID: "t1"}})
	h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":null}`), engine.Options{})
	saved, err := h.Checkpoint(t.Context(), map[string]any{"why": "test"})
	must(t, err)
	path := filepath.Join(t.TempDir(), "point.json")
	must(t, saved.Save(path))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	loaded, err := engine.LoadCheckpoint(path)
	must(t, err)
	if diff := cmp.Diff(saved, loaded); diff != "" || loaded.ID == "" || len(loaded.Events) == 0 || loaded.Events[0].Seq != 1 || loaded.Metadata["why"] != "test" {
		t.Errorf("loaded (-saved +loaded):\n%s", diff)
	}
	wire := map[string]any{}
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, json.Unmarshal(text, &wire))
	for _, name := range []string{"checkpoint_id", "created_at", "state", "events", "tools", "metadata", "tool_schemas"} {
		if _, ok := wire[name]; !ok {
			t.Errorf("no member %s", name)
		}
	}
	want := h.state.All()
	h.execute(t, plan(t, `"type":"state_write","parameters":{"key":"k","value":2}`, `"type":"state_write","parameters":{"key":"new","value":2}`), engine.Options{})
	events := h.story()
	box.Unregister("gone")
	later, _ := counting("later", numbered)
	must(t, box.Register(later))
	must(t, h.RestoreCheckpoint(t.Context(), loaded))
	if diff := cmp.Diff(want, h.state.All()); diff != "" {
		t.Errorf("state (-saved +restored):\n%s", diff)
	}
	if h.story() != events {
		t.Errorf("the record changed: %s", h.story())
	}
	var names []string
	for _, s := range h.Schemas() {
		names = append(names, s.Name)
	}
	if strings.Join(names, " ") != "gone kept" {
		t.Errorf("tools %v", names)
	}
	// Parameters are still checked, of the tool that is left of only its schema too.
	r := h.execute(t, plan(t, call("kept", `"parameters":{"n":1},"failure_behavior":"skip"`), call("kept", `"parameters":{},"failure_behavior":"skip"`),
		call("gone", `"parameters":{"m":1},"failure_behavior":"skip"`), call("gone", `"parameters":{"n":1},"failure_behavior":"retry","max_retries":0`),
		call("later", `"parameters":{"n":1},"failure_behavior":"skip"`)), engine.Options{})
	if statuses(r) != "succeeded rejected rejected failed rejected" || r.Results[3].Error != "no handler for tool 'gone'" || !strings.Contains(r.Results[4].Error, "unknown tool") {
		t.Errorf("%s: %+v", statuses(r), r.Results)
	}
	must(t, box.Register(later)) // what is registered after the restore is there
	if r := h.execute(t, plan(t, call("later", `"parameters":{"n":1}`)), engine.Options{}); statuses(r) != "succeeded" {
		t.Errorf("%s: %s", statuses(r), r.Results[0].Error)
	}
	reopened, err := state.Open(state.Config{Path: statePath})
	must(t, err)
	defer reopened.Close()
	if diff := cmp.Diff(want, reopened.All()); diff != "" {
		t.Errorf("state after a restart (-saved +reopened):\n%s", diff)
	}
}

// E-CKPT-1: a checkpoint without schemas takes those that are registered, and
// accepts anything of a tool that is not.
func TestCheckpointWithoutSchemas(t *testing.T) {
	t.Parallel()
	var box *engine.Toolbox
	h := build(t, func(c *engine.Config, h *house) { box = engine.NewToolbox(h.tools); c.Tools = box })
	kept, _ := counting("kept", numbered)
	must(t, box.Register(kept))
	must(t, h.RestoreCheckpoint(t.Context(), engine.Checkpoint{ID: "c", Tools: []string{"kept", "read", "lost"}}))
	schemas := map[string]string{}
	for _, s := range h.Schemas() {
		schemas[s.Name] = string(s.Parameters)
	}
	if diff := cmp.Diff(map[string]string{"kept": numbered, "read": "{}", "lost": "{}"}, schemas); diff != "" {
		t.Errorf("schemas (-want +got):\n%s", diff)
	}
	r := h.execute(t, plan(t, call("read", ""), call("write", `"failure_behavior":"skip"`), call("lost", `"parameters":{"x":[1]},"failure_behavior":"retry","max_retries":0`)), engine.Options{})
	if statuses(r) != "succeeded rejected failed" {
		t.Errorf("%s: %+v", statuses(r), r.Results)
	}
}

// E-CKPT-1, named behaviour "restore forgets cached results after restart too".
func TestRestoreForgetsResults(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "idem.jsonl")
	house := func() (*house, *idem.Store, *int) {
		results, _, err := idem.Open(journal, func(err error) { t.Error(err) })
		must(t, err)
		t.Cleanup(func() { results.Close() })
		tool, ran := counting("count", `{}`)
		return build(t, func(c *engine.Config, h *house) {
			c.Idem = results
			box := engine.NewToolbox(h.tools)
			must(t, box.Register(tool))
			c.Tools = box
		}), results, ran
	}
	h, results, ran := house()
	idempotent, cached := plan(t, call("count", `"idempotent":true`)), plan(t, call("count", `"parameters":{"x":1}`))
	for range 2 {
		h.execute(t, idempotent, engine.Options{})
		h.execute(t, cached, engine.Options{})
	}
	if *ran != 2 {
		t.Fatalf("ran %d times before", *ran)
	}
	point, err := h.Checkpoint(t.Context(), nil)
	must(t, err)
	must(t, h.RestoreCheckpoint(t.Context(), point))
	h.execute(t, cached, engine.Options{})
	if *ran != 3 {
		t.Errorf("ran %d times: a result of before the restore was given again", *ran)
	}
	must(t, results.Close())
	h, _, ran = house()
	h.execute(t, idempotent, engine.Options{})
	if *ran != 1 {
		t.Error("a result of before the restore was given again after a restart")
	}
}

// E-CKPT-1: restoring takes the turn, obeys ctx, and refuses what it cannot do
// before anything changed.
func TestRestoreWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	h := build(t, func(c *engine.Config, h *house) {
		h.tools["slow"] = blocking(started, release)
		c.Tools = engine.NewToolbox(h.tools)
	})
	ended := make(chan ir.ProposalResult)
	go func() {
		r, _ := h.Execute(context.Background(), plan(t, `"type":"state_write","parameters":{"key":"k","value":1}`, call("slow", `"dependencies":["a1"]`)), engine.Options{Session: "s"})
		ended <- r
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.RestoreCheckpoint(ctx, engine.Checkpoint{ID: "c"}); err == nil {
		t.Error("restored while a proposal was under way")
	}
	if _, err := h.Checkpoint(ctx, nil); err == nil {
		t.Error("saved while a proposal was under way")
	}
	if v, _ := h.state.Get("k"); v != 1.0 {
		t.Errorf("k is %v", v)
	}
	close(release)
	<-ended
	if err := h.RestoreCheckpoint(t.Context(), engine.Checkpoint{ID: "c", State: map[string]any{"bad": func() {}}}); err == nil {
		t.Error("restored what is no JSON")
	}
	if v, _ := h.state.Get("k"); v != 1.0 || len(h.Schemas()) == 0 {
		t.Errorf("k is %v after a restore that failed", v)
	}
	if err := build(t, nil).RestoreCheckpoint(t.Context(), engine.Checkpoint{ID: "c"}); err == nil || !strings.Contains(err.Error(), "Toolbox") {
		t.Errorf("restored tools that cannot change: %v", err)
	}
}

// E-CKPT-1: a file that is no checkpoint is an error that names it.
func TestBadCheckpointFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"torn": `{"checkpoint_id":"c","state":{"a":`, "no id": `{"state":{}}`, "a number that would change": `{"checkpoint_id":"c","state":{"a":9007199254740993}}`,
		"a key twice": `{"checkpoint_id":"c","state":{"a":1,"a":2}}`,
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := engine.LoadCheckpoint(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (engine.Checkpoint{ID: "c"}).Save(filepath.Join(dir, "none", "c.json")); err == nil {
		t.Error("saved to no folder")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// blocking is a tool that tells when it has started and waits to be released.
func blocking(started, release chan struct{}) hand {
	return hand{effects: writes, run: func(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
		close(started)
		<-release
		return tool.Execution{Output: "ok"}, nil
	}}
}
