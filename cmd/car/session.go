package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"car/internal/assistant"
	"car/internal/assistant/project"
	"car/internal/assistant/store"
	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/redact"
)

// session is one open conversation with the engine under it. Close it.
type session struct {
	house *house
	id    string
	room  *engineRoom
	svc   *assistant.Service
	conv  *assistant.Conversation
	// next is where the person turned to from this session, nil for nowhere. It is
	// written by the screen's commands and read when the screen has ended.
	next *turnTo
}

// lateApprover is the conversation's approver for an engine that was built before
// the conversation was. It is set once, before the first proposal.
type lateApprover struct{ to admit.Approver }

// Approve asks whoever the conversation asks; without one it refuses.
func (l *lateApprover) Approve(ctx context.Context, requests []admit.Request) ([]admit.Decision, error) {
	if l.to == nil {
		return nil, errors.New("nobody is there to ask")
	}
	return l.to.Approve(ctx, requests)
}

// openSession opens the session that the options name, or a new one. unattended
// says that nobody can be asked: every question is a refusal at once.
func (h *house) openSession(ctx context.Context, o taskOptions, unattended bool) (_ *session, err error) {
	id, resumed, err := h.sessionFor(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.fork {
		if !resumed {
			return nil, usageError(errors.New("--fork copies a session, and none is named"), "--resume ID --fork", "--continue --fork")
		}
		if id, err = h.forked(ctx, id); err != nil {
			return nil, err
		}
	}
	if resumed { // whoever holds it is named before anything of it is touched
		if err := h.db.AcquireLease(ctx, id); err != nil {
			return nil, err
		}
	}
	s := &session{house: h, id: id}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	guide := h.project.Guide()
	guidance, influences, err := h.guidance(ctx, guide)
	if err != nil {
		return nil, err
	}
	if resumed { // nobody remembers what an earlier process had read from outside
		influences = append(influences, "the earlier part of this session")
	}
	if resumed {
		if err := h.auditRecord(ctx, id); err != nil {
			return nil, err
		}
	}
	late := &lateApprover{}
	if s.room, err = h.openEngine(ctx, id, late, influences...); err != nil {
		return nil, err
	}
	if resumed {
		if err := s.recover(ctx); err != nil {
			return nil, err
		}
	}
	config := assistant.Config{
		Models: h.models, Store: h.db, Now: h.app.now, Rand: rand.Reader,
		Redactor: redact.New(h.secrets()), Dialect: s.room.substrate.Describe().Dialect,
		Open: func(_ context.Context, r assistant.OpenRequest) (assistant.Runtime, error) {
			late.to = r.Approver
			return assistant.Runtime{Engine: s.room.runtime, Tools: s.room.forModel(), Files: s.room.workspace.FS(), Effects: h.db.EffectsOf, Log: s.room.log, Todos: s.room.todos.List}, nil
		},
	}
	set := h.project.Settings
	config.ApprovalWait, config.NoLoopWatch = set.ApprovalTimeout.V, !set.LoopWatch.V
	config.Claims = map[project.Claims]assistant.ClaimMode{
		project.ClaimsRedrive: assistant.ClaimRedrive, project.ClaimsAnnotate: assistant.ClaimAnnotate, project.ClaimsOff: assistant.ClaimOff,
	}[set.Claims.V]
	if unattended {
		config.Answer = assistant.DenyUnattended(id, h.tier)
	}
	if s.svc, err = assistant.New(config); err != nil {
		return nil, err
	}
	start := s.startOptions(o, resumed)
	start.Guidance, start.GuidanceBelow = guidance, h.guidanceBelow(guide, len(influences) > 0)
	s.conv, err = s.svc.Start(ctx, start)
	return s, err
}

// recover closes what an earlier process of this session left in flight and says
// so: nobody knows how it ended, and it is never run again by itself (P-WORK-6).
func (s *session) recover(ctx context.Context) error {
	stuck, err := s.room.ledger.Recover(ctx, s.id)
	for _, e := range stuck {
		s.house.notice(fmt.Sprintf("%s %s was running when its process ended: the outcome is indeterminate, and it was not run again",
			e.Scope.Tool, briefOf(e.Scope.Parameters)))
	}
	return err
}

func (s *session) startOptions(o taskOptions, resumed bool) assistant.StartOptions {
	spec, _ := s.house.models.choice()
	where := s.room.substrate.Describe()
	start := assistant.StartOptions{
		Root: s.house.project.Root, Cwd: s.house.project.Cwd, Model: spec, MaxSteps: o.maxTurns,
		Environment: assistant.Environment{
			OS: runtime.GOOS + "/" + runtime.GOARCH, Shell: where.Dialect, Model: spec, Tier: s.house.tier.String(),
			Sandbox: fmt.Sprintf("%s, confinement %s", s.room.substrate.Name(), where.Confinement),
			Branch:  gitBranch(s.house.project.Root), Day: s.house.app.now().Format("2006-01-02"),
		},
	}
	if s.house.tier == ir.TierUnset {
		start.Environment.Tier = ""
	}
	start.Shape = o.shape
	if resumed {
		start.Resume = s.id
	} else {
		start.ID = s.id
	}
	return start
}

// guidance are the instruction files that hold where the person stands, and which
// of them nobody trusts: what they say influences all that the model proposes.
func (h *house) guidance(ctx context.Context, guide *project.Guide) (list []assistant.Guidance, influences []string, err error) {
	found, skipped, err := guide.Start(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range skipped {
		h.notice(s.Path + " is left out: " + s.Why)
	}
	for _, i := range found {
		list = append(list, assistant.Guidance{Path: i.Path, Text: i.Text, Omitted: i.Omitted})
		if !i.Trusted {
			influences = append(influences, i.Path)
		}
	}
	return list, influences, nil
}

// sessionFor is the session to go on with, or a new name.
func (h *house) sessionFor(ctx context.Context, o taskOptions) (id string, resumed bool, err error) {
	switch {
	case o.newest:
		list, err := h.db.Sessions(ctx, h.project.Root)
		if err != nil {
			return "", false, err
		}
		if len(list) == 0 {
			return "", false, usageError(fmt.Errorf("there is no session of %s yet", h.project.Root), `car do "…"`)
		}
		return newest(list).ID, true, nil
	case o.resume != "":
		list, err := h.db.FindSessions(ctx, o.resume)
		switch {
		case err != nil:
			return "", false, err
		case len(list) == 0:
			return "", false, usageError(fmt.Errorf("no session begins with %q", o.resume), "car do --continue")
		case len(list) > 1:
			return "", false, usageError(ambiguous(o.resume, list), "give more of the id")
		}
		return list[0].ID, true, nil
	}
	id, err = newSessionID()
	return id, false, err
}

func newest(list []store.Session) store.Session {
	best := list[0]
	for _, s := range list[1:] {
		if s.Updated.After(best.Updated) {
			best = s
		}
	}
	return best
}

func ambiguous(prefix string, list []store.Session) error {
	var lines strings.Builder
	fmt.Fprintf(&lines, "%d sessions begin with %q", len(list), prefix)
	for _, s := range list {
		fmt.Fprintf(&lines, "\n%s  %s  %s", s.ID, s.Updated.Format("2006-01-02 15:04"), s.Root)
	}
	return errors.New(lines.String())
}

// gitBranch reads the branch from the repository's own file: no program of a
// project runs before the person has asked for anything (P-GUARD-5).
func gitBranch(root string) string {
	head, err := os.ReadFile(filepath.Join(root, ".git", "HEAD"))
	if err != nil {
		return ""
	}
	branch, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	return branch
}

// close ends the conversation, then what its engine still runs, then the records.
func (s *session) close() error {
	var errs []error
	if s.svc != nil {
		errs = append(errs, s.svc.Close())
	}
	if s.room != nil {
		running := s.room.runningJobs()
		errs = append(errs, s.room.close(context.Background()))
		s.house.tellEnded(running)
	}
	return errors.Join(errs...)
}
