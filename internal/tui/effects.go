package tui

import (
	"fmt"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/assistant"
	"car/internal/tui/composer"
	"car/internal/tui/todo"
)

// effectMsg is the outcome of an effect; it changes the model in the loop.
type effectMsg interface{ apply(m *model) tea.Cmd }

// PanicError is a panic of the screen. Value is what it panicked with; Stack is for a
// log, not for the person.
type PanicError struct {
	Where string
	Value any
	Stack []byte
}

// Error names the place and the value.
func (e *PanicError) Error() string { return fmt.Sprintf("tui: %s panicked: %v", e.Where, e.Value) }

// effect is a command that can not take the terminal down with it: a panic ends the
// screen in the ordinary way.
func effect(where string, work func() effectMsg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = broken{&PanicError{where, v, debug.Stack()}}
			}
		}()
		if out := work(); out != nil {
			return out
		}
		return nil
	}
}

// after brings a message when some time has passed, unless the screen ends before.
func (m *model) after(d time.Duration, msg func() tea.Msg) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg()
		case <-ctx.Done():
			return nil
		}
	}
}

// broken ends the screen with an error.
type broken struct{ err error }

func (b broken) apply(m *model) tea.Cmd {
	m.wrong = b.err
	return m.quit(ReasonUnset)
}

// eventsMsg is what happened in the conversation since the last one.
type eventsMsg struct {
	events []assistant.Event
	at     time.Time
	closed bool
}

// atOnce bounds how many events one message carries, so that keys get their turn.
const atOnce = 256

// listen waits for events and takes all that are there.
func (m *model) listen() tea.Cmd {
	events, now, done := m.events, m.cfg.Now, m.ctx.Done()
	return func() tea.Msg {
		var got eventsMsg
		select {
		case e, more := <-events:
			if !more {
				return eventsMsg{closed: true, at: now()}
			}
			got.events = append(got.events, e)
		case <-done:
			return nil
		}
		for len(got.events) < atOnce {
			select {
			case e, more := <-events:
				if !more {
					got.closed, got.at = true, now()
					return got
				}
				got.events = append(got.events, e)
			default:
				got.at = now()
				return got
			}
		}
		got.at = now()
		return got
	}
}

// ended waits for what ends the screen from outside: the context, or a terminal that
// went away.
func (m *model) ended() tea.Cmd {
	ctx, lost := m.ctx, m.lost
	return effect("stop", func() effectMsg {
		select {
		case <-ctx.Done():
		case <-lost:
		}
		return stopped{}
	})
}

type stopped struct{}

func (stopped) apply(m *model) tea.Cmd { return m.quit(Stopped) }

// send hands an input over.
func (m *model) send(in assistant.Input) tea.Cmd {
	ctx, conv, remember, attach := m.ctx, m.cfg.Conversation, m.cfg.Remember, m.cfg.Attach
	return effect("send", func() effectMsg {
		if attach != nil {
			if err := attach(ctx, &in); err != nil {
				return sent{in, err}
			}
		}
		err := conv.Send(ctx, in)
		if err == nil && remember != nil {
			remember(ctx, in.Text)
		}
		return sent{in, err}
	})
}

// sent is the conversation's answer to an input.
type sent struct {
	in  assistant.Input
	err error
}

func (s sent) apply(m *model) tea.Cmd {
	if s.err == nil {
		return nil
	}
	m.failed(s.err.Error())
	m.composer = m.composer.Forget(s.in.Text).Restore([]string{s.in.Text})
	m.returned = append(m.returned, s.in.Replaces...)
	if m.phase == running && m.status.Since.IsZero() {
		m.phase, m.own = idle, false // nothing had begun
	}
	if m.cfg.Leave {
		m.wrong = s.err
		return m.quit(Finished)
	}
	return nil
}

// cancel ends the running turn.
func (m *model) cancel() tea.Cmd {
	conv := m.cfg.Conversation
	return effect("cancel", func() effectMsg {
		conv.Cancel()
		return nil
	})
}

// resolve answers questions.
func (m *model) resolve(ids []string, a assistant.Answer) tea.Cmd {
	conv := m.cfg.Conversation
	return effect("resolve", func() effectMsg {
		var late []string
		for _, id := range ids {
			if !conv.Resolve(id, a) {
				late = append(late, id)
			}
		}
		return resolved{late}
	})
}

// resolved lists the questions that were no longer open.
type resolved struct{ late []string }

func (r resolved) apply(m *model) tea.Cmd {
	for _, id := range r.late {
		m.ask, _ = m.ask.Resolved(assistant.ApprovalResolved{ApprovalID: id})
	}
	if len(r.late) > 0 {
		m.remark("that question was closed before the answer")
	}
	return nil
}

// undelivered looks for inputs that were not delivered.
func (m *model) undelivered() tea.Cmd {
	ctx, conv := m.ctx, m.cfg.Conversation
	return effect("returned", func() effectMsg {
		waiting, err := conv.Returned(ctx)
		return returned{waiting, err}
	})
}

type returned struct {
	waiting []assistant.Waiting
	err     error
}

func (r returned) apply(m *model) tea.Cmd {
	if r.err != nil {
		m.failed("messages that were not delivered can not be read: " + r.err.Error())
		return nil
	}
	var texts []string
	for _, w := range r.waiting {
		if !m.holds(w.ID) {
			m.returned = append(m.returned, w.ID)
			texts = append(texts, w.Text)
		}
	}
	if len(texts) > 0 {
		m.composer = m.composer.Returned(texts)
	}
	return nil
}

func (m *model) holds(id int64) bool {
	for _, held := range m.returned {
		if held == id {
			return true
		}
	}
	return false
}

// todo asks for the agent's list.
func (m *model) todo() tea.Cmd {
	if m.cfg.Todo == nil {
		return nil
	}
	ctx, ask := m.ctx, m.cfg.Todo
	return effect("todo", func() effectMsg { return listed{ask(ctx)} })
}

type listed struct{ items []todo.Item }

func (l listed) apply(m *model) tea.Cmd {
	m.todos = l.items
	return nil
}

// complete asks for the completions of a word.
func (m *model) complete(word string) tea.Cmd {
	if m.cfg.Complete == nil {
		return nil
	}
	ctx, ask := m.ctx, m.cfg.Complete
	return effect("complete", func() effectMsg { return completed{word, ask(ctx, word)} })
}

type completed struct {
	word    string
	choices []composer.Choice
}

func (c completed) apply(m *model) tea.Cmd {
	m.composer = m.composer.Completed(c.word, c.choices)
	return nil
}

// watchAsk waits until the approval pane's present picture is on the screen.
func (m *model) watchAsk() tea.Cmd {
	if !m.ask.Open() || m.await == nil || m.ask.Watched() {
		return nil
	}
	m.ask = m.ask.Watch()
	ctx, await, generation := m.ctx, m.await, m.ask.Generation()
	return effect("draw", func() effectMsg {
		if !await(ctx, generation) {
			return nil
		}
		return drawn{generation}
	})
}

type drawn struct{ generation uint64 }

func (d drawn) apply(m *model) tea.Cmd {
	m.ask = m.ask.Drawn(d.generation)
	return nil
}
