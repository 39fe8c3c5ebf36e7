package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"car/internal/engine"
	"car/internal/engine/eventlog"
	"car/internal/tui"
)

// slashCommands are the commands of a conversation that need more than its screen.
func (s *session) slashCommands() []tui.Command {
	return []tui.Command{
		{Name: "events", Args: "[N]", Help: "the last events of this session's record", Run: s.slashEvents},
		{Name: "doctor", Help: "what is in force here, and what is missing", Run: s.slashDoctor},
		{Name: "policy", Help: "the files that govern, and what of them waits for trust", Run: s.slashPolicy},
		{Name: "undo", Args: "[plan|redo]", Help: "take back what the last turn did to files; plan only shows it", Run: s.slashUndo},
		{Name: "context", Help: "what fills the model's window", Run: s.slashContext},
		{Name: "compact", Help: "summarise older messages before the next request", Run: s.slashCompact},
		{Name: "sessions", Help: "the sessions of this project", Run: s.slashSessions},
		{Name: "resume", Args: "[ID]", Help: "go on with another session", Run: s.slashResume},
		{Name: "rewind", Help: "go back to an earlier message; files stay as they are, /undo is for those", Run: s.slashRewind},
		{Name: "model", Args: "[NAME]", Help: "which model answers from now on", Run: s.slashModel},
		{Name: "goal", Args: "CHECK OBJECTIVE", Help: "work until the check, one word or quoted, exits 0", Run: s.slashGoal},
		{Name: "jobs", Help: "commands that run in the background, and how they ended", Run: s.slashJobs},
		{Name: "todo", Help: "the agent's list, whole", Run: s.slashTodo},
		{Name: "cost", Help: "what this session has used", Run: s.slashCost},
		{Name: "diff", Help: "what git says has changed", Run: s.slashDiff},
		{Name: "export", Args: "[FILE]", Help: "write this session to a file, secrets masked", Run: s.slashExport},
		{Name: "init", Help: "write a commented .car/ folder", Run: s.slashInit},
	}
}

// fenced shows text as it is, whatever it holds.
func fenced(text string) tui.Result {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return tui.Result{Text: fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence}
}

func (s *session) slashEvents(_ context.Context, args string) (tui.Result, error) {
	limit := 20
	if args != "" {
		if _, err := fmt.Sscanf(args, "%d", &limit); err != nil || limit < 1 {
			return tui.Result{}, fmt.Errorf("/events takes a number, not %q", args)
		}
	}
	found := s.room.log.Query(eventlog.Query{Limit: limit})
	var b strings.Builder
	for i := range found {
		b.WriteString(eventLine(found[len(found)-1-i]) + "\n")
	}
	return fenced(b.String()), nil
}

func (s *session) slashDoctor(ctx context.Context, _ string) (tui.Result, error) {
	var b bytes.Buffer
	for _, f := range []finding{
		{ok: true, what: "car", says: []string{versionText()}}, s.house.app.examineTerminal(), examineProject(s.house.project, nil),
		s.house.app.examineModel(ctx, s.house.project),
	} {
		if err := printFinding(&b, f); err != nil {
			return tui.Result{}, err
		}
	}
	return fenced(b.String()), nil
}

func (s *session) slashPolicy(context.Context, string) (tui.Result, error) {
	var b bytes.Buffer
	err := printFinding(&b, examineProject(s.house.project, nil))
	return fenced(b.String()), err
}

func (s *session) slashUndo(ctx context.Context, args string) (tui.Result, error) {
	o := engine.UndoOptions{Session: s.id, By: attendantName}
	switch args {
	case "":
	case "plan":
		o.DryRun = true
	case "redo":
		o.Redo = true
	default:
		return tui.Result{}, fmt.Errorf("/undo takes plan or redo, not %q", args)
	}
	report, err := s.room.runtime.Undo(ctx, o)
	var b bytes.Buffer
	err = errors.Join(undoError(err, report), printUndo(&b, report, o.DryRun))
	if b.Len() == 0 {
		return tui.Result{}, err
	}
	return fenced(b.String()), err
}

func (s *session) slashSessions(ctx context.Context, _ string) (tui.Result, error) {
	list, err := s.house.db.Sessions(ctx, s.house.project.Root)
	if err != nil {
		return tui.Result{}, err
	}
	var b strings.Builder
	for _, one := range list {
		here := " "
		if one.ID == s.id {
			here = "*"
		}
		fmt.Fprintf(&b, "%s %s  %s  %s\n", here, one.ID, one.Updated.Format("2006-01-02 15:04"), firstOf(one.Title, one.Model))
	}
	return fenced(b.String()), nil
}
