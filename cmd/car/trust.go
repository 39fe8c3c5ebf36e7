package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/assistant/project"
	"car/internal/assistant/store"
	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

type trustOptions struct {
	dir    string
	list   bool
	revoke bool
	out    io.Writer
}

func newTrustCommand(a *app) *cobra.Command {
	var o trustOptions
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Let this project's files allow what they say",
		Long: "Shows what the project's .car/ would allow or start, and asks. A yes is bound to the\n" +
			"content of each file as it is now, and to this folder: a changed file or a copy\n" +
			"elsewhere is not trusted. What the files forbid holds with or without it.",
		Example: "  car trust\n  car trust --list\n  car trust --revoke",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			return a.trust(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "the project's `folder` (default: the working directory)")
	f.BoolVar(&o.list, "list", false, "list what is trusted, everywhere")
	f.BoolVar(&o.revoke, "revoke", false, "take trust back from this project")
	cmd.MarkFlagsMutuallyExclusive("list", "revoke")
	return cmd
}

func (a *app) trust(ctx context.Context, o trustOptions) error {
	home, err := a.env.state()
	if err != nil {
		return err
	}
	db, err := a.openStore(ctx, home)
	if err != nil {
		return err
	}
	return errors.Join(a.trustIn(ctx, db, home, o), db.Close())
}

func (a *app) trustIn(ctx context.Context, db *store.DB, home string, o trustOptions) error {
	if o.list {
		return listTrust(ctx, db, o.out)
	}
	p, err := a.loadProject(ctx, home, o.dir, db)
	if err != nil {
		return err
	}
	if o.revoke {
		n, err := db.RevokeTrust(ctx, p.Root, "")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.out, "trust was taken back from %d files of %s\n", n, safe.Line(p.Root))
		return err
	}
	return a.giveTrust(ctx, db, p, o)
}

func (a *app) giveTrust(ctx context.Context, db *store.DB, p *project.Project, o trustOptions) error {
	waiting := p.Waiting()
	if len(waiting) == 0 {
		_, err := fmt.Fprintf(o.out, "nothing of %s waits for trust\n", safe.Line(p.Root))
		return err
	}
	digests := map[string]ir.Digest{}
	for _, f := range waiting {
		digests[f.Name] = f.Digest
		fmt.Fprintf(o.out, "%s  %s\n", safe.Line(f.Name), f.Digest[:16])
	}
	for _, i := range p.Ignored {
		if i.Waits {
			fmt.Fprintf(o.out, "  would count: %s (%s:%d)\n", safe.Line(i.Key), safe.Line(i.File), i.Line)
		}
	}
	if !a.io.inTTY {
		return &exitError{code: exitRefused, cause: errors.New("nobody is at the keyboard, and trust is never given by itself"),
			hints: []string{"car trust, in a terminal"}}
	}
	fmt.Fprintf(a.io.err, "trust these files as they are? type yes: ")
	line, err := bufio.NewReader(a.io.in).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "yes" {
		return &exitError{code: exitRefused, cause: errors.New("nothing was trusted")}
	}
	if err := db.TrustDigests(ctx, p.Root, digests); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.out, "trusted; a changed file has to be trusted again")
	return err
}

func listTrust(ctx context.Context, db *store.DB, w io.Writer) error {
	files, err := db.TrustedFiles(ctx, "")
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := fmt.Fprintf(w, "%s  %s  %s  %s\n", f.At.UTC().Format("2006-01-02 15:04"), f.Digest[:16], safe.Line(f.Root), safe.Line(f.Path)); err != nil {
			return err
		}
	}
	return nil
}
