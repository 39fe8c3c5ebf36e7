package line

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/theme"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a conversation whose events the test makes.
type stage struct {
	events chan assistant.Event
	sent   chan string
	solved chan assistant.Answer
	cancel chan struct{}
}

func newStage() *stage {
	return &stage{make(chan assistant.Event), make(chan string, 9), make(chan assistant.Answer, 9), make(chan struct{}, 1)}
}

func (s *stage) Send(_ context.Context, in assistant.Input) error { s.sent <- in.Text; return nil }
func (s *stage) Cancel()                                          { s.cancel <- struct{}{} }
func (s *stage) Resolve(_ string, a assistant.Answer) bool        { s.solved <- a; return true }
func (s *stage) Subscribe(uint64) (<-chan assistant.Event, func()) {
	return s.events, func() {}
}

func (s *stage) emit(bodies ...assistant.Body) {
	for _, b := range bodies {
		s.events <- assistant.Event{Run: 1, Body: b}
	}
}

// screen is where it prints; wait blocks until a text has been printed.
type screen struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.buf.Write(p)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return n, err
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func (s *screen) wait(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.more:
		case <-t.Context().Done():
			t.Fatalf("%q was not printed: %q", text, s.String())
		}
	}
}

type talking struct {
	*stage
	*screen
	keys io.WriteCloser
	end  chan Result
}

// start runs a conversation whose lines are written to keys.
func start(t *testing.T, in *os.File, keys io.WriteCloser, change func(*Config)) talking {
	t.Helper()
	talk := talking{newStage(), &screen{more: make(chan struct{}, 1)}, keys, make(chan Result, 1)}
	c := Config{Conversation: talk.stage, In: in, Out: talk.screen, Theme: theme.Plain(), Width: 80, Header: []string{"car"}}
	if change != nil {
		change(&c)
	}
	go func() {
		res, err := Run(t.Context(), c)
		if err != nil {
			t.Error(err)
		}
		talk.end <- res
	}()
	t.Cleanup(func() { keys.Close(); in.Close() })
	return talk
}

func piped(t *testing.T, change func(*Config)) talking {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, r, w, change)
}

func question(id string) assistant.ApprovalPending {
	return assistant.ApprovalPending{ApprovalID: id, CallID: "c1", Tool: "shell", Params: map[string]any{"command": "git push\necho done"}, Tier: ir.FullAccess,
		Reason: "rule ask-network", Commands: []ir.CommandView{{Text: "git push", Tier: ir.FullAccess, Reason: "leaves the machine"}, {Text: "echo done", Tier: ir.ReadOnly, Reversibility: ir.Reversible}}}
}

// U-TUI-11: a turn in plain lines, no escapes, nothing drawn twice.
func TestTurnInLines(t *testing.T) {
	t.Parallel()
	talk := piped(t, nil)
	talk.wait(t, "> ")
	io.WriteString(talk.keys, "first \\\nsecond\n")
	if got := <-talk.sent; got != "first \nsecond" {
		t.Errorf("sent %q", got)
	}
	talk.emit(assistant.InferenceStarted{Model: "m"}, assistant.Token{Delta: "Read"}, assistant.Token{Delta: "ing it.\nThen \x1b[2J"},
		assistant.ToolCall{CallID: "c1", Tool: "read_file", Params: map[string]any{"path": "menu.txt"}}, assistant.ToolProgress{CallID: "c1", Tail: "x"},
		assistant.ToolResult{CallID: "c1", Tool: "read_file", OK: true, DurationMS: 5, Blocks: []ir.Block{{Text: "soup\n"}}},
		assistant.ToolResult{CallID: "c2", Tool: "shell", Status: ir.Failed, DurationMS: 9, Excerpt: "boom"},
		assistant.GoalEvaluated{Iteration: 1, Reason: "exit 1"}, assistant.ReceiptReport{UngroundedClaims: []string{"tests pass"}},
		assistant.Token{Delta: "All done."}, assistant.Done{Text: "All done."})
	talk.wait(t, "All done.\n> ")
	io.WriteString(talk.keys, "/quit\n")
	if res := <-talk.end; !res.Quit || res.Running || res.Last == nil {
		t.Errorf("ended as %+v", res)
	}
	want := "car\n> Reading it.\nThen \\x1b[2J\nrun read_file menu.txt\nok read_file menu.txt in 5ms: soup\nfailed shell in 9ms: boom\n" +
		"goal 1 not met: exit 1\nno receipt for: tests pass\nAll done.\n> "
	if diff := cmp.Diff(want, talk.String()); diff != "" {
		t.Error(diff)
	}
}

