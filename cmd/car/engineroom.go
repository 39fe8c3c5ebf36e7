package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"car/internal/assistant"
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
	"car/internal/tools/mcp"
)

// engineRoom is the engine of one session with everything it stands on. Close it.
type engineRoom struct {
	id        string
	log       *eventlog.Log
	substrate tool.Substrate
	ledger    *approval.Ledger
	// workspace is the project, for the fingerprint of a goal's check; nothing writes through it.
	workspace *os.Root
	// tools are ours and the programs beside them.
	tools *engine.Toolbox
	// mcp are the servers whose tools are among them; nil is none.
	mcp     *mcp.Fleet
	todos   *todoList
	undo    *undo.Journal
	state   *state.Store
	spans   *spanFile
	runtime *engine.Runtime
}

// openEngine puts the engine of a session together: where hands act, what they
// are, what governs them, and where it is written down. influences are what stands
// in the prompt from the beginning and is not trusted.
func (h *house) openEngine(ctx context.Context, id string, approver admit.Approver, influences ...string) (_ *engineRoom, err error) {
	dir := sessionDir(h.home, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	room := &engineRoom{id: id}
	defer func() {
		if err != nil {
			err = errors.Join(err, room.close(context.Background()))
		}
	}()
	if room.substrate, err = h.openSubstrate(id); err != nil {
		return nil, err
	}
	if room.workspace, err = os.OpenRoot(h.project.Root); err != nil {
		return nil, err
	}
	redactor := redact.New(h.secrets())
	anchoring, err := h.anchoring(id)
	if err != nil {
		return nil, err
	}
	room.log, err = eventlog.Open(eventlog.Config{
		Path: sessionLog(h.home, id), Now: h.app.now, Chain: true, Genesis: eventlog.GenesisOf(id), Anchoring: anchoring,
		Redact: func(s string) string { masked, _ := redactor.String(s); return masked },
	})
	if err != nil {
		return nil, err
	}
	if text := room.log.Notice(); text != "" {
		h.notice(text)
	}
	where := room.substrate.Describe()
	judge, err := h.policyFor(where, room.substrate.FS())
	if err != nil {
		return nil, err
	}
	if room.ledger, err = approval.New(approval.Config{Store: h.db, Now: h.app.now}); err != nil {
		return nil, err
	}
	if err := h.equip(room, dir, where); err != nil {
		return nil, err
	}
	web, err := h.web(judge)
	if err != nil {
		return nil, err
	}
	if room.mcp, err = h.openMCP(ctx, room, web, redactor); err != nil {
		return nil, err
	}
	gates, err := h.gates(where, room.substrate.FS(), room.tools, influences)
	if err != nil {
		return nil, err
	}
	if room.undo, err = undo.Open(filepath.Join(dir, "undo")); err != nil {
		return nil, err
	}
	if room.state, err = h.openState(dir); err != nil {
		return nil, err
	}
	if room.spans, err = h.openSpans(); err != nil {
		return nil, err
	}
	environment, err := envDigest(h.app.env.vars)
	if err != nil {
		return nil, err
	}
	room.runtime, err = engine.New(engine.Config{
		Tools: room.tools, Judge: judge, Gates: gates, Approver: approver, Recorder: room.ledger, Book: h.db, Log: room.log, State: room.state, Spans: room.spans.recorder(),
		Substrate: room.substrate, Web: web, Redactor: redactor, CarHome: h.home, EnvDigest: environment, Now: h.app.now,
		Undo: room.undo, Warn: func(err error) { h.notice(err.Error()) }, Patience: h.patience(),
	})
	return room, err
}

// equip opens what tools work with beside the workspace, and the tools.
func (h *house) equip(room *engineRoom, dir string, where tool.Description) (err error) {
	if room.todos, err = openTodos(dir); err != nil {
		return err
	}
	room.tools, err = h.toolbox(tool.Bindings{Events: logView{room.log}, Todos: room.todos, Describe: where, GlobalIgnore: h.globalIgnore(),
		Network: h.project.Settings.Tools.Network.V, Search: h.search()})
	return err
}

// policyFor is what governs the session: the files of the project and the person,
// and what was said on the command line.
func (h *house) policyFor(where tool.Description, facts policy.Facts) (*policy.Policy, error) {
	set := h.project.Settings
	ceiling := ir.TierUnset
	if h.tier == ir.ReadOnly { // reading needs no grant, so who says this takes the rest away (P-GUARD-4)
		ceiling = ir.ReadOnly
	}
	return policy.New(policy.Config{
		Ceiling: ceiling,
		Root:    where.Root, Home: h.app.env.home, Scratch: where.Scratch, CarHome: h.home,
		ReadRoots: set.Tools.ReadRoots.Strings(), ReadOutside: set.Tools.ReadOutside.V,
		Dialect: where.Dialect, Rules: h.rules, Posture: set.Posture.V, Granted: h.tier,
		Confined: confined(where), Facts: facts, Now: h.app.now,
	})
}

func confined(where tool.Description) bool {
	return where.Confinement != "" && where.Confinement != "none"
}

// forModel are the tools that a model is told of.
func (r *engineRoom) forModel() []assistant.Tool {
	var list []assistant.Tool
	for _, schema := range r.runtime.Schemas() {
		t, ok := r.tools.Lookup(schema.Name)
		list = append(list, assistant.Tool{Schema: schema, ReadOnly: ok && t.Spec().Effect == tool.Read})
	}
	return list
}

// close ends what the session still runs and closes its records.
func (r *engineRoom) close(ctx context.Context) error {
	errs := []error{r.mcp.Close()}
	if r.substrate != nil {
		errs = append(errs, r.substrate.Close())
	}
	if r.runtime != nil {
		errs = append(errs, r.runtime.Close(ctx))
	}
	if r.state != nil {
		errs = append(errs, r.state.Close())
	}
	if r.log != nil {
		errs = append(errs, r.log.Close())
	}
	errs = append(errs, r.spans.close())
	if r.undo != nil {
		errs = append(errs, r.undo.Close())
	}
	if r.workspace != nil {
		errs = append(errs, r.workspace.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close session %s: %w", r.id, err)
	}
	return nil
}
