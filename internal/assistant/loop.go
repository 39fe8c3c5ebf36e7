package assistant

import (
	"context"
	"fmt"
	"strings"

	"car/internal/assistant/llm"
)

// thread is what a row of inferences has to remember until the model's answer is
// whole: what was shown of it so far, and how often it had to be asked to go on.
type thread struct {
	joined string
	// cuts, lengths and pauses are in a row; empties too.
	cuts, lengths, pauses, empties int
	// squeezed says that room was made because a provider said its window is full.
	squeezed bool
}

// converse runs steps until the model stops calling tools, and says how that
// ended: Done with its answer, or why there is none (A-LOOP-1).
func (r *run) converse(ctx context.Context) Body {
	var t thread
	for {
		if end := r.mayInfer(ctx); end != nil {
			return end
		}
		if r.steps >= r.maxSteps() {
			return r.sumUp(ctx)
		}
		r.steps++
		got, end := r.infer(ctx, llm.ToolChoice{})
		if f, ok := end.(Failure); ok && f.Code == CodeContext && !t.squeezed && f.Text == "" {
			t.squeezed = true
			changed, stop := r.compact(ctx, true)
			if stop != nil {
				return withText(stop, t.joined)
			}
			if changed {
				continue
			}
		}
		if end != nil {
			return withText(end, t.joined)
		}
		if end := r.take(ctx, &t, got); end != nil {
			return end
		}
	}
}

func (r *run) maxSteps() int {
	if r.c.opts.MaxSteps > 0 {
		return r.c.opts.MaxSteps
	}
	return maxSteps
}

// mayInfer looks at what could forbid another request.
func (r *run) mayInfer(ctx context.Context) Body {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	if end := r.overBudget(); end != nil {
		return end
	}
	return r.fits(ctx)
}

// take does what one reply asks for. nil means that the model is asked again.
func (r *run) take(ctx context.Context, t *thread, got inferred) Body {
	if got.cut {
		return r.takeCut(t, got.text)
	}
	t.cuts = 0
	reply := got.reply
	switch reply.Stop.Kind {
	case llm.StopRefusal:
		return r.takeRefusal(ctx, reply)
	case llm.StopContext:
		return r.takeFull(ctx, t, got)
	case llm.StopPause:
		return r.takePause(t, reply)
	case llm.StopLength:
		return r.takeLength(t, reply)
	case llm.StopOther:
		r.keepPart(got.text, markCut)
		return Failure{Code: CodeProvider, Text: t.joined + got.text,
			Error: fmt.Sprintf("%s ended its reply with %q, which is no end that is known; nothing of it was run", reply.Started.Model, reply.Stop.Raw)}
	}
	t.lengths, t.pauses = 0, 0
	if len(reply.Message.Calls()) > 0 {
		*t = thread{}
		return r.step(ctx, reply)
	}
	if strings.TrimSpace(got.text) == "" {
		return r.takeEmpty(t, reply)
	}
	r.reply(reply, "")
	return Done{Text: t.joined + got.text}
}

// reply keeps a model's whole message.
func (r *run) reply(reply llm.Reply, mark string) {
	with := r.choices[0]
	model := reply.Started.Model
	if model == "" {
		model = with.Model
	}
	r.c.script.add(row{entry: entry{Message: reply.Message, Kind: entryReply, Mark: mark}, turn: r.number,
		provider: with.Provider.Name(), model: model, lastResort: with.LastResort})
}

// takeCut keeps what was shown of a stream that broke off and asks to go on, twice
// at most (A-LLM-10).
func (r *run) takeCut(t *thread, text string) Body {
	r.keepPart(text, markCut)
	t.joined += text
	t.cuts++
	if t.cuts > maxCuts {
		return Failure{Code: CodeCut, Error: fmt.Sprintf("the connection to the model broke off %d times within one answer", t.cuts), Text: t.joined}
	}
	r.emit(Notice{Code: "cut", Text: "the connection broke off within the answer; asking the model to go on"})
	r.note("[The connection broke off after the text above. Nothing of it was run. Go on exactly where it stopped, without repeating it.]")
	return nil
}

// takeRefusal ends the run; the exchange is left out of later requests (A-LOOP-13).
func (r *run) takeRefusal(ctx context.Context, reply llm.Reply) Body {
	why := reply.Stop.Detail
	if why == "" {
		why = reply.Stop.Raw
	}
	end := Failure{Code: CodeRefused, Error: "the model declined to answer: " + why +
		"; this exchange is left out of what the model sees from now on, so rephrase it or choose another model", Text: r.c.svc.lens.text(reply.Message.Text())}
	if err := r.c.hide(context.WithoutCancel(ctx), r.number); err != nil {
		r.emit(Notice{Code: CodeStore, Text: "the refused exchange could not be left out: " + err.Error()})
	}
	return end
}

