package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"car/internal/engine/redact"
	"car/internal/engine/tool"
)

// What is kept of what a program says (E-TOOL-2).
const (
	answerBytes = 10 << 20
	stderrBytes = 2 << 10
)

// errTooMuch ends a program that answers without end.
var errTooMuch = errors.New("the answer is too large")

// runner runs the program of a ticket and nothing else.
type runner struct {
	programs tool.Programs
	program  tool.Program
	redactor *mask
}

// mask is the session's redactor and one of the secrets that a program was given.
type mask struct{ session, own *redact.Redactor }

func (m *mask) text(s string) string {
	s, _ = m.session.String(s)
	if m.own != nil {
		s, _ = m.own.String(s)
	}
	return s
}

// Run gives the program stdin and returns what it said.
func (r *runner) Run(ctx context.Context, stdin []byte) (tool.Answer, error) {
	bounded, end := context.WithCancelCause(ctx)
	defer end(nil)
	out, said := &answer{most: answerBytes, full: func() { end(errTooMuch) }}, &tail{most: stderrBytes}
	exit, err := r.programs.RunProgram(bounded, r.program, stdin, out, said)
	if errors.Is(context.Cause(bounded), errTooMuch) {
		return tool.Answer{}, &tool.Fault{Kind: tool.TooLarge,
			Text: fmt.Sprintf("%s answered more than %d MiB and was ended; ask it for less", r.program.Command, answerBytes>>20)}
	}
	text := r.redactor.text(plain(said.kept))
	if err != nil {
		return tool.Answer{Stderr: text}, err
	}
	return tool.Answer{Stdout: out.kept.Bytes(), Stderr: text, Code: exit.Code, Signal: exit.Signal}, nil
}

// plain is text without terminal control, cut at a rune's border.
func plain(raw []byte) string {
	var b bytes.Buffer
	c := newCleaner(&b)
	_, _ = c.Write(raw) // a buffer takes everything
	_ = c.Close()
	return strings.TrimSpace(strings.ToValidUTF8(b.String(), ""))
}

// answer keeps at most some bytes and tells when there are more.
type answer struct {
	kept bytes.Buffer
	most int
	full func()
}

func (b *answer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.most {
		b.full()
		return 0, errTooMuch
	}
	return b.kept.Write(p)
}

// tail keeps the last bytes.
type tail struct {
	kept []byte
	most int
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if drop := len(t.kept) - t.most; drop > 0 {
		t.kept = append(t.kept[:0], t.kept[drop:]...)
	}
	return len(p), nil
}
