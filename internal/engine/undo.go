package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"car/internal/engine/admit"
	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/engine/undo"
)

// UndoOptions say which turn's files go back, and how far (B-FILE-3).
type UndoOptions struct {
	Session string
	// Turn is the turn to take back; nil is the newest that still stands.
	Turn *int
	// Redo takes back the newest undo instead.
	Redo bool
	// DryRun only plans. Partial takes what has no conflict, Force also what somebody
	// changed since, after keeping it.
	DryRun, Partial, Force bool
	// By is the person who asked for it; that is their approval.
	By string
}

// UndoReport says what an undo did, or would do.
type UndoReport struct {
	Turn  int
	Steps []undo.Step
	// Done are the paths that went back; Failed those that could not, and why.
	Done   []string
	Failed []string
	// Shell says that the turn ran commands, for whose writes nothing is claimed.
	Shell bool
}

// Conflicts are the paths that somebody changed since.
func (r UndoReport) Conflicts() []string {
	var paths []string
	for _, s := range r.Steps {
		if s.Verdict == undo.Conflict {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// The reasons an undo does nothing.
var (
	ErrNothingToUndo = errors.New("there is no turn whose files could be taken back")
	ErrUndoConflicts = errors.New("somebody changed files since; nothing was touched")
)

// Undo takes a turn's files back as a turn of its own: every path is a governed
// action with its ticket, rows and journal, so that an undo can be undone. With
// conflicts and neither Partial nor Force nothing is touched.
func (r *Runtime) Undo(ctx context.Context, o UndoOptions) (UndoReport, error) {
	if r.cfg.Undo == nil {
		return UndoReport{}, ErrNothingToUndo
	}
	turn, err := r.undoTurn(o)
	if err != nil {
		return UndoReport{}, err
	}
	report := UndoReport{Turn: turn, Shell: r.turnRanShell(turn)}
	if report.Steps, err = r.cfg.Undo.Plan(undo.OfTurn(turn), r.dispatcher.Now); err != nil {
		return report, err
	}
	if o.DryRun {
		return report, nil
	}
	if len(report.Conflicts()) > 0 && !o.Partial && !o.Force {
		return report, ErrUndoConflicts
	}
	return report, r.takeTurnBack(ctx, o, &report)
}

func (r *Runtime) undoTurn(o UndoOptions) (int, error) {
	if o.Turn != nil {
		if !r.cfg.Undo.Known(*o.Turn) {
			return 0, fmt.Errorf("turn %d changed no files", *o.Turn)
		}
		return *o.Turn, nil
	}
	turn, found := r.cfg.Undo.Newest(o.Redo)
	if !found {
		return 0, ErrNothingToUndo
	}
	return turn, nil
}

// turnRanShell reports that the log of the turn's proposals has a shell or a program in it.
func (r *Runtime) turnRanShell(turn int) bool {
	reader, ok := r.cfg.Log.(interface {
		Query(q eventlog.Query) []eventlog.Event
	})
	if !ok {
		return false
	}
	return slices.ContainsFunc(reader.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionExecuting}}), func(e eventlog.Event) bool {
		return e.Data["turn"] == float64(turn) && (e.Data["shell"] == true || e.Data["program"] == true)
	})
}

