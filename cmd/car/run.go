package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

type runOptions struct {
	house houseOptions
	// files are the proposal and, with candidates or replan, its alternatives.
	files []string
	plan  planOptions
	json  bool
	out   io.Writer
}

func newRunCommand(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run PROPOSAL.json [--candidates A.json B.json…]",
		Short: "Run a proposal from a file",
		Long: "Runs a proposal as the engine runs a model's: checked, judged, recorded. A gate's\n" +
			"refusal holds back all of it; the policy's holds back that action and what depends on\n" +
			"it, and the others run. Nobody is asked; what would need an answer is refused unless\n" +
			"--tier or --allow covers it. `-` reads the proposal from stdin. What a proposal\n" +
			"that is aborted did to files comes back; what one that ends well did, car undo with\n" +
			"its session takes back.\n\n" +
			"With --candidates the proposals are alternatives: they run from the most promising\n" +
			"down until one succeeds whole, and what one that fails did to state and files is taken\n" +
			"back first. With --replan N the first runs, and each of the next N takes its place when\n" +
			"an action failed, after every check that a first proposal passes.",
		Example: "  car run proposal.json\n  car run --json --tier sandbox_edit - < proposal.json\n" +
			"  car run first.json --candidates second.json third.json\n  car run first.json --replan 2 --candidates second.json third.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files, o.out = append(args[:1:1], append(o.plan.candidates, args[1:]...)...), cmd.OutOrStdout()
			if err := o.plan.check(len(args)); err != nil {
				return err
			}
			return a.run(cmd.Context(), o)
		},
	}
	bindHouse(cmd, &o.house)
	bindPlan(cmd, &o.plan)
	cmd.Flags().BoolVar(&o.json, "json", false, "the whole result as JSON")
	return cmd
}

func (a *app) run(ctx context.Context, o runOptions) error {
	if err := o.house.settle(); err != nil {
		return err
	}
	proposals, err := a.readProposals(o.files)
	if err != nil {
		return err
	}
	if o.plan.given, err = a.readState(o.plan.state); err != nil {
		return err
	}
	h, err := a.openHouse(ctx, o.house)
	if err != nil {
		return err
	}
	return errors.Join(a.runIn(ctx, h, o, proposals), h.close())
}

func (a *app) runIn(ctx context.Context, h *house, o runOptions, proposals []ir.Proposal) error {
	id, err := newSessionID()
	if err != nil {
		return err
	}
	room, err := h.openEngine(ctx, id, nil)
	if err != nil {
		return err
	}
	if !o.json {
		h.notice("session " + id)
	}
	options := engine.Options{Session: id, Refusal: engine.RefuseProposal, Compensate: o.plan.compensate}
	result, err := room.perform(ctx, o.plan, proposals, options)
	if err := errors.Join(err, room.close(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if err := printResult(o, result); err != nil {
		return err
	}
	if code := codeOfResult(result); code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

// readProposal decodes strictly: every problem with its path, and nothing runs.
func (a *app) readProposal(file string) (ir.Proposal, error) {
	text, err := a.readInput(file)
	if err != nil {
		return ir.Proposal{}, err
	}
	p, err := ir.DecodeProposal(text, ir.Defaults{Now: a.now, NewID: func() string {
		return strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	}})
	if err != nil {
		return p, inFile(file, text, err)
	}
	return p, nil
}

// maxInputBytes bounds a file of JSON that a person names (V-CLI-2).
const maxInputBytes = 16 << 20

// readInput reads a file that the person named, or stdin.
func (a *app) readInput(file string) ([]byte, error) {
	in := io.Reader(a.io.in)
	if file != stdinMark {
		f, err := os.Open(a.absolute(file))
		if err != nil {
			return nil, usageError(err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInputBytes+1))
	if err != nil {
		return nil, usageError(fmt.Errorf("read %s: %w", file, err))
	}
	if len(text) > maxInputBytes {
		return nil, usageError(fmt.Errorf("%s is larger than 16 MiB", file))
	}
	return text, nil
}

func printResult(o runOptions, result ir.ProposalResult) error {
	if o.json {
		return writeJSONLine(o.out, result)
	}
	names := map[ir.ActionID]string{}
	for _, a := range result.FinalProposal.Actions {
		names[a.ID] = firstOf(a.Tool, a.Type.String())
	}
	if err := printLineage(o.out, result); err != nil {
		return err
	}
	for _, r := range result.Results {
		_, err := fmt.Fprintf(o.out, "%s %-10s %-9s %s  %s\n", mark(r.Status == ir.Succeeded), safe.Line(string(r.ActionID)), r.Status,
			safe.Line(names[r.ActionID]), (time.Duration(r.DurationMS) * time.Millisecond).String())
		if err != nil {
			return err
		}
		text := r.Error
		if text == "" {
			text = ir.Render(r.Output)
		}
		if err := indented(o.out, text); err != nil {
			return err
		}
	}
	return printCompensations(o.out, result)
}

func indented(w io.Writer, text string) error {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "    %s\n", safe.Line(line)); err != nil {
			return err
		}
	}
	return nil
}

// codeOfResult: what was refused outranks what failed, since nothing of it happened.
func codeOfResult(result ir.ProposalResult) exitCode {
	code := exitDone
	for _, r := range result.Results {
		switch r.Status {
		case ir.Succeeded:
		case ir.Rejected:
			return exitRefused
		default:
			code = exitFailed
		}
	}
	return code
}
