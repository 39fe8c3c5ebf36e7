package assistant

import (
	"context"
	"fmt"

	"car/internal/assistant/llm"
)

// gauge is what the last answered request taught about tokens: what the provider
// counted, and what had been guessed of the same request (A-CTX-6).
type gauge struct{ told, guessed int64 }

// ratio is how many tokens the provider counts for one that is guessed.
func (g gauge) ratio() float64 {
	if g.told == 0 || g.guessed == 0 {
		return 1
	}
	return min(max(float64(g.told)/float64(g.guessed), 0.5), 2)
}

// need is what a request of so many guessed tokens is expected to count: the last
// reported total, and what came to it since with a margin.
func (g gauge) need(guess int64) int64 {
	if g.told > 0 && guess >= g.guessed {
		return g.told + int64(guessMargin*g.ratio()*float64(guess-g.guessed))
	}
	return int64(guessMargin * g.ratio() * float64(guess))
}

// guess is the size of the next request in tokens, from sizes that are known
// already, so that a long history costs no second reading of it.
func (c *Conversation) guess() int64 {
	return c.fixed + c.script.tokens()
}

// fixedTokens is what every request of the session carries.
func (c *Conversation) fixedTokens() int64 {
	return textTokens(c.system) + toolTokens(c.toolset())
}

func toolTokens(tools []llm.Tool) int64 {
	n := int64(0)
	for _, t := range tools {
		n += textTokens(t.Name) + textTokens(t.Description) + textTokens(string(t.Parameters))
	}
	return n
}

func (r *run) need() int64 { return r.c.gauge.need(r.c.guess()) }

// room is what of the window a prompt may fill: the reply needs the rest.
func (r *run) room() int64 {
	w := r.window()
	reply := int64(r.choices[0].MaxTokens)
	if reply == 0 {
		reply = assumedReply
	}
	return w - min(reply, w/4)
}

// fits makes room when the next request is about to fill the model's window, and
// says what is too big when there is no room to make (A-CTX-8, P-STREAM-7).
func (r *run) fits(ctx context.Context) Body {
	asked := r.c.takeCompact()
	if asked || r.need() > int64(compactAt*float64(r.room())) {
		changed, end := r.compact(ctx, asked)
		if end != nil {
			return end
		}
		if asked && !changed {
			r.emit(Notice{Code: "compacted", Text: "there is nothing older that a summary would make shorter"})
		}
	}
	bound := r.window()
	if r.choices[0].Window == 0 {
		bound += bound / 4 // nobody knows this window: the guess has to be clear of it before it ends anything
	}
	if need := r.need(); need > bound {
		return Failure{Code: CodeContext, Error: tooBig(r.request(r.choices[0], llm.ToolChoice{}), need, r.window())}
	}
	return nil
}

// learn takes in what a provider counted for a request, and says so when it
// counted far less than was sent: servers with a small window cut prompts in
// silence (A-CTX-7).
func (r *run) learn(told *llm.Usage, guessed int64) {
	c := r.c
	if told != nil {
		total := told.Input + told.CacheRead + told.CacheWrite
		if total > 0 {
			c.gauge = gauge{told: total, guessed: guessed}
		}
		if total > 0 && guessed >= truncationFrom && float64(total) < truncatedBelow*float64(guessed) && !c.warnedCut {
			c.warnedCut = true
			r.emit(Notice{Code: "truncated_prompt", Text: fmt.Sprintf("about %d tokens were sent and the server counted %d: it probably cut the prompt. "+
				"Raise the server's context size, or tell car the true one with --context-window", guessed, total)})
		}
	}
	r.measure()
}

// ContextUse says what fills the model's window, in tokens. The parts are guesses
// that are scaled to what the provider counted last, where it did (U-TUI-8).
type ContextUse struct {
	Model  string `json:"model"`
	Window int64  `json:"window"`
	// Known says that the window was configured or told, not assumed.
	Known bool `json:"known"`
	// CompactAt is where older messages are summarised.
	CompactAt int64 `json:"compact_at"`
	// Used is the whole prompt; Measured says that the provider counted it.
	Used     int64 `json:"used"`
	Measured bool  `json:"measured"`
	// The parts of Used. First is the first message with environment and instructions.
	System    int64 `json:"system"`
	Tools     int64 `json:"tools"`
	First     int64 `json:"first"`
	Summaries int64 `json:"summaries"`
	Persons   int64 `json:"persons"`
	Replies   int64 `json:"replies"`
	Results   int64 `json:"results"`
	Notes     int64 `json:"notes"`
	// Messages counts what the prompt holds, Compactions how often room was made here.
	Messages    int `json:"messages"`
	Compactions int `json:"compactions"`
}

// Context says what filled the window at the newest request of this process; false
// is none yet.
func (c *Conversation) Context() (ContextUse, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.filling, c.filling.Window > 0
}

// Compact asks for room before the next request of a model, whatever the window
// holds.
func (c *Conversation) Compact() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compactNext = true
}

func (c *Conversation) takeCompact() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.compactNext
	c.compactNext = false
	return asked
}

// measure keeps what Context tells.
func (r *run) measure() {
	c := r.c
	scale := c.gauge.ratio()
	size := func(n int64) int64 { return int64(scale * float64(n)) }
	u := ContextUse{Model: r.choices[0].Model, Window: r.window(), Known: r.choices[0].Window > 0, CompactAt: int64(compactAt * float64(r.room())),
		Used: r.need(), Measured: c.gauge.told > 0, System: size(textTokens(c.system)), Messages: len(c.script.rows), Compactions: c.compactions}
	u.Tools = size(c.fixed - textTokens(c.system))
	first := true
	for _, row := range c.script.rows {
		n := size(row.tokens)
		switch {
		case row.Kind == entrySummary:
			u.Summaries += n
		case first:
			u.First, first = n, false
		case row.Kind == entryReply:
			u.Replies += n
		case row.Kind == entryResults:
			u.Results += n
		case row.Kind == entryNote:
			u.Notes += n
		default:
			u.Persons += n
		}
	}
	c.mu.Lock()
	c.filling = u
	c.mu.Unlock()
}
