package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"car/internal/assistant/project"
	"car/internal/engine/tool"
	"car/internal/tools/substrate"
	"car/internal/tools/substrate/confine"
)

// confinement asks for the best confinement that this system offers (D-5), as the
// settings want it.
func (a *app) confinement(p *project.Project) (*substrate.Confinement, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("confinement: where is this program: %w", err)
	}
	c := &substrate.Confinement{
		Helper: []string{program, os.Args[0], confine.Word}, CarHome: a.env.carHome, ReadRoots: p.Settings.Tools.ReadRoots.Strings(),
		NoNetwork: !p.Settings.Tools.Network.V,
	}
	if p.Settings.Tools.Caches.V == project.CachesPrivate && a.env.carHome != "" {
		sum := sha256.Sum256([]byte(p.Root))
		c.Caches = filepath.Join(a.env.carHome, "caches", hex.EncodeToString(sum[:8]))
		if err := os.MkdirAll(c.Caches, 0o700); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// openSubstrate opens the place where commands run, which is the best there is unless
// another was named. A named one that is missing is an error (T-SUB-1).
func (h *house) openSubstrate(id string) (tool.Substrate, error) {
	env, set := h.app.env, h.project.Settings.Tools
	c := substrate.Config{
		Root: h.project.Root, ScratchBase: env.temp, UID: env.uid, Session: id, Home: env.home, Env: env.vars,
		EnvPass: set.EnvPass.Strings(), Withheld: h.withheld, Now: h.app.now, Notice: h.notice,
	}
	if h.place != "local" {
		var err error
		if c.Confine, err = h.app.confinement(h.project); err != nil {
			return nil, err
		}
	}
	s, err := substrate.Open(c)
	if err != nil {
		return nil, err
	}
	h.app.emergency.owns(s)
	where := s.Describe()
	switch {
	case confined(where):
		return s, nil
	case set.Sandbox.V == project.SandboxRequired:
		err = fmt.Errorf("confinement is required (%s) and there is none: %s", set.Sandbox.From, strings.Join(where.Limits, "; "))
	case h.place == "sandbox":
		err = fmt.Errorf("--substrate sandbox: %s", strings.Join(where.Limits, "; "))
	default:
		return s, nil
	}
	return nil, errors.Join(usageError(err, "car doctor"), s.Close())
}

// hold says in a few words where commands run and what holds them.
func hold(s tool.Substrate) string {
	where := s.Describe()
	if !confined(where) {
		return s.Name()
	}
	return fmt.Sprintf("%s (%s)", s.Name(), where.Confinement)
}
