package assistant

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"car/internal/assistant/llm"
)

// shower tells what a model streams, as it comes and with secrets masked (D-23).
type shower struct {
	r      *run
	answer *holdback
	mind   *holdback
}

func newShower(r *run) *shower {
	l := r.c.svc.lens
	return &shower{r: r,
		answer: &holdback{lens: l, out: func(s string) { r.emit(Token{Delta: s}) }},
		mind:   &holdback{lens: l, out: func(s string) { r.emit(Thinking{Delta: s}) }}}
}

func (s *shower) event(e llm.Event, with Choice) {
	switch e := e.(type) {
	case llm.Started:
		model := e.Model
		if model == "" {
			model = with.Model
		}
		s.r.emit(ModelServed{ModelID: model, LocalLastResort: with.LastResort})
	case llm.Text:
		s.mind.flush()
		s.answer.write(e.Delta)
	case llm.Thinking:
		s.mind.write(e.Delta)
	case llm.ToolStart, llm.Stop:
		s.flush()
	}
}

func (s *shower) flush() {
	s.mind.flush()
	s.answer.flush()
}

// holdback passes a stream on in whole words, so that a secret that comes in
// pieces is seen whole before it is shown. A word that is longer than any secret
// of one word is passed on in parts.
type holdback struct {
	lens lens
	out  func(string)
	held strings.Builder
}

const longWord = 256

func (h *holdback) write(delta string) {
	h.held.WriteString(delta)
	text := h.held.String()
	end := strings.LastIndexFunc(text, unicode.IsSpace)
	if end >= 0 {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if len(text)-max(end, 0) > longWord {
		end = len(text)
	}
	if end <= 0 {
		return
	}
	h.held.Reset()
	h.held.WriteString(text[end:])
	h.out(h.lens.text(text[:end]))
}

// flush passes on what is still held.
func (h *holdback) flush() {
	if h.held.Len() > 0 {
		text := h.held.String()
		h.held.Reset()
		h.out(h.lens.text(text))
	}
}
