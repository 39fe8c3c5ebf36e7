package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/picker"
	"car/internal/tui/theme"
	"car/internal/tui/todo"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// desk is a model whose messages are put in by hand. Its commands are not run: what
// they would print is taken out of the printer instead.
type desk struct {
	*model
	t       *testing.T
	printed []string
	seq     uint64
}

// quiet is a conversation in which nothing happens by itself.
type quiet struct{}

func (quiet) Send(context.Context, assistant.Input) error { return nil }
func (quiet) Cancel()                                     {}
func (quiet) Resolve(string, assistant.Answer) bool       { return true }
func (quiet) Subscribe(uint64) (<-chan assistant.Event, func()) {
	return make(chan assistant.Event), func() {}
}
func (quiet) Returned(context.Context) ([]assistant.Waiting, error) { return nil, nil }

func newDesk(t *testing.T, width, height int, change func(*Config)) *desk {
	t.Helper()
	return newColouredDesk(t, width, height, theme.Plain(), change)
}

func newColouredDesk(t *testing.T, width, height int, th theme.Theme, change func(*Config)) *desk {
	t.Helper()
	c := Config{Conversation: quiet{}, In: os.Stdin, Out: os.Stdout, Environ: []string{}, Now: func() time.Time { return began }, Resume: "car --resume s-12ab",
		Header: Header{Version: "0.1", Model: "model-1", ModelWhy: "from --model", Session: "s-12ab", Root: "~/orchard", Tier: ir.SandboxEdit,
			Confinement: "bubblewrap, no network", Gates: []string{"verify", "flow"}, Window: 200000}}
	if change != nil {
		change(&c)
	}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	d := &desk{model: newModel(t.Context(), c, th, width, height), t: t}
	d.print.busy = true // nothing leaves the printer but by us
	d.Init()
	d.collect()
	return d
}

func (d *desk) collect() {
	d.printed = append(d.printed, d.print.waiting...)
	d.print.waiting = nil
}

// got puts messages in, each followed by a redraw, as Bubble Tea does.
func (d *desk) got(msgs ...tea.Msg) {
	for _, msg := range msgs {
		d.Update(msg)
		d.collect()
		if view := d.View(); strings.Count(view, "\n") >= max(d.height, 1) {
			d.t.Errorf("a picture of %d lines on a screen of %d", strings.Count(view, "\n")+1, d.height)
		}
	}
}

// happens puts events of a run in.
func (d *desk) happens(run int, bodies ...assistant.Body) {
	for _, b := range bodies {
		d.seq++
		d.got(eventsMsg{events: []assistant.Event{{Run: run, Seq: d.seq, Time: began, Body: b}}, at: d.now})
	}
}

// passes lets time pass, with a tick at its end.
func (d *desk) passes(by time.Duration) { d.got(tickMsg{d.ticks.number, d.now.Add(by)}) }

var keyNames = map[string]tea.KeyMsg{
	"enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "ctrl+c": {Type: tea.KeyCtrlC}, "ctrl+d": {Type: tea.KeyCtrlD}, "ctrl+o": {Type: tea.KeyCtrlO},
	"tab": {Type: tea.KeyTab}, "up": {Type: tea.KeyUp}, "pgdown": {Type: tea.KeyPgDown}, "ctrl+z": {Type: tea.KeyCtrlZ}, "ctrl+g": {Type: tea.KeyCtrlG},
}

func (d *desk) types(keys ...string) {
	for _, k := range keys {
		if msg, ok := keyNames[k]; ok {
			d.got(msg)
			continue
		}
		for _, r := range k {
			if r == ' ' {
				d.got(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{r}})
				continue
			}
			d.got(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
		}
	}
}

// sees reports the picture to the approval pane as drawn.
func (d *desk) sees() { d.got(drawn{d.ask.Generation()}) }

func (d *desk) screen() string {
	return strings.Join(d.printed, "\n") + "\n-- redrawn:\n" + ansi.Strip(d.View()) + "\n"
}

