package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRootCommand(a *app) *cobra.Command {
	var o chatOptions
	root := &cobra.Command{
		Use:   "car",
		Short: "A governed coding agent for the terminal",
		Long: "car works on the project in this directory with a model of your choice.\n" +
			"The model proposes; car checks every action against rules you can read, asks you\n" +
			"where they leave a question, runs it confined and keeps a record.\n\n" +
			"car alone, in a terminal, opens a conversation.",
		Example:       "  car do \"fix the failing test\"\n  git diff | car do \"review this\" -\n  car do --demo",
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := understood(cmd); err != nil {
				return err
			}
			a.reached = true
			return a.refuseChild(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.io.inTTY || !a.io.outTTY {
				return errors.Join(cmd.Help(), &exitError{code: exitUsage})
			}
			return a.chat(cmd.Context(), o)
		},
		Version: versionText(),
	}
	bindChat(root, &o)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(a.io.in)
	root.SetOut(a.io.out)
	root.SetErr(a.io.err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newChatCommand(a), newDoCommand(a), newGoalCommand(a), newRunCommand(a), newVerifyCommand(a), newSimulateCommand(a), newEquivalentCommand(a), newOptimizeCommand(a), newMontecarloCommand(a), newPlanCommand(a), newWorkflowCommand(a), newUndoCommand(a), newEventsCommand(a), newSessionsCommand(a), newLogCommand(a), newStatsCommand(a), newCostCommand(a), newDoctorCommand(a), newModelsCommand(a), newPolicyCommand(a), newApprovalsCommand(a), newRedactCommand(a), newTrustCommand(a), newInitCommand(a), newMCPCommand(a), newVersionCommand(), newExitCodesTopic())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseUnknownTopics(root)
	return root
}

// refuseUnknownTopics makes a word that names nothing an error of usage where
// cobra's own commands print a help text and succeed (U-CLI-3).
func refuseUnknownTopics(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args = cobra.NoArgs
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			show := cmd.Run
			cmd.Run = nil
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return usageError(fmt.Errorf("no help on %q", strings.Join(args, " ")), found.CommandPath()+" --help")
				}
				show(cmd, args)
				return nil
			}
		}
	}
}

// refuseChild keeps what car started from being a car that decides (law 8).
// Words about car itself stay free.
func (a *app) refuseChild(cmd *cobra.Command) error {
	if !a.env.child || cmd.Name() == "version" || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
		return nil
	}
	return &exitError{code: exitRefused,
		cause: errors.New("this shell was started by car, and what car governs can not run or approve anything through another car"),
		hints: []string{"run it in a terminal of your own"}}
}

var unknownFlag = regexp.MustCompile(`^unknown (?:shorthand )?flag: (?:--([^=\s]+)|'(.)')`)

// flagError makes a wrong flag a usage error that names the nearest right one (U-CLI-4).
func flagError(cmd *cobra.Command, err error) error {
	hints := []string{cmd.CommandPath() + " --help"}
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		if near := nearestFlags(cmd, m[1]); len(near) > 0 {
			hints = near
		}
	}
	return usageError(fmt.Errorf("%s: %w", cmd.CommandPath(), err), hints...)
}

// nearestFlags lets cobra's own search for misspelt commands look through flags.
func nearestFlags(cmd *cobra.Command, typed string) []string {
	search := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			search.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	var near []string
	for _, name := range search.SuggestionsFor(typed) {
		near = append(near, cmd.CommandPath()+" --"+name)
	}
	return near
}