// takeTurnBack runs the steps as one proposal and marks the turn when all went back.
func (r *Runtime) takeTurnBack(ctx context.Context, o UndoOptions, report *UndoReport) error {
	number := r.cfg.Undo.NextUndo()
	p := ir.Proposal{ID: ir.ProposalID(fmt.Sprintf("undo%d", number)), Source: "undo", Timestamp: r.cfg.Now()}
	var paths []string
	for _, s := range report.Steps {
		if s.Verdict == undo.Restore || s.Verdict == undo.Conflict && o.Force {
			p.Actions = append(p.Actions, restoreAction(len(paths), s))
			paths = append(paths, s.Path)
		}
	}
	whole := len(report.Conflicts()) == 0 || o.Force
	if len(p.Actions) > 0 {
		// One after the other, in the plan's order: a folder goes when what was in it has gone.
		run := newRun(r, p.Fill(ir.Defaults{NewID: r.cfg.NewID, Now: r.cfg.Now}), Options{Session: o.Session, Turn: number, CallPrefix: string(p.ID) + "/", FileRollback: FilesStay, Observer: nobody{}})
		run.word = &admit.Decision{Kind: admit.AllowOnce, By: o.By, Reason: "undo"}
		run.replanner = nil
		if err := run.execute(ctx); err != nil {
			return err
		}
		for i, res := range run.results {
			if res.Status == ir.Succeeded {
				report.Done = append(report.Done, paths[i])
				continue
			}
			whole = false
			report.Failed = append(report.Failed, paths[i]+": "+res.Error)
		}
	}
	if !whole {
		return nil
	}
	if err := r.cfg.Undo.Undone(undo.Mark{Undone: report.Turn, By: number}); err != nil {
		return err
	}
	_, err := r.cfg.Log.Append(eventlog.Event{Kind: eventlog.TurnUndone, Data: map[string]any{"turn": float64(report.Turn), "by": o.By, "restored": report.Done}})
	return err
}

// restoreTool is the engine's own hand: it is advertised to nobody, and puts back
// only what the journal kept.
const restoreTool = "restore_path"

func restoreAction(n int, s undo.Step) ir.Action {
	a := ir.Action{ID: ir.ActionID(fmt.Sprintf("r%d", n+1)), Type: ir.ToolCall, Tool: restoreTool, FailureBehavior: ir.Retry,
		Parameters: map[string]any{"path": s.Path, "from": stateText(s.From), "to": stateText(s.To)}}
	if n > 0 {
		a.After = []ir.ActionID{ir.ActionID(fmt.Sprintf("r%d", n))}
	}
	return a
}

// stateText is a state in a parameter: its kind, or a file's digest.
func stateText(s undo.State) string {
	if s.Kind == undo.File {
		return string(s.Digest)
	}
	return string(s.Kind)
}

// restore puts one path back.
type restore struct{ journal *undo.Journal }

// Spec describes the hand for the log and the schema check.
func (restore) Spec() tool.Spec {
	return tool.Spec{Name: restoreTool, Effect: tool.Write, Version: "1", Category: "filesystem",
		Description: "Puts a path back to what it was before a turn.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path","from","to"],
			"properties":{"path":{"type":"string","minLength":1},"from":{"type":"string"},"to":{"type":"string"}}}`)}
}

// Effects is one write.
func (restore) Effects(c tool.Call) (tool.Effects, error) {
	path, _ := c.Params["path"].(string)
	return tool.Effects{Declared: true, Writes: []string{path}}, nil
}

// Run compares what is there and puts back what was.
func (t restore) Run(ctx context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
	path, from, to := c.Params["path"].(string), c.Params["from"].(string), c.Params["to"].(string)
	expect := ir.Digest(from)
	if from == string(undo.Absent) || from == string(undo.Dir) {
		expect = ""
	}
	var err error
	switch undo.Kind(to) {
	case undo.Absent:
		_, err = e.Eraser.Remove(ctx, path, expect)
	case undo.Dir:
		err = &tool.Fault{Kind: tool.Unsupported, Text: "a folder that was taken away is not made again by itself"}
	default:
		var content []byte
		if content, err = t.journal.Content(ir.Digest(to)); err == nil {
			_, err = e.Writer.Replace(ctx, path, tool.Replacement{Content: content, Expect: expect})
		}
	}
	return tool.Execution{Output: map[string]any{"path": path, "ok": err == nil}}, err
}

var _ tool.Tool = restore{}

var _ interface {
	Now(path string) (undo.State, error)
} = (*dispatch.Dispatcher)(nil)
