package line

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/muesli/cancelreader"

	"car/internal/assistant"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Conversation is what Run talks to; see package tui.
type Conversation interface {
	Send(ctx context.Context, in assistant.Input) error
	Cancel()
	Resolve(approvalID string, a assistant.Answer) bool
	Subscribe(from uint64) (<-chan assistant.Event, func())
}

// Config makes a conversation in lines.
type Config struct {
	Conversation Conversation
	In           *os.File
	Out          io.Writer
	Theme        theme.Theme
	Width        int
	From         uint64
	// Header is printed first.
	Header []string
	First  *assistant.Input
	// Leave ends when the run of First has ended.
	Leave bool
	// Command does what a slash command says and returns what to print; ok is false
	// for one that does not exist. /quit, /stop and /help are Run's own.
	Command func(ctx context.Context, name, args string) (text string, ok bool, err error)
	// Help is printed for /help.
	Help []string
	// Returned lists the texts that were not delivered; they are shown when the
	// conversation says that there are some.
	Returned func(ctx context.Context) []string
	// Sent is told of every text that was accepted.
	Sent func(ctx context.Context, text string)
}

// Result is how it ended.
type Result struct {
	// Quit says that the person left, Ended that Config.Leave ended it, Closed that
	// the conversation did; none of them, that the context did.
	Quit, Ended, Closed bool
	Last                assistant.Body
	Running             bool
}

// talk is the state of one conversation.
type talk struct {
	Config
	*Printer
	res     Result
	pending []assistant.ApprovalPending
	draft   string // lines that end in a backslash
	seen    uint64
	lagged  bool
}

// Run reads lines and prints events until the person leaves, the input ends, the
// conversation closes or ctx ends.
func Run(ctx context.Context, c Config) (Result, error) {
	reader, err := cancelreader.NewReader(c.In)
	if err != nil {
		return Result{}, fmt.Errorf("read lines: %w", err)
	}
	typed := make(chan string) // written by the reader's goroutine, which closes it
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(typed)
		in := bufio.NewScanner(reader)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			select {
			case typed <- in.Text():
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		if reader.Cancel() {
			<-ended
		}
		reader.Close()
	}()
	t := &talk{Config: c, Printer: NewPrinter(c.Out, c.Width, c.Theme), seen: c.From}
	return t.run(ctx, typed)
}

// errLeave ends the loop; Result says why.
var errLeave = errors.New("leave")

func (t *talk) run(ctx context.Context, typed <-chan string) (Result, error) {
	events, leave := t.Conversation.Subscribe(t.From)
	defer func() { leave() }()
	for _, l := range t.Header {
		t.Line(l)
	}
	if t.First != nil {
		t.res.Running = true
		if err := t.send(ctx, *t.First); err != nil && t.Leave {
			return t.res, err
		}
	} else {
		t.prompt()
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return t.res, nil
		case e, more := <-events:
			if !more {
				if !t.lagged {
					t.res.Closed = true
					return t.res, nil
				}
				t.lagged = false
				leave()
				events, leave = t.Conversation.Subscribe(t.seen)
				continue
			}
			err = t.event(ctx, e, typed)
		case text, more := <-typed:
			if !more {
				typed = nil // the person can say nothing more; a run still ends by itself
				t.denyAll()
				if err = errLeave; t.res.Running {
					t.Leave, err = true, nil
				}
				t.res.Quit = err != nil
				break
			}
			err = t.typed(ctx, text)
		}
		if err != nil {
			return t.res, nil
		}
	}
}

func (t *talk) prompt() { fmt.Fprint(t.Out, "> ") }

