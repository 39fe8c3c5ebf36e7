package approval

import (
	"slices"
	"time"

	"car/internal/assistant"
	"car/internal/tui/editor"
	"car/internal/tui/theme"
)

// mode is what the keys do.
type mode uint8

const (
	choose mode = iota // single keys answer
	words              // the reason of a refusal is being typed
	edit               // the parameters are being edited
)

// Decision is a person's answer to one prompt, for every question in it.
type Decision struct {
	IDs    []string
	Answer assistant.Answer
}

// prompt is one question, or several that need the same authority.
type prompt struct {
	group   string
	pending []assistant.ApprovalPending
	// sent says that an answer is on its way.
	sent bool
	// seen counts the lines from the top that have been on the screen, at the width
	// of the pane; top is the first line that is on it.
	seen, top int
}

// Model is the state of the pane. The zero value is empty and ready; it is a value.
type Model struct {
	prompts []prompt
	at      int
	mode    mode
	input   editor.Buffer
	problem string

	width, height int
	theme         theme.Theme
	// text is the shown prompt folded to the width, all of it.
	text []string
	now  time.Time

	// gen numbers the pictures of the pane that a person has to have seen, first is
	// the one it opened with, drawn the last one the screen reported. typing says that
	// keys are going elsewhere.
	gen, first, drawn uint64
	// watched is the picture whose drawing somebody already waits for.
	watched uint64
	typing  bool
}

// Open reports whether there is a question.
func (m Model) Open() bool { return len(m.prompts) > 0 }

// CallID names the call that the shown question is about.
func (m Model) CallID() string {
	if !m.Open() {
		return ""
	}
	return m.prompts[m.at].pending[0].CallID
}

// CallOf names the call that a question is about, empty where it is not here.
func (m Model) CallOf(approvalID string) string {
	for _, p := range m.prompts {
		for _, q := range p.pending {
			if q.ApprovalID == approvalID {
				return q.CallID
			}
		}
	}
	return ""
}

// Visible reports whether the present picture was drawn.
func (m Model) Visible() bool { return m.Open() && m.drawn >= m.gen }

// Generation numbers the picture that has to be drawn before keys count.
func (m Model) Generation() uint64 { return m.gen }

// Armed reports whether keys answer: the present picture has been drawn and nobody
// is in the middle of typing something else.
func (m Model) Armed() bool { return m.Visible() && !m.typing }

// Asked adds a question. typing says that the person is typing at this moment.
func (m Model) Asked(p assistant.ApprovalPending, typing bool) Model {
	m.prompts = slices.Clone(m.prompts)
	if i := slices.IndexFunc(m.prompts, func(q prompt) bool { return p.Group != "" && q.group == p.Group && !q.sent }); i >= 0 {
		m.prompts[i].pending = append(slices.Clone(m.prompts[i].pending), p)
		if i == m.at {
			m = m.changed()
		}
	} else {
		m.prompts = append(m.prompts, prompt{group: p.Group, pending: []assistant.ApprovalPending{p}})
		if len(m.prompts) == 1 {
			m = m.changed()
			m.first, m.typing = m.gen, typing
		}
	}
	return m.fit()
}

// Resolved removes a question that was decided, by whomever, and reports whether it
// was still here and had not been answered here.
func (m Model) Resolved(r assistant.ApprovalResolved) (_ Model, elsewhere bool) {
	for i, p := range m.prompts {
		j := slices.IndexFunc(p.pending, func(q assistant.ApprovalPending) bool { return q.ApprovalID == r.ApprovalID })
		if j < 0 {
			continue
		}
		elsewhere = !p.sent
		m.prompts = slices.Clone(m.prompts)
		m.prompts[i].pending = slices.Delete(slices.Clone(p.pending), j, j+1)
		if len(m.prompts[i].pending) == 0 {
			m.prompts = slices.Delete(m.prompts, i, i+1)
		}
		if i < m.at || m.at >= len(m.prompts) {
			m.at = max(m.at-1, 0)
		}
		return m.changed().fit(), elsewhere
	}
	return m, false
}

// Clear removes every question: the run is over.
func (m Model) Clear() Model {
	m.prompts, m.at = nil, 0
	return m.changed().fit()
}

// changed starts a new picture: what is shown now was not seen yet.
func (m Model) changed() Model {
	m.gen++
	m.mode, m.input, m.problem = choose, editor.Buffer{}, ""
	return m
}

// Watched reports whether somebody waits for the present picture to be drawn; Watch
// says that somebody does.
func (m Model) Watched() bool { return m.watched >= m.gen }

// Watch notes that the present picture is waited for.
func (m Model) Watch() Model {
	m.watched = m.gen
	return m
}

// Choosing reports whether single keys answer, as opposed to words being typed.
func (m Model) Choosing() bool { return m.mode == choose }

// Drawn tells the pane that the screen has drawn the picture of that number.
func (m Model) Drawn(gen uint64) Model {
	m.drawn = max(m.drawn, gen)
	return m
}

// Typing tells the pane whether the person is typing elsewhere; while they are it
// takes no keys.
func (m Model) Typing(yes bool) Model {
	m.typing = yes
	return m
}

// Turning reports whether the pane had the keys and is waiting for its next picture
// to be drawn: keys pressed meanwhile are meant for it and answer nothing.
func (m Model) Turning() bool { return m.Open() && !m.typing && m.drawn >= m.first && m.drawn < m.gen }

// Resize gives the pane its place on the screen.
func (m Model) Resize(width, height int, th theme.Theme) Model {
	if width != m.width {
		// Lines fall otherwise now, so what was seen can not be counted on.
		m.prompts = slices.Clone(m.prompts)
		for i := range m.prompts {
			m.prompts[i].seen, m.prompts[i].top = 0, 0
		}
	}
	m.width, m.height, m.theme = width, height, th
	return m.fit()
}

// At moves the clock of the pane.
func (m Model) At(now time.Time) Model {
	m.now = now
	return m
}

// fit keeps the scrolled part inside the text and counts what is on the screen as seen.
func (m Model) fit() Model {
	if !m.Open() || m.width <= 0 || m.height <= 0 {
		return m
	}
	m.prompts = slices.Clone(m.prompts)
	p := &m.prompts[m.at]
	m.text = m.body(*p)
	lines, rows := len(m.text), m.rows()
	p.top = min(max(p.top, 0), max(lines-rows, 0))
	if p.top <= p.seen {
		p.seen = max(p.seen, min(p.top+rows, lines))
	}
	return m
}

// complete reports whether every line of the shown prompt has been on the screen.
func (m Model) complete() bool { return m.height > 0 && m.prompts[m.at].seen >= len(m.text) }

// next moves between prompts.
func (m Model) next(by int) Model {
	if len(m.prompts) < 2 {
		return m
	}
	m.at = (m.at + by + len(m.prompts)) % len(m.prompts)
	return m.changed().fit()
}

func (m Model) scroll(by int) Model {
	m.prompts = slices.Clone(m.prompts)
	m.prompts[m.at].top += by
	return m.fit()
}

// decide answers the shown prompt and moves on to the next.
func (m Model) decide(a assistant.Answer) (Model, *Decision) {
	p := m.prompts[m.at]
	if p.sent {
		return m, nil
	}
	a.By = "user"
	d := &Decision{Answer: a}
	for _, q := range p.pending {
		d.IDs = append(d.IDs, q.ApprovalID)
	}
	m.prompts = slices.Clone(m.prompts)
	m.prompts[m.at].sent = true
	m.mode, m.input, m.problem = choose, editor.Buffer{}, ""
	return m, d
}
