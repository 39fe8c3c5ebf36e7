package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"car/internal/assistant"
	"car/internal/tui/safe"
)

// inputFormat is what stdin holds beside a prompt.
type inputFormat string

// inputStream are control lines of a program that attends the run.
const inputStream inputFormat = "stream-json"

// String is the word; empty is the default.
func (f *inputFormat) String() string { return string(*f) }

// Set takes text, the default, or stream-json.
func (f *inputFormat) Set(word string) error {
	switch word {
	case "text":
		*f = ""
	case string(inputStream):
		*f = inputStream
	default:
		return fmt.Errorf("%q is not text or stream-json", word)
	}
	return nil
}

// Type names the value in help.
func (*inputFormat) Type() string { return "format" }

// attendWith is whoever answers: a program on stdin, a person at the terminal, or nobody.
func (a *app) attendWith(in inputFormat) attending {
	if in == inputStream {
		return newController(a.io.in, a.io.err)
	}
	if t := a.attend(); t != nil {
		return t
	}
	return nobody{}
}

// nobody answers nothing; the session is opened as unattended.
type nobody struct{}

func (nobody) see(assistant.Event, *assistant.Conversation) {}
func (nobody) lines() <-chan string                         { return nil }
func (nobody) answer(string, *assistant.Conversation)       {}
func (nobody) left(*assistant.Conversation)                 {}

// controlBytes bounds one control line.
const controlBytes = 1 << 20

// controller takes a program's control lines from stdin (A-CLI-4). What is no
// control line answers nothing, and is told on stderr.
type controller struct {
	w       io.Writer
	typed   chan string // written and closed by the reader, read by the run
	pending map[string]bool
	ended   bool
}

func newController(in *os.File, w io.Writer) *controller {
	c := &controller{w: w, typed: make(chan string), pending: map[string]bool{}}
	go c.read(in) // ends with stdin; a read of it can not be ended, and main leaves without it
	return c
}

func (c *controller) read(in io.Reader) {
	defer close(c.typed)
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, controlBytes)
	for scan.Scan() {
		c.typed <- scan.Text()
	}
}

// see remembers the questions that stand; when nobody can answer any more, each is
// refused as it comes.
func (c *controller) see(e assistant.Event, conv *assistant.Conversation) {
	switch b := e.Body.(type) {
	case assistant.ApprovalPending:
		c.pending[b.ApprovalID] = true
		if c.ended {
			c.refuse(b.ApprovalID, conv)
		}
	case assistant.ApprovalResolved:
		delete(c.pending, b.ApprovalID)
	}
}

func (c *controller) lines() <-chan string {
	if c.ended {
		return nil
	}
	return c.typed
}

// left refuses what waits: whoever could answer is gone (P-GUARD-1).
func (c *controller) left(conv *assistant.Conversation) {
	c.ended = true
	for id := range c.pending {
		c.refuse(id, conv)
	}
}

func (c *controller) refuse(id string, conv *assistant.Conversation) {
	conv.Resolve(id, assistant.Answer{Kind: assistant.AnswerDeny, By: "unattended", Reason: "needs approval, and stdin has ended: nobody attends this run any more"})
}

// controlLine is one line.
type controlLine struct {
	Type       string         `json:"type"`
	ApprovalID string         `json:"approval_id"`
	Decision   string         `json:"decision"`
	Reason     string         `json:"reason"`
	Params     map[string]any `json:"params"`
	Text       string         `json:"text"`
}

func (c *controller) answer(line string, conv *assistant.Conversation) {
	if err := c.obey(line, conv); err != nil {
		fmt.Fprintf(c.w, "car: control line: %s\n", safe.Line(err.Error()))
	}
}

func (c *controller) obey(line string, conv *assistant.Conversation) error {
	var l controlLine
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		return fmt.Errorf("is no JSON object, and answers nothing: %w", err)
	}
	switch l.Type {
	case "approve":
		a := assistant.Answer{Kind: assistant.ParseAnswer(l.Decision), By: attendantName, Reason: l.Reason, Params: l.Params}
		if !conv.Resolve(l.ApprovalID, a) {
			return fmt.Errorf("no question %q waits for an answer", l.ApprovalID)
		}
	case "steer":
		return conv.Send(context.Background(), assistant.Input{Text: l.Text, Steer: true})
	case "cancel":
		conv.Cancel()
	default:
		return errors.New(`type has to be "approve", "steer" or "cancel"`)
	}
	return nil
}
