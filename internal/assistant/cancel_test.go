package assistant

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"car/internal/assistant/llm"
	"car/internal/assistant/store"
	"car/internal/engine/ir"
)

// B005, A-SVC-8, P-WORK-2: an interrupt while a call runs gives each call exactly
// one result, directly after the assistant turn, and the next request is one that
// providers take (the fake model checks every request).
func TestB005InterruptPairsEveryCall(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("shell", `{"command":"sleep"}`, "write_file", `{"path":"x"}`), says("Carrying on."))
	h.hands.tools["shell"] = func(ctx context.Context, _ map[string]any) ir.ActionResult {
		<-ctx.Done()
		return ir.ActionResult{Status: ir.Failed, Error: "canceled: the command was ended", ErrorClass: ir.ClassCanceled}
	}
	h.hands.tools["write_file"] = func(context.Context, map[string]any) ir.ActionResult { t.Error("the second call ran"); return ok("") }
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	f.of(KindToolCall)
	c.Cancel()
	c.Cancel()
	events := f.end()
	if end := mustEnd[Failure](t, events); end.Code != CodeCanceled || end.Error != "canceled" {
		t.Errorf("ended with %+v", end)
	}
	if got := len(bodies[ToolResult](events)); got != 2 {
		t.Errorf("%d results for 2 calls", got)
	}
	if k := kindsOf(events); k[len(k)-2] != "receipt_report" {
		t.Errorf("before the end came %s", k[len(k)-2])
	}
	if got := c.Outcome(); ExitCode(got) != ExitCanceled {
		t.Errorf("outcome %+v", got)
	}
	if err := c.Send(t.Context(), Input{Text: "carry on"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	m := h.model.requests()[1].Messages
	results := m[2].Parts
	if len(results) != 2 || results[0].Result.CallID != "t1c1" || !strings.Contains(results[1].Result.Text, "canceled") {
		t.Errorf("results are %+v", results)
	}
}

// A-SVC-8: a cancel while the model speaks keeps what it said, marked interrupted,
// and does not reach the next turn.
func TestCancelKeepsThePart(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{text: "The answer is ", hold: true}, says("Whole."))
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	f.of(KindToken)
	c.Cancel()
	if end := mustEnd[Failure](t, f.end()); end.Code != CodeCanceled {
		t.Errorf("ended with %+v", end)
	}
	c.Cancel() // nothing runs
	if err := c.Send(t.Context(), Input{Text: "again"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	m := h.model.requests()[1].Messages
	if len(m) != 4 || !strings.HasPrefix("The answer is ", m[1].Text()) || m[1].Text() == "" || !strings.Contains(m[2].Text(), "interrupted") {
		t.Errorf("the next request has %+v", m)
	}
	turns, err := h.db.Turns(t.Context(), "s1")
	if err != nil || len(turns) != 2 || turns[0].Status != store.TurnCanceled || turns[1].Status != store.TurnCompleted {
		t.Errorf("turns %+v, %v", turns, err)
	}
}

// B037, A-CLI-2: the end of the context that a conversation lives in, by a signal,
// is an interrupt like any other.
func TestB037SignalIsAnInterrupt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{text: "on it ", hold: true})
	svc, err := New(h.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	c, err := svc.Start(ctx, h.opts)
	if err != nil {
		t.Fatal(err)
	}
	f := follow(t, c)
	if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	f.of(KindToken)
	stop(errors.New("interrupt"))
	if end := mustEnd[Failure](t, f.end()); end.Code != CodeCanceled || end.Error != "interrupt" {
		t.Errorf("ended with %+v", end)
	}
	if ExitCode(c.Outcome()) != ExitCanceled {
		t.Errorf("outcome %+v", c.Outcome())
	}
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if turns, err := h.db.Turns(t.Context(), "s1"); err != nil || turns[0].Status != store.TurnCanceled {
		t.Errorf("turns %+v, %v", turns, err)
	}
}

// A-SVC-4: what is typed into a running turn and steers comes after the results of
// the step and before the next inference; the rest waits for the next turn.
func TestSteerAndQueue(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"a"}`), says("one"), says("two"))
	gate := make(chan struct{})
	h.hands.tools["read_file"] = func(context.Context, map[string]any) ir.ActionResult { <-gate; return ok("x") }
	c, f := h.start()
	send := func(in Input) {
		t.Helper()
		if err := c.Send(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	send(Input{Text: "first"})
	f.of(KindToolCall)
	send(Input{Text: "next turn"})
	send(Input{Text: "look at b instead", Steer: true})
	close(gate)
	f.end()
	f.end()
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := h.model.requests()[1].Messages
	if n := len(second); n != 4 || second[2].Parts[0].Result == nil || second[3].Text() != "look at b instead" {
		t.Errorf("after the step the model was sent %+v", second)
	}
	third := h.model.requests()[2].Messages
	if third[len(third)-1].Text() != "next turn" {
		t.Errorf("the next turn began with %q", third[len(third)-1].Text())
	}
	if left, err := h.db.WaitingInputs(t.Context(), "s1"); err != nil || len(left) != 0 {
		t.Errorf("still waiting: %+v, %v", left, err)
	}
}

// P-WORK-7, A-SVC-4: after a cancel what was queued is given back, never run by
// itself, and is gone once it is sent again.
func TestCancelGivesQueuedInputsBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{text: "thinking about it ", hold: true}, says("ok"))
	c, f := h.start()
	for _, text := range []string{"first", "queued", "steered"} {
		if err := c.Send(t.Context(), Input{Text: text, Steer: text == "steered"}); err != nil {
			t.Fatal(err)
		}
		if text == "first" {
			f.of(KindToken)
		}
	}
	c.Cancel()
	events := f.end()
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(bodies[Notice](events), func(n Notice) bool { return n.Code == "inputs_returned" }) {
		t.Error("nobody was told")
	}
	back, err := c.Returned(t.Context())
	if err != nil || len(back) != 2 || back[0].Text != "queued" || back[1].Text != "steered" {
		t.Fatalf("given back: %+v, %v", back, err)
	}
	if err := c.Send(t.Context(), Input{Text: "queued and steered", Replaces: []int64{back[0].ID, back[1].ID}}); err != nil {
		t.Fatal(err)
	}
	f.end()
	if back, err := c.Returned(t.Context()); err != nil || len(back) != 0 {
		t.Errorf("still given back: %+v, %v", back, err)
	}
	if n := len(h.model.requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// A-SVC-1, A-SVC-4: Send acknowledges before any inference, refuses an empty input
// and the seventeenth that waits.
func TestSendAcknowledgesFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{hold: true})
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "  "}); err == nil {
		t.Error("an empty input was accepted")
	}
	if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	f.of(KindInferenceStarted)
	for i := range store.MaxWaiting {
		if err := c.Send(t.Context(), Input{Text: "more"}); err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
	}
	if err := c.Send(t.Context(), Input{Text: "too many"}); err == nil || !strings.Contains(err.Error(), "16") {
		t.Errorf("the seventeenth: %v", err)
	}
	c.Cancel()
	f.end()
}

// A-SVC-12: Close ends the run in hand and every subscription; nothing is accepted
// afterwards, and the session is free for others.
func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{hold: true})
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	f.of(KindInferenceStarted)
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	if end := mustEnd[Failure](t, f.end()); end.Code != CodeCanceled {
		t.Errorf("ended with %+v", end)
	}
	if _, open := <-f.in; open {
		t.Error("an event after the end")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := c.Send(t.Context(), Input{Text: "more"}); !errors.Is(err, errClosed) {
		t.Errorf("Send after Close: %v", err)
	}
	if _, held, err := h.db.LeaseHolder(t.Context(), "s1"); held || err != nil {
		t.Errorf("the session is still held: %v %v", held, err)
	}
}

// A-SVC-11: a session that another process writes is refused with who holds it.
func TestSessionOfAnotherProcessIsBusy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	path := filepath.Join(t.TempDir(), "car.db")
	h.open(path)
	h.start()
	other := newHouse(t)
	other.open(path)
	svc, err := New(other.config)
	if err != nil {
		t.Fatal(err)
	}
	var busy *store.BusyError
	if _, err := svc.Start(t.Context(), StartOptions{Resume: "s1", Root: "/srv/project"}); !errors.As(err, &busy) {
		t.Errorf("the second start: %v", err)
	}
	if _, err := h.svc.Start(t.Context(), StartOptions{Resume: "s1", Root: "/srv/project"}); err == nil {
		t.Error("one service opened a session twice")
	}
}

// A-SVC-1: different sessions of one service run at the same time.
func TestSessionsRunConcurrently(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{hold: true}, says("second"))
	c1, f1 := h.start()
	if err := c1.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	f1.of(KindInferenceStarted)
	h.opts.ID = "s2"
	c2, f2 := h.start()
	if err := c2.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f2.end())
	c1.Cancel()
	f1.end()
}

// A-SVC-10: every early failure ends in receipts and one terminal, and frees the
// session for the next input.
func TestEarlyFailuresEndOnceAndFreeTheSession(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	cases := []struct {
		name, want string
		code       string
		goal       bool
		set        func(s *failing)
	}{
		{"transcript", "durable transcript resume failed: disk on fire", CodeStore, false, func(s *failing) { s.messages = broken }},
		{"goal transcript", "durable goal resume failed: disk on fire", CodeStore, true, func(s *failing) { s.messages = broken }},
		{"turn", "durable transcript resume failed: disk on fire", CodeStore, false, func(s *failing) { s.turn = broken }},
		{"checkpoint", "durable checkpoint failed before inference: disk on fire", CodeStore, false, func(s *failing) { s.append = broken }},
		{"engine", "the engine of the session did not open: disk on fire", CodeEngine, false, func(s *failing) { s.open = broken }},
	}
	for _, tc := range cases {
		h := newHouse(t, says("fine now"))
		s := &failing{Store: h.db}
		h.config.Store = s
		open := h.config.Open
		h.config.Open = func(ctx context.Context, r OpenRequest) (Runtime, error) {
			if s.open != nil {
				return Runtime{}, s.open
			}
			return open(ctx, r)
		}
		tc.set(s)
		in := Input{Text: "go"}
		if tc.goal {
			in.Goal = &Goal{Check: "true"}
		}
		c, f := h.start()
		if err := c.Send(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		events := f.end()
		end := mustEnd[Failure](t, events)
		if end.Error != tc.want || end.Code != tc.code {
			t.Errorf("%s: ended with %+v", tc.name, end)
		}
		if k := kindsOf(events); k[len(k)-2] != "receipt_report" || len(h.model.requests()) != 0 {
			t.Errorf("%s: events %v, %d requests", tc.name, k, len(h.model.requests()))
		}
		s.messages, s.turn, s.append, s.open = nil, nil, nil, nil
		back, err := c.Returned(t.Context())
		if err != nil || len(back) != 1 || back[0].Text != "go" {
			t.Errorf("%s: given back %+v, %v", tc.name, back, err)
		}
		if err := c.Send(t.Context(), Input{Text: "again"}); err != nil {
			t.Fatal(err)
		}
		mustEnd[Done](t, f.end())
	}
}

// A-SVC-10: a store that breaks after the model's reply keeps the calls from running.
func TestNothingRunsUnrecorded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := &failing{Store: h.db}
	h.config.Store = s
	reply := callsTools("write_file", `{"path":"a"}`)
	reply.before = func(llm.Request) { s.append = errors.New("disk on fire") }
	h.model.script = []said{reply}
	events := h.say(Input{Text: "go"})
	if end := mustEnd[Failure](t, events); end.Code != CodeStore || len(h.hands.proposals()) != 0 {
		t.Errorf("ended with %+v, %d proposals", end, len(h.hands.proposals()))
	}
}

// A-DUR-3: the results of a step are on disk before the model is asked again, or it
// is not asked.
func TestNoInferenceWithoutCheckpoint(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"a"}`))
	s := &failing{Store: h.db}
	h.config.Store = s
	h.hands.tools["read_file"] = func(context.Context, map[string]any) ir.ActionResult {
		s.append = errors.New("disk on fire")
		return ok("x")
	}
	end := mustEnd[Failure](t, h.say(Input{Text: "go"}))
	if end.Error != "durable checkpoint failed before inference: disk on fire" || len(h.model.requests()) != 1 {
		t.Errorf("after %d requests: %+v", len(h.model.requests()), end)
	}
}