func (d *desk) golden(name string) {
	d.t.Helper()
	compareGolden(d.t, name, d.screen())
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

func (d *desk) wants(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.screen(), text) {
			d.t.Errorf("%q is not on the screen:\n%s", text, d.screen())
		}
	}
}

func call(seq int, tool, key, value string) assistant.ToolCall {
	return assistant.ToolCall{CallID: fmt.Sprintf("c%d", seq), Sequence: seq, Tool: tool, Params: map[string]any{key: value}}
}

func pending(id string, seq int) assistant.ApprovalPending {
	return assistant.ApprovalPending{ApprovalID: id, CallID: fmt.Sprintf("c%d", seq), Tool: "shell", Params: map[string]any{"command": "git push origin main"},
		Tier: ir.FullAccess, Reason: "rule ask-push: this leaves the machine", Scope: map[string]any{"target": "origin/main", "cwd": "/home/ann/orchard"},
		ExpiresAt: began.Add(5 * time.Minute)}
}

var sizes = [][2]int{{40, 12}, {80, 24}, {120, 40}, {300, 80}}

// U-TUI-1 to U-TUI-7: the stations of a turn, at four sizes.
func TestTurnGolden(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		turn(newDesk(t, size[0], size[1], nil), func(d *desk, station string) { d.golden(fmt.Sprintf("%s-%dx%d", station, size[0], size[1])) })
	}
}

// U-TUI-10: the same stations in colour, on dark and light: every colour that is turned
// on is turned off on its line, and 16 colours are enough.
func TestTurnInColour(t *testing.T) {
	t.Parallel()
	for name, dark := range map[string]bool{"dark": true, "light": false} {
		d := newColouredDesk(t, 80, 24, theme.New(theme.Options{Profile: termenv.ANSI, Dark: dark}), nil)
		turn(d, func(d *desk, station string) {
			screen := strings.Join(d.printed, "\n") + "\n-- redrawn:\n" + tourMark.ReplaceAllString(d.View(), "") + "\n"
			for _, line := range strings.Split(screen, "\n") {
				if on := strings.LastIndex(line, "\x1b["); on >= 0 && !strings.HasPrefix(line[on:], "\x1b[0m") && !strings.HasPrefix(line[on:], "\x1b[m") {
					t.Errorf("%s %s: a colour is left on: %q", name, station, line)
				}
			}
			if strings.Contains(screen, "38;5") || strings.Contains(screen, "38;2") {
				t.Errorf("%s %s: more than 16 colours", name, station)
			}
			compareGolden(t, fmt.Sprintf("%s-%s", station, name), strings.ReplaceAll(screen, "\x1b", "\u241b"))
		})
	}
}

// tourMark is what the screen's writer takes off a picture.
var tourMark = regexp.MustCompile("\x1b_car;[^\x1b]*\x1b\\\\")

// turn plays the stations of a turn and shows each.
func turn(d *desk, golden func(d *desk, station string)) {
	golden(d, "start")
	d.types("raise the price of the soup", "enter")
	d.happens(1, assistant.InferenceStarted{Model: "model-1", Turn: 1}, assistant.Thinking{Delta: "I should look\nat the menu first"})
	d.passes(1200 * time.Millisecond)
	golden(d, "thinking")
	d.happens(1, assistant.Token{Delta: "I will look at **both** files.\n\n- the menu\n- the prices"})
	d.passes(2 * time.Second)
	golden(d, "streaming")
	d.happens(1, call(1, "read_file", "path", "menu.txt"), call(2, "shell", "command", "sort prices.txt | head -n 3"),
		assistant.ToolProgress{CallID: "c2", Tail: "12\n14\n"})
	d.types("and the docs", "enter")
	d.passes(1500 * time.Millisecond)
	golden(d, "calls")
	d.happens(1, assistant.ToolResult{CallID: "c2", Sequence: 2, Tool: "shell", Status: ir.Failed, DurationMS: 1500, Blocks: []ir.Block{{Kind: ir.BlockExit, Exit: &ir.ExitStatus{Code: 2, DurationMS: 1500}}}},
		assistant.ToolResult{CallID: "c1", Sequence: 1, Tool: "read_file", OK: true, Status: ir.Succeeded, DurationMS: 3, Blocks: []ir.Block{{Text: "soup\nbread\n"}}},
		assistant.Usage{Input: 1200, Output: 80}, call(3, "shell", "command", "git push origin main"), pending("a1", 3))
	d.sees()
	golden(d, "asking")
	d.types("n")
	d.happens(1, assistant.ApprovalResolved{ApprovalID: "a1", Decision: "denied", By: "user"},
		assistant.ToolResult{CallID: "c3", Sequence: 3, Tool: "shell", Status: ir.Rejected, Excerpt: "declined by user"},
		assistant.InferenceStarted{Model: "model-1", Turn: 2}, assistant.Token{Delta: "The price is 14; nothing was pushed."},
		assistant.ReceiptReport{UngroundedClaims: []string{"tests pass"}}, assistant.Done{Text: "The price is 14; nothing was pushed."})
	golden(d, "done")
}

