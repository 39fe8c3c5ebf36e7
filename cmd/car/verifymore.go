package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/engine/verify"
	"car/internal/engine/verify/input"
	"car/internal/engine/verify/montecarlo"
	"car/internal/engine/verify/plan"
	"car/internal/engine/verify/render"
	"car/internal/engine/verify/workflow"
)

func newSimulateCommand(a *app) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "simulate PROPOSAL.json",
		Short: "Tell the state that a proposal would leave; runs nothing",
		Long: "Walks through a proposal as the engine would, taking each tool at its declared effects,\n" +
			"and prints the state at the end. What would not run is told on stderr, with why.",
		Example: "  car simulate --state state.json proposal.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, opts, err := a.readVerify(cmd, o, args[0])
			if err != nil {
				return err
			}
			sim := verify.Simulate(p, opts)
			if !o.json {
				if _, err := io.WriteString(a.io.err, render.BlockedActions(sim, a.pageStyle(a.io.errTTY))); err != nil {
					return err
				}
			}
			return a.tell(cmd.OutOrStdout(), o.json, sim, func(s render.Style) string { return render.Simulation(opts.State, sim, s) })
		},
	}
	bindVerify(cmd, &o)
	return cmd
}

func newOptimizeCommand(a *app) *cobra.Command {
	var state string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "optimize PROPOSAL.json",
		Short: "Leave out the dependencies that no action of a proposal fulfils",
		Long: "Prints the proposal without the state dependencies that none of its actions writes;\n" +
			"nothing else changes. What was left out, and which keys the state has to hold for both\n" +
			"proposals to do the same, is told on stderr. With --state only keys that this state\n" +
			"holds are left out, so that both do the same from there.",
		Example: "  car optimize proposal.json > better.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneStdin(args[0], state); err != nil {
				return err
			}
			p, perr := a.readProposal(args[0])
			from, serr := a.readState(state)
			if err := errors.Join(perr, serr); err != nil {
				return err
			}
			result := verify.Optimize(p)
			if from != nil {
				result = verify.OptimizeFor(p, from)
			}
			if asJSON {
				return writeJSONLine(cmd.OutOrStdout(), result)
			}
			if _, err := io.WriteString(a.io.err, render.Optimization(result, a.pageStyle(a.io.errTTY))); err != nil {
				return err
			}
			out, err := json.MarshalIndent(result.Proposal, "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", out)
			return err
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "the state before the first action: a JSON object in this `FILE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document instead of text")
	return cmd
}

func newEquivalentCommand(a *app) *cobra.Command {
	var states string
	var noDerive, asJSON bool
	cmd := &cobra.Command{
		Use:   "equivalent ONE.json OTHER.json",
		Short: "Tell whether two proposals leave the same state",
		Long: "Walks through both from the same states and compares what they leave. The states are\n" +
			"those of --states, or two plain ones, and others made from the conditions of both.\n" +
			"A difference comes with the state that shows it and exit code 1; sameness speaks of\n" +
			"the states that were tried.",
		Example: "  car equivalent one.json other.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneStdin(args[0], args[1], states); err != nil {
				return err
			}
			pair, err := a.readProposals(args)
			if err != nil {
				return err
			}
			o := verify.EquivalenceOptions{Derive: !noDerive}
			if err := a.readInto(states, &o.States); err != nil {
				return err
			}
			e := verify.Equivalent(pair[0], pair[1], o)
			if err := a.tell(cmd.OutOrStdout(), asJSON, e, func(s render.Style) string { return render.Equivalence(e, s) }); err != nil {
				return err
			}
			return failUnless(e.Equivalent)
		},
	}
	f := cmd.Flags()
	f.StringVar(&states, "states", "", "the states to start from: a JSON array of objects in this `FILE`")
	f.BoolVar(&noDerive, "no-derive", false, "try no states beside those")
	f.BoolVar(&asJSON, "json", false, "one JSON document instead of text")
	return cmd
}

