package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"car/internal/engine"
	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

// planOptions say from which state car run starts, and what it does when a proposal fails.
type planOptions struct {
	// state is a file, given what it holds.
	state string
	given map[string]any
	// candidates are the values of the flag; further files follow as arguments.
	candidates []string
	replans    int
	compensate bool
}

func bindPlan(cmd *cobra.Command, o *planOptions) {
	f := cmd.Flags()
	f.StringVar(&o.state, "state", "", "start from the state in this `FILE`, a JSON object; the file is not changed")
	f.StringArrayVar(&o.candidates, "candidates", nil, "alternatives to the proposal: this `FILE` and those that follow")
	f.IntVar(&o.replans, "replan", 0, "put at most `N` of the candidates in the place of what failed, in their order")
	f.BoolVar(&o.compensate, "compensate", false, "when the proposal is aborted, run the compensations of what had succeeded")
}

// check takes the flags together; files counts the arguments.
func (o planOptions) check(files int) error {
	switch {
	case o.candidates == nil && files > 1:
		return usageError(errors.New("several files are alternatives: say --candidates before the second"), "car run A.json --candidates B.json C.json")
	case o.replans > 0 && o.candidates == nil:
		return usageError(errors.New("--replan needs the proposals to try: say them with --candidates"), "car run A.json --replan 1 --candidates B.json")
	}
	return nil
}

// readProposals decodes every file; one that is read from stdin can be one only.
func (a *app) readProposals(files []string) ([]ir.Proposal, error) {
	if i := slices.Index(files, stdinMark); i >= 0 && slices.Contains(files[i+1:], stdinMark) {
		return nil, usageError(errors.New("stdin can be one of the proposals only"))
	}
	proposals := make([]ir.Proposal, 0, len(files))
	var errs []error
	for _, file := range files {
		p, err := a.readProposal(file)
		errs = append(errs, err)
		proposals = append(proposals, p)
	}
	return proposals, errors.Join(errs...)
}

// readState reads the state that a proposal starts from; no file is none.
func (a *app) readState(file string) (map[string]any, error) {
	if file == "" {
		return nil, nil
	}
	text, err := a.readInput(file)
	if err != nil {
		return nil, err
	}
	if err := ir.CheckText(text); err != nil {
		return nil, inFile(file, text, err)
	}
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil || values == nil {
		return nil, usageError(fmt.Errorf("%s: the state is a JSON object of keys and values", file))
	}
	return values, nil
}

// perform runs the proposal as the flags say: alone, as the best of several, or with
// others to take its place.
func (r *engineRoom) perform(ctx context.Context, o planOptions, proposals []ir.Proposal, options engine.Options) (ir.ProposalResult, error) {
	if o.given != nil {
		if err := r.state.Replace(o.given); err != nil {
			return ir.ProposalResult{}, err
		}
	}
	switch {
	case o.replans > 0:
		rest := proposals[1:]
		r.runtime.SetReplan(engine.ReplanConfig{MaxReplans: o.replans, VerifyBeforeExecute: true}, func(context.Context, engine.ReplanRequest) (ir.Proposal, error) {
			if len(rest) == 0 {
				return ir.Proposal{}, errors.New("no candidate is left")
			}
			next := rest[0]
			rest = rest[1:]
			return next, nil
		})
		return r.runtime.Execute(ctx, proposals[0], options)
	case len(proposals) > 1:
		return r.runtime.PlanAndExecute(ctx, proposals, engine.PlanConfig{}, nil, options)
	default:
		return r.runtime.Execute(ctx, proposals[0], options)
	}
}

// printLineage says which proposals were offered, where it was more than one.
func printLineage(w io.Writer, result ir.ProposalResult) error {
	if len(result.ReplanLineage) < 2 {
		return nil
	}
	for _, e := range result.ReplanLineage {
		line := fmt.Sprintf("plan %d: %s %s", e.Generation, safe.Line(string(e.ProposalID)), e.Status)
		if e.RejectionReason != "" {
			line += ": " + safe.Line(e.RejectionReason)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// printCompensations says what was made good, and what was not.
func printCompensations(w io.Writer, result ir.ProposalResult) error {
	for _, c := range result.Compensations {
		line := fmt.Sprintf("%s made good %-10s %s", mark(c.Status == ir.Succeeded.String()), safe.Line(string(c.ActionID)), c.Status)
		if c.Error != "" {
			line += ": " + safe.Line(c.Error)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
