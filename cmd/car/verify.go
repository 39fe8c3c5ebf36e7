package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/render"
	"car/internal/engine/verify/schema"
	"car/internal/tui/safe"
)

// verifyOptions are the flags that the commands of static verification share (V-CLI-1).
type verifyOptions struct {
	house              houseOptions
	state, tools, goal string
	json               bool
	maxActions         int
	strict             bool
}

func newVerifyCommand(a *app) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify PROPOSAL.json",
		Short: "Tell what is wrong with a proposal before it runs; runs nothing",
		Long: "Checks a proposal as the engine does before it runs one, and says of each fault what\n" +
			"caused it and what to do. It says too what it can not know. The tools are those of\n" +
			"this project, without those of MCP servers; --tools gives others. `-` is stdin.\n\n" +
			"The exit code is 0 when no finding is an error, 1 when one is, 2 when the input can not\n" +
			"be read.",
		Example: "  car verify proposal.json\n  car verify --state state.json --goal goal.json proposal.json\n  car verify --json - < proposal.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verifyProposal(cmd, o, args[0])
		},
	}
	bindVerify(cmd, &o)
	cmd.Flags().StringVar(&o.goal, "goal", "", "what the proposal is for: a condition or a goal in this `FILE`")
	cmd.Flags().IntVar(&o.maxActions, "max-actions", verify.DefaultMaxActions, "warn above this `number` of actions")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "take warnings as errors")
	return cmd
}

// bindVerify declares what every command over a proposal takes.
func bindVerify(cmd *cobra.Command, o *verifyOptions) {
	bindPlace(cmd, &o.house)
	f := cmd.Flags()
	f.StringVar(&o.state, "state", "", "the state before the first action: a JSON object in this `FILE`")
	f.StringVar(&o.tools, "tools", "", "the tools there are: an array of tool schemas or names, or an object from name to schema, in this `FILE`")
	f.BoolVar(&o.json, "json", false, "one JSON document instead of text")
}

func (a *app) verifyProposal(cmd *cobra.Command, o verifyOptions, file string) error {
	p, opts, err := a.readVerify(cmd, o, file)
	if err != nil {
		return err
	}
	r := verify.Verify(p, opts)
	if err := a.tell(cmd.OutOrStdout(), o.json, r, func(s render.Style) string { return render.Verification(p, r, s) }); err != nil {
		return err
	}
	return failUnless(r.Valid && !(o.strict && len(r.Warnings()) > 0))
}

// readVerify reads every file of a command. Stdin can be one of them only.
func (a *app) readVerify(cmd *cobra.Command, o verifyOptions, files ...string) (ir.Proposal, verify.Options, error) {
	var opts verify.Options
	if err := oneStdin(append(files, o.state, o.tools, o.goal)...); err != nil {
		return ir.Proposal{}, opts, err
	}
	p, perr := a.readProposal(files[0])
	var serr, terr, gerr error
	opts.State, serr = a.readState(o.state)
	opts.Goal, gerr = a.readGoalFile(o.goal)
	opts.MaxActions = o.maxActions
	if perr == nil {
		opts.ToolNames, opts.Schemas, terr = a.knownTools(cmd, o)
	}
	return p, opts, errors.Join(perr, serr, gerr, terr)
}

// oneStdin refuses two files that are both stdin.
func oneStdin(files ...string) error {
	n := 0
	for _, f := range files {
		if f == stdinMark {
			n++
		}
	}
	if n > 1 {
		return usageError(errors.New("stdin can be one of the files only"))
	}
	return nil
}

// readGoalFile reads what a plan is for; no file asks nothing.
func (a *app) readGoalFile(file string) (*goal.Condition, error) {
	if file == "" {
		return nil, nil
	}
	text, err := a.readInput(file)
	if err != nil {
		return nil, err
	}
	c, err := goal.Decode(text)
	if err != nil {
		return nil, inFile(file, text, err)
	}
	return &c, nil
}

// knownTools are those of a file, or the ones that a session here would have. MCP
// servers are left out: asking them would start them.
func (a *app) knownTools(cmd *cobra.Command, o verifyOptions) ([]string, *schema.Set, error) {
	if o.tools != "" {
		text, err := a.readInput(o.tools)
		if err != nil {
			return nil, nil, err
		}
		r, err := schema.DecodeTools(text)
		if err != nil {
			return nil, nil, inFile(o.tools, text, err)
		}
		if r.Schemas == nil && !o.json {
			fmt.Fprintf(a.io.err, "car: %s gives names alone, so parameters are not checked\n", safe.Line(o.tools))
		}
		return r.Names, r.Schemas, nil
	}
	var set *schema.Set
	var names []string
	err := a.withHouse(cmd.Context(), o.house, func(h *house) error {
		list, err := h.toolSchemas()
		if err != nil {
			return err
		}
		for _, t := range list {
			names = append(names, t.Name)
		}
		set = schema.NewSet(list)
		return nil
	})
	return names, set, err
}

// inFile names the file of a problem, and the line where the text itself is at fault
// (V-CLI-2).
func inFile(file string, text []byte, err error) error {
	var at *ir.PathError
	if errors.As(err, &at) && at.Offset > 0 {
		line, column := position(text, at.Offset)
		return usageError(fmt.Errorf("%s:%d:%d: %w", file, line, column, at))
	}
	return usageError(fmt.Errorf("%s: %w", file, err))
}

// position is the line and column, from 1, of the last byte that was read.
func position(text []byte, read int) (line, column int) {
	line, column = 1, 1
	for _, b := range text[:min(max(read-1, 0), len(text))] {
		column++
		if b == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// tell writes a result as one document or as text for people.
func (a *app) tell(w io.Writer, asJSON bool, result any, text func(render.Style) string) error {
	if asJSON {
		return writeJSONLine(w, result)
	}
	_, err := io.WriteString(w, text(a.pageStyle(a.io.outTTY)))
	return err
}

// pageStyle is how text may look on a stream (V-CLI-3).
func (a *app) pageStyle(tty bool) render.Style {
	s := render.Style{Width: safe.Width, Escape: safe.Line}
	if tty {
		s.Columns = a.io.columns
		s.Color = !a.env.noColor && a.env.term != "dumb"
		s.Boxes = s.Color
	}
	return s
}

// failUnless is exit 1 for what was already told.
func failUnless(good bool) error {
	if good {
		return nil
	}
	return &exitError{code: exitFailed}
}
