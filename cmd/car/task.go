package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/assistant"
	"car/internal/assistant/llm"
	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

// taskOptions say how one run of a session goes.
type taskOptions struct {
	check string
	// infer asks for a check that was found here; suggested says that check is one.
	infer, suggested bool
	// pictures are files or addresses that go with the task.
	pictures []string
	images   []llm.Image
	maxIter  int
	maxTurns int
	strict   bool
	resume   string
	newest   bool
	// fork goes on with a copy of the session that was named.
	fork bool
	// noSave keeps nothing of a new session.
	noSave bool
	// schema is the file whose JSON schema the answer follows; shape what it holds.
	schema string
	shape  *assistant.Shape
}

func bindTask(cmd *cobra.Command, o *taskOptions) {
	f := cmd.Flags()
	f.IntVar(&o.maxIter, "goal-max-iterations", 0, "at most `N` iterations with --until (default 10)")
	f.IntVar(&o.maxTurns, "max-turns", 0, "at most `N` inferences (default 50)")
	f.BoolVar(&o.strict, "strict-model", false, "the model of --model and no other")
	f.BoolVar(&o.noSave, "no-save", false, "keep nothing of the session when it has ended")
	f.StringVar(&o.schema, "json-schema", "", "the answer must be JSON that follows the schema in this `file`")
	bindResume(cmd, o)
	cmd.MarkFlagsMutuallyExclusive("no-save", "resume")
	cmd.MarkFlagsMutuallyExclusive("no-save", "continue")
}

// bindResume declares how to go on with a session.
func bindResume(cmd *cobra.Command, o *taskOptions) {
	f := cmd.Flags()
	f.StringVar(&o.resume, "resume", "", "go on with the session whose id begins with `ID`")
	f.BoolVarP(&o.newest, "continue", "c", false, "go on with the newest session of this project")
	f.BoolVar(&o.fork, "fork", false, "with --resume or --continue: go on with a copy, and leave the session as it is")
	cmd.MarkFlagsMutuallyExclusive("resume", "continue")
}

// task is one run of a session, from its input to its terminal event. Close it.
type task struct {
	*session
	log *runLog
	ask attending
	// gone says that nothing of the session is kept.
	gone bool
	// verbose tells more at the end.
	verbose bool
}

// run gives the session an input and follows it to its end, handing every event
// to each. An error of each ends the run; the outcome is worth an exit code.
func (t *task) run(ctx context.Context, p prompt, o taskOptions, each func(assistant.Event) error) (assistant.Outcome, error) {
	events, leave := t.conv.Subscribe(0)
	defer leave()
	if err := t.conv.Send(ctx, t.input(p, o)); err != nil {
		return assistant.Outcome{}, err
	}
	var broken error
	for {
		select {
		case e, open := <-events:
			if !open {
				return t.conv.Outcome(), errors.Join(broken, errors.New("the session ended before its run did"))
			}
			t.log.add(e)
			t.ask.see(e, t.conv)
			if broken == nil {
				if broken = each(e); broken != nil {
					t.conv.Cancel() // nobody listens any more; what runs is ended and recorded
				}
			}
			if e.Body.Kind().Terminal() {
				return t.ended(), broken
			}
		case line, open := <-t.ask.lines():
			if !open {
				t.ask.left(t.conv)
				continue
			}
			t.ask.answer(line, t.conv)
		}
	}
}

// ended is the outcome of the run whose terminal event was seen: it is settled
// once nothing runs, which follows at once.
func (t *task) ended() assistant.Outcome {
	_ = t.conv.Wait(context.Background())
	return t.conv.Outcome()
}

func (t *task) input(p prompt, o taskOptions) assistant.Input {
	in := assistant.Input{Text: p.text, Context: p.data, Images: o.images}
	if o.strict {
		in.Model = t.house.models.flag
	}
	if o.check != "" {
		in.Goal = &assistant.Goal{Check: o.check, MaxIterations: o.maxIter, Typed: !o.suggested}
		if in.Goal.Typed {
			in.Goal.Check = t.checkHere(o.check)
		}
	}
	return in
}

// checkHere is a check for commands run at the root, which typed in a folder below
// means that folder: `--check ./check.sh` is the file that the person sees.
func (t *task) checkHere(check string) string {
	below, err := filepath.Rel(t.house.project.Root, t.house.project.Cwd)
	if err != nil || below == "." {
		return check
	}
	cd := "cd '" + strings.ReplaceAll(below, "'", `'\''`) + "' && "
	if strings.ContainsAny(check, ";&|<#\n") { // more than one command, or a comment at the end
		return cd + "{\n" + check + "\n}"
	}
	return cd + check
}

// header says at the start which model, where hands act and what holds them (P-GUARD-7).
func (t *task) header(w io.Writer) {
	spec, why := t.house.models.choice()
	if spec != "" {
		fmt.Fprintf(w, "· %s, %s\n", safe.Line(spec), why)
	}
	where := t.room.substrate.Describe()
	fmt.Fprintf(w, "· %s\n", strings.Join(append([]string{hold(t.room.substrate) + " in " + safe.Line(t.house.project.Root)}, where.Limits...), ", "))
	if t.house.tier != ir.TierUnset {
		fmt.Fprintf(w, "· %s is granted for this run\n", t.house.tier)
	}
}

// sandbox is the same for the document of --json.
func (t *task) sandbox() docSandbox {
	where := t.room.substrate.Describe()
	tier := t.house.tier
	if tier == ir.TierUnset {
		tier = ir.ReadOnly
		if confined(where) {
			tier = ir.SandboxEdit
		}
	}
	network := "host"
	if confined(where) && tier < ir.FullAccess {
		network = "off"
	}
	return docSandbox{Mode: t.room.substrate.Name(), Network: network, Tier: tier.String(), Root: where.Root,
		Confinement: where.Confinement, FallbackNotice: strings.Join(where.Limits, "; ")}
}

// readShape reads the file of --json-schema; a bad one ends before anything runs.
func (o *taskOptions) readShape(a *app) error {
	if o.schema == "" {
		return nil
	}
	raw, err := os.ReadFile(a.absolute(o.schema))
	if err == nil {
		o.shape, err = assistant.NewShape(raw)
	}
	if err != nil {
		return usageError(fmt.Errorf("--json-schema %s: %w", o.schema, err))
	}
	return nil
}
