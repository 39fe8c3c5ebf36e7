package assistant

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"car/internal/assistant/llm"
	"car/internal/assistant/store"
	"car/internal/engine"
	"car/internal/engine/admit"
	"car/internal/engine/ir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// said is one scripted answer of the fake model.
type said struct {
	thinking, text string
	calls          []llm.ToolCall // ProviderID, Name and Arguments
	stop           llm.StopKind
	raw, detail    string
	usage          *llm.Usage
	err            error // at the end, instead of the stop
	// hold keeps the stream open after the text until the request is canceled.
	hold bool
	// before runs when the request arrives.
	before func(req llm.Request)
}

// model is a provider that says what its script says, and refuses requests that no
// provider would take.
type model struct {
	t       *testing.T
	mu      sync.Mutex
	script  []said
	forever bool // the last answer again and again
	seen    []llm.Request
	// answer, when it is set, may answer a request instead of the script.
	answer func(req llm.Request) *said
}

func (m *model) Name() string { return "fake" }

func (m *model) next(req llm.Request) said {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := req.Check(); err != nil {
		m.t.Errorf("request %d is not one a provider takes: %v", len(m.seen)+1, err)
	}
	m.seen = append(m.seen, req)
	if m.answer != nil {
		if s := m.answer(req); s != nil {
			return *s
		}
	}
	if len(m.script) == 0 {
		m.t.Errorf("request %d was not expected; the last message is %q", len(m.seen), req.Messages[len(req.Messages)-1].Text())
		return said{text: "unexpected", stop: llm.StopEnd}
	}
	s := m.script[0]
	if len(m.script) > 1 || !m.forever {
		m.script = m.script[1:]
	}
	return s
}

func (m *model) requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.seen...)
}

func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s := m.next(req)
		if s.before != nil {
			s.before(req)
		}
		for _, e := range s.events(req.Model) {
			if ctx.Err() != nil {
				break
			}
			if !yield(e, nil) {
				return
			}
		}
		if s.hold {
			<-ctx.Done()
		}
		switch {
		case ctx.Err() != nil:
			yield(nil, &llm.Error{Kind: llm.KindCanceled, Provider: "fake", Message: "canceled", Err: ctx.Err()})
		case s.err != nil:
			yield(nil, s.err)
		default:
			yield(llm.Stop{Kind: s.stop, Raw: s.raw, Detail: s.detail}, nil)
		}
	}
}

func (s said) events(model string) []llm.Event {
	events := []llm.Event{llm.Started{Model: model + "-served"}}
	if s.thinking != "" {
		events = append(events, llm.Thinking{Delta: s.thinking}, llm.Item{Part: llm.Part{Kind: llm.PartThinking, Text: s.thinking, Raw: `{"t":1}`,
			Origin: llm.Origin{Provider: "fake", Model: model}}})
	}
	for rest := s.text; rest != ""; { // in small pieces, as models speak
		n := min(7, len(rest))
		events = append(events, llm.Text{Delta: rest[:n]})
		rest = rest[n:]
	}
	for i, c := range s.calls {
		events = append(events, llm.ToolStart{Index: i, ID: c.ProviderID, Name: c.Name}, llm.ToolDelta{Index: i, Fragment: c.Arguments})
	}
	if s.usage != nil {
		events = append(events, *s.usage)
	}
	return events
}

// says is an answer of text that ends the turn.
func says(text string) said { return said{text: text, stop: llm.StopEnd, raw: "end_turn"} }

// calls is an answer of tool calls, given as name and arguments in turn.
func callsTools(pairs ...string) said {
	s := said{stop: llm.StopToolUse, raw: "tool_use"}
	for i := 0; i < len(pairs); i += 2 {
		s.calls = append(s.calls, llm.ToolCall{ProviderID: fmt.Sprintf("call_%d", i/2), Name: pairs[i], Arguments: pairs[i+1]})
	}
	return s
}

func (s said) callAt(i int) *llm.ToolCall { return &s.calls[i] }

// flatPrice asks the same for every request.
func flatPrice(micros int64) func(llm.Usage) (int64, bool) {
	return func(llm.Usage) (int64, bool) { return micros, true }
}

// hand is what a fake tool does.
type hand func(ctx context.Context, params map[string]any) ir.ActionResult

// hands is a fake engine: it runs actions in order, asks for those that are marked,
// and answers as its tools say.
type hands struct {
	tools    map[string]hand
	asks     map[string]bool // tools that need a person
	approver admit.Approver
	fail     error
	mu       sync.Mutex
	seen     []ir.Proposal
	options  []engine.Options
}

func (h *hands) proposals() []ir.Proposal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]ir.Proposal(nil), h.seen...)
}

