package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// errAbandoned marks an attempt whose tool did not end when told to.
var errAbandoned = errors.New("tool ignored its cancellation and was abandoned; its outcome is not known")

// perform runs the action itself, bounded in time and with panics contained
// (E-EXEC-6, E-EXEC-12). limited is ctx with the attempt's deadline.
func (d *Dispatcher) perform(ctx, limited context.Context, g admit.Grant, state tool.State, progress func(string)) Attempt {
	start := d.cfg.Now()
	journal := &journal{}
	kept, err := d.snapshotOf(limited, g, journal)
	if err != nil {
		return Attempt{Class: ir.ClassToolError, Err: err, Duration: d.cfg.Now().Sub(start)}
	}
	ran, err := d.guarded(limited, g, d.env(g, state, journal, progress))
	if lost := kept.close(); lost != nil && d.cfg.Warn != nil {
		d.cfg.Warn(fmt.Errorf("an undo of %s may be incomplete: %w", g.Action.ID, lost))
	}
	a := Attempt{Execution: ran, Dispatched: true, Changes: journal.changes(), Duration: d.cfg.Now().Sub(start)}
	if fromOutside(g) {
		err = d.cross(g, &a.Execution, err)
	}
	if isUnfit(err) {
		return a.unfit(err)
	}
	if err != nil {
		a.Class, a.Terminal, a.Err = classify(ctx, limited, g, err)
		return a
	}
	if g.Call.Mode != ir.OneShot && ran.Stream == nil {
		a.Class = ir.ClassToolError
		a.Err = fmt.Errorf("tool '%s': this executor does not support streaming/long-running invocation", g.Action.Tool)
		return a
	}
	if err := ir.CheckValue(ran.Output); err != nil {
		return a.unfit(err)
	}
	return a
}

func isUnfit(err error) bool {
	var f *tool.Fault
	return errors.As(err, &f) && f.Kind == tool.BadOutput
}

// unfit is an attempt whose effect may stand but whose output cannot be used (E-EXEC-9).
func (a Attempt) unfit(err error) Attempt {
	a.Execution = tool.Execution{}
	a.Integrity, a.Class = true, ir.ClassValidation
	a.Err = fmt.Errorf("tool output failed JCS/I-JSON validation after dispatch; external effect may have occurred and was not undone: %w", err)
	return a
}

// result is what a tool brought back.
type result struct {
	ran tool.Execution
	err error
}

// guarded waits for the tool, or for its end and the grace after it.
func (d *Dispatcher) guarded(ctx context.Context, g admit.Grant, env tool.Env) (tool.Execution, error) {
	done := make(chan result, 1)
	d.abandoned.Add(1)
	go func() {
		defer d.abandoned.Done()
		defer func() {
			if p := recover(); p != nil {
				done <- result{err: fmt.Errorf("%s panicked: %v", g.Action.Tool, p)}
			}
		}()
		ran, err := act(ctx, g, env)
		done <- result{ran, err}
	}()
	select {
	case r := <-done:
		return r.ran, r.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(d.cfg.Grace)
	defer grace.Stop()
	select {
	case r := <-done:
		return r.ran, r.err
	case <-grace.C:
		return tool.Execution{}, errAbandoned
	}
}

func act(ctx context.Context, g admit.Grant, env tool.Env) (tool.Execution, error) {
	if g.Tool == nil {
		return actOnState(g.Action, env.State)
	}
	return g.Tool.Run(ctx, g.Call, env)
}

// actOnState performs the actions that need no tool (E-EXEC-5).
func actOnState(a ir.Action, state tool.State) (tool.Execution, error) {
	key, _ := a.Parameters["key"].(string)
	switch a.Type {
	case ir.StateWrite:
		if err := state.Set(key, a.Parameters["value"]); err != nil {
			return tool.Execution{}, err
		}
		return tool.Execution{Output: "written: " + key}, nil
	case ir.StateRead:
		value, _ := state.Get(key)
		return tool.Execution{Output: value}, nil
	default:
		value, _ := state.Get(key)
		want := a.Parameters["expected"]
		if !ir.Equal(value, want) {
			return tool.Execution{}, fmt.Errorf("assertion failed: state['%s'] = %s, expected %s", key, compact(value), compact(want))
		}
		return tool.Execution{Output: map[string]any{"asserted": key, "value": value}}, nil
	}
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}

// classify words an ordinary failure and names its class, typed facts first (E-FAIL-4).
func classify(outer, limited context.Context, g admit.Grant, err error) (ir.ErrorClass, bool, error) {
	var f *tool.Fault
	isFault := errors.As(err, &f)
	terminal := isFault && f.Kind == tool.Terminal
	switch {
	case errors.Is(err, errAbandoned) && outer.Err() == nil:
		return ir.ClassTimeout, terminal, fmt.Errorf("action timed out after %dms: %w", g.Call.Timeout.Milliseconds(), err)
	case outer.Err() != nil:
		return ir.ClassCanceled, terminal, fmt.Errorf("canceled: %w", err)
	case errors.Is(limited.Err(), context.DeadlineExceeded) || isFault && f.Kind == tool.TimedOut:
		return ir.ClassTimeout, terminal, fmt.Errorf("action timed out after %dms", g.Call.Timeout.Milliseconds())
	case isFault && f.Kind == tool.Denied:
		return ir.ClassRejectedByPolicy, terminal, err
	case isFault && f.Kind == tool.BadArgs:
		return ir.ClassValidation, terminal, err
	case isFault:
		return ir.ClassToolError, terminal, err
	default:
		return ClassOfText(err.Error(), g.Tool != nil), terminal, err
	}
}

// ClassOfText names the class of a failure that carries no type, by the words of
// the reference's own errors (E-FAIL-4). A denial counts where it begins the
// text; one that a tool wraps is the tool's own failure.
func ClassOfText(text string, isTool bool) ir.ErrorClass {
	lower := strings.ToLower(text)
	has := func(part string) bool { return strings.Contains(lower, part) }
	switch {
	case has("callback timed out"):
		return ir.ClassTimeout
	case strings.HasPrefix(lower, "denied by policy:"), strings.HasPrefix(lower, "rejected by policy:"):
		return ir.ClassRejectedByPolicy
	case slices.ContainsFunc(validationWords, has):
		return ir.ClassValidation
	case isTool:
		return ir.ClassToolError
	default:
		return ir.ClassUnknown
	}
}

var validationWords = []string{
	"jcs/i-json validation", "output validation:", "invalid return json schema", "must return exact envelope {output,state_changes}",
	"state_changes must be an object", "state_changes keys do not match", "state_changes serialization failed",
}

// receipt is what the outcome row keeps: enough to answer a resume, redacted (D-23).
func (d *Dispatcher) receipt(g admit.Grant, a *Attempt) string {
	out := map[string]any{"tool": g.Action.Tool, "ok": a.Err == nil, "duration_ms": a.Duration.Milliseconds(), "files": a.Changes}
	if a.Err == nil {
		out["output"], _ = d.cfg.Redactor.String(ir.TruncateKeepingEnds(ir.Render(a.Execution.Output), 16<<10))
	}
	b, err := json.Marshal(out)
	if err != nil {
		return `{"ok":false}`
	}
	return string(b)
}
