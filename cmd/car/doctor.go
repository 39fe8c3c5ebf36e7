package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/assistant/project"
	"car/internal/assistant/store"
	"car/internal/tools/substrate"
	"car/internal/tui/safe"
)

type doctorOptions struct {
	dir string
	out io.Writer
}

func newDoctorCommand(a *app) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is in force here, and what is missing",
		Long: "Looks at everything a run would stand on: the state folder, the files that govern\n" +
			"this project, the model, and what confines commands. It changes nothing and asks no\n" +
			"model. The exit code is 0 when a run could start, else what the run would end with.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			return a.doctor(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "the project's `folder` (default: the working directory)")
	return cmd
}

// finding is one thing the doctor looked at.
type finding struct {
	ok   bool
	what string
	says []string
	// code is what a run would end with, where ok is false.
	code exitCode
}

func (a *app) doctor(ctx context.Context, o doctorOptions) error {
	findings := []finding{{ok: true, what: "car", says: []string{versionText()}}, a.examineTerminal()}
	home, err := a.env.state()
	if err != nil {
		return err
	}
	state, db := a.examineState(ctx, home)
	findings = append(findings, state)
	if db != nil {
		defer db.Close()
		p, err := a.loadProject(ctx, home, o.dir, db)
		if err == nil {
			_, err = gateFilesOf(p)
		}
		findings = append(findings, examineProject(p, err))
		if err == nil {
			findings = append(findings, a.examineModel(ctx, p), a.examineHands(p))
		}
	}
	code := exitDone
	for _, f := range findings {
		if err := printFinding(o.out, f); err != nil {
			return err
		}
		if !f.ok && code == exitDone {
			code = f.code
		}
	}
	if code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

func printFinding(w io.Writer, f finding) error {
	for i, line := range f.says {
		head := strings.Repeat(" ", 12)
		if i == 0 {
			head = fmt.Sprintf("%s %-10s", mark(f.ok), f.what)
		}
		if _, err := fmt.Fprintf(w, "%s%s\n", head, safe.Line(line)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) examineTerminal() finding {
	f := finding{ok: true, what: "terminal"}
	switch {
	case !a.io.inTTY || !a.io.outTTY:
		f.says = []string{"none: nobody can be asked, so what needs an answer is refused"}
	case a.env.term == "dumb":
		f.says = []string{"TERM=dumb: plain lines"}
	default:
		f.says = []string{fmt.Sprintf("%s, %d columns", a.env.term, a.io.columns)}
	}
	if a.env.noColor {
		f.says = append(f.says, "NO_COLOR is set")
	}
	return f
}

func (a *app) examineState(ctx context.Context, home string) (finding, *store.DB) {
	db, err := a.openStore(ctx, home)
	if err != nil {
		return finding{what: "state", says: []string{err.Error()}, code: codeOf(err)}, nil
	}
	f := finding{ok: true, what: "state", says: []string{home}}
	if text := db.Notice(); text != "" {
		f.says = append(f.says, text)
	}
	return f, db
}

func examineProject(p *project.Project, err error) finding {
	if err != nil {
		return finding{what: "project", says: strings.Split(err.Error(), "\n"), code: exitUsage}
	}
	f := finding{ok: true, what: "project", says: []string{p.Root}}
	for _, file := range p.Files {
		word := "governs"
		switch {
		case file.Changed:
			word = "tightens; changed since you trusted it"
		case !file.Trusted:
			word = "tightens; what it allows waits for `car trust`"
		}
		f.says = append(f.says, file.Path+"  "+word)
	}
	if len(p.Files) == 0 {
		f.says = append(f.says, "no rules of its own; the built-in ones hold (car init writes some)")
	}
	for _, i := range p.Ignored {
		f.says = append(f.says, fmt.Sprintf("%s:%d: %s %s", i.File, i.Line, i.Key, i.Why))
	}
	return f
}

func (a *app) examineModel(ctx context.Context, p *project.Project) finding {
	m := &models{env: a.env, settings: p.Settings, root: p.Root, now: a.now}
	spec, why := m.choice()
	if spec == "" {
		return finding{what: "model", code: exitNoProvider,
			says: strings.Split(strings.TrimRight(noProviderScreen(m.providerNames(), probe(ctx, localServers())), "\n"), "\n")}
	}
	f := finding{ok: true, what: "model", says: []string{spec + ", " + why}}
	name, model := m.split(spec)
	if name == "" {
		return finding{what: "model", code: exitUsage, says: []string{fmt.Sprintf("nobody knows which provider serves %q", spec)}}
	}
	if _, err := m.provider(name, model); err != nil {
		var coded *exitError
		f.ok, f.code, f.says = false, exitNoProvider, append(f.says, err.Error())
		if errors.As(err, &coded) {
			f.code = coded.code
		}
	}
	return f
}

// examineHands opens the place where hands act, as a run would, and closes it.
func (a *app) examineHands(p *project.Project) finding {
	id, err := newSessionID()
	if err != nil {
		return finding{what: "commands", says: []string{err.Error()}, code: exitFailed}
	}
	var noticed []string
	confinement, err := a.confinement(p)
	if err != nil {
		return finding{what: "commands", says: []string{err.Error()}, code: exitFailed}
	}
	sub, err := substrate.Open(substrate.Config{Root: p.Root, ScratchBase: a.env.temp, UID: a.env.uid, Session: id, Home: a.env.home,
		Env: a.env.vars, Now: a.now, Confine: confinement, Notice: func(text string) { noticed = append(noticed, text) }})
	if err != nil {
		return finding{what: "commands", says: []string{err.Error()}, code: codeOf(err)}
	}
	where := sub.Describe()
	f := finding{ok: true, what: "commands", says: append([]string{
		fmt.Sprintf("%s, run by %s, confinement: %s", sub.Name(), where.Dialect, where.Confinement)}, append(where.Limits, noticed...)...)}
	if p.Settings.Tools.Sandbox.V == project.SandboxRequired && !confined(where) {
		f.ok, f.code = false, exitUsage
		f.says = append(f.says, "confinement is required by "+p.Settings.Tools.Sandbox.From.String()+" and there is none")
	}
	if err := sub.Close(); err != nil {
		f.says = append(f.says, err.Error())
	}
	return f
}