// U-TUI-9: a goal's progress while it runs, its verdicts in the scrollback.
func TestGoalGolden(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		d := newDesk(t, size[0], size[1], func(c *Config) {
			c.First = &assistant.Input{Text: "make the tests pass", Goal: &assistant.Goal{Check: "go test ./...", MaxIterations: 3}}
			c.Leave = true
		})
		d.got(listed{[]todo.Item{{Text: "read", Done: true}, {Text: "fix the price"}, {Text: "run the tests"}}})
		d.happens(1, assistant.Notice{Code: "goal_baseline", Text: "the check does not pass yet: exit 1"}, assistant.InferenceStarted{Model: "model-1"},
			assistant.Token{Delta: "Round one."}, assistant.GoalEvaluated{Iteration: 1, Reason: "exit 1\n--- FAIL: TestPrice"},
			assistant.InferenceStarted{Model: "model-1"}, call(1, "shell", "command", "go test ./..."))
		d.passes(time.Second)
		d.golden(fmt.Sprintf("goal-%dx%d", size[0], size[1]))
		d.happens(1, assistant.ToolResult{CallID: "c1", Sequence: 1, Tool: "shell", OK: true}, assistant.GoalEvaluated{Iteration: 2, Met: true, Grounded: true, Reason: "exit 0"},
			assistant.ReceiptReport{}, assistant.Done{Text: "Round one."})
		if d.phase != leaving || d.exit.Reason != Finished || d.exit.Last == nil {
			t.Errorf("after the goal: phase %v, exit %+v", d.phase, d.exit)
		}
		d.wants("goal 2/3 met")
	}
}

// U-TUI-4: y before the question was drawn is text; after it, it answers.
func TestQuestionTakesNoEarlierKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.types("go", "enter")
	d.happens(1, call(1, "shell", "command", "git push origin main"), pending("a1", 1))
	d.types("yes", "enter")
	if got := d.composer.Waiting(); len(got) != 1 || got[0] != "yes" {
		t.Fatalf("what was typed is lost: %q", got)
	}
	d.sees()
	d.types("y")
	if d.ask.Armed() || d.composer.Text() != "y" {
		t.Fatalf("armed %v, text %q: a person who was typing answered", d.ask.Armed(), d.composer.Text())
	}
	d.wants("tab to answer")
	d.types("tab")
	if !d.ask.Armed() {
		t.Fatal("tab does not turn to the question")
	}
	d.got(pasteMsg{"y\n"})
	d.types("tab", "enter")
	if !d.ask.Open() || !strings.Contains(d.screen(), "allow once") {
		t.Fatal("a paste or Enter answered")
	}
	d.types("y")
	d.wants("answered, waiting")
}

