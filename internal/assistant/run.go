package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"car/internal/assistant/claim"
	"car/internal/assistant/llm"
	"car/internal/assistant/store"
	"car/internal/engine/eventlog"
)

// run is one input on its way to its terminal event: a chat turn, or a goal with
// all its iterations. It is driven by the conversation's worker; only mu's fields
// are touched by others.
type run struct {
	c *Conversation
	// cancel ends the run's context; a person does that from outside.
	cancel context.CancelCauseFunc
	input  waitingInput
	// number is the turn's; started says that its row exists.
	number  int
	started bool
	begun   time.Time

	// choices are the models of the run, the one in use first; strict has one.
	choices []Choice
	// inferences counts requests to models, calls the tool calls, steps the steps of
	// this turn or iteration.
	inferences, calls, steps int
	// checks counts the runs of a goal's check.
	checks   int
	spent    spending
	watch    watch
	findings []claim.Finding

	mu       sync.Mutex
	receipts []claim.Receipt // of this run, for its report
	refusals []Refusal
	stopped  string // who ended the turn with "deny and stop", and why
}

func newRun(c *Conversation, in waitingInput, cancel context.CancelCauseFunc) *run {
	return &run{cancel: cancel, c: c, input: in, number: int(c.number.Load()), begun: c.svc.cfg.Now(),
		watch: watch{off: c.svc.cfg.NoLoopWatch}}
}

func (r *run) emit(body Body) { r.c.emit(body) }

// execute brings the run to its end and says which. Whatever happens inside, there
// is an end (A-SVC-10).
func (r *run) execute(ctx context.Context) (end Body) {
	defer func() {
		if p := recover(); p != nil {
			end = Failure{Code: CodeInternal, Error: fmt.Sprintf("internal error: %v\n%s", p, debug.Stack())}
		}
	}()
	if end := r.prepare(ctx); end != nil {
		return end
	}
	if r.input.Goal != nil {
		return r.pursue(ctx)
	}
	return r.chat(ctx)
}

// prepare makes the session ready for the run's first words.
func (r *run) prepare(ctx context.Context) Body {
	word := ""
	if r.input.Goal != nil {
		word = "goal "
	}
	if err := r.c.load(ctx); err != nil {
		return r.failure(ctx, CodeStore, fmt.Sprintf("durable %sresume failed: %v", transcriptWord(word), err))
	}
	n, err := r.c.svc.cfg.Store.StartTurn(ctx, r.c.id, r.kind())
	if err != nil {
		return r.failure(ctx, CodeStore, fmt.Sprintf("durable %sresume failed: %v", transcriptWord(word), err))
	}
	r.number, r.started = n, true
	r.c.number.Store(int64(n))
	if err := r.c.openRuntime(ctx); err != nil {
		return r.failure(ctx, CodeEngine, "the engine of the session did not open: "+err.Error())
	}
	r.record(eventlog.RunStarted, map[string]any{"kind": r.kind()})
	if err := r.reconcile(ctx); err != nil {
		return r.failure(ctx, CodeStore, fmt.Sprintf("durable %saction reconciliation failed: %v", word, err))
	}
	return nil
}

func transcriptWord(word string) string {
	if word == "" {
		return "transcript "
	}
	return word
}

func (r *run) kind() string {
	if r.input.Goal != nil {
		return "goal"
	}
	return "chat"
}

// failure is an end by an error, or the end of a canceled run: whatever broke in
// one, it was the person who ended it.
func (r *run) failure(ctx context.Context, code, text string) Body {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	return Failure{Code: code, Error: text}
}

// canceled is the end of a run that somebody ended from outside.
func canceled(ctx context.Context) Body {
	return Failure{Code: CodeCanceled, Error: context.Cause(ctx).Error()}
}

// openRuntime opens the engine of the session, once.
func (c *Conversation) openRuntime(ctx context.Context) error {
	if c.runtime != nil {
		return nil
	}
	rt, err := c.svc.cfg.Open(ctx, OpenRequest{Session: c.id, Root: c.opts.Root, Approver: c.asker})
	if err != nil {
		return err
	}
	if rt.Engine == nil {
		return errors.New("Config.Open returned no engine")
	}
	c.runtime = &rt
	c.fixed = c.fixedTokens()
	return nil
}

// models finds the models of the run: the one that the input names, and no other,
// or the configured ones (A-SVC-5).
func (r *run) models(ctx context.Context) Body {
	var err error
	if r.input.Model != "" {
		var one Choice
		one, err = r.c.svc.cfg.Models.Named(ctx, r.input.Model)
		r.choices = []Choice{one}
	} else {
		r.choices, err = r.c.svc.cfg.Models.Configured(ctx)
	}
	if err == nil && (len(r.choices) == 0 || r.choices[0].Provider == nil) {
		err = &llm.Error{Kind: llm.KindAuth, Reason: llm.AuthNoProvider}
	}
	if err != nil {
		return r.providerEnd(ctx, err, "")
	}
	return nil
}

// say adds a row to the transcript.
func (r *run) say(kind entryKind, m llm.Message, input int64) {
	r.c.script.add(row{entry: entry{Message: m, Kind: kind}, turn: r.number, input: input})
}

// note adds the runtime's own words to the model.
func (r *run) note(text string) { r.say(entryNote, llm.UserText(text), 0) }

// keep writes what was said so far, also when the run is being canceled.
func (r *run) keep(ctx context.Context) Body {
	if err := r.c.checkpoint(context.WithoutCancel(ctx)); err != nil {
		return r.failure(ctx, CodeStore, fmt.Sprintf("durable checkpoint failed before inference: %v", err))
	}
	return nil
}

// saveEnd writes the turn's row; what cannot be written is told and changes nothing.
func (r *run) saveEnd(ctx context.Context, end Body) {
	if err := r.c.checkpoint(ctx); err != nil {
		r.emit(Notice{Code: CodeStore, Text: "the end of this turn could not be kept: " + err.Error()})
	}
	if !r.started {
		return
	}
	terminal, err := json.Marshal(map[string]any{"kind": end.Kind().String(), "body": end})
	if err == nil {
		err = r.c.svc.cfg.Store.EndTurn(ctx, r.c.id, r.number, turnStatus(end), terminal)
	}
	if err != nil {
		r.emit(Notice{Code: CodeStore, Text: "the end of this turn could not be kept: " + err.Error()})
	}
}

func turnStatus(end Body) store.TurnStatus {
	f, failed := end.(Failure)
	switch {
	case failed && f.Code == CodeCanceled:
		return store.TurnCanceled
	case end.Kind() == KindDone:
		return store.TurnCompleted
	default:
		return store.TurnFailed
	}
}
