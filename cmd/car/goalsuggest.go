package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"car/internal/assistant/suggest"
)

// suggestCheck finds the check of a goal that nobody named, and says which before
// anything else happens; nothing certain is a refusal (A-CLI-6, A-GOAL-11).
func (h *house) suggestCheck(o *taskOptions, objective string) error {
	dir, err := filepath.Rel(h.project.Root, h.project.Cwd)
	if err != nil {
		return err
	}
	s, err := suggest.For(suggest.Request{Files: os.DirFS(h.project.Root), Dir: filepath.ToSlash(dir), Objective: objective, Has: h.app.installed})
	if err != nil {
		return err
	}
	if !s.Suggested {
		why := s.Rationale
		if len(s.Warnings) > 0 {
			why += " (" + strings.Join(s.Warnings, "; ") + ")"
		}
		return usageError(errors.New("no check is certain here: "+why), `car goal --check COMMAND "…"`)
	}
	o.check, o.suggested = s.Check, true
	h.notice(fmt.Sprintf("check: %s (%s confidence: %s)", s.Check, s.Confidence, s.Rationale))
	for _, w := range s.Warnings {
		h.notice(w)
	}
	return nil
}

// installed looks for a program as a shell would.
func (a *app) installed(program string) bool {
	path := ""
	for _, v := range a.env.vars {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		info, err := os.Stat(filepath.Join(dir, program))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