// U-TUI-6: esc interrupts, ctrl+c twice leaves, and nothing typed is lost.
func TestInterruptAndLeave(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.types("esc", "go", "enter")
	d.happens(1, assistant.InferenceStarted{Model: "model-1"}, assistant.Token{Delta: "half an ans"}, call(1, "shell", "command", "sleep 9"))
	d.types("first", "enter", "second", "enter", "third", "esc")
	if d.phase != stopping {
		t.Fatalf("phase %v after esc", d.phase)
	}
	d.wants("interrupting")
	d.happens(1, assistant.Notice{Code: "inputs_returned", Text: "2 queued input(s) were not delivered and wait for you"})
	d.got(returned{waiting: []assistant.Waiting{{ID: 7, Input: assistant.Input{Text: "first"}}, {ID: 8, Input: assistant.Input{Text: "second"}}}})
	d.happens(1, assistant.Failure{Error: "canceled", Code: assistant.CodeCanceled})
	if got := d.composer.Text(); got != "first\nsecond\nthird" || d.phase != idle {
		t.Fatalf("the editor holds %q, phase %v", got, d.phase)
	}
	d.wants("half an ans", "sleep 9  interrupted")
	d.types("ctrl+c")
	d.wants("ctrl+c again leaves")
	d.types("!", "ctrl+c")
	if d.phase == leaving {
		t.Fatal("a key in between was not noticed")
	}
	d.types("ctrl+c")
	if d.phase != leaving || d.exit.Reason != Quit || d.exit.Unsent != "first\nsecond\nthird!" || d.exit.Resume == "" {
		t.Errorf("phase %v, exit %+v", d.phase, d.exit)
	}
}

// P-WORK-7: the next message says which returned ones it stands for; one that was
// refused is back in the editor.
func TestReturnedInputsAreReplaced(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.got(returned{waiting: []assistant.Waiting{{ID: 7, Input: assistant.Input{Text: "again"}}}}, returned{waiting: []assistant.Waiting{{ID: 7, Input: assistant.Input{Text: "again"}}}})
	if d.composer.Text() != "again" {
		t.Fatalf("the editor holds %q", d.composer.Text())
	}
	ids := d.returned
	d.types("enter")
	if len(ids) != 1 || ids[0] != 7 || len(d.returned) != 0 {
		t.Errorf("held %v, then %v", ids, d.returned)
	}
	d.got(sent{assistant.Input{Text: "again", Replaces: ids}, errors.New("16 inputs wait already")})
	if d.composer.Text() != "again" || len(d.returned) != 1 || d.phase != idle {
		t.Errorf("after a refusal: %q, %v, phase %v", d.composer.Text(), d.returned, d.phase)
	}
	d.wants("16 inputs wait already")
	d.types("enter")
	d.happens(1, assistant.InferenceStarted{Model: "m"}, assistant.Failure{Error: "too many turns", Code: "max_turns", Text: "what was done"})
	d.wants("what was done", "too many turns")
}

// U-TUI-6: a message that has waited is shown as sent when its run begins.
func TestWaitingMessageBegins(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.types("one", "enter")
	d.happens(1, assistant.InferenceStarted{Model: "m"})
	d.types("two", "enter")
	d.happens(1, assistant.Done{Text: "first answer"})
	d.wants("❯ one", "first answer", "waiting: two")
	d.happens(2, assistant.InferenceStarted{Model: "m"})
	if strings.Contains(d.screen(), "waiting: two") || !strings.Contains(strings.Join(d.printed, "\n"), "❯ two") {
		t.Errorf("got %s", d.screen())
	}
}

// U-TUI-8: commands, the caller's and the screen's own.
func TestCommands(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, func(c *Config) {
		c.Commands = []Command{{Name: "cost", Help: "what it cost", Run: func(context.Context, string) (Result, error) { return Result{}, nil }}}
	})
	d.types("/", "esc")
	d.types("help", "enter")
	d.wants("/cost", "what it cost", "ctrl+c twice")
	d.types("/cots", "enter", "/co", "enter")
	d.wants("no command /cots", "did you mean /cost?")
	d.got(commanded{Result{Text: "**0.02** dollars", Header: &Header{Model: "model-2"}, Draft: "and now"}, nil}, commanded{err: errors.New("no price")})
	d.wants("**0.02** dollars", "no price", "model-2", "❯ and now")
	d.got(tea.KeyMsg{Type: tea.KeyCtrlU})
	d.types("/etc/hosts says what?", "enter")
	d.wants("❯ /etc/hosts says what?")
	d.types("/quit", "enter")
	if d.phase != leaving || !d.exit.Running {
		t.Errorf("phase %v, exit %+v", d.phase, d.exit)
	}
}

