package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"car/internal/assistant"
	"car/internal/tui/safe"
)

// doOptions are the flags of `car do` (D-14).
type doOptions struct {
	house   houseOptions
	words   []string
	demo    bool
	format  format
	input   inputFormat
	task    taskOptions
	verbose bool
	out     io.Writer
}

func newDoCommand(a *app) *cobra.Command {
	var o doOptions
	cmd := &cobra.Command{
		Use:   "do [TASK]…",
		Short: "Do one task and end",
		Long: "Gives a task to the model and ends when it is done. The answer goes to stdout, what\n" +
			"happens on the way to stderr. TASK is what you would say; @FILE takes it from a file,\n" +
			"and `-` reads stdin: alone it is the task, beside words it is data for it.\n\n" +
			"Without a terminal nobody can be asked, so what needs an answer is refused; --allow\n" +
			"and --tier say beforehand what may run.\n\n" +
			"A program attends with --input-format stream-json --output-format stream-json: it reads\n" +
			"the events and writes one JSON object a line to stdin,\n" +
			"  {\"type\":\"approve\",\"approval_id\":\"…\",\"decision\":\"once|session|deny|deny_and_stop\",\"reason\":\"…\"}\n" +
			"  {\"type\":\"steer\",\"text\":\"…\"}   {\"type\":\"cancel\"}\n" +
			"When stdin ends, nobody attends any more, and what needs an answer is refused.",
		Example: "  car do \"fix the failing test\"\n  car do --until \"go test ./...\" \"make the tests pass\"\n" +
			"  git diff | car do \"review this\" -\n  car do --demo",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words, o.out = args, cmd.OutOrStdout()
			return a.documented(o.format, o.out, func() error { return a.do(cmd.Context(), o) })
		},
	}
	bindHouse(cmd, &o.house)
	bindOutput(cmd, &o.format)
	bindTask(cmd, &o.task)
	f := cmd.Flags()
	f.StringVar(&o.task.check, "until", "", "repeat until this shell `command` exits 0")
	f.BoolVar(&o.task.infer, "infer-until", false, "like --until, with the check that the project's files name")
	cmd.MarkFlagsMutuallyExclusive("until", "infer-until")
	f.StringArrayVar(&o.task.pictures, "image", nil, "a picture that goes with the task, a `file` or an address; may be given again")
	f.Var(&o.input, "input-format", "stream-json: approve, steer and cancel by JSON lines on stdin (car help do)")
	f.BoolVar(&o.demo, "demo", false, "play a scripted model on a small project of its own; needs no key")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "tell more: decisions, tokens, what governs")
	cmd.MarkFlagsMutuallyExclusive("demo", "model")
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
	return cmd
}

func (a *app) do(ctx context.Context, o doOptions) error {
	if err := o.settle(a); err != nil {
		return err
	}
	var err error
	if o.task.images, err = readPictures(o.task.pictures); err != nil {
		return err
	}
	p, err := a.promptFor(&o)
	if err != nil {
		return err
	}
	h, err := a.openHouse(ctx, o.house)
	if err != nil {
		return err
	}
	return errors.Join(a.doIn(ctx, h, o, p), h.close())
}

// settle holds the flags against each other before anything is opened.
func (o *doOptions) settle(a *app) error {
	if err := o.house.settle(); err != nil {
		return err
	}
	switch {
	case o.input == inputStream && o.format != formatStream:
		return usageError(errors.New("--input-format stream-json answers events, and only --output-format stream-json shows them"))
	case o.input == inputStream && slices.Contains(o.words, stdinMark):
		return usageError(errors.New("stdin can be the prompt or answers, not both"), "--input-format stream-json @FILE")
	case o.task.schema != "" && (o.task.check != "" || o.task.infer):
		return usageError(errors.New("--json-schema is for an answer, and a goal's end is its check"))
	}
	return o.task.readShape(a)
}

// promptFor is the task: that of the command line, or the demo's.
func (a *app) promptFor(o *doOptions) (prompt, error) {
	if !o.demo {
		return a.readPrompt(o.words, o.input != "")
	}
	if len(o.words) > 0 {
		return prompt{}, usageError(errors.New("--demo brings its own task"))
	}
	return a.setUpDemo(&o.house)
}

func (a *app) doIn(ctx context.Context, h *house, o doOptions, p prompt) error {
	if err := h.models.check(); err != nil {
		return err
	}
	if o.task.infer {
		if err := h.suggestCheck(&o.task, p.text); err != nil {
			return err
		}
	}
	ask := a.attendWith(o.input)
	s, err := h.openSession(ctx, o.task, ask == nobody{})
	if err != nil {
		return err
	}
	t := &task{session: s, log: newRunLog(s.id, a.now()), ask: ask, gone: o.task.noSave, verbose: o.verbose}
	teller := a.storyFor(o)
	if o.format == formatText && !o.house.quiet {
		t.header(a.io.err)
		if o.task.check != "" { // what decides is said before anything is done for it
			fmt.Fprintf(a.io.err, "· the check: %s\n", safe.Line(o.task.check))
		}
	}
	outcome, err := t.run(ctx, p, o.task, func(e assistant.Event) error {
		teller.tell(e)
		if o.format == formatStream {
			return writeJSONLine(o.out, e)
		}
		return nil
	})
	closing := t.close()
	if o.task.noSave {
		closing = errors.Join(closing, h.deleteSession(context.WithoutCancel(ctx), s.id))
	}
	if err != nil {
		return errors.Join(err, closing)
	}
	if closing != nil {
		h.notice(closing.Error())
	}
	return a.report(h, t, o, outcome, codeOfCause(context.Cause(ctx)))
}

func (a *app) storyFor(o doOptions) story {
	switch {
	case o.format == formatJSON:
		return newJSONStory(a.io.err)
	case o.house.quiet:
		return silence{}
	default:
		return newPlainStory(a.io.err, o.verbose)
	}
}

// report leaves the answer on stdout and turns the outcome into the exit code. A run
// that was ended from outside has the code of what ended it, in the document too.
func (a *app) report(h *house, t *task, o doOptions, outcome assistant.Outcome, ended exitCode) error {
	code := exitCode(assistant.ExitCode(outcome))
	if ended != exitDone {
		code = ended
	}
	switch o.format {
	case formatJSON:
		d := documentOf(t.log, t.sandbox(), o.task, code)
		d.MCP = t.room.servers()
		if err := writeJSONLine(o.out, d); err != nil {
			return err
		}
	case formatText:
		if err := a.answer(o.out, t.log); err != nil {
			return err
		}
		a.ending(h, t, outcome)
	}
	if o.demo && code == exitRefused {
		// The refusal is what the demo is about; the code of a run like it is told.
		fmt.Fprintln(a.io.err, "· so a run of your own would exit 3 here (car help exit-codes)")
		code = exitDone
	}
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}
