package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"car/internal/assistant/project"
	"car/internal/engine/policy"
	"car/internal/engine/policy/trial"
	"car/internal/tui/safe"
)

type policyTestOptions struct {
	house houseOptions
	files []string
	json  bool
	out   io.Writer
}

func newPolicyTestCommand(a *app) *cobra.Command {
	var o policyTestOptions
	cmd := &cobra.Command{
		Use:   "test [FILE]…",
		Short: "Try the rules on calls whose answers are known; runs nothing",
		Long: "Judges each case by the rules in force here and compares the answer. A case is a\n" +
			"[[case]] of a .toml file or a line of a .jsonl file: id, input {tool, params}, setup,\n" +
			"tier, verdict, match (equal or at_least). What setup names is built in a throwaway\n" +
			"folder, whose root, home and outside a case calls {{ROOT}}, {{HOME}} and {{OUT}}; there\n" +
			"nothing is confined and no tier is granted. Without FILE it reads\n" +
			".car/policies/tests.toml. The exit code is 1 when an answer is not the right one.",
		Example: "  car policy test\n  car policy test cases.toml rows.jsonl\n  car policy test --json rows.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files, o.out = args, cmd.OutOrStdout()
			return a.withHouse(cmd.Context(), o.house, func(h *house) error { return h.testPolicy(cmd.Context(), o) })
		},
	}
	bindPlace(cmd, &o.house)
	cmd.Flags().BoolVar(&o.json, "json", false, "one JSON object a case: id, tier, verdict, reasons")
	return cmd
}

func (h *house) testPolicy(ctx context.Context, o policyTestOptions) error {
	if len(o.files) == 0 {
		o.files = []string{filepath.Join(h.project.Root, project.FolderName, "policies", "tests.toml")}
	}
	var cases []trial.Case
	for _, name := range o.files {
		found, err := h.readCases(name)
		if err != nil {
			return err
		}
		cases = append(cases, found...)
	}
	set := h.project.Settings
	cfg := trial.Config{Temp: h.app.env.temp, Rules: h.rules, Posture: set.Posture.V, ReadOutside: set.Tools.ReadOutside.V}
	report := trialReport{o: o, classes: map[string]classTally{}}
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		answer, err := trial.Run(cfg, c)
		if err != nil {
			return usageError(fmt.Errorf("case %s: %w", c.ID, err))
		}
		if err := report.add(c, answer); err != nil {
			return err
		}
	}
	return report.end()
}

// readCases reads the cases of a file by its ending.
func (h *house) readCases(name string) ([]trial.Case, error) {
	path := h.app.absolute(name)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError(err)
	}
	switch filepath.Ext(path) {
	case ".jsonl":
		return linesOfCases(name, data)
	case ".toml":
		return tableOfCases(name, data)
	}
	return nil, usageError(fmt.Errorf("%s: cases are read from .toml and .jsonl files", name))
}

func linesOfCases(name string, data []byte) ([]trial.Case, error) {
	var cases []trial.Case
	var errs []error
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		c, err := trial.DecodeLine(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, i+1, err))
			continue
		}
		cases = append(cases, c)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, usageError(err)
	}
	return cases, nil
}

func tableOfCases(name string, data []byte) ([]trial.Case, error) {
	var file struct {
		Case []trial.Case `toml:"case"`
	}
	lines, err := project.Decode(name, data, &file)
	if err != nil {
		return nil, usageError(err)
	}
	var errs []error
	for i, c := range file.Case {
		key := fmt.Sprintf("case[%d]", i)
		if err := c.Check(); err != nil {
			errs = append(errs, &project.Error{File: name, Line: lines[key], Key: key, Problem: err.Error()})
		}
		if c.ID == "" {
			file.Case[i].ID = fmt.Sprintf("%s:%d", filepath.Base(name), lines[key])
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, usageError(err)
	}
	return file.Case, nil
}

// classTally counts the cases of a class.
type classTally struct{ good, all, ideal, ideals int }

// trialReport prints answers as they come and remembers them for the table.
type trialReport struct {
	o       policyTestOptions
	classes map[string]classTally
	wrong   int
}

// trialLine is a case on the wire.
type trialLine struct {
	ID      string         `json:"id"`
	Tier    string         `json:"tier"`
	Verdict policy.Verdict `json:"verdict"`
	Reasons []string       `json:"reasons"`
}

func (r *trialReport) add(c trial.Case, a trial.Answer) error {
	t := r.classes[c.Class]
	t.all++
	if a.Good {
		t.good++
	} else {
		r.wrong++
	}
	if c.Ideal != "" {
		t.ideals++
		if a.Ideal {
			t.ideal++
		}
	}
	r.classes[c.Class] = t
	switch {
	case r.o.json:
		line := trialLine{ID: c.ID, Tier: a.Tier.String(), Verdict: a.Verdict, Reasons: []string{}}
		for _, reason := range a.Reasons {
			line.Reasons = append(line.Reasons, strings.TrimPrefix(reason.Rule+": "+reason.Text, ": "))
		}
		return writeJSONLine(r.o.out, line)
	case !a.Good:
		want := strings.TrimSpace(strings.Join([]string{c.Match, c.Verdict, c.Tier}, " "))
		_, err := fmt.Fprintf(r.o.out, "%s %s  %s %s\n    want %s, got %s %s\n", mark(false), safe.Line(c.ID), safe.Line(c.Input.Tool), safe.Line(c.Brief()), safe.Line(want), a.Verdict, a.Tier)
		if err != nil {
			return err
		}
		return indented(r.o.out, a.Message())
	}
	return nil
}

// end prints the table; an answer that is not the right one fails the command.
func (r *trialReport) end() error {
	if !r.o.json {
		if err := r.table(); err != nil {
			return err
		}
	}
	if r.wrong > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (r *trialReport) table() error {
	t := tabwriter.NewWriter(r.o.out, 0, 0, 2, ' ', 0)
	var sum classTally
	row := func(name string, c classTally) {
		ideal := ""
		if c.ideals > 0 {
			ideal = fmt.Sprintf("%d of %d ideal", c.ideal, c.ideals)
		}
		fmt.Fprintf(t, "%s\t%d of %d\t%s\n", safe.Line(firstOf(name, "(no class)")), c.good, c.all, ideal) // a failed write is told by Flush
	}
	for _, name := range slices.Sorted(maps.Keys(r.classes)) {
		c := r.classes[name]
		sum = classTally{sum.good + c.good, sum.all + c.all, sum.ideal + c.ideal, sum.ideals + c.ideals}
		row(name, c)
	}
	row("all", sum)
	return t.Flush()
}
