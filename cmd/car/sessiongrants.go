package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"car/internal/engine/admit"
	"car/internal/tui/safe"
)

func newSessionsGrantsCommand(a *app) *cobra.Command {
	var revoke int64
	cmd := &cobra.Command{
		Use: "grants ID", Short: "List what was allowed for a whole session, or take it back", Args: cobra.ExactArgs(1),
		Example: "  car sessions grants 0197\n  car sessions grants 0197 --revoke 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error {
				id, _, err := h.sessionFor(cmd.Context(), taskOptions{resume: args[0]})
				if err != nil {
					return err
				}
				if revoke != 0 {
					return h.revokeGrant(cmd.Context(), id, revoke)
				}
				return h.listGrants(cmd.Context(), id, cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().Int64Var(&revoke, "revoke", 0, "take back the grant with this `number`; it is asked again")
	return cmd
}

func (h *house) listGrants(ctx context.Context, id string, w io.Writer) error {
	grants, err := h.db.Grants(ctx, id)
	if err != nil {
		return err
	}
	for _, g := range grants {
		state := "stands"
		if g.Revoked {
			state = "revoked"
		}
		if _, err := fmt.Fprintf(w, "%d  %-7s  %s  %s\n", g.ID, state, g.At.UTC().Format("2006-01-02 15:04"), safe.Line(admit.DescribeGrant(g.Rule))); err != nil {
			return err
		}
	}
	if len(grants) == 0 {
		_, err = fmt.Fprintln(w, "nothing was allowed for this whole session")
	}
	return err
}

// revokeGrant takes back one grant of the session; numbers of others are refused.
func (h *house) revokeGrant(ctx context.Context, id string, n int64) error {
	grants, err := h.db.Grants(ctx, id)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if g.ID == n {
			return h.db.RevokeGrant(ctx, n)
		}
	}
	return usageError(fmt.Errorf("session %s has no grant %d", id, n), "car sessions grants "+id)
}