// U-TUI-6, U-TUI-8: what a command asks for happens between turns only; a list takes all
// keys until it is closed, and a question goes before it.
func TestWhatCommandsAskFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, func(c *Config) {
		c.Past, c.Draft = []Said{{Mine: true, Text: "earlier"}, {Text: "an **answer**"}}, "half a thought"
		c.Commands = []Command{{Name: "rewind"}}
	})
	d.wants("❯ earlier", "answer", "❯ half a thought")
	d.got(tea.KeyMsg{Type: tea.KeyCtrlU})
	d.types("esc")
	d.wants("esc again goes back")
	d.types("x", "esc")
	if d.rewindArmed != 0 {
		t.Error("another key between two escapes is forgotten")
	}
	d.got(tea.KeyMsg{Type: tea.KeyCtrlU})
	name := "model-2"
	pick := Pick{Title: "choose", Items: []picker.Item{{Text: "one"}, {Text: "two"}}, Chosen: func(context.Context, int) (Result, error) { return Result{}, nil }}
	d.got(commanded{Result: Result{Model: &name, Pick: &pick}})
	d.types("/quit")
	d.wants("choose", "nothing fits")
	d.types("esc")
	d.wants("ask, or / for commands")
	d.types("go", "enter")
	if d.wanted != name {
		t.Errorf("the next input asks for %q", d.wanted)
	}
	d.got(commanded{Result: Result{Leave: true}}, commanded{Result: Result{Send: &assistant.Input{Text: "more"}}})
	d.wants("a turn is running")
	d.got(commanded{Result: Result{Pick: &pick}})
	d.happens(1, call(1, "shell", "command", "git push"), pending("p1", 1))
	d.sees()
	d.types("n")
	if d.pick.IsOpen() == false {
		t.Error("an answer to a question closed the list")
	}
	if d.phase == leaving {
		t.Error("the screen left with a turn running")
	}
}

// queued is a conversation with messages that wait.
type queued struct {
	quiet
	waiting []assistant.Waiting
	sent    []assistant.Input
}

func (q *queued) Send(_ context.Context, in assistant.Input) error {
	q.sent = append(q.sent, in)
	return nil
}
func (q *queued) Queued() []assistant.Waiting { return q.waiting }
func (q *queued) TakeBack(_ context.Context, id int64) (assistant.Waiting, error) {
	for i, w := range q.waiting {
		if w.ID == id {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			return w, nil
		}
	}
	return assistant.Waiting{}, errors.New("input is gone")
}

// U-TUI-6, B073: a message that waits can be taken back and changed; one can be sent
// into the running turn.
func TestWaitingMessagesAreEditable(t *testing.T) {
	t.Parallel()
	q := &queued{}
	d := newDesk(t, 80, 24, func(c *Config) { c.Conversation = q })
	d.types("go", "enter", "first", "enter", "second", "enter")
	d.wants("waiting: first", "waiting: second")
	q.waiting = []assistant.Waiting{{ID: 1, Input: assistant.Input{Text: "first"}}, {ID: 2, Input: assistant.Input{Text: "second"}}}
	d.got(d.takeBack()())
	d.wants("❯ second", "waiting: first")
	if len(d.returned) != 1 || d.returned[0] != 2 {
		t.Errorf("the next message replaces %v", d.returned)
	}
	if len(q.waiting) != 1 || strings.Contains(d.screen(), "waiting: second") {
		t.Errorf("%+v still waits", q.waiting)
	}
	d.got(tea.KeyMsg{Type: tea.KeyCtrlU})
	q.waiting = nil
	d.got(d.takeBack()())
	d.wants("nothing waits any more")
	d.types("hurry")
	d.got(d.steer()())
	d.wants("❯ hurry")
	if last := q.sent[len(q.sent)-1]; !last.Steer || last.Text != "hurry" {
		t.Errorf("sent %+v", last)
	}
}

