package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"car/internal/assistant/llm"
)

// Config is a scenario and what it may depend on.
type Config struct {
	// File names the scenario in errors; Data is its text.
	File string
	Data []byte
	// CWD replaces {{cwd}}.
	CWD string
	// Sleep waits for delay_ms and stalls, and returns the context's error when that
	// ends first; nil waits in real time.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Provider plays a scenario. Each session has its own place in it. It is safe for
// concurrent use.
type Provider struct {
	file  string
	loop  bool
	turns []turn
	sleep func(ctx context.Context, d time.Duration) error

	mu     sync.Mutex
	places map[string]*place
}

var _ llm.Provider = (*Provider)(nil)

// place is where a session stands.
type place struct {
	turn    int
	faulted int // how often the turn's fault was played
}

// New reads a scenario. An error names file, line and key.
func New(c Config) (*Provider, error) {
	s, err := parse(c.File, c.Data)
	if err != nil {
		return nil, err
	}
	p := &Provider{file: c.File, loop: s.Loop, turns: s.Turns, sleep: c.Sleep, places: map[string]*place{}}
	if p.sleep == nil {
		p.sleep = sleep
	}
	for i := range p.turns {
		p.turns[i].substitute(c.CWD)
	}
	return p, nil
}

// Name is "scripted".
func (p *Provider) Name() string { return "scripted" }

// sleep waits in real time.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stream plays the session's next turn.
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		t, f, err := p.next(ctx, r)
		if err != nil {
			err.Provider = p.Name()
			yield(nil, err)
			return
		}
		s := player{over: ctx.Err, sleep: func(d time.Duration) error { return p.sleep(ctx, d) },
			origin: llm.Origin{Provider: p.Name(), Model: r.Model}, turn: t, fault: f, yield: yield}
		s.play()
	}
}

// next finds the turn to play and moves the session on, unless the turn's fault
// is played: a faulted turn comes again.
func (p *Provider) next(ctx context.Context, r llm.Request) (*turn, *fault, *llm.Error) {
	if ctx.Err() != nil {
		return nil, nil, &llm.Error{Kind: llm.KindCanceled, Message: "canceled", Err: ctx.Err()}
	}
	if err := r.Check(); err != nil {
		return nil, nil, err.(*llm.Error)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.places[r.SessionID]
	if at == nil {
		at = &place{}
		p.places[r.SessionID] = at
	}
	if at.turn == len(p.turns) && p.loop {
		*at = place{}
	}
	if at.turn == len(p.turns) {
		return nil, nil, p.unmet("turn %d was asked for, but the scenario has %d", at.turn+1, len(p.turns))
	}
	t := &p.turns[at.turn]
	if what := t.Expect.unmet(r); what != "" {
		return nil, nil, p.unmet("turn %d expects %s", at.turn+1, what)
	}
	if t.Fault != nil && at.faulted < t.Fault.Times {
		at.faulted++
		return t, t.Fault, nil
	}
	*at = place{turn: at.turn + 1}
	return t, nil, nil
}

func (p *Provider) unmet(format string, args ...any) *llm.Error {
	return &llm.Error{Kind: llm.KindInvalid, Message: p.file + ": " + fmt.Sprintf(format, args...)}
}

// unmet says what a request lacks, empty when it lacks nothing.
func (e *expect) unmet(r llm.Request) string {
	if e == nil {
		return ""
	}
	offered := map[string]bool{}
	for _, t := range r.Tools {
		offered[t.Name] = true
	}
	for _, name := range e.Tools {
		if !offered[name] {
			return fmt.Sprintf("the tool %q, which is not offered", name)
		}
	}
	words, result := newest(r.Messages)
	if !strings.Contains(words, e.Contains) {
		return fmt.Sprintf("the user's words to contain %q; they are %q", e.Contains, excerpt(words))
	}
	if !strings.Contains(result, e.LastResultContains) {
		return fmt.Sprintf("the last result to contain %q; it is %q", e.LastResultContains, excerpt(result))
	}
	return ""
}

// newest returns the newest words of the user and the newest result of a tool.
func newest(messages []llm.Message) (words, result string) {
	for _, m := range messages {
		if m.Role != llm.User {
			continue
		}
		if text := m.Text(); text != "" {
			words = text
		}
		for _, p := range m.Parts {
			if p.Kind == llm.PartToolResult {
				result = p.Result.Text
			}
		}
	}
	return words, result
}

func excerpt(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// substitute puts the working directory in everywhere; inside JSON it is escaped.
func (t *turn) substitute(cwd string) {
	const mark = "{{cwd}}"
	for _, s := range []*string{&t.Text, &t.Thinking} {
		*s = strings.ReplaceAll(*s, mark, cwd)
	}
	if t.Expect != nil {
		t.Expect.Contains = strings.ReplaceAll(t.Expect.Contains, mark, cwd)
		t.Expect.LastResultContains = strings.ReplaceAll(t.Expect.LastResultContains, mark, cwd)
	}
	quoted, err := json.Marshal(cwd)
	if err != nil { // a string always has a JSON form
		panic("scripted: " + err.Error())
	}
	for i := range t.Calls {
		t.Calls[i].text = strings.ReplaceAll(t.Calls[i].text, mark, string(quoted[1:len(quoted)-1]))
	}
}