func (h *hands) Execute(ctx context.Context, p ir.Proposal, o engine.Options) (ir.ProposalResult, error) {
	h.mu.Lock()
	h.seen = append(h.seen, p)
	h.options = append(h.options, o)
	h.mu.Unlock()
	out := ir.ProposalResult{ProposalID: p.ID}
	stopped := ""
	for _, a := range p.Actions {
		if o.Observer != nil {
			o.Observer.Started(a, ir.SandboxEdit)
		}
		res := h.one(ctx, a, o, &stopped)
		res.ActionID = a.ID
		if o.Observer != nil {
			o.Observer.Finished(res)
		}
		out.Results = append(out.Results, res)
	}
	return out, h.fail
}

func (h *hands) one(ctx context.Context, a ir.Action, o engine.Options, stopped *string) ir.ActionResult {
	switch {
	case ctx.Err() != nil:
		return ir.ActionResult{Status: ir.Skipped, Error: "canceled: " + context.Cause(ctx).Error(), ErrorClass: ir.ClassCanceled}
	case *stopped != "":
		return ir.ActionResult{Status: ir.Skipped, Error: "canceled: stopped by " + *stopped}
	}
	if h.asks[a.Tool] {
		digest, _ := ir.DigestOf(a.Parameters)
		d, err := h.approver.Approve(ctx, []admit.Request{{Session: o.Session, Effect: "act_1", Action: a.ID, CallID: o.CallPrefix + string(a.ID), Tool: a.Tool,
			Parameters: a.Parameters, ScopeDigest: digest, Tier: ir.FullAccess, Reasons: []string{"it reaches out"}}})
		if err != nil || len(d) != 1 {
			return ir.ActionResult{Status: ir.Rejected, Error: "no decision", ErrorClass: ir.ClassRejectedByPolicy}
		}
		if d[0].Kind == admit.DenyAndStop {
			*stopped = d[0].Reason
		}
		if d[0].Kind == admit.Deny || d[0].Kind == admit.DenyAndStop {
			return ir.ActionResult{Status: ir.Rejected, Error: d[0].Reason, ErrorClass: ir.ClassRejectedByPolicy}
		}
	}
	do := h.tools[a.Tool]
	if do == nil {
		return ir.ActionResult{Status: ir.Rejected, Error: "tool not registered: " + a.Tool, ErrorClass: ir.ClassValidation}
	}
	res := do(ctx, a.Parameters)
	if res.Tier == ir.TierUnset {
		res.Tier = ir.SandboxEdit
	}
	return res
}

// ok is a success with an output.
func ok(output any) ir.ActionResult { return ir.ActionResult{Status: ir.Succeeded, Output: output} }

// exits is what a shell answers.
func exits(code int, output string) ir.ActionResult {
	return ok(map[string]any{"exit_code": float64(code), "output": output, "duration_ms": float64(3)})
}

// denied is a refusal by policy.
func denied(why string) ir.ActionResult {
	return ir.ActionResult{Status: ir.Rejected, Error: why, ErrorClass: ir.ClassRejectedByPolicy}
}

// wrote is a success of a file tool.
func wrote(path string) ir.ActionResult {
	r := ok(map[string]any{"path": path, "bytes": float64(1)})
	r.FileChanges = []ir.FileChange{{Path: path, Resolved: path, After: "x"}}
	return r
}

// house is a service over a real store, a fake model and a fake engine.
type house struct {
	t      *testing.T
	model  *model
	hands  *hands
	files  fs.FS
	db     *store.DB
	svc    *Service
	config Config
	opts   StartOptions
}

// steady is randomness that a test can repeat.
type steady struct {
	mu sync.Mutex
	n  uint64
}

func (s *steady) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(p); {
		s.n++
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, s.n))
		i += copy(p[i:], sum[:])
	}
	return len(p), nil
}

// menu is the Models of a test.
type menu struct {
	choices []Choice
	err     error
}

func (m menu) Configured(context.Context) ([]Choice, error) { return m.choices, m.err }

func (m menu) Named(_ context.Context, name string) (Choice, error) {
	if m.err != nil {
		return Choice{}, m.err
	}
	c := m.choices[0]
	c.Model = name
	return c, nil
}

func newHouse(t *testing.T, script ...said) *house {
	t.Helper()
	h := &house{t: t, model: &model{t: t, script: script}, hands: &hands{tools: map[string]hand{}, asks: map[string]bool{}},
		opts: StartOptions{ID: "s1", Root: "/srv/project"}}
	h.open(filepath.Join(t.TempDir(), "car.db"))
	return h
}

