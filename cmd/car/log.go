package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"car/internal/engine/eventlog"
)

type logOptions struct {
	session string
	expect  string
	out     io.Writer
}

func newLogCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "log", Short: "Verify a session's record", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogVerifyCommand(a))
	return cmd
}

func newLogVerifyCommand(a *app) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "verify [SESSION]",
		Short: "Say whether a session's record is what was written",
		Long: "Checks the chain of a session's events against where it stood when it was last\n" +
			"anchored: an event that was edited, deleted or moved, and a record that was cut at\n" +
			"either end. It can not show what was done after the last anchor, nor the work of\n" +
			"somebody who can read $CAR_HOME/chain.key; against them a head that was printed at the\n" +
			"session's end helps (--expect). The exit code is 0 for a record as it was written.",
		Example: "  car log verify\n  car log verify 0197 --expect 5f2c…",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.session = args[0]
			}
			o.out = cmd.OutOrStdout()
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error { return h.verifyLog(o) })
		},
	}
	cmd.Flags().StringVar(&o.expect, "expect", "", "a `head` that the session printed: it must be in the record")
	return cmd
}

func (h *house) verifyLog(o logOptions) error {
	id, err := findSession(h.home, o.session)
	if err != nil {
		return err
	}
	anchoring, err := h.anchoring(id)
	if err != nil {
		return err
	}
	audit, err := eventlog.VerifyAnchored(sessionLog(h.home, id), *anchoring, o.expect)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%s  %s", id, audit)
	if audit.Reason != "" {
		line += "  " + audit.Reason
	}
	if _, err := fmt.Fprintln(o.out, line); err != nil {
		return err
	}
	if !audit.OK() {
		return &exitError{code: exitFailed}
	}
	return nil
}