// readInto decodes a JSON file; no file leaves the value alone.
func (a *app) readInto(file string, into any) error {
	if file == "" {
		return nil
	}
	text, err := a.readInput(file)
	if err != nil {
		return err
	}
	if err := input.Decode(text, into); err != nil {
		return inFile(file, text, err)
	}
	return nil
}

func newMontecarloCommand(a *app) *cobra.Command {
	var state, goalFile, rates string
	var asJSON, exact bool
	var least float64
	cfg := montecarlo.DefaultConfig()
	cmd := &cobra.Command{
		Use:   "montecarlo PROPOSAL.json",
		Short: "Tell how likely a proposal is to reach its goal when tools may fail",
		Long: "Walks through a proposal many times; each call succeeds as often as its tool does. The\n" +
			"same seed gives the same numbers. A rate that is not given is a half.",
		Example: "  car montecarlo --rates rates.json --goal goal.json proposal.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneStdin(args[0], state, goalFile, rates); err != nil {
				return err
			}
			if least < 0 || least > 1 {
				return usageError(fmt.Errorf("--min-goal: %g is not between 0 and 1", least))
			}
			if least > 0 && goalFile == "" {
				return usageError(errors.New("--min-goal needs a goal; say it with --goal"))
			}
			var in montecarlo.Input
			p, perr := a.readProposal(args[0])
			var serr, gerr error
			in.State, serr = a.readState(state)
			in.Goal, gerr = a.readGoalFile(goalFile)
			if err := errors.Join(perr, serr, gerr, a.readInto(rates, &in.Rates)); err != nil {
				return err
			}
			if exact {
				cfg.Method = montecarlo.Exact
			}
			r, err := montecarlo.Run(cmd.Context(), p, in, cfg)
			if err != nil {
				return usageError(err)
			}
			if err := a.tell(cmd.OutOrStdout(), asJSON, r, func(s render.Style) string { return render.Chances(r, s) }); err != nil {
				return err
			}
			return failUnless(r.PGoalReached == nil || *r.PGoalReached >= least)
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "the state before the first action: a JSON object in this `FILE`")
	f.StringVar(&goalFile, "goal", "", "what the proposal is for: a condition or a goal in this `FILE`")
	f.StringVar(&rates, "rates", "", "success rates: an object from tool to a number of 0 to 1 in this `FILE`")
	f.IntVar(&cfg.Trials, "trials", cfg.Trials, "walk through it this `number` of times")
	f.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "where the draws start")
	f.IntVar(&cfg.RetryAttempts, "retries", 0, "try a failed call again up to this `number` of times")
	f.BoolVar(&exact, "exact", false, "go through every outcome instead of drawing some")
	f.Float64Var(&least, "min-goal", 0, "exit 1 below this `probability` of the goal")
	f.BoolVar(&asJSON, "json", false, "one JSON document instead of text")
	return cmd
}

func newPlanCommand(a *app) *cobra.Command {
	var proposal, state string
	var partial, asJSON bool
	check := &cobra.Command{
		Use:     "check [PLAN.json]",
		Short:   "Tell whether every step can be taken and the goal holds at the end",
		Example: "  car plan check plan.json\n  car plan check --proposal proposal.json --partial",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.readPlan(args, proposal, state, partial)
			if err != nil {
				return err
			}
			found, err := plan.Check(r)
			if err != nil {
				return usageError(err)
			}
			if err := a.tell(cmd.OutOrStdout(), asJSON, found, func(s render.Style) string { return render.Plan(found, s) }); err != nil {
				return err
			}
			return failUnless(found.AchievesGoal)
		},
	}
	f := check.Flags()
	f.StringVar(&proposal, "proposal", "", "make the plan of the proposal in this `FILE`")
	f.StringVar(&state, "state", "", "with --proposal, the state before the first action: a JSON object in this `FILE`")
	f.BoolVar(&partial, "partial", false, "ask for every order that the edges allow, not for one")
	f.BoolVar(&asJSON, "json", false, "one JSON document instead of text")
	return parentOf("plan", "Check a plan by what its steps need, add and delete", check)
}

