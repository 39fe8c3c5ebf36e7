package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/assistant"
	"car/internal/assistant/store"
	"car/internal/engine/redact"
	"car/internal/tui/safe"
)

func newSessionsShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show what was said in a session, and how its turns ended", Args: cobra.ExactArgs(1),
		Long: "Prints a session as a person reads it: who said what, in numbered messages, with the\n" +
			"calls and their results. The numbers are what car sessions rewind and fork --at take.\n" +
			"Secrets are masked. A message that can not be read is named, and the rest is shown.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error {
				id, _, err := h.sessionFor(cmd.Context(), taskOptions{resume: args[0]})
				if err != nil {
					return err
				}
				if asJSON {
					return h.export(cmd.Context(), id, cmd.OutOrStdout())
				}
				return h.show(cmd.Context(), id, cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as car sessions export writes it")
	return cmd
}

// errDamaged says that some of a session could not be read; what it was is told.
var errDamaged = fmt.Errorf("some messages of this session can not be read")

func (h *house) show(ctx context.Context, id string, w io.Writer) error {
	whole, err := h.wholeSession(ctx, id)
	if err != nil {
		return err
	}
	s, turns, messages, compactions := whole.session, whole.turns, whole.messages, whole.compactions
	status := map[int]string{}
	for _, t := range turns {
		status[t.N] = t.Status.String()
	}
	p := &pager{w: w}
	p.line("session %s  %s", s.ID, s.Title)
	p.line("%s  %s  %s", s.Root, s.Model, s.Created.UTC().Format("2006-01-02 15:04"))
	if s.Parent != "" {
		p.line("forked from %s at message %d", s.Parent, s.ParentSeq)
	}
	if holder, held, err := h.db.LeaseHolder(ctx, id); err == nil && held {
		p.line("open in another car (pid %d)", holder.PID)
	}
	hidden := hiddenOf(messages, compactions)
	archive := assistant.NewArchive(redact.New(h.secrets()))
	turn, damaged := 0, false
	for _, m := range messages {
		if m.Turn != turn {
			turn = m.Turn
			p.line("")
			p.line("turn %d (%s)", turn, firstOf(status[turn], "without a row"))
		}
		past, err := archive.Show(m)
		if err != nil {
			damaged = true
			p.line("%4d  damaged: %v", m.Seq, err)
			continue
		}
		p.message(m.Seq, past, hidden[m.Seq])
	}
	if p.err == nil && damaged {
		return errDamaged
	}
	return p.err
}

// wholeSession is all that the store knows of what was said in a session.
type wholeSession struct {
	session     store.Session
	turns       []store.Turn
	messages    []store.Message
	compactions []store.Compaction
}

func (h *house) wholeSession(ctx context.Context, id string) (w wholeSession, err error) {
	if w.session, err = h.db.Session(ctx, id); err != nil {
		return w, err
	}
	if w.turns, err = h.db.Turns(ctx, id); err != nil {
		return w, err
	}
	if w.messages, err = h.db.Messages(ctx, id); err != nil {
		return w, err
	}
	w.compactions, err = h.db.Compactions(ctx, id)
	return w, err
}

// hiddenOf are the messages that prompts do not show any more.
func hiddenOf(messages []store.Message, compactions []store.Compaction) map[int64]bool {
	hidden := map[int64]bool{}
	for _, m := range messages {
		hidden[m.Seq] = true
	}
	for _, item := range store.Visible(messages, compactions) {
		if item.Message != nil {
			delete(hidden, item.Message.Seq)
		}
	}
	return hidden
}

// pager writes lines and keeps the first failure.
type pager struct {
	w   io.Writer
	err error
}

func (p *pager) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(safe.Line(fmt.Sprintf(format, args...)), " "))
	}
}

func (p *pager) message(seq int64, past []assistant.Past, hidden bool) {
	mark := ""
	if hidden {
		mark = " (left out of prompts)"
	}
	for _, one := range past {
		who := one.By
		if one.CallID != "" {
			who += " " + one.CallID
		}
		if one.Mark != "" {
			who += " (" + one.Mark + ")"
		}
		p.line("%4d  %s%s", seq, who, mark)
		for _, text := range strings.Split(strings.TrimSpace(one.Text), "\n") {
			if text != "" {
				p.line("      %s", text)
			}
		}
		for _, c := range one.Calls {
			p.line("      → %s %s %s", c.ID, c.Tool, c.Arguments)
		}
	}
}