// G-APPR-3, U-TUI-4: the whole question is printed, and only a clear yes allows it.
func TestQuestionAndAnswers(t *testing.T) {
	t.Parallel()
	want := []string{"? allow shell? It needs full_access and is irreversible.", "  rule ask-network", "│ git push", "│ echo done",
		"  • git push", "      full_access · irreversible · leaves the machine", "  • echo done", "      read_only · reversible"}
	if diff := cmp.Diff(want, Question(question("a"), 80, theme.Plain())); diff != "" {
		t.Error(diff)
	}
	for typed, want := range map[string]assistant.Answer{
		"y": {Kind: assistant.AnswerOnce, By: "user"}, " YES ": {Kind: assistant.AnswerOnce, By: "user"}, "s": {Kind: assistant.AnswerSession, By: "user"},
		"": {By: "user"}, "n": {By: "user"}, "no not now": {By: "user", Reason: "not now"}, "yess": {By: "user", Reason: "yess"},
		"maybe later": {By: "user", Reason: "maybe later"}, "x enough": {Kind: assistant.AnswerDenyAndStop, By: "user", Reason: "enough"},
	} {
		if diff := cmp.Diff(want, Answer(typed)); diff != "" {
			t.Errorf("%q: %s", typed, diff)
		}
	}
}

// U-TUI-4: what was typed before the question stood there does not answer it.
func TestTypedAheadDoesNotAnswer(t *testing.T) {
	t.Parallel()
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, person) // the terminal echoes
	talk := start(t, tty, person, nil)
	talk.wait(t, "> ")
	io.WriteString(person, "go\n")
	<-talk.sent
	io.WriteString(person, "y\ny") // a line, and one that is not finished
	if got := <-talk.sent; got != "y" {
		t.Errorf("sent %q", got)
	}
	talk.emit(question("a"))
	talk.wait(t, Keys)
	io.WriteString(person, "\n")
	if got := <-talk.solved; got.Kind != assistant.AnswerDeny {
		t.Errorf("answered %+v", got)
	}
	talk.emit(assistant.ApprovalResolved{ApprovalID: "a"}, question("b"), question("c"))
	talk.emit(assistant.ApprovalResolved{ApprovalID: "b", Decision: "denied", By: "supervisor:x"})
	talk.wait(t, "decided: denied by supervisor:x")
	io.WriteString(person, "y\n")
	if got := <-talk.solved; got.Kind != assistant.AnswerOnce {
		t.Errorf("answered %+v", got)
	}
	talk.emit(assistant.ApprovalResolved{ApprovalID: "c"}, assistant.Failure{Code: assistant.CodeCanceled})
	talk.wait(t, "interrupted\n> ")
	io.WriteString(person, "/stop\n/nope\n/exit\n")
	<-talk.cancel
	<-talk.end
	if !strings.Contains(talk.String(), "there is no command /nope") {
		t.Errorf("printed %q", talk.String())
	}
}

// The end of the input denies what is asked and lets the run end.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	talk := piped(t, func(c *Config) { c.First = &assistant.Input{Text: "go"} })
	<-talk.sent
	talk.emit(question("a"))
	talk.wait(t, Keys)
	talk.keys.Close()
	if got := <-talk.solved; got.Kind != assistant.AnswerDeny {
		t.Errorf("answered %+v", got)
	}
	talk.emit(assistant.Done{Text: "fin"})
	if res := <-talk.end; !res.Ended {
		t.Errorf("ended as %+v", res)
	}
	if !strings.Contains(talk.String(), "fin\n") {
		t.Errorf("a text that was not streamed is missing: %q", talk.String())
	}
}

func TestClosedConversation(t *testing.T) {
	t.Parallel()
	talk := piped(t, func(c *Config) {
		c.Returned = func(context.Context) []string { return []string{"do\x1b[2Jit"} }
		c.Command = func(_ context.Context, name, args string) (string, bool, error) {
			return "did " + name + args, name == "do", nil
		}
	})
	io.WriteString(talk.keys, "/do it\n/help\n")
	talk.wait(t, "did doit")
	talk.wait(t, "/quit leaves")
	talk.emit(assistant.Notice{Code: "inputs_waiting", Text: "1 input waits"})
	talk.wait(t, "not delivered: do\\x1b[2Jit")
	close(talk.events)
	if res := <-talk.end; !res.Closed {
		t.Errorf("ended as %+v", res)
	}
}
