package tui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/assistant"
	"car/internal/tui/block"
	"car/internal/tui/goal"
	"car/internal/tui/safe"
)

// happened takes events in their order and asks for more.
func (m *model) happened(msg eventsMsg) tea.Cmd {
	m.clock(msg.at)
	var cmds []tea.Cmd
	for _, e := range msg.events {
		m.seen = max(m.seen, e.Seq)
		m.begins(e)
		cmds = append(cmds, m.event(e, msg.at))
	}
	switch {
	case !msg.closed:
		cmds = append(cmds, m.listen())
	case m.lagged:
		m.lagged = false
		m.leave()
		m.events, m.leave = m.cfg.Conversation.Subscribe(m.seen)
		cmds = append(cmds, m.listen())
	default:
		cmds = append(cmds, m.quit(Closed))
	}
	return tea.Batch(cmds...)
}

// clock moves the time of everything that shows one.
func (m *model) clock(now time.Time) {
	m.now, m.status.Now = now, now
	m.rows, m.ask = m.rows.At(now), m.ask.At(now)
}

// begins notices that an event is the first of a run, which may be that of a message
// which has waited.
func (m *model) begins(e assistant.Event) {
	if e.Run <= m.run {
		return
	}
	m.run = e.Run
	if _, isNotice := e.Body.(assistant.Notice); e.Run == 0 || isNotice && !m.busy() && !m.own {
		return
	}
	if !m.own {
		var text string
		var waited bool
		if m.composer, text, waited = m.composer.Dequeue(); waited {
			m.say(text)
		}
	}
	m.own, m.calls = false, 0
	m.started()
}

func (m *model) started() {
	if m.phase == idle {
		m.phase = running
	}
	if m.status.Since.IsZero() {
		m.status.Since = m.now
	}
}

func (m *model) event(e assistant.Event, at time.Time) tea.Cmd {
	switch b := e.Body.(type) {
	case assistant.InferenceStarted, assistant.InferenceRetry, assistant.ModelServed, assistant.Token, assistant.Thinking:
		m.inference(b, at)
	case assistant.ToolCall, assistant.ToolProgress, assistant.ToolResult:
		return m.called(b, at)
	case assistant.ApprovalPending, assistant.ApprovalResolved:
		m.asked(b)
	case assistant.GoalEvaluated:
		m.endText()
		var line string
		m.goal, line = m.goal.Evaluated(b, m.width, m.theme)
		m.emit(remarks, line)
	case assistant.Usage:
		m.status = m.status.Used(b)
	case assistant.Notice:
		return m.noticed(b)
	case assistant.ReceiptReport:
		m.receipts(b)
	default:
		if e.Body != nil && e.Body.Kind().Terminal() {
			return m.over(e.Body)
		}
	}
	return nil
}

func (m *model) inference(body assistant.Body, at time.Time) {
	switch b := body.(type) {
	case assistant.InferenceStarted:
		m.said, m.thinking, m.retry = "", "", retry{}
		m.activity = "waiting for " + safe.Line(b.Model)
		m.started()
	case assistant.InferenceRetry:
		m.retry = retry{until: at.Add(time.Duration(b.BackoffMS) * time.Millisecond), reason: safe.Line(b.Reason), tries: b.Attempt}
	case assistant.ModelServed:
		m.retry = retry{}
		if b.ModelID != "" {
			m.status.Model = b.ModelID
		}
		if b.LocalLastResort {
			m.remark("answered by " + b.ModelID + ", the local last resort")
		}
	case assistant.Thinking:
		const most = 400
		m.thinking += b.Delta
		m.thinking = m.thinking[max(len(m.thinking)-most, 0):]
		m.activity = "thinking"
	case assistant.Token:
		m.activity, m.thinking = "", ""
		m.said += b.Delta
		m.text.Feed(b.Delta)
	}
}

func (m *model) called(body assistant.Body, at time.Time) tea.Cmd {
	switch b := body.(type) {
	case assistant.ToolCall:
		m.endText()
		m.activity = ""
		m.calls++
		m.rows = m.rows.Called(b, at)
	case assistant.ToolProgress:
		m.rows = m.rows.Progressed(b)
	case assistant.ToolResult:
		m.rows = m.rows.Ended(b, at)
		m.takeRows()
		return m.todo()
	}
	return nil
}

