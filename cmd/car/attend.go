package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

// attending is whoever answers what the engine leaves open. Its methods are called
// by the one goroutine that follows the run.
type attending interface {
	// see is told every event.
	see(e assistant.Event, conv *assistant.Conversation)
	// lines is where answers come from; nil while none is awaited, closed when none
	// will come any more.
	lines() <-chan string
	// answer takes one line; left is told that there will be no more.
	answer(line string, conv *assistant.Conversation)
	left(conv *assistant.Conversation)
}

// attendant asks the person at the terminal what the engine leaves open, in plain
// lines, for commands without a screen of their own. A nil attendant is nobody:
// it asks nothing. It is used by one goroutine.
type attendant struct {
	in      *os.File
	w       io.Writer
	pending []assistant.ApprovalPending
	typed   chan string // written by the reader, read by the run; never closed
}

// attend is whoever can be asked: a person needs a terminal to read and to type.
func (a *app) attend() *attendant {
	if !a.io.inTTY || !a.io.errTTY {
		return nil
	}
	return &attendant{in: a.io.in, w: a.io.err}
}

// lines is what the person types while a question stands.
func (t *attendant) lines() <-chan string {
	if t == nil || len(t.pending) == 0 {
		return nil
	}
	return t.typed
}

// see takes note of questions and of answers that came from elsewhere.
func (t *attendant) see(e assistant.Event, _ *assistant.Conversation) {
	if t == nil {
		return
	}
	switch b := e.Body.(type) {
	case assistant.ApprovalPending:
		t.pending = append(t.pending, b)
		if len(t.pending) == 1 {
			t.put()
		}
	case assistant.ApprovalResolved:
		t.resolved(b)
	}
}

func (t *attendant) resolved(r assistant.ApprovalResolved) {
	for i, p := range t.pending {
		if p.ApprovalID != r.ApprovalID {
			continue
		}
		t.pending = append(t.pending[:i], t.pending[i+1:]...)
		if i == 0 && r.By != attendantName {
			fmt.Fprintf(t.w, "  decided elsewhere: %s by %s\n", safe.Line(r.Decision), safe.Line(r.By))
		}
		if i == 0 && len(t.pending) > 0 {
			t.put()
		}
		return
	}
}

// put shows the first question whole: what would run, what it needs, why it asks.
// What was typed before it stood there does not answer it.
func (t *attendant) put() {
	p := t.pending[0]
	fmt.Fprintf(t.w, "? %s wants to run, which needs %s and is %s\n", safe.Line(p.Tool), p.Tier.Needed(), p.Reversibility)
	for _, name := range sortedNames(p.Params) {
		for _, line := range strings.Split(fmt.Sprint(p.Params[name]), "\n") {
			fmt.Fprintf(t.w, "    %s: %s\n", safe.Line(name), safe.Line(line))
		}
	}
	for _, b := range p.Preview {
		if b.Kind != ir.BlockText { // a diff says again what the parameters say
			continue
		}
		fmt.Fprintf(t.w, "    %s:\n", safe.Line(b.Title))
		for line := range strings.SplitSeq(b.Text, "\n") {
			fmt.Fprintf(t.w, "      %s\n", safe.Line(line))
		}
	}
	for _, line := range strings.Split(p.Reason, "\n") {
		fmt.Fprintf(t.w, "  %s\n", safe.Line(line))
	}
	if n := len(t.pending); n > 1 {
		fmt.Fprintf(t.w, "  (%d more wait)\n", n-1)
	}
	discardInput(t.in)
	if t.typed == nil {
		t.typed = make(chan string)
		go t.read()
	}
	if p.SessionRule != "" {
		fmt.Fprintf(t.w, "  s stands for: %s\n", safe.Line(p.SessionRule))
	}
	fmt.Fprint(t.w, "  y once · s for this session · n no (words say why) · x no, and stop: ")
}

// read hands on what is typed, for as long as the process lives: a read of a
// terminal can not be ended, and main leaves without it.
func (t *attendant) read() {
	in := bufio.NewScanner(t.in)
	for in.Scan() {
		t.typed <- in.Text()
	}
}

// attendantName is who answers here, in the record.
const attendantName = "user"

// answer settles the first question, or asks it again: enter alone says nothing.
func (t *attendant) answer(line string, conv *assistant.Conversation) {
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	a := assistant.Answer{By: attendantName, Reason: strings.TrimSpace(reason)}
	switch strings.ToLower(word) {
	case "y", "yes":
		a.Kind = assistant.AnswerOnce
	case "s":
		a.Kind = assistant.AnswerSession
	case "n", "no":
		a.Kind = assistant.AnswerDeny
	case "x":
		a.Kind = assistant.AnswerDenyAndStop
	default:
		fmt.Fprint(t.w, "  y, s, n or x: ")
		return
	}
	if !conv.Resolve(t.pending[0].ApprovalID, a) {
		fmt.Fprintln(t.w, "  the question is closed already")
	}
}

// left does nothing: a terminal is never closed to the process that holds it
// without a signal that ends it too.
func (t *attendant) left(*assistant.Conversation) {}
