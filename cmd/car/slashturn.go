package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"car/internal/assistant"
	"car/internal/assistant/store"
	"car/internal/engine/redact"
	"car/internal/tui"
	"car/internal/tui/picker"
)

// turnTo is where a person turned to from a session's screen: another session, or
// the same one from an earlier message on, with that message's words in the editor.
type turnTo struct {
	session string
	rewind  bool
	to      int64
	draft   string
}

// slashResume turns to another session of this project (U-TUI-8).
func (s *session) slashResume(ctx context.Context, args string) (tui.Result, error) {
	if args != "" {
		id, _, err := s.house.sessionFor(ctx, taskOptions{resume: args})
		if err != nil {
			return tui.Result{}, err
		}
		return s.turn(turnTo{session: id})
	}
	list, err := s.house.db.Sessions(ctx, s.house.project.Root)
	if err != nil {
		return tui.Result{}, err
	}
	list = slices.DeleteFunc(list, func(one store.Session) bool { return one.ID == s.id })
	slices.SortStableFunc(list, func(a, b store.Session) int { return b.Updated.Compare(a.Updated) })
	if len(list) == 0 {
		return tui.Result{}, errors.New("there is no other session of this project")
	}
	list = list[:min(len(list), mostSessions)]
	pick := tui.Pick{Title: "go on with", Chosen: func(_ context.Context, i int) (tui.Result, error) { return s.turn(turnTo{session: list[i].ID}) }}
	for _, one := range list {
		said := s.firstSaid(ctx, one.ID)
		pick.Items = append(pick.Items, picker.Item{
			Text: firstOf(one.Title, firstLine(said), one.ID), Help: one.Updated.Local().Format("2006-01-02 15:04"), Preview: said + "\n" + one.ID + "  " + one.Model,
		})
	}
	return tui.Result{Pick: &pick}, nil
}

// mostSessions bounds the list that is offered; an older one is named by its id.
const mostSessions = 100

// firstSaid is what the person said first in a session, empty where that can not be read.
func (s *session) firstSaid(ctx context.Context, id string) string {
	messages, err := s.house.db.FirstMessages(ctx, id, 3)
	if err != nil {
		return ""
	}
	archive := assistant.NewArchive(redact.New(s.house.secrets()))
	for _, m := range messages {
		past, err := archive.Show(m)
		if err != nil {
			return ""
		}
		for _, p := range past {
			if p.By == "user" {
				return p.Text
			}
		}
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// turn remembers where to and asks the screen to end.
func (s *session) turn(to turnTo) (tui.Result, error) {
	if to.session == s.id && !to.rewind {
		return tui.Result{}, errors.New("that is this session")
	}
	s.next = &to
	return tui.Result{Leave: true}, nil
}

// mine is a message that the person sent.
type mine struct {
	seq  int64
	text string
}

// myMessages are the person's messages that models are still told, newest first.
func (s *session) myMessages(ctx context.Context) ([]mine, error) {
	messages, err := s.house.db.Messages(ctx, s.id)
	if err != nil {
		return nil, err
	}
	compactions, err := s.house.db.Compactions(ctx, s.id)
	if err != nil {
		return nil, err
	}
	archive := assistant.NewArchive(redact.New(s.house.secrets()))
	var all []mine
	for _, item := range store.Visible(messages, compactions) {
		if item.Message == nil {
			continue
		}
		past, err := archive.Show(*item.Message)
		if err != nil {
			return nil, err
		}
		for _, p := range past {
			if p.By == "user" {
				all = append(all, mine{item.Message.Seq, p.Text})
			}
		}
	}
	slices.Reverse(all)
	return all, nil
}

// slashRewind goes back to before one of the person's messages, whose words are in
// the editor again (U-TUI-6, A-DUR-7).
func (s *session) slashRewind(ctx context.Context, _ string) (tui.Result, error) {
	all, err := s.myMessages(ctx)
	if err != nil {
		return tui.Result{}, err
	}
	if len(all) == 0 {
		return tui.Result{}, errors.New("there is no message to go back to")
	}
	pick := tui.Pick{Title: "go back to before", Chosen: func(_ context.Context, i int) (tui.Result, error) {
		return s.turn(turnTo{session: s.id, rewind: true, to: all[i].seq - 1, draft: all[i].text})
	}}
	for _, m := range all {
		pick.Items = append(pick.Items, picker.Item{Text: firstLine(m.text), Preview: m.text})
	}
	return tui.Result{Pick: &pick}, nil
}

// mostSaid bounds what of an earlier conversation is shown when it is opened again.
const mostSaid = 20

// lastSaid is the end of the conversation so far: the person's newest message and
// what came after it. Only the end is read, so that a long session opens at once.
func (s *session) lastSaid(ctx context.Context) []tui.Said {
	messages, err := s.house.db.LastMessages(ctx, s.id, mostSaid)
	if err != nil {
		return nil // the conversation itself tells what is wrong with its store
	}
	compactions, err := s.house.db.Compactions(ctx, s.id)
	if err != nil {
		return nil
	}
	archive := assistant.NewArchive(redact.New(s.house.secrets()))
	var said []tui.Said
	for _, item := range store.Visible(messages, compactions) {
		if item.Message == nil {
			continue
		}
		past, err := archive.Show(*item.Message)
		if err != nil {
			continue
		}
		for _, p := range past {
			switch {
			case p.By == "user":
				said = []tui.Said{{Mine: true, Text: p.Text}}
			case p.By == "assistant" && strings.TrimSpace(p.Text) != "":
				said = append(said, tui.Said{Text: p.Text})
			}
		}
	}
	return said
}

// slashModel says which model answers, or asks another from the next message on.
func (s *session) slashModel(ctx context.Context, args string) (tui.Result, error) {
	if args == "" {
		spec, why := s.house.models.choice()
		return tui.Result{Text: fmt.Sprintf("`%s`, %s. `/model provider/name` asks another; `car models` lists what is there.", spec, why)}, nil
	}
	if _, err := s.house.models.Named(ctx, args); err != nil {
		return tui.Result{}, err
	}
	return tui.Result{Model: &args, Text: fmt.Sprintf("`%s` answers from your next message on.", args)}, nil
}
