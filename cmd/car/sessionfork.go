package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func newSessionsForkCommand(a *app) *cobra.Command {
	var at int64
	cmd := &cobra.Command{
		Use: "fork ID", Short: "Begin a new session with what another one said", Args: cobra.ExactArgs(1),
		Long: "Copies a session up to a message into a new one and prints the new id. What was\n" +
			"approved there stays there. The origin may be open.",
		Example: "  car sessions fork 0197 --at 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error {
				from, _, err := h.sessionFor(cmd.Context(), taskOptions{resume: args[0]})
				if err != nil {
					return err
				}
				id, err := h.fork(cmd.Context(), from, at)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), id)
				return err
			})
		},
	}
	cmd.Flags().Int64Var(&at, "at", 0, "the last `message` to copy (default: all)")
	return cmd
}

// fork copies a session up to a message, 0 for all of it, into a new one. A step
// that is not whole there is left behind, since its calls may be running.
func (h *house) fork(ctx context.Context, from string, at int64) (id string, err error) {
	origin, err := h.db.Session(ctx, from)
	if err != nil {
		return "", err
	}
	cut, err := h.db.CutPoint(ctx, from, at)
	switch {
	case err != nil:
		return "", err
	case cut == 0:
		return "", usageError(fmt.Errorf("session %s has nothing yet that could be copied", from))
	case at > 0 && cut != at:
		return "", usageError(fmt.Errorf("message %d of session %s is not there, or its calls are not answered by then", at, from), fmt.Sprintf("--at %d", cut), "car sessions show "+from)
	}
	if id, err = newSessionID(); err != nil {
		return "", err
	}
	origin.ID = id
	if err := h.db.Fork(ctx, from, cut, origin); err != nil {
		return "", err
	}
	if at == 0 {
		if later, err := h.db.MessagesAfter(ctx, from, cut); err == nil && len(later) > 0 {
			h.notice(fmt.Sprintf("the step in hand of %s is left behind: its calls have no result yet", from))
		}
	}
	return id, nil
}

func newSessionsRewindCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rewind ID MESSAGE", Short: "Leave what came after a message out of what models are told", Args: cobra.ExactArgs(2),
		Long: "The messages stay in the session and its record; requests no longer hold them. 0 leaves\n" +
			"out everything. Files are not touched: car undo takes back what was done to them.",
		Example: "  car sessions show 0197\n  car sessions rewind 0197 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || seq < 0 {
				return usageError(fmt.Errorf("%q is no number of a message", args[1]), "car sessions show "+args[0])
			}
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error { return h.rewind(cmd.Context(), args[0], seq) })
		},
	}
}

func (h *house) rewind(ctx context.Context, prefix string, seq int64) error {
	id, _, err := h.sessionFor(ctx, taskOptions{resume: prefix})
	if err != nil {
		return err
	}
	return h.holding(ctx, id, func() error {
		messages, err := h.db.Messages(ctx, id)
		if err != nil {
			return err
		}
		if seq > int64(len(messages)) {
			return usageError(fmt.Errorf("session %s has %d messages", id, len(messages)), "car sessions show "+id)
		}
		if seq > 0 {
			cut, err := h.db.CutPoint(ctx, id, seq)
			if err != nil {
				return err
			}
			if cut != seq {
				return usageError(fmt.Errorf("message %d asks for calls, and their results come after it", seq), fmt.Sprintf("car sessions rewind %s %d", id, cut))
			}
		}
		return h.db.Rewind(ctx, id, seq)
	})
}

// holding does something to a session while nobody else can write it.
func (h *house) holding(ctx context.Context, id string, do func() error) error {
	if err := h.db.AcquireLease(ctx, id); err != nil {
		return err
	}
	return errors.Join(do(), h.db.ReleaseLease(ctx, id))
}

func newSessionsResumeCommand(a *app) *cobra.Command {
	var o chatOptions
	cmd := &cobra.Command{
		Use: "resume [ID]", Short: "Go on with a session in this terminal (as car --resume ID)", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.task.newest = len(args) == 0; !o.task.newest {
				o.task.resume = args[0]
			}
			return a.chat(cmd.Context(), o)
		},
	}
	bindHouse(cmd, &o.house)
	return cmd
}

// forked is the session that --fork goes on with: a copy of the one that was named.
func (h *house) forked(ctx context.Context, id string) (string, error) {
	copied, err := h.fork(ctx, id, 0)
	if err == nil {
		h.notice(fmt.Sprintf("session %s is a copy of %s", copied, id))
	}
	return copied, err
}
