package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
	"car/internal/tools"
	"car/internal/tools/substrate"
	"car/internal/tui/safe"
)

type explainOptions struct {
	house houseOptions
	tool  string
	text  string
	json  bool
	out   io.Writer
}

func newPolicyExplainCommand(a *app) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [TOOL] PARAMETERS",
		Short: "Say what would become of a call, and why; runs nothing",
		Long: "Judges a call as a run here would: the commands in it, the authority it needs, whether\n" +
			"it can be taken back, each rule that spoke, and the verdict. PARAMETERS is a JSON\n" +
			"object; for shell it may be the command itself, and TOOL be left out.",
		Example: "  car policy explain 'git push --force'\n  car policy explain write_file '{\"path\": \"../x\", \"content\": \"\"}'",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				args = []string{"shell", args[0]}
			}
			o.tool, o.text, o.out = args[0], args[1], cmd.OutOrStdout()
			if err := o.house.settle(); err != nil {
				return err
			}
			return a.withHouse(cmd.Context(), o.house, func(h *house) error { return h.explain(cmd.Context(), o) })
		},
	}
	bindHouse(cmd, &o.house)
	cmd.Flags().BoolVar(&o.json, "json", false, "the judgement as JSON")
	return cmd
}

func (h *house) explain(ctx context.Context, o explainOptions) (err error) {
	env := h.app.env
	id, err := newSessionID()
	if err != nil {
		return err
	}
	sub, err := substrate.Open(substrate.Config{Root: h.project.Root, ScratchBase: env.temp, UID: env.uid, Session: id, Home: env.home, Env: env.vars, Now: h.app.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.Close()) }()
	judge, err := h.policyFor(sub.Describe(), sub.FS())
	if err != nil {
		return err
	}
	set, err := tools.New(tool.Bindings{Events: logView{}, Todos: &todoList{}, Describe: sub.Describe()})
	if err != nil {
		return err
	}
	action, effects, err := statedCall(o, set)
	if err != nil {
		return err
	}
	j := judge.Judge(action, effects)
	gates, err := h.gates(sub.Describe(), sub.FS(), set, nil)
	if err != nil {
		return err
	}
	opinions := opinionsOf(ctx, gates, action, effects, j)
	if o.json {
		return writeJSONLine(o.out, map[string]any{"verdict": j.Verdict, "tier": j.Tier.Needed(), "reversibility": j.Reversibility, "commands": j.Commands,
			"targets": j.Targets, "hosts": j.Hosts, "network": j.Network, "violations": j.Violations, "message": j.Message(), "gates": opinions})
	}
	return errors.Join(printJudgement(o.out, j), printOpinions(o.out, opinions))
}

// opinion is what one gate says of the call by itself, in a session that has read nothing.
type opinion struct {
	Gate    string         `json:"gate"`
	Verdict policy.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
}

// opinionsOf asks the gates about a call that policy does not deny anyway. A gate
// that errs denies, as it would in a run.
func opinionsOf(ctx context.Context, gates []admit.Gate, a ir.Action, e tool.Effects, j policy.Judgement) []opinion {
	list := []opinion{}
	if j.Verdict == policy.Deny {
		return list
	}
	view := admit.View{Proposal: ir.Proposal{ID: "explained", Actions: []ir.Action{a}},
		Judged: map[ir.ActionID]policy.Judgement{a.ID: j}, Effects: map[ir.ActionID]tool.Effects{a.ID: e}}
	for _, g := range gates {
		said, err := g.Check(ctx, view)
		if err != nil {
			said = admit.Opinion{Reason: err.Error()}
		}
		one := opinion{Gate: g.Name(), Verdict: said.Verdict, Reason: said.Reason}
		for _, question := range said.Escalations {
			one.Reason = strings.TrimPrefix(one.Reason+"; "+question.Reason, "; ")
		}
		list = append(list, one)
	}
	return list
}

