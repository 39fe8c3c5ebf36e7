package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/engine/policy"
	"car/internal/tui/safe"
)

func newPolicyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Look at the rules that govern, and at what they would say",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyListCommand(a), newPolicyCheckCommand(a), newPolicyExplainCommand(a), newPolicyTestCommand(a), newPolicySuggestCommand(a))
	return cmd
}

func newPolicyListCommand(a *app) *cobra.Command {
	var o houseOptions
	cmd := &cobra.Command{
		Use: "list", Short: "List the rules in force, with file and line", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withHouse(cmd.Context(), o, func(h *house) error { return listRules(cmd.OutOrStdout(), h.rules) })
		},
	}
	bindPlace(cmd, &o)
	return cmd
}

func newPolicyCheckCommand(a *app) *cobra.Command {
	var o houseOptions
	cmd := &cobra.Command{
		Use: "check", Short: "Read every file that governs and say whether all of it means something", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withHouse(cmd.Context(), o, func(h *house) error {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d files, all understood\n", len(h.project.Files))
				return err
			})
		},
	}
	bindPlace(cmd, &o)
	return cmd
}

// bindPlace declares the flags of commands that only look at a project.
func bindPlace(cmd *cobra.Command, o *houseOptions) {
	cmd.Flags().StringVar(&o.dir, "dir", "", "the project's `folder` (default: the working directory)")
}

// withHouse opens a house for something that is quickly done.
func (a *app) withHouse(ctx context.Context, o houseOptions, do func(*house) error) error {
	h, err := a.openHouse(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(do(h), h.close())
}

// listRules prints one line a rule: where it stands and what it is called.
func listRules(w io.Writer, files []policy.RuleFile) error {
	for _, f := range files {
		note := ""
		if f.Untrusted {
			note = "  (what it allows waits for `car trust`)"
		}
		if _, err := fmt.Fprintf(w, "%s%s\n", safe.Line(f.Path), note); err != nil {
			return err
		}
		for _, key := range slices.SortedFunc(maps.Keys(f.Lines), func(x, y string) int { return f.Lines[x] - f.Lines[y] }) {
			if _, err := fmt.Fprintf(w, "  %4d  %s\n", f.Lines[key], safe.Line(key+ruleWords(f.Rules, key))); err != nil {
				return err
			}
		}
	}
	if len(files) == 0 {
		_, err := fmt.Fprintln(w, "no rules of your own; the built-in ones hold")
		return err
	}
	return nil
}

// ruleWords says what a command rule is about; other rules are told by their key.
func ruleWords(r policy.Rules, key string) string {
	var i int
	if _, err := fmt.Sscanf(key, "command[%d]", &i); err != nil || i >= len(r.Command) {
		return ""
	}
	c := r.Command[i]
	words := append([]string{c.Run}, c.Flags...)
	return fmt.Sprintf("  %s %s", c.Decide, strings.Join(append(words, c.Args...), " "))
}
