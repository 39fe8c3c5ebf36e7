package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"car/internal/engine"
	"car/internal/engine/undo"
	"car/internal/tui/safe"
)

type undoOptions struct {
	house houseOptions
	task  taskOptions
	undo  engine.UndoOptions
	out   io.Writer
}

func newUndoCommand(a *app) *cobra.Command {
	var o undoOptions
	cmd := &cobra.Command{
		Use:   "undo [SESSION]",
		Short: "Take back what the last turn did to files",
		Long: "Shows the plan and takes the files of a session's newest turn back to what they were:\n" +
			"adds, edits and deletes, tracked by git or not. A file that somebody changed since is\n" +
			"spared, and then nothing is touched unless --partial or --force says otherwise. An undo\n" +
			"can be undone with --redo. What commands wrote by themselves is not taken back.",
		Example: "  car undo --dry-run\n  car undo\n  car undo --redo",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.task.newest = len(args) == 0
			if len(args) == 1 {
				o.task.resume = args[0]
			}
			o.out, o.undo.By = cmd.OutOrStdout(), attendantName
			return a.withHouse(cmd.Context(), o.house, func(h *house) error { return h.takeBack(cmd.Context(), o) })
		},
	}
	bindPlace(cmd, &o.house)
	f := cmd.Flags()
	f.BoolVar(&o.undo.DryRun, "dry-run", false, "show the plan and do nothing")
	f.BoolVar(&o.undo.Redo, "redo", false, "undo the last undo")
	f.BoolVar(&o.undo.Partial, "partial", false, "take back what nobody changed since, and leave the rest")
	f.BoolVar(&o.undo.Force, "force", false, "take back also what was changed since; that version is kept")
	cmd.MarkFlagsMutuallyExclusive("partial", "force")
	return cmd
}

// takeBack opens the session's engine, and nothing of its conversation.
func (h *house) takeBack(ctx context.Context, o undoOptions) error {
	id, err := h.sessionToUndo(ctx, o.task)
	if err != nil {
		return err
	}
	if err := h.db.AcquireLease(ctx, id); err != nil {
		return err
	}
	h.project.Servers = nil // taking back needs no server
	room, err := h.openEngine(ctx, id, nil)
	if err != nil {
		return errors.Join(err, h.db.ReleaseLease(ctx, id))
	}
	o.undo.Session = id
	report, err := room.runtime.Undo(ctx, o.undo)
	printing := printUndo(o.out, report, o.undo.DryRun)
	err = errors.Join(undoError(err, report), printing, room.close(context.WithoutCancel(ctx)), h.db.ReleaseLease(context.WithoutCancel(ctx), id))
	if err == nil && len(report.Failed) > 0 {
		return &exitError{code: exitFailed}
	}
	return err
}

// sessionToUndo is a conversation, or what car run named a session: it has a
// record and files to take back, and no row (B-FILE-3).
func (h *house) sessionToUndo(ctx context.Context, o taskOptions) (string, error) {
	id, _, err := h.sessionFor(ctx, o)
	if err == nil || o.resume == "" {
		return id, err
	}
	if id, missing := findSession(h.home, o.resume); missing == nil {
		return id, nil
	}
	return "", err
}

// undoError gives the reasons an undo did nothing their codes and ways out.
func undoError(err error, report engine.UndoReport) error {
	switch {
	case errors.Is(err, engine.ErrNothingToUndo):
		return usageError(err)
	case errors.Is(err, engine.ErrUndoConflicts):
		return &exitError{code: exitRefused, cause: fmt.Errorf("%w: %d paths", err, len(report.Conflicts())), hints: []string{"car undo --partial", "car undo --force"}}
	}
	return err
}

// printUndo shows the plan, and what became of it.
func printUndo(w io.Writer, report engine.UndoReport, planned bool) error {
	for _, s := range report.Steps {
		line := fmt.Sprintf("%-11s %s", s.Verdict, safe.Line(s.Path))
		if s.Reason != "" {
			line += "  " + safe.Line(s.Reason)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	for _, f := range report.Failed {
		if _, err := fmt.Fprintln(w, "failed      "+safe.Line(f)); err != nil {
			return err
		}
	}
	restored := 0
	for _, s := range report.Steps {
		if s.Verdict == undo.Restore {
			restored++
		}
	}
	word := fmt.Sprintf("%d of %d paths went back", len(report.Done), len(report.Steps))
	if planned {
		word = fmt.Sprintf("%d of %d paths would go back", restored, len(report.Steps))
	}
	if report.Shell {
		word += "; the turn ran commands, and what they wrote by themselves stays"
	}
	if len(report.Steps) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, word)
	return err
}