// takeFull makes room once when the window was full in mid-reply, and asks to go on (A-LOOP-12).
func (r *run) takeFull(ctx context.Context, t *thread, got inferred) Body {
	r.keepPart(got.text, markCut)
	t.joined += got.text
	if !t.squeezed {
		t.squeezed = true
		changed, end := r.compact(ctx, true)
		if end != nil {
			return withText(end, t.joined)
		}
		if changed {
			r.note("[The context window was full. Older messages are summarised now. Go on exactly where your last reply stopped; nothing of its calls was run.]")
			return nil
		}
	}
	return Failure{Code: CodeContext, Text: t.joined, Error: tooBig(r.request(r.choices[0], llm.ToolChoice{}), r.need(), r.window())}
}

// takePause sends a paused reply back as it is (A-LOOP-14).
func (r *run) takePause(t *thread, reply llm.Reply) Body {
	if t.pauses++; t.pauses > maxPauses {
		return Failure{Code: CodePaused, Error: fmt.Sprintf("the model paused %d times without going on", t.pauses), Text: t.joined}
	}
	t.joined += reply.Message.Text()
	if len(reply.Message.Parts) > 0 {
		r.reply(reply, "")
	}
	return nil
}

// takeLength handles a reply that met its output limit (A-LOOP-11). None of its
// calls runs: the last one is not whole, and the others come again with it.
func (r *run) takeLength(t *thread, reply llm.Reply) Body {
	text, calls := reply.Message.Text(), reply.Message.Calls()
	blank := strings.TrimSpace(text) == ""
	if blank && len(calls) == 0 {
		return Failure{Code: CodeTruncated, Text: t.joined, Error: fmt.Sprintf(
			"%s used its whole output limit on hidden reasoning and said nothing: raise max_tokens or lower the reasoning effort", r.choices[0].Model)}
	}
	if !blank {
		r.keepPart(text, markCut)
		t.joined += text
	}
	if t.lengths++; t.lengths > 1 {
		return Failure{Code: CodeTruncated, Text: t.joined, Error: fmt.Sprintf(
			"%s met its output limit twice in a row: raise max_tokens, or ask for a shorter answer or smaller pieces", r.choices[0].Model)}
	}
	if len(calls) > 0 {
		r.note(fmt.Sprintf("[Your reply met the output limit. None of its %d tool call(s) was run, because the last was cut. "+
			"Send the work again in smaller pieces, for example one file or one part of a file a call.]", len(calls)))
		return nil
	}
	r.note("[Your reply met the output limit. Go on exactly where it stopped, without repeating it.]")
	return nil
}

// takeEmpty asks again once; no empty turn enters history (A-LOOP-10).
func (r *run) takeEmpty(t *thread, reply llm.Reply) Body {
	if t.empties++; t.empties > 1 {
		return Failure{Code: CodeEmpty, Error: fmt.Sprintf(
			"%s answered twice with nothing (stop reason %q): try again, or choose another model", r.choices[0].Model, reply.Stop.Raw), Text: t.joined}
	}
	r.emit(Notice{Code: "empty_response", Text: "the model answered with nothing; asking once more"})
	return nil
}

// sumUp asks for one last answer without tools when the steps are used up (A-LOOP-9).
func (r *run) sumUp(ctx context.Context) Body {
	end := Failure{Code: CodeMaxTurns, Error: fmt.Sprintf("stopped after %d steps", r.steps)}
	r.note("[The limit of steps for this turn is reached. Without calling tools, say what was done, what is not done, and what the next step would be.]")
	got, failed := r.infer(ctx, llm.ToolChoice{Mode: llm.ToolNone})
	switch {
	case failed != nil && ctx.Err() != nil:
		return failed
	case failed != nil || got.cut:
		end.Text = got.text
		r.keepPart(got.text, markCut)
		return end
	}
	if end.Text = got.text; strings.TrimSpace(got.text) != "" {
		r.keepPart(got.text, "")
	}
	return end
}

func (r *run) window() int64 {
	if w := r.choices[0].Window; w > 0 {
		return w
	}
	return defaultWindow
}

// withText gives a failure the text that was shown before it.
func withText(end Body, text string) Body {
	if f, ok := end.(Failure); ok {
		f.Text = text + f.Text
		return f
	}
	return end
}
