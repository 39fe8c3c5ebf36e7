package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/assistant/store"
	"car/internal/tui/safe"
)

func newSessionsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, resume, copy, rewind, export or delete sessions",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionsListCommand(a), newSessionsShowCommand(a), newSessionsResumeCommand(a), newSessionsRenameCommand(a), newSessionsExportCommand(a),
		newSessionsImportCommand(a), newSessionsForkCommand(a), newSessionsRewindCommand(a), newSessionsGrantsCommand(a), newSessionsDeleteCommand(a))
	return cmd
}

func newSessionsListCommand(a *app) *cobra.Command {
	var o houseOptions
	var all, asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the sessions of this project, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withHouse(cmd.Context(), o, func(h *house) error {
				root := h.project.Root
				if all {
					root = ""
				}
				list, err := h.db.Sessions(cmd.Context(), root)
				if err != nil {
					return err
				}
				return printSessions(cmd.OutOrStdout(), list, asJSON)
			})
		},
	}
	bindPlace(cmd, &o)
	cmd.Flags().BoolVar(&all, "all", false, "those of every project")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func newSessionsRenameCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rename ID TITLE…", Short: "Give a session a title", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error {
				id, _, err := h.sessionFor(cmd.Context(), taskOptions{resume: args[0]})
				if err != nil {
					return err
				}
				return h.db.Rename(cmd.Context(), id, strings.Join(args[1:], " "))
			})
		},
	}
}

func newSessionsDeleteCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "delete ID", Short: "Delete what a session said and did; the line that it was there stays", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error { return h.deleteSession(cmd.Context(), args[0]) })
		},
	}
}

// deleteSession holds the session while it goes, so that nobody writes to it, and
// takes its files (log, undo) with it.
func (h *house) deleteSession(ctx context.Context, prefix string) error {
	id, _, err := h.sessionFor(ctx, taskOptions{resume: prefix})
	if err != nil {
		return err
	}
	if err := h.db.AcquireLease(ctx, id); err != nil {
		return err
	}
	if err := h.db.DeleteSession(ctx, id); err != nil {
		return err
	}
	return os.RemoveAll(sessionDir(h.home, id))
}

func printSessions(w io.Writer, list []store.Session, asJSON bool) error {
	for _, s := range list {
		var err error
		if asJSON {
			err = writeJSONLine(w, map[string]any{"id": s.ID, "title": s.Title, "root": s.Root, "model": s.Model, "created": s.Created.UTC(), "updated": s.Updated.UTC()})
		} else {
			_, err = fmt.Fprintf(w, "%s  %s  %s\n", s.ID, s.Updated.UTC().Format("2006-01-02 15:04"), safe.Line(strings.TrimSpace(firstOf(s.Title, "-")+"  "+s.Model+"  "+s.Root)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
