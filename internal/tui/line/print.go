package line

import (
	"fmt"
	"io"
	"strings"
	"time"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/block"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
	"car/internal/tui/toolrow"
)

// Printer turns events into lines on a writer. It has one user.
type Printer struct {
	out   io.Writer
	theme theme.Theme
	width int

	calls map[string]assistant.ToolCall
	text  safe.Stream
	part  string // the line of the answer that is not finished
	said  strings.Builder
}

// NewPrinter prints on w, for lines of that width.
func NewPrinter(w io.Writer, width int, th theme.Theme) *Printer {
	return &Printer{out: w, theme: th, width: width, calls: map[string]assistant.ToolCall{}}
}

// Line prints one line; its text has to be filtered already.
func (p *Printer) Line(text string) { fmt.Fprintln(p.out, text) }

// Print prints what an event says, which may be nothing.
func (p *Printer) Print(e assistant.Event) {
	switch b := e.Body.(type) {
	case assistant.InferenceStarted:
		p.said.Reset()
	case assistant.InferenceRetry:
		p.Line(fmt.Sprintf("again in %s: %s", block.Duration(time.Duration(b.BackoffMS)*time.Millisecond), safe.Line(b.Reason)))
	case assistant.Token:
		p.token(b.Delta)
	case assistant.ToolCall:
		p.flush()
		p.calls[b.CallID] = b
		p.Line(strings.TrimSpace("run " + safe.Line(b.Tool) + " " + toolrow.Essential(b.Params)))
	case assistant.ToolResult:
		p.result(b)
	case assistant.GoalEvaluated:
		p.flush()
		p.Line(goalWords(b))
	case assistant.Notice:
		p.flush()
		p.Line(safe.Text(b.Text))
	case assistant.ReceiptReport:
		p.flush()
		for _, claim := range b.UngroundedClaims {
			p.Line("no receipt for: " + safe.Line(claim))
		}
	default:
		p.end(e.Body)
	}
}

// token prints the answer in whole lines: half ones would be read aloud in pieces.
func (p *Printer) token(delta string) {
	p.said.WriteString(delta)
	p.part += p.text.Add(delta)
	if at := strings.LastIndexByte(p.part, '\n'); at >= 0 {
		p.Line(p.part[:at])
		p.part = p.part[at+1:]
	}
}

func (p *Printer) flush() {
	p.part += p.text.Flush()
	if p.part != "" {
		p.Line(p.part)
		p.part = ""
	}
}

func (p *Printer) result(r assistant.ToolResult) {
	p.flush()
	verdict := "ok"
	switch {
	case r.OK:
	case r.Status == ir.Rejected:
		verdict = "refused"
	case r.Status == ir.Skipped && r.Ran:
		verdict = "interrupted"
	case r.Status == ir.Skipped:
		verdict = "not run"
	default:
		verdict = "failed"
	}
	line := fmt.Sprintf("%s %s %s", verdict, safe.Line(r.Tool), toolrow.Essential(p.calls[r.CallID].Params))
	line = strings.TrimSpace(line) + " in " + block.Duration(time.Duration(r.DurationMS)*time.Millisecond)
	if s := block.Summary(r.Blocks, r.Excerpt); s != "" {
		line += ": " + s
	}
	p.Line(line)
	for _, b := range r.Blocks {
		if b.Kind == ir.BlockDiff {
			const most = 40
			for _, l := range block.Bound(block.Lines(b, p.width-2, p.theme), most, p.theme) {
				p.Line("  " + l)
			}
		}
	}
}

func goalWords(g assistant.GoalEvaluated) string {
	verdict := "not met"
	switch {
	case g.Unevaluated:
		verdict = "not verified"
	case g.Met:
		verdict = "met"
	}
	words := fmt.Sprintf("goal %d %s: %s", g.Iteration, verdict, safe.Line(strings.TrimSpace(g.Reason)))
	if said := strings.TrimSpace(g.Output); said != "" {
		words += ": " + safe.Line(said[strings.LastIndexByte(said, '\n')+1:])
	}
	return words
}

func (p *Printer) end(body assistant.Body) {
	switch b := body.(type) {
	case assistant.Done:
		p.flush()
		if strings.TrimSpace(p.said.String()) == "" && b.Text != "" {
			p.Line(safe.Text(b.Text))
		}
	case assistant.Failure:
		p.flush()
		if b.Code == assistant.CodeCanceled {
			p.Line("interrupted")
			return
		}
		p.Line("failed: " + safe.Text(b.Error))
	case assistant.AuthRequired:
		p.flush()
		p.Line(strings.TrimSpace(safe.Text(b.Message) + "\n" + safe.Text(b.Help)))
	}
}
