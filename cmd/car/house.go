package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"car/internal/assistant/project"
	"car/internal/assistant/store"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/tui/safe"
)

// house is what every session of a process stands on: the person's folder, the
// project with what governs it, the database, the model and the authority that
// was granted. Close it.
type house struct {
	app *app
	// home is $CAR_HOME.
	home string
	// project is fixed when the process starts (D-32).
	project *project.Project
	db      *store.DB
	models  *models
	// tier is a standing authority for this process; unset is none.
	tier ir.Tier
	// place is where commands run: auto, local or sandbox.
	place string
	rules []policy.RuleFile
	files gateFiles
	// spans is the file that spans are added to; empty is none.
	spans string
	// watched says that a person sees what runs, so that a command that takes long may go
	// on as a job (T-SHELL-10).
	watched bool
	// notice tells the person something that changes nothing.
	notice func(text string)
}

// houseOptions are the flags that commands which work in a project share.
type houseOptions struct {
	dir   string
	model string
	tier  ir.Tier
	full  bool
	// network off takes the network from tools, whatever the settings say; else they decide.
	network string
	window  int64
	allow   []string
	// scenario is the text of a scripted model that is in no file.
	scenario []byte
	spans    string
	quiet    bool
	// substrate is where hands act, by its word; local is the same as that word.
	substrate string
	local     bool
}

func (a *app) openHouse(ctx context.Context, o houseOptions) (_ *house, err error) {
	h := &house{app: a, tier: o.tier, place: o.substrate}
	if o.spans != "" {
		h.spans = a.absolute(o.spans)
	}
	h.notice = func(text string) {
		if !o.quiet {
			fmt.Fprintf(a.io.err, "· %s\n", safe.Line(text))
		}
	}
	if h.home, err = a.env.state(); err != nil {
		return nil, err
	}
	if h.db, err = a.openStore(ctx, h.home); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if text := h.db.Notice(); text != "" {
		h.notice(text)
	}
	if h.project, err = a.loadProject(ctx, h.home, o.dir, h.db); err != nil {
		return nil, err
	}
	if h.files, err = gateFilesOf(h.project); err != nil {
		return nil, err
	}
	if text := h.project.Notice(); text != "" {
		h.notice(text)
	}
	allowed, err := allowRules(o.allow)
	if err != nil {
		return nil, err
	}
	h.rules = append(allowed, h.project.Rules...)
	if o.network == "off" {
		h.project.Settings.Tools.Network.V = false
	}
	if h.tier == ir.TierUnset {
		h.tier = h.project.Settings.Tier.V
	}
	h.models = &models{env: a.env, settings: h.project.Settings, flag: o.model, window: o.window, scenario: o.scenario, root: h.project.Root, now: a.now}
	return h, nil
}

// openStore opens the database; one of a newer release is the person's to upgrade.
func (a *app) openStore(ctx context.Context, home string) (*store.DB, error) {
	db, err := store.Open(ctx, store.Config{Path: filepath.Join(home, "car.db"), Now: a.now, Holder: store.Self()})
	var newer *store.NewerError
	if errors.As(err, &newer) {
		return nil, usageError(err)
	}
	return db, err
}

// loadProject finds and reads what governs a folder. Anything that is wrong with
// it is set-up, and nothing runs (P-GUARD-6).
func (a *app) loadProject(ctx context.Context, home, dir string, db *store.DB) (*project.Project, error) {
	cwd := a.env.cwd
	if dir != "" {
		cwd = a.absolute(dir)
	}
	p, err := project.Load(ctx, project.Config{Cwd: cwd, Home: a.env.home, CarHome: home, Env: os.LookupEnv, Trust: trustOf(db)})
	if err != nil {
		return nil, usageError(err)
	}
	return p, nil
}

// absolute is a path as the person typed it, from where they stand.
func (a *app) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.env.cwd, path)
}

// trustOf looks trust up in the database.
func trustOf(db *store.DB) func(context.Context, string, string, ir.Digest) (trusted, known bool, err error) {
	return func(ctx context.Context, root, name string, digest ir.Digest) (bool, bool, error) {
		trusted, err := db.Trusted(ctx, root, name, digest)
		if err != nil || trusted {
			return trusted, trusted, err
		}
		files, err := db.TrustedFiles(ctx, root)
		for _, f := range files {
			if f.Path == name {
				return false, true, err
			}
		}
		return false, false, err
	}
}

// allowRules are the --allow flags as the rules they stand for: each names a
// program and its leading words.
func allowRules(allow []string) ([]policy.RuleFile, error) {
	if len(allow) == 0 {
		return nil, nil
	}
	file := policy.RuleFile{Path: "--allow"}
	for _, run := range allow {
		file.Rules.Command = append(file.Rules.Command, policy.CommandRule{Run: run, Decide: policy.Allow.String(), Reason: "allowed on the command line"})
	}
	if err := file.Rules.Check(); err != nil {
		return nil, usageError(fmt.Errorf("--allow: %w", err))
	}
	return []policy.RuleFile{file}, nil
}

// newSessionID names a session; ids are ordered in time.
func newSessionID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

func (h *house) close() error { return h.db.Close() }
