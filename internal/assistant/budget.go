package assistant

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"car/internal/assistant/llm"
)

// spending is what a run has used so far (A-LOOP-16).
type spending struct {
	total    Usage
	requests int
	micros   int64
	// unpriced says that some request had no known price, so that money is not all there is.
	unpriced bool
	warned   map[string]bool
}

func (s *spending) add(u Usage, micros *int64) {
	s.requests++
	s.total.Input += u.Input
	s.total.Output += u.Output
	s.total.CacheRead += u.CacheRead
	s.total.CacheWrite += u.CacheWrite
	s.total.Reasoning += u.Reasoning
	s.total.Estimated = s.total.Estimated || u.Estimated
	if micros == nil {
		s.unpriced = true
		s.total.CostUSD = nil
		return
	}
	s.micros += *micros
	if !s.unpriced {
		usd := float64(s.micros) / 1e6
		s.total.CostUSD = &usd
	}
}

// tokens counts what was sent and received, however it was cached.
func (s *spending) tokens() int64 {
	return s.total.Input + s.total.CacheRead + s.total.CacheWrite + s.total.Output
}

// limit is one budget of a run: what it is called, how much is used and allowed.
type limit struct {
	name          string
	used, allowed float64
}

func (r *run) limits() []limit {
	b := r.c.opts.Budget
	if b.ToolCalls == 0 {
		b.ToolCalls = budgetToolCalls
	}
	wall := r.c.svc.cfg.Now().Sub(r.begun)
	return []limit{
		{"tokens", float64(r.spent.tokens()), float64(b.Tokens)},
		{"requests", float64(r.spent.requests), float64(b.Requests)},
		{"tool calls", float64(r.calls), float64(b.ToolCalls)},
		{"wall-clock seconds", wall.Seconds(), b.Wall.Seconds()},
		{"cost in USD", float64(r.spent.micros) / 1e6, float64(b.CostMicros) / 1e6},
	}
}

// overBudget is the end of a run that has used up a budget, nil while there is room.
func (r *run) overBudget() Body {
	for _, l := range r.limits() {
		switch {
		case l.allowed <= 0:
		case l.used >= l.allowed:
			return Failure{Code: CodeBudget, Error: fmt.Sprintf("the budget of %g %s is used up", l.allowed, l.name)}
		case l.used >= l.allowed*budgetNotice && !r.spent.warned[l.name]:
			if r.spent.warned == nil {
				r.spent.warned = map[string]bool{}
			}
			r.spent.warned[l.name] = true
			r.emit(Notice{Code: "budget", Text: fmt.Sprintf("%.0f%% of the budget of %g %s is used", 100*l.used/l.allowed, l.allowed, l.name)})
		}
	}
	return nil
}

// tokensOf guesses the tokens of so many bytes of text (A-CTX-6).
func tokensOf(bytes int) int64 { return int64(float64(bytes)/3.5) + 1 }

// estimate guesses the tokens of a request from its size: 3.5 bytes a token where
// the text is Latin, fewer characters where it is not.
func estimate(req llm.Request) int64 {
	n := textTokens(req.System) + toolTokens(req.Tools)
	for _, m := range req.Messages {
		n += messageTokens(m)
	}
	return n
}

func messageTokens(m llm.Message) int64 {
	n := int64(4)
	for _, p := range m.Parts {
		n += textTokens(p.Text) + textTokens(p.Raw)
		if p.Call != nil {
			n += textTokens(p.Call.Name) + textTokens(llm.ReplayArguments(p.Call.Arguments))
		}
		if p.Result != nil {
			n += textTokens(p.Result.Text) + imageTokens*int64(len(p.Result.Images))
		}
		if p.Image != nil {
			n += imageTokens
		}
	}
	return n
}

func textTokens(s string) int64 {
	wide := 0
	for _, r := range s {
		if r >= 0x2E80 {
			wide++
		}
	}
	if wide == 0 {
		return int64(float64(len(s)) / 3.5)
	}
	narrow := utf8.RuneCountInString(s) - wide
	return int64(float64(wide)/1.5 + float64(narrow)/3.5)
}

// tooBig names the biggest parts of a request and the choices (P-STREAM-7).
func tooBig(req llm.Request, need, window int64) string {
	tools := toolTokens(req.Tools)
	biggest, at := int64(0), 0
	for i, m := range req.Messages {
		if n := messageTokens(m); n > biggest {
			biggest, at = n, i
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the request needs about %d tokens and the window of %s has %d: ", need, req.Model, window)
	fmt.Fprintf(&b, "system prompt %d, tools %d, %d messages %d", textTokens(req.System), tools, len(req.Messages), need-tools-textTokens(req.System))
	if len(req.Messages) > 0 {
		fmt.Fprintf(&b, ", the biggest (number %d) %d", at+1, biggest)
	}
	b.WriteString("; start a new session, choose a model with a larger window, or set the true window with --context-window")
	return b.String()
}