func (t *talk) event(ctx context.Context, e assistant.Event, typed <-chan string) error {
	t.seen = max(t.seen, e.Seq)
	switch b := e.Body.(type) {
	case assistant.ApprovalPending:
		// What was typed by now was typed to something else.
		for typed != nil {
			select {
			case text, more := <-typed:
				if more {
					_ = t.typed(ctx, text)
				}
				continue
			default:
			}
			break
		}
		t.flush()
		if t.pending = append(t.pending, b); len(t.pending) == 1 {
			t.put()
		}
	case assistant.ApprovalResolved:
		t.resolved(b)
	case assistant.Notice:
		t.lagged = t.lagged || b.Code == "lagged"
		t.Print(e)
		if t.Returned != nil && (b.Code == "inputs_returned" || b.Code == "inputs_waiting") {
			for _, text := range t.Returned(ctx) {
				t.Line("not delivered: " + safe.Line(text))
			}
		}
	default:
		t.Print(e)
	}
	if e.Body == nil || !e.Body.Kind().Terminal() {
		return nil
	}
	t.res.Last, t.res.Running = e.Body, false
	if t.Leave {
		t.res.Ended = true
		return errLeave
	}
	t.prompt()
	return nil
}

// put asks the first question, whole.
func (t *talk) put() {
	for _, l := range Question(t.pending[0], t.Width, t.Theme) {
		t.Line(l)
	}
	if n := len(t.pending); n > 1 {
		t.Line(fmt.Sprintf("(%d more wait)", n-1))
	}
	discard(t.In)
	fmt.Fprint(t.Out, Keys)
}

func (t *talk) resolved(r assistant.ApprovalResolved) {
	for i, p := range t.pending {
		if p.ApprovalID != r.ApprovalID {
			continue
		}
		t.pending = append(t.pending[:i:i], t.pending[i+1:]...)
		if i == 0 {
			t.Line("")
			t.Line(fmt.Sprintf("decided: %s by %s", r.Decision, r.By))
			if len(t.pending) > 0 {
				t.put()
			}
		}
		return
	}
}

func (t *talk) denyAll() {
	for _, p := range t.pending {
		t.Conversation.Resolve(p.ApprovalID, assistant.Answer{By: "user", Reason: "the input ended before an answer"})
	}
	t.pending = nil
}

// typed takes a line: an answer, if a question stands, else a message or a command.
func (t *talk) typed(ctx context.Context, text string) error {
	if len(t.pending) > 0 {
		p := t.pending[0]
		t.pending = t.pending[1:]
		if !t.Conversation.Resolve(p.ApprovalID, Answer(text)) {
			t.Line("that question was closed before the answer")
		}
		if len(t.pending) > 0 {
			t.put()
		}
		return nil
	}
	if part, more := strings.CutSuffix(text, `\`); more {
		t.draft += part + "\n"
		return nil
	}
	text, t.draft = t.draft+text, ""
	if strings.TrimSpace(text) == "" {
		t.prompt()
		return nil
	}
	if name, args, ok := command(text); ok {
		return t.do(ctx, name, args)
	}
	if err := t.send(ctx, assistant.Input{Text: text}); err == nil {
		t.res.Running = true
	}
	return nil
}

func command(text string) (name, args string, ok bool) {
	word, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, ok = strings.CutPrefix(word, "/")
	return name, strings.TrimSpace(args), ok && name != "" && !strings.ContainsAny(name, "/.\n")
}

func (t *talk) do(ctx context.Context, name, args string) error {
	switch name {
	case "quit", "exit":
		t.res.Quit = true
		return errLeave
	case "stop":
		t.Conversation.Cancel()
		return nil
	case "help":
		t.Line("/quit leaves, /stop interrupts the turn; a backslash at the end of a line goes on in the next")
		for _, l := range t.Help {
			t.Line(l)
		}
		t.prompt()
		return nil
	}
	if t.Command != nil {
		if text, ok, err := t.Command(ctx, name, args); ok {
			if err != nil {
				text = "failed: " + err.Error()
			}
			t.Line(text)
			t.prompt()
			return nil
		}
	}
	t.Line("there is no command /" + name + "; /help lists them")
	t.prompt()
	return nil
}

func (t *talk) send(ctx context.Context, in assistant.Input) error {
	err := t.Conversation.Send(ctx, in)
	if err != nil {
		t.Line("failed: " + err.Error())
		t.prompt()
		return err
	}
	if t.Sent != nil {
		t.Sent(ctx, in.Text)
	}
	return nil
}