// U-TUI-5: what the words name comes along, and words that name what is not there are
// back in the editor.
func TestAttach(t *testing.T) {
	t.Parallel()
	q := &queued{}
	fails := errors.New("no picture there")
	d := newDesk(t, 80, 24, func(c *Config) {
		c.Conversation = q
		c.Attach = func(_ context.Context, in *assistant.Input) error {
			in.Context = "attached"
			if in.Text == "@gone.png" {
				return fails
			}
			return nil
		}
	})
	d.got(d.send(assistant.Input{Text: "@here.png"})())
	if len(q.sent) != 1 || q.sent[0].Context != "attached" {
		t.Fatalf("sent %+v", q.sent)
	}
	d.got(d.send(assistant.Input{Text: "@gone.png"})())
	d.wants("no picture there", "❯ @gone.png")
	if len(q.sent) != 1 {
		t.Error("it was sent all the same")
	}
}

// U-TUI-8: the help is made from the bindings, and fits.
func TestHelpGolden(t *testing.T) {
	t.Parallel()
	for _, size := range append(sizes, [2]int{20, 9}) {
		d := newDesk(t, size[0], size[1], nil)
		d.printed = nil
		d.types("/help", "enter")
		for _, line := range d.printed {
			if ansi.StringWidth(line) > size[0] {
				t.Errorf("at %d: %q", size[0], line)
			}
		}
		d.golden(fmt.Sprintf("help-%dx%d", size[0], size[1]))
	}
}

// P-STREAM-4: a wait for the provider counts down and says what ends it.
func TestRetryCountsDown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.types("go", "enter")
	d.happens(1, assistant.InferenceStarted{Model: "m", Attempt: 1}, assistant.InferenceRetry{Attempt: 1, Reason: "rate_limited", BackoffMS: 8000})
	d.passes(time.Second)
	d.wants("again in 7s, try 2: rate_limited", "esc interrupts")
	d.passes(5 * time.Second)
	d.wants("again in 2s")
	d.passes(9 * time.Second)
	d.wants("waiting for m")
}

// A finished text that was not streamed is printed; what the conversation added to
// one that was is, too.
func TestRemainder(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"", "all", "all"}, {"all", "all", ""}, {"all ", "all\n\n[claim check] x", "\n\n[claim check] x"}, {"other", "all", ""},
		{"the rest", "the start and the rest\n\n[goal check] y", "\n\n[goal check] y"}} {
		if got := remainder(c[0], c[1]); got != c[2] {
			t.Errorf("%q, %q: %q", c[0], c[1], got)
		}
	}
}

// P-TERM-3: at any size, with everything on the screen at once, the picture fits.
func TestAnySizeFits(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 2, 5, 19, 20, 33, 80, 300} {
		for height := 1; height < 30; height += 3 {
			d := newDesk(t, 80, 24, func(c *Config) {
				c.First = &assistant.Input{Text: strings.Repeat("界 words ", 30), Goal: &assistant.Goal{Check: "go test ./..."}}
			})
			d.got(tea.WindowSizeMsg{Width: width, Height: height}, listed{[]todo.Item{{Text: "a"}, {Text: "b"}, {Text: "c"}}})
			d.happens(1, assistant.InferenceStarted{Model: "m"}, assistant.Token{Delta: strings.Repeat("streamed 界 text ", 50)})
			d.passes(time.Second)
			d.happens(1, call(1, "read_file", "path", strings.Repeat("x", 90)), call(2, "shell", "command", "y"), assistant.ToolProgress{CallID: "c2", Tail: "z"})
			d.types("typed 界 text")
			d.happens(1, pending("a1", 2), pending("a2", 1))
			d.sees()
			d.types("tab", "pgdown", "d", "because")
			for i, line := range strings.Split(ansi.Strip(d.View()), "\n") {
				if w := ansi.StringWidth(line); w > width {
					t.Errorf("%dx%d: line %d has %d cells: %q", width, height, i, w, line)
				}
			}
		}
	}
}

