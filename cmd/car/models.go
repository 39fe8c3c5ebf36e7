package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"car/internal/assistant/llm"
	"car/internal/assistant/project"
	"car/internal/tui/safe"
)

type modelsOptions struct {
	dir string
	out io.Writer
}

func newModelsCommand(a *app) *cobra.Command {
	var o modelsOptions
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List the models that can be used here",
		Long: "Asks every provider that is configured, and servers on this machine, which models they\n" +
			"serve, and says which one a run would use and why. Nothing else is sent to them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			return a.models(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "the project's `folder` (default: the working directory)")
	return cmd
}

// listWait bounds the question for a server's models.
const listWait = 10 * time.Second

func (a *app) models(ctx context.Context, o modelsOptions) error {
	home, err := a.env.state()
	if err != nil {
		return err
	}
	db, err := a.openStore(ctx, home)
	if err != nil {
		return err
	}
	p, err := a.loadProject(ctx, home, o.dir, db)
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return a.listModels(ctx, p, o.out)
}

func (a *app) listModels(ctx context.Context, p *project.Project, w io.Writer) error {
	m := &models{env: a.env, settings: p.Settings, root: p.Root, now: a.now}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	local := probe(ctx, localServers())
	for _, s := range local {
		for _, model := range s.Models {
			if _, err := fmt.Fprintf(w, "%s/%s\n", s.Name, safe.Line(model)); err != nil {
				return err
			}
		}
	}
	for _, name := range m.providerNames() {
		if kind, known := providerOf(name); known && kind.local != "" {
			continue
		}
		if err := a.listProvider(ctx, m, name, w); err != nil {
			return err
		}
	}
	spec, why := m.choice()
	if spec == "" {
		fmt.Fprintf(a.io.err, "car: %s", noProviderScreen(m.providerNames(), local))
		return &exitError{code: exitNoProvider}
	}
	fmt.Fprintf(a.io.err, "· a run would use %s, %s\n", safe.Line(spec), safe.Line(why))
	return nil
}

// listProvider prints one provider's list; a provider that does not answer is said
// so and is no reason not to ask the others.
func (a *app) listProvider(ctx context.Context, m *models, name string, w io.Writer) error {
	p, err := m.provider(name, "")
	if err != nil {
		var e *llm.Error
		if errors.As(err, &e) && e.Reason == llm.AuthSignedOut {
			return nil // nobody asked for it
		}
		fmt.Fprintf(a.io.err, "· %s: %s\n", safe.Line(name), safe.Line(err.Error()))
		return nil
	}
	lister, ok := p.(llm.ModelLister)
	if !ok {
		return nil
	}
	list, err := lister.Models(ctx)
	if err != nil {
		fmt.Fprintf(a.io.err, "· %s: %s\n", safe.Line(name), safe.Line(err.Error()))
		return nil
	}
	for _, info := range list {
		window := ""
		if info.Window > 0 {
			window = fmt.Sprintf("  %d tokens", info.Window)
		}
		if _, err := fmt.Fprintf(w, "%s/%s%s\n", safe.Line(name), safe.Line(info.ID), window); err != nil {
			return err
		}
	}
	return nil
}
