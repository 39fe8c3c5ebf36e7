package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
	"car/internal/tui/safe"
)

// Limits of what is suggested.
const (
	// suggestFrom is how many effects are looked at, from the newest.
	suggestFrom = 5000
	// suggestAt is how often something was allowed before a rule for it is worth a line.
	suggestAt = 2
	// suggestShown is how many of the commands stand above a rule.
	suggestShown = 3
)

type suggestOptions struct {
	house houseOptions
	out   io.Writer
}

func newPolicySuggestCommand(a *app) *cobra.Command {
	var o suggestOptions
	cmd := &cobra.Command{
		Use: "suggest", Short: "Make rules of what you allowed again and again; writes nothing", Args: cobra.NoArgs,
		Long: "Looks at what people allowed in this project when they were asked, and prints rules that\n" +
			"would have let it run, each with the commands it is made of. Read them, keep what you\n" +
			"want and put it into a file of .car/policies/. A command that can not be taken back, and\n" +
			"one whose first words say too little, gets no rule.",
		Example: "  car policy suggest\n  car policy suggest > .car/policies/30-allowed.toml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			return a.withHouse(cmd.Context(), o.house, func(h *house) error { return h.suggest(cmd.Context(), o) })
		},
	}
	bindPlace(cmd, &o.house)
	return cmd
}

// habit is a kind of command that was allowed, and which ones.
type habit struct {
	times int
	texts []string
	// why says that no rule is made of it.
	why string
}

func (h *house) suggest(ctx context.Context, o suggestOptions) error {
	effects, err := h.db.PersonApproved(ctx, suggestFrom)
	if err != nil {
		return err
	}
	judge, err := h.policyFor(tool.Description{Root: h.project.Root, Dialect: "bash"}, nil)
	if err != nil {
		return err
	}
	habits, tools := map[string]habit{}, map[string]int{}
	for _, e := range effects {
		if e.Scope.RepositoryRoot != h.project.Root {
			continue
		}
		if text, ok := e.Scope.Parameters["command"].(string); ok && e.Scope.Tool == "shell" {
			remember(habits, judge, text)
		} else {
			tools[e.Scope.Tool]++
		}
	}
	return printHabits(o.out, habits, tools)
}

// remember counts every command of a text that needed a yes and has none from a rule.
func remember(habits map[string]habit, judge *policy.Policy, text string) {
	j := judge.Judge(ir.Action{ID: "allowed", Type: ir.ToolCall, Tool: "shell", Parameters: map[string]any{"command": text}}, tool.Effects{})
	if j.Verdict != policy.Ask {
		return // a rule covers it by now, or forbids it
	}
	for _, p := range j.Programs {
		if p.Tier <= ir.ReadOnly || len(p.Words) == 0 {
			continue
		}
		key, why := habitOf(p)
		if why == "" && j.AskAlways {
			why = "it is asked about whatever the rules allow"
		}
		if why == "" && j.Reversibility == ir.Irreversible {
			why = "it can not be taken back"
		}
		one := habits[key]
		one.times++
		one.why = firstOf(one.why, why)
		if !slices.Contains(one.texts, text) {
			one.texts = append(one.texts, text)
		}
		habits[key] = one
	}
}

// habitOf is the beginning of a command that a rule could be made of.
func habitOf(p policy.Program) (key, why string) {
	if len(p.Words) > 1 && isSubcommand(p.Words[1]) {
		return p.Words[0] + " " + p.Words[1], ""
	}
	return p.Words[0], "its first word alone would allow too much"
}

// isSubcommand tells a word such as push from an argument.
func isSubcommand(word string) bool {
	return word != "" && word[0] != '-' && strings.IndexFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != ':' }) < 0
}

func printHabits(w io.Writer, habits map[string]habit, tools map[string]int) error {
	var b strings.Builder
	for _, key := range byCount(habits, func(h habit) int { return h.times }) {
		h := habits[key]
		if h.times < suggestAt {
			continue
		}
		fmt.Fprintf(&b, "# allowed %d times:\n", h.times)
		for _, text := range h.texts[:min(len(h.texts), suggestShown)] {
			fmt.Fprintf(&b, "#   %s\n", safe.Line(text))
		}
		if more := len(h.texts) - suggestShown; more > 0 {
			fmt.Fprintf(&b, "#   and %d more\n", more)
		}
		if h.why != "" {
			fmt.Fprintf(&b, "# no rule for %s: %s\n\n", safe.Line(key), h.why)
			continue
		}
		fmt.Fprintf(&b, "[[command]]\nrun = %q\ndecide = \"allow\"\n\n", key)
	}
	for _, name := range byCount(tools, func(n int) int { return n }) {
		if tools[name] >= suggestAt {
			fmt.Fprintf(&b, "# %s was allowed %d times; --tier sandbox_edit, or s at the question, allows it for a session\n", safe.Line(name), tools[name])
		}
	}
	if b.Len() == 0 {
		b.WriteString("# nothing was allowed twice in this project, so there is nothing to suggest\n")
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// byCount sorts the most frequent first, and names alike.
func byCount[V any](m map[string]V, count func(V) int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := count(m[b]) - count(m[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}