// B065: while the size changes nothing is drawn for it and nothing is printed.
func TestSizeSettlesFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.got(sizeMsg{Width: 80, Height: 24}) // the report at the start changes nothing
	d.types("go", "enter", "ctrl+c", "esc")
	before := d.View()
	d.got(sizeMsg{Width: 20, Height: 5}, sizeMsg{Width: 1, Height: 1})
	d.happens(1, assistant.Token{Delta: "one\n\ntwo\n\n"})
	d.print.busy = false
	if cmd := d.flush(); d.View() != before || cmd != nil {
		t.Errorf("something was drawn or printed for a size that does not last")
	}
	if _, cmd := d.Update(settleMsg{tea.WindowSizeMsg{Width: 20, Height: 5}, 1}); d.width != 80 || cmd != nil && d.View() != before {
		t.Error("an older size was taken")
	}
	d.print.busy = true
	d.got(tea.WindowSizeMsg{Width: 1, Height: 1})
	d.print.busy = false
	d.print.waiting = []string{"finished"}
	if d.flush() != nil {
		t.Error("lines are printed, broken for a screen of one cell")
	}
	d.got(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.print.waiting = []string{"finished"}
	d.print.busy = false
	if d.flush() == nil {
		t.Error("lines are not printed on a screen that is large enough again")
	}
}

// U-TUI-3: ctrl+o shows outputs, of the last call first.
func TestExpand(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.types("go", "enter")
	d.happens(1, call(1, "shell", "command", "ls"), assistant.ToolResult{CallID: "c1", Sequence: 1, Tool: "shell", OK: true, Blocks: []ir.Block{{Text: "one\ntwo\nthree"}}}, assistant.Done{})
	d.types("ctrl+o")
	d.wants("    three")
	d.types("ctrl+o")
	d.wants("no further output")
}

// P-TERM-2: while another process has the terminal nothing is drawn, printed or typed.
func TestAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, func(c *Config) { c.Edit = func(context.Context, string) (string, error) { return "", nil } })
	d.away = func(func() error, func(error) tea.Msg) tea.Cmd { return func() tea.Msg { return nil } }
	d.types("draft", "ctrl+z")
	if ansi.Strip(d.View()) != "" {
		t.Errorf("suspended, it draws %q", d.View())
	}
	d.types("lost")
	d.got(back{})
	d.types("ctrl+g")
	d.got(edited{text: "from the editor\n"})
	d.wants("❯ from the editor")
	d.types("ctrl+g")
	d.got(edited{err: errors.New("exit 1")})
	d.wants("❯ from the editor", "the editor: exit 1")
}

func TestConfigNamesTheMissingField(t *testing.T) {
	t.Parallel()
	if _, err := Run(t.Context(), Config{}); err == nil || !strings.Contains(err.Error(), "Config.Conversation") {
		t.Errorf("got %v", err)
	}
	if _, err := Run(t.Context(), Config{Conversation: quiet{}, In: os.Stdin, Out: os.Stdout, Environ: []string{}, Now: time.Now, Leave: true}); err == nil {
		t.Error("Leave without First was taken")
	}
}

// B069: what streams by while the model thinks is filtered too.
func TestThinkingIsFiltered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, nil)
	d.types("go", "enter")
	d.happens(1, assistant.InferenceStarted{Model: "m\x1b[2J"})
	d.wants(`waiting for m\x1b[2J`)
	d.happens(1, assistant.Thinking{Delta: "x\ny\x1b]0;t\a\u202e\xe7"})
	d.wants(`thinking  y\x1b]0;t\a\u202e`)
}
