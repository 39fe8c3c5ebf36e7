package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newGoalCommand is `car do --until` in the words of somebody who has a goal.
func newGoalCommand(a *app) *cobra.Command {
	var o doOptions
	cmd := &cobra.Command{
		Use:   "goal --check COMMAND OBJECTIVE…",
		Short: "Work until a check passes",
		Long: "Gives the objective to the model again and again until the check, a shell command,\n" +
			"exits 0. The check runs once before anything else, so that a goal that is reached\n" +
			"already costs nothing. A model that changes the check or the files it names ends the\n" +
			"goal: it is the one thing it may not touch.",
		Example: "  car goal --check \"go test ./...\" \"make the tests pass\"\n  car goal --check ./check.sh --goal-max-iterations 5 @objective.md\n  car goal --suggest \"make the tests pass\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.task.check == "" && !o.task.infer {
				return usageError(errors.New("a goal needs a check: a shell command that exits 0 when it is reached"), `car goal --check "go test ./..." "…"`)
			}
			o.words, o.out = args, cmd.OutOrStdout()
			return a.documented(o.format, o.out, func() error { return a.do(cmd.Context(), o) })
		},
	}
	bindHouse(cmd, &o.house)
	bindOutput(cmd, &o.format)
	bindTask(cmd, &o.task)
	f := cmd.Flags()
	f.StringVar(&o.task.check, "check", "", "the shell `command` that decides")
	f.BoolVar(&o.task.infer, "suggest", false, "take the check that the project's files name, and say which")
	cmd.MarkFlagsMutuallyExclusive("check", "suggest")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "tell more: decisions, tokens, what governs")
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
	return cmd
}
