package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"car/internal/assistant"
	"car/internal/engine/ir"
)

var _ Conversation = (*assistant.Conversation)(nil)

// fake is a conversation that plays a script: one function for each input, in turn;
// the last one is played again and again. Its methods are those of the real one.
type fake struct {
	play []func(*fake, context.Context, string)

	mu       sync.Mutex
	seq      uint64
	run      int
	log      []assistant.Event
	subs     map[chan struct{}]bool
	queue    []assistant.Input
	current  context.CancelFunc
	asked    map[string]chan assistant.Answer
	got      []assistant.Input
	answers  []assistant.Answer
	returned []assistant.Waiting
	refuse   error
}

func newFake(play ...func(*fake, context.Context, string)) *fake {
	return &fake{play: play, subs: map[chan struct{}]bool{}, asked: map[string]chan assistant.Answer{}}
}

func (f *fake) Send(_ context.Context, in assistant.Input) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return f.refuse
	}
	f.got = append(f.got, in)
	f.queue = append(f.queue, in)
	if f.current == nil {
		f.next()
	}
	return nil
}

// next starts the oldest input. f.mu is held.
func (f *fake) next() {
	if len(f.queue) == 0 || len(f.play) == 0 {
		f.current = nil
		return
	}
	in := f.queue[0]
	f.queue = f.queue[1:]
	f.run++
	ctx, cancel := context.WithCancel(context.Background())
	f.current = cancel
	play := f.play[min(f.run, len(f.play))-1]
	go func() {
		play(f, ctx, in.Text)
		var end assistant.Body = assistant.Done{Text: f.answer()}
		if ctx.Err() != nil {
			end = assistant.Failure{Error: "canceled", Code: assistant.CodeCanceled}
			f.giveBack()
		}
		f.emit(assistant.ReceiptReport{})
		f.mu.Lock()
		f.next()
		f.mu.Unlock()
		f.emitRun(end)
	}()
}

func (f *fake) giveBack() {
	f.mu.Lock()
	for i, in := range f.queue {
		f.returned = append(f.returned, assistant.Waiting{ID: int64(i + 1), Input: in})
	}
	n := len(f.queue)
	f.queue = nil
	f.mu.Unlock()
	if n > 0 {
		f.emit(assistant.Notice{Code: "inputs_returned", Text: fmt.Sprintf("%d queued input(s) were not delivered and wait for you", n)})
	}
}

// answer is the text since the last call.
func (f *fake) answer() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, e := range f.log {
		switch body := e.Body.(type) {
		case assistant.ToolCall, assistant.Done, assistant.Failure:
			b.Reset()
		case assistant.Token:
			b.WriteString(body.Delta)
		}
	}
	return b.String()
}

func (f *fake) Cancel() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil {
		f.current()
	}
}

func (f *fake) Resolve(id string, a assistant.Answer) bool {
	f.mu.Lock()
	waiting := f.asked[id]
	delete(f.asked, id)
	f.answers = append(f.answers, a)
	f.mu.Unlock()
	if waiting == nil {
		return false
	}
	waiting <- a
	return true
}

func (f *fake) Returned(context.Context) ([]assistant.Waiting, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]assistant.Waiting(nil), f.returned...), nil
}

func (f *fake) Subscribe(from uint64) (<-chan assistant.Event, func()) {
	out := make(chan assistant.Event)
	wake := make(chan struct{}, 1)
	gone := make(chan struct{})
	f.mu.Lock()
	f.subs[wake] = true
	f.mu.Unlock()
	go func() {
		defer close(out)
		for at := int(from); ; {
			f.mu.Lock()
			var e assistant.Event
			ok := at < len(f.log)
			if ok {
				e = f.log[at]
			}
			f.mu.Unlock()
			if !ok {
				select {
				case <-wake:
				case <-gone:
					return
				}
				continue
			}
			select {
			case out <- e:
				at++
			case <-gone:
				return
			}
		}
	}()
	return out, sync.OnceFunc(func() { close(gone) })
}

// emit publishes an event of the running turn.
func (f *fake) emit(b assistant.Body) { f.emitRun(b) }

func (f *fake) emitRun(b assistant.Body) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	run := f.run
	if b.Kind().Terminal() && len(f.log) > 0 {
		run = f.log[len(f.log)-1].Run // of the run before the next one began
	}
	f.log = append(f.log, assistant.Event{Session: "s", Run: run, Seq: f.seq, Time: time.Now(), Body: b})
	for wake := range f.subs {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// stream emits text token by token.
func (f *fake) stream(ctx context.Context, text string, pause time.Duration) {
	f.emit(assistant.InferenceStarted{Model: "model-1", Attempt: 1, Turn: 1})
	for _, word := range strings.SplitAfter(text, " ") {
		if ctx.Err() != nil {
			return
		}
		f.emit(assistant.Token{Delta: word})
		if pause > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
}

func (f *fake) call(seq int, tool, key, value string) string {
	id := fmt.Sprintf("c%d", seq)
	f.emit(assistant.ToolCall{CallID: id, Sequence: seq, Tool: tool, Params: map[string]any{key: value}})
	return id
}

func (f *fake) result(seq int, tool string, blocks ...ir.Block) {
	f.emit(assistant.ToolResult{CallID: fmt.Sprintf("c%d", seq), Sequence: seq, Tool: tool, OK: true, Status: ir.Succeeded, DurationMS: 12, Blocks: blocks})
}

// ask asks and waits for the answer; it is told to everybody, as the real one does.
func (f *fake) ask(ctx context.Context, p assistant.ApprovalPending) (assistant.Answer, error) {
	answer := make(chan assistant.Answer, 1)
	f.mu.Lock()
	f.asked[p.ApprovalID] = answer
	f.mu.Unlock()
	f.emit(p)
	select {
	case a := <-answer:
		decision := "denied"
		if a.Kind >= assistant.AnswerOnce {
			decision = "approved"
		}
		f.emit(assistant.ApprovalResolved{ApprovalID: p.ApprovalID, Decision: decision, By: a.By, Reason: a.Reason})
		return a, nil
	case <-ctx.Done():
		f.emit(assistant.ApprovalResolved{ApprovalID: p.ApprovalID, Decision: "denied", By: "car", Reason: "canceled"})
		return assistant.Answer{}, errors.New("canceled")
	}
}
