package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
)

type initOptions struct {
	dir string
	all bool
	out io.Writer
}

func newInitCommand(a *app) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented .car/ folder",
		Long: "Writes .car/ with settings and rules, each with a comment that says what it does.\n" +
			"Keep what you want and delete the rest: what stands there governs. --all adds an\n" +
			"intent, labels for information flow and production gates. Nothing that exists is\n" +
			"changed.",
		Example: "  car init\n  car init --dir ../service",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			return a.init(o)
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "the project's `folder` (default: the working directory)")
	cmd.Flags().BoolVar(&o.all, "all", false, "every kind of file")
	return cmd
}

func (a *app) init(o initOptions) error {
	root := a.env.cwd
	if o.dir != "" {
		root = a.absolute(o.dir)
	}
	names, err := writeExample(root, o.all)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(o.out, filepath.Join(carFolder, name)); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.io.err, "read them, keep what you want, commit the folder; what its rules allow waits until you trust it")
	return nil
}