func (m *model) asked(body assistant.Body) {
	switch b := body.(type) {
	case assistant.ApprovalPending:
		m.rows = m.rows.Waits(b.CallID, true)
		m.ask = m.ask.Asked(b, !m.composer.Empty())
	case assistant.ApprovalResolved:
		call := m.ask.CallOf(b.ApprovalID)
		var elsewhere bool
		if m.ask, elsewhere = m.ask.Resolved(b); elsewhere {
			m.remark(fmt.Sprintf("decided elsewhere: %s by %s", b.Decision, b.By))
		}
		m.rows = m.rows.Waits(call, false)
	}
}

func (m *model) noticed(n assistant.Notice) tea.Cmd {
	switch n.Code {
	case "lagged":
		m.lagged = true
		return nil
	case "inputs_returned", "inputs_waiting":
		m.remark(n.Text)
		return m.undelivered()
	}
	m.remark(n.Text)
	return nil
}

// receipts prints what the model claimed without a receipt for it.
func (m *model) receipts(r assistant.ReceiptReport) {
	m.endText()
	for _, claim := range r.UngroundedClaims {
		m.warn("no receipt for: " + claim)
	}
}

// over ends a run. What it left unfinished on the screen is finished.
func (m *model) over(end assistant.Body) tea.Cmd {
	m.exit.Last = end
	m.rows = m.rows.Cut()
	switch b := end.(type) {
	case assistant.Done:
		m.text.Feed(remainder(m.said, b.Text))
		m.endText()
		m.takeRows()
		m.sum(b.FinishReason)
	case assistant.Failure:
		m.text.Feed(remainder(m.said, b.Text))
		m.endText()
		m.takeRows()
		if b.Code == assistant.CodeCanceled {
			m.warn("interrupted")
		} else {
			m.failed(b.Error)
		}
	case assistant.AuthRequired:
		m.endText()
		m.takeRows()
		m.failed(strings.TrimSpace(b.Message + "\n" + b.Help))
	}
	m.ask, m.goal = m.ask.Clear(), goal.Model{}
	m.said, m.thinking, m.activity, m.retry = "", "", "", retry{}
	m.status.Since = time.Time{}
	if m.phase != leaving {
		m.phase = idle
	}
	if m.cfg.Leave {
		return m.quit(Finished)
	}
	return m.todo()
}

// sum prints a quiet line under a finished turn that called tools.
func (m *model) sum(finish string) {
	if m.calls == 0 && finish == "" {
		return
	}
	words := []string{block.Count(m.calls, "call")}
	if !m.status.Since.IsZero() {
		words = append([]string{block.Duration(m.now.Sub(m.status.Since))}, words...)
	}
	if finish != "" {
		words = append(words, safe.Line(finish))
	}
	m.remark(strings.Join(words, " "+m.theme.Glyphs.Dot+" "))
}

// remainder is what a finished text says beyond what was streamed last: all of it
// where nothing was, else what the conversation added, such as a claim check.
func remainder(streamed, text string) string {
	streamed, text = strings.TrimSpace(streamed), strings.TrimSpace(text)
	if streamed == "" {
		return text
	}
	at := strings.LastIndex(text, streamed)
	if at < 0 {
		return ""
	}
	if rest := strings.TrimSpace(text[at+len(streamed):]); rest != "" {
		return "\n\n" + rest
	}
	return ""
}

// endText prints the rest of the model's message.
func (m *model) endText() { m.emit(words, m.text.Flush()...) }

// takeRows prints the calls that have ended, in order.
func (m *model) takeRows() {
	next, taken := m.rows.Take()
	m.rows = next
	for _, r := range taken {
		m.emit(calls, r.Print(m.width, m.theme)...)
	}
}

// quit ends the screen once everything is printed.
func (m *model) quit(why Reason) tea.Cmd {
	if m.phase == leaving {
		return nil
	}
	m.exit.Running = m.busy()
	m.exit.Reason, m.exit.Unsent = why, m.composer.Text()
	m.rows = m.rows.Cut()
	m.endText()
	m.takeRows()
	m.phase = leaving
	return nil
}
