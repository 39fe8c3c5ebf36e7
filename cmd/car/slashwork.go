package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"car/internal/assistant"
	"car/internal/tui"
)

// slashGoal works until a check exits 0 (A-GOAL-1).
func (s *session) slashGoal(_ context.Context, args string) (tui.Result, error) {
	check, objective := cutCheck(args)
	if check == "" || objective == "" {
		return tui.Result{}, errors.New(`/goal takes a check and an objective: /goal "make test" mend the failing test`)
	}
	return tui.Result{Send: &assistant.Input{Text: objective, Goal: &assistant.Goal{Check: check}}}, nil
}

// cutCheck takes the check, a word or a quoted text, off the objective.
func cutCheck(args string) (check, objective string) {
	args = strings.TrimSpace(args)
	if quote := strings.IndexAny(args, "\"'`"); quote == 0 {
		if check, objective, found := strings.Cut(args[1:], args[:1]); found {
			return strings.TrimSpace(check), strings.TrimSpace(objective)
		}
		return "", ""
	}
	check, objective, _ = strings.Cut(args, " ")
	return check, strings.TrimSpace(objective)
}

func (s *session) slashTodo(context.Context, string) (tui.Result, error) {
	var b strings.Builder
	for _, t := range s.room.todos.List() {
		mark := map[string]string{"done": "x", "dropped": "-"}[t.Status]
		fmt.Fprintf(&b, "[%1s] %s\n", mark, t.Text)
	}
	if b.Len() == 0 {
		return tui.Result{Text: "The agent keeps no list in this session."}, nil
	}
	return fenced(b.String()), nil
}

func (s *session) slashCost(ctx context.Context, _ string) (tui.Result, error) {
	var b bytes.Buffer
	err := s.house.cost(ctx, costOptions{session: s.id, out: &b})
	if b.Len() == 0 {
		return tui.Result{}, err
	}
	return fenced(b.String()), err
}

// slashDiff is the person's own git in their own terminal, with their pager.
func (s *session) slashDiff(context.Context, string) (tui.Result, error) {
	return tui.Result{Shell: "git diff"}, nil
}

// slashExport writes the session to a new file of the person's.
func (s *session) slashExport(ctx context.Context, args string) (tui.Result, error) {
	name := firstOf(args, "car-"+s.id+".jsonl")
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.house.project.Cwd, name)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return tui.Result{}, err
	}
	err = errors.Join(s.house.export(ctx, s.id, f), f.Close())
	if err != nil {
		return tui.Result{}, errors.Join(err, os.Remove(name))
	}
	return tui.Result{Text: "Written to `" + name + "`; `car sessions import` reads it."}, nil
}

func (s *session) slashInit(context.Context, string) (tui.Result, error) {
	names, err := writeExample(s.house.project.Root, false)
	if err != nil {
		return tui.Result{}, err
	}
	for i, name := range names {
		names[i] = "- `" + filepath.Join(carFolder, name) + "`"
	}
	return tui.Result{Text: strings.Join(names, "\n") + "\n\nRead them, keep what you want, commit the folder. They are in force from the next start on; what they allow waits for `car trust`."}, nil
}