func (h *house) open(path string) {
	h.t.Helper()
	db, err := store.Open(h.t.Context(), store.Config{Path: path, Now: time.Now, Holder: store.Self()})
	if err != nil {
		h.t.Fatal(err)
	}
	h.db = db
	h.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			h.t.Error(err)
		}
	})
	h.config = Config{Models: menu{choices: []Choice{{Provider: h.model, Model: "m1"}}}, Store: db, Now: time.Now, Rand: &steady{},
		Open: func(_ context.Context, r OpenRequest) (Runtime, error) {
			h.hands.approver = r.Approver
			return Runtime{Engine: h.hands, Files: h.files, Tools: tools("edit_file", "read_file", "shell", "write_file"), Effects: db.EffectsOf}, nil
		}}
}

// tools are schemas of the named tools; the ones that read are marked.
func tools(names ...string) []Tool {
	var all []Tool
	for _, n := range names {
		schema := `{"type":"object","properties":{"path":{"type":"string"},"command":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`
		all = append(all, Tool{Schema: ir.ToolSchema{Name: n, Description: n, Parameters: []byte(schema)}, ReadOnly: n == "read_file"})
	}
	return all
}

// start opens the conversation and follows its events.
func (h *house) start() (*Conversation, *follower) {
	h.t.Helper()
	var err error
	if h.svc == nil {
		if h.svc, err = New(h.config); err != nil {
			h.t.Fatal(err)
		}
	}
	c, err := h.svc.Start(h.t.Context(), h.opts)
	if err != nil {
		h.t.Fatal(err)
	}
	f := follow(h.t, c)
	return c, f
}

// say sends an input and returns the events up to its terminal.
func (h *house) say(in Input) []Event {
	h.t.Helper()
	c, f := h.start()
	if err := c.Send(h.t.Context(), in); err != nil {
		h.t.Fatal(err)
	}
	return f.end()
}

// follower collects a conversation's events.
type follower struct {
	t   *testing.T
	in  <-chan Event
	all []Event
	at  int // what end has returned already
}

func follow(t *testing.T, c *Conversation) *follower {
	in, leave := c.Subscribe(0)
	t.Cleanup(func() {
		leave()
		if err := c.Close(); err != nil && !errors.Is(err, errClosed) {
			t.Error(err)
		}
	})
	return &follower{t: t, in: in}
}

// until reads events until one is wanted, and returns it.
func (f *follower) until(want func(Event) bool) Event {
	f.t.Helper()
	timeout := time.NewTimer(20 * time.Second)
	defer timeout.Stop()
	for {
		select {
		case e, open := <-f.in:
			if !open {
				f.t.Fatalf("the events ended before the one that was awaited: %s", kindsOf(f.all))
			}
			f.all = append(f.all, e)
			if want(e) {
				return e
			}
		case <-timeout.C:
			f.t.Fatalf("the event that was awaited did not come: %s", kindsOf(f.all))
		}
	}
}

// of reads until the first event of a kind.
func (f *follower) of(k Kind) Event {
	f.t.Helper()
	return f.until(func(e Event) bool { return e.Body.Kind() == k })
}

// end reads until a terminal event and returns the events of that run.
func (f *follower) end() []Event {
	f.t.Helper()
	f.until(func(e Event) bool { return e.Body.Kind().Terminal() })
	run := f.all[f.at:]
	f.at = len(f.all)
	return run
}

func kindsOf(events []Event) []string {
	kinds := make([]string, len(events))
	for i, e := range events {
		kinds[i] = e.Body.Kind().String()
	}
	return kinds
}

// bodies returns the bodies of one type, in order.
func bodies[T Body](events []Event) []T {
	var all []T
	for _, e := range events {
		if b, ok := e.Body.(T); ok {
			all = append(all, b)
		}
	}
	return all
}

// last is the terminal body of a run.
func last(events []Event) Body { return events[len(events)-1].Body }

// mustEnd checks what ends a run and returns it.
func mustEnd[T Body](t *testing.T, events []Event) T {
	t.Helper()
	end, ok := last(events).(T)
	if !ok {
		t.Fatalf("the run ended with %s %+v; events %v", last(events).Kind(), last(events), kindsOf(events))
	}
	return end
}

// replyOf is an answer as the loop collects it.
func replyOf(s said) llm.Reply {
	c := llm.NewCollector(llm.Origin{Provider: "fake", Model: "m1"})
	for _, e := range s.events("m1") {
		c.Add(e)
	}
	c.Add(llm.Stop{Kind: s.stop})
	r, err := c.Reply()
	if err != nil {
		panic(err)
	}
	return r
}

func userText(s string) llm.Message { return llm.UserText(s) }