// printOpinions tells the gates that do not simply allow, and that the others do.
func printOpinions(w io.Writer, list []opinion) error {
	var fine []string
	for _, one := range list {
		if one.Verdict == policy.Allow {
			fine = append(fine, one.Gate)
			continue
		}
		if _, err := fmt.Fprintf(w, "%-14s %s (gate %s)\n", one.Verdict, safe.Line(one.Reason), safe.Line(one.Gate)); err != nil {
			return err
		}
	}
	if len(fine) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "gates allow    %s\n", safe.Line(strings.Join(fine, ", ")))
	return err
}

// statedCall is the call that the person wrote down, with what its tool declares of it.
func statedCall(o explainOptions, set *tools.Set) (ir.Action, tool.Effects, error) {
	params := map[string]any{}
	switch text := strings.TrimSpace(o.text); {
	case strings.HasPrefix(text, "{"):
		if err := json.Unmarshal([]byte(text), &params); err != nil {
			return ir.Action{}, tool.Effects{}, usageError(fmt.Errorf("PARAMETERS is not a JSON object: %w", err))
		}
	case o.tool == "shell":
		params["command"] = o.text
	default:
		return ir.Action{}, tool.Effects{}, usageError(fmt.Errorf("PARAMETERS of %s is a JSON object", o.tool), `car policy explain `+o.tool+` '{"…": "…"}'`)
	}
	a := ir.Action{ID: "explained", Type: ir.ToolCall, Tool: o.tool, Parameters: params}
	t, ok := set.Lookup(o.tool)
	if !ok {
		return a, tool.Effects{}, usageError(fmt.Errorf("there is no tool %q", o.tool), "tools: "+strings.Join(set.Names(), ", "))
	}
	effects, err := t.Effects(tool.Call{Tool: o.tool, Params: params})
	if err != nil {
		return a, effects, usageError(err)
	}
	return a, effects, nil
}

// verdictMeans and tierMeans say the words of a judgement to a person who does not
// know them.
func verdictMeans(v policy.Verdict) string {
	switch v {
	case policy.Allow:
		return "it runs without a question"
	case policy.Ask:
		return "it runs only after a person has said yes to it"
	}
	return "nothing of it runs, and no approval changes that"
}

func tierMeans(t ir.Tier) string {
	switch t {
	case ir.ReadOnly:
		return "it only looks"
	case ir.SandboxEdit:
		return "it changes files of the project and nothing else"
	}
	return "it reaches beyond the project, or what it does can not be told"
}

func printJudgement(w io.Writer, j policy.Judgement) error {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict        %s: %s\n", j.Verdict, verdictMeans(j.Verdict))
	fmt.Fprintf(&b, "needs          %s: %s\n", j.Tier.Needed(), tierMeans(j.Tier.Needed()))
	fmt.Fprintf(&b, "taken back     %s\n", j.Reversibility)
	for _, c := range j.Commands {
		line := fmt.Sprintf("%s, %s", c.Tier.Needed(), c.Reversibility)
		if c.Reason != "" {
			line += ": " + safe.Line(c.Reason)
		}
		fmt.Fprintf(&b, "command        %s\n               %s\n", safe.Line(c.Text), line)
	}
	for _, t := range j.Targets {
		fmt.Fprintf(&b, "changes        %s\n", safe.Line(t))
	}
	if j.Network {
		fmt.Fprintf(&b, "network        %s\n", safe.Line(firstOf(strings.Join(j.Hosts, ", "), "a host that the text does not name")))
	}
	for _, r := range j.Reasons {
		place := ""
		if r.File != "" {
			place = fmt.Sprintf(", %s:%d", r.File, r.Line)
		}
		fmt.Fprintf(&b, "%-14s %s (rule %s%s)\n", r.Verdict, safe.Line(r.Text), safe.Line(r.Rule), safe.Line(place))
		if r.WayOut != "" {
			fmt.Fprintf(&b, "               %s\n", safe.Line(r.WayOut))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
