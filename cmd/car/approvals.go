package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

func newApprovalsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List, give and take back standing decisions",
		Long: "A refusal that a person may lift names a fingerprint of exactly what was refused: tool,\n" +
			"parameters, folder, environment. Approving it lets that and nothing else run next time.",
		Example: "  car approvals list\n  car approvals approve 3f2a… --reason \"checked by hand\"\n  car approvals revoke 3f2a…",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newApprovalsList(a), newDecide(a, "approve", true), newDecide(a, "reject", false), newRevoke(a))
	return cmd
}

// withStore opens the person's own state for something that is quickly done.
func (a *app) withStore(ctx context.Context, do func(*store.DB) error) error {
	home, err := a.env.state()
	if err != nil {
		return err
	}
	db, err := a.openStore(ctx, home)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

func newApprovalsList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the decisions that stand", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), func(db *store.DB) error { return listDecisions(cmd.Context(), db, cmd.OutOrStdout()) })
		},
	}
}

func listDecisions(ctx context.Context, db *store.DB, out io.Writer) error {
	all, err := db.Decisions(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no decision stands")
		return err
	}
	for _, d := range all {
		_, err := fmt.Fprintf(out, "%-8s  %s  %s by %s  %s\n", d.Word(), safe.Line(d.Fingerprint), d.DecidedAt.Local().Format("2006-01-02 15:04"), safe.Line(d.Reviewer), safe.Line(d.Reason))
		if err != nil {
			return err
		}
	}
	return nil
}

func newDecide(a *app, word string, approved bool) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: word + " FINGERPRINT", Short: map[bool]string{true: "Let exactly this run next time", false: "Refuse exactly this from now on"}[approved], Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := approval.Decision{Fingerprint: args[0], RequiredTier: ir.FullAccess, Approved: approved, Reviewer: "person", Reason: reason, DecidedAt: a.now()}
			if len(args[0]) < minFingerprint {
				return usageError(fmt.Errorf("%q is not a whole fingerprint", args[0]), "copy it from the refusal")
			}
			return a.withStore(cmd.Context(), func(db *store.DB) error { return approval.Record(cmd.Context(), db, d) })
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`why`, for whoever reads the list")
	return cmd
}

// minFingerprint keeps a shortened copy from being approved: it would match nothing.
const minFingerprint = 64

func newRevoke(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "revoke FINGERPRINT", Short: "Forget a decision; it is asked again", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), func(db *store.DB) error {
				found, err := db.DropDecision(cmd.Context(), args[0])
				if err == nil && !found {
					err = usageError(fmt.Errorf("no decision stands for %q", args[0]), "car approvals list")
				}
				return err
			})
		},
	}
}