// readPlan reads a plan, or makes one of a proposal.
func (a *app) readPlan(args []string, proposal, state string, partial bool) (plan.Request, error) {
	order := plan.Total
	if partial {
		order = plan.Partial
	}
	switch {
	case (proposal == "") == (len(args) == 0):
		return plan.Request{}, usageError(errors.New("give one plan, or one proposal with --proposal"), "car plan check --help")
	case proposal != "":
		if err := oneStdin(proposal, state); err != nil {
			return plan.Request{}, err
		}
		p, perr := a.readProposal(proposal)
		from, serr := a.readState(state)
		return plan.FromProposal(p, from, nil, order), errors.Join(perr, serr)
	case state != "":
		return plan.Request{}, usageError(errors.New("a plan names its own initial state; --state goes with --proposal"))
	}
	text, err := a.readInput(args[0])
	if err != nil {
		return plan.Request{}, err
	}
	r, err := plan.Decode(text)
	if err != nil {
		return r, inFile(args[0], text, err)
	}
	if partial {
		r.Order = order
	}
	return r, nil
}

func newWorkflowCommand(a *app) *cobra.Command {
	var policies string
	var asJSON bool
	check := &cobra.Command{
		Use:     "check WORKFLOW.json",
		Short:   "Tell where a graph of stages can go, and whether rules hold on every path",
		Example: "  car workflow check workflow.json --policies rules.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneStdin(args[0], policies); err != nil {
				return err
			}
			w, rules, err := a.readWorkflow(args[0], policies)
			if err != nil {
				return err
			}
			doc := struct {
				workflow.Report
				Policies *workflow.PolicyReport `json:"policies,omitempty"`
			}{Report: workflow.Check(w)}
			if policies != "" {
				r, err := workflow.CheckPolicies(w, rules)
				if err != nil {
					return usageError(fmt.Errorf("%s: %w", policies, err))
				}
				doc.Policies = &r
			}
			if err := a.tell(cmd.OutOrStdout(), asJSON, doc, func(s render.Style) string { return render.Workflow(doc.Report, doc.Policies, s) }); err != nil {
				return err
			}
			return failUnless(doc.Valid && (doc.Policies == nil || doc.Policies.OK))
		},
	}
	check.Flags().StringVar(&policies, "policies", "", "rules about the order of stages in this `FILE`")
	check.Flags().BoolVar(&asJSON, "json", false, "one JSON document instead of text")
	return parentOf("workflow", "Check a graph of stages", check)
}

func (a *app) readWorkflow(file, policies string) (workflow.Graph, []workflow.Policy, error) {
	text, err := a.readInput(file)
	if err != nil {
		return workflow.Graph{}, nil, err
	}
	w, err := workflow.Decode(text)
	if err != nil {
		return w, nil, inFile(file, text, err)
	}
	if policies == "" {
		return w, nil, nil
	}
	if text, err = a.readInput(policies); err != nil {
		return w, nil, err
	}
	rules, err := workflow.DecodePolicies(text)
	if err != nil {
		return w, nil, inFile(policies, text, err)
	}
	return w, rules, nil
}

// parentOf is a word that only leads to others.
func parentOf(word, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: word, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(children...)
	return cmd
}

// toolSchemas are the tools that a session here would have, without those of MCP servers.
func (h *house) toolSchemas() (list []ir.ToolSchema, err error) {
	id, err := newSessionID()
	if err != nil {
		return nil, err
	}
	sub, err := h.openSubstrate(id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sub.Close()) }()
	box, err := h.toolbox(tool.Bindings{Events: logView{}, Todos: &todoList{}, Describe: sub.Describe(),
		Network: h.project.Settings.Tools.Network.V, Search: h.search()})
	if err != nil {
		return nil, err
	}
	return box.Schemas(), nil
}