// P-SCALE-1: a transcript is read once, however many turns follow.
func TestTranscriptIsReadOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, says("a"), says("b"))
	s := &failing{Store: h.db}
	h.config.Store = s
	c, f := h.start()
	for range 2 {
		if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		f.end()
	}
	if s.loads != 1 {
		t.Errorf("read %d times", s.loads)
	}
}

// A-SVC-11: a session that another process took over while this one was silent ends
// its run and accepts nothing more.
func TestLostLeaseStopsTheConversation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := bareConversation(t)
		c.svc.cfg.Store.(*notebook).beat = &store.LeaseLostError{Session: "s1"}
		ctx, cancel := context.WithCancelCause(t.Context())
		c.current = newRun(c, waitingInput{}, cancel)
		c.beat(t.Context())
		if !errors.Is(context.Cause(ctx), errCanceled) {
			t.Error("the run goes on")
		}
		var lost *store.LeaseLostError
		if err := c.Send(t.Context(), Input{Text: "more"}); !errors.As(err, &lost) {
			t.Errorf("Send: %v", err)
		}
		if n := bodies[Notice](told(c)); len(n) != 1 || n[0].Code != CodeSessionBusy {
			t.Errorf("notices %+v", n)
		}
	})
}

// A-EVT-1: a defect inside a run is an end like any other.
func TestPanicIsAnEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("shell", `{"command":"x"}`), says("still here"))
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { panic("boom") }
	c, f := h.start()
	for range 2 {
		if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	if end := mustEnd[Failure](t, f.end()); end.Code != CodeInternal || !strings.Contains(end.Error, "boom") {
		t.Errorf("ended with %+v", end)
	}
	mustEnd[Done](t, f.end())
}

// failing is a store that breaks where a test says.
type failing struct {
	Store
	messages, turn, append, open error
	loads                        int
}

func (s *failing) Messages(ctx context.Context, id string) ([]store.Message, error) {
	s.loads++
	if s.messages != nil {
		return nil, s.messages
	}
	return s.Store.Messages(ctx, id)
}

func (s *failing) StartTurn(ctx context.Context, id, kind string) (int, error) {
	if s.turn != nil {
		return 0, s.turn
	}
	return s.Store.StartTurn(ctx, id, kind)
}

func (s *failing) AppendMessages(ctx context.Context, id string, turn int, e ...store.Entry) (int64, error) {
	if s.append != nil {
		return 0, s.append
	}
	return s.Store.AppendMessages(ctx, id, turn, e...)
}
