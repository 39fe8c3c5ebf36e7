package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/assistant"
	"car/internal/engine/tool"
	"car/internal/tui"
	"car/internal/tui/safe"
	"car/internal/tui/todo"
)

type chatOptions struct {
	house   houseOptions
	task    taskOptions
	words   []string
	noColor bool
	// draft stands in the editor at the start.
	draft string
}

func newChatCommand(a *app) *cobra.Command {
	var o chatOptions
	cmd := &cobra.Command{
		Use:   "chat [WORDS]…",
		Short: "Talk with a model about this project",
		Long: "Opens a conversation in the terminal; car alone does the same. WORDS are sent at once.\n" +
			"What is finished goes into the terminal's own scrollback. Leaving loses nothing: the\n" +
			"command that goes on is printed.",
		Example: "  car chat\n  car chat \"what does this package do?\"\n  car chat --continue",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return a.chat(cmd.Context(), o)
		},
	}
	bindChat(cmd, &o)
	return cmd
}

// bindChat declares the flags of a conversation, which car alone takes too.
func bindChat(cmd *cobra.Command, o *chatOptions) {
	bindHouse(cmd, &o.house)
	bindResume(cmd, &o.task)
	cmd.Flags().BoolVar(&o.noColor, "no-color", false, "no colours, as NO_COLOR asks for everywhere")
	cmd.Flags().IntVar(&o.task.maxTurns, "max-turns", 0, "at most `N` inferences a turn (default 50)")
}

func (a *app) chat(ctx context.Context, o chatOptions) error {
	if err := o.house.settle(); err != nil {
		return err
	}
	if !a.io.inTTY || !a.io.outTTY {
		return usageError(errors.New("a conversation needs a terminal"), `car do "…"`)
	}
	var notices []string
	h, err := a.openHouse(ctx, o.house)
	if err != nil {
		return err
	}
	h.notice = func(text string) { notices = append(notices, text) } // the screen shows them
	h.watched = true
	return errors.Join(a.chatIn(ctx, h, o, &notices), h.close())
}

func (a *app) chatIn(ctx context.Context, h *house, o chatOptions, notices *[]string) error {
	if err := h.models.check(); err != nil {
		return err
	}
	if spec, _ := h.models.choice(); spec == "" {
		offers := probe(ctx, localServers())
		fmt.Fprintf(a.io.err, "car: %s", noProviderScreen(h.models.providerNames(), offers))
		return &exitError{code: exitNoProvider}
	}
	for {
		next, err := a.chatOnce(ctx, h, o, *notices)
		if err != nil || next == nil {
			return err
		}
		*notices = nil
		o = chatOptions{house: o.house, noColor: o.noColor, task: taskOptions{resume: next.session, maxTurns: o.task.maxTurns}, draft: next.draft}
	}
}

// noticeOnScreen tells the person something once no screen of ours stands.
func (a *app) noticeOnScreen(text string) { fmt.Fprintf(a.io.err, "· %s\n", safe.Line(text)) }

// chatOnce is one session on the screen. It returns the one that the person turned to
// from there, nil when they left.
func (a *app) chatOnce(ctx context.Context, h *house, o chatOptions, notices []string) (*turnTo, error) {
	s, err := h.openSession(ctx, o.task, false)
	if err != nil {
		return nil, err
	}
	exit, err := tui.Run(ctx, a.screen(ctx, s, o, notices))
	s.house.notice = a.noticeOnScreen // the screen is gone, the terminal is there
	if err = errors.Join(err, s.close()); err != nil {
		return nil, err
	}
	if exit.Reason == tui.Switched && s.next != nil {
		if s.next.rewind {
			err = h.rewind(ctx, s.id, s.next.to)
		}
		return s.next, err
	}
	if exit.Resume != "" {
		fmt.Fprintf(a.io.err, "go on with: %s\n", safe.Line(exit.Resume))
	}
	return nil, nil
}

// confinementWords say what holds commands, or that nothing does.
func confinementWords(where tool.Description) string {
	if !confined(where) {
		return strings.Join(where.Limits, "; ")
	}
	return strings.Join(append([]string{"confined by " + where.Confinement}, where.Limits...), "; ")
}

// screen is the conversation as the terminal shows it.
func (a *app) screen(ctx context.Context, s *session, o chatOptions, notices []string) tui.Config {
	spec, why := s.house.models.choice()
	where := s.room.substrate.Describe()
	header := tui.Header{
		Version: strings.TrimPrefix(versionText(), "car "), Model: spec, ModelWhy: why, Session: s.id, Root: s.house.project.Root, Tier: s.house.tier,
		Confinement: confinementWords(where), Window: s.house.models.window, Notices: notices,
	}
	past := a.openHistory(s.house.home)
	c := tui.Config{
		Conversation: s.conv, In: a.io.in, Out: os.Stdout, Environ: a.env.vars, Now: a.now, Header: header,
		Commands: s.slashCommands(), History: past.texts, Remember: past.remember, Complete: s.complete, Shell: s.ownShell, Attach: s.attachPictures,
		Resume: "car --resume " + s.id,
		Todo: func(context.Context) []todo.Item {
			var items []todo.Item
			for _, t := range s.room.todos.List() {
				items = append(items, todo.Item{Text: t.Text, Done: t.Status == "done", Dropped: t.Status == "dropped"})
			}
			return items
		},
	}
	if o.noColor {
		c.Environ = append(slices.Clone(c.Environ), "NO_COLOR=1")
	}
	if a.env.editor != "" {
		c.Edit = a.edit
	}
	c.Past, c.Draft = s.lastSaid(ctx), o.draft
	if text := strings.TrimSpace(strings.Join(o.words, " ")); text != "" {
		c.First = &assistant.Input{Text: text}
	}
	return c
}
