package assistant

import (
	"context"
	"errors"

	"car/internal/assistant/llm"
)

// providerEnd is the end of a run whose model cannot be had. text is what was shown.
func (r *run) providerEnd(ctx context.Context, err error, text string) Body {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	if end := authEnd(err); end != nil {
		return end
	}
	f := Failure{Code: CodeProvider, Error: err.Error(), Text: text}
	var e *llm.Error
	if !errors.As(err, &e) {
		return f
	}
	f.RetryAfterS = e.RetryAfter.Seconds()
	switch e.Kind {
	case llm.KindContext:
		f.Code = CodeContext
		if len(r.choices) > 0 {
			req := r.request(r.choices[0], llm.ToolChoice{})
			f.Error += "; " + tooBig(req, estimate(req), r.window())
		}
	case llm.KindRefused:
		f.Code = CodeRefused
		if err := r.c.hide(context.WithoutCancel(ctx), r.number); err != nil {
			r.emit(Notice{Code: CodeStore, Text: "the refused exchange could not be left out: " + err.Error()})
		}
	case llm.KindRateLimited:
		f.Code = CodeRateLimited
		if e.Advice == llm.AdviceNever { // a spent quota is no matter of waiting a little (P-STREAM-4)
			f.Code = CodeQuota
		}
	case llm.KindModelNotFound:
		f.Code = CodeModelNotFound
	}
	return f
}
