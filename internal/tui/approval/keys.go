package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/assistant"
	"car/internal/tui/editor"
)

// binding is a key of the pane as data: the footer is printed from it.
type binding struct {
	key, does string
	kind      assistant.AnswerKind
	// reads says that the whole text has to have been on the screen first.
	reads bool
}

var bindings = []binding{
	{"y", "allow once", assistant.AnswerOnce, true},
	{"s", "for this session", assistant.AnswerSession, true},
	{"n", "no", assistant.AnswerDeny, false},
	{"d", "no, because", assistant.AnswerDeny, false},
	{"x", "no, and stop", assistant.AnswerDenyAndStop, false},
	{"e", "edit", assistant.AnswerEdit, true},
}

// Key takes a key while the pane is armed. It returns a decision when the key was
// one. A paste is no key, and Enter answers nothing.
func (m Model) Key(k tea.KeyMsg) (Model, *Decision) {
	switch {
	case !m.Armed() || m.prompts[m.at].sent:
		return m, nil
	case m.mode == words:
		return m.wordsKey(k)
	case m.mode == edit:
		return m.editKey(k)
	case k.Paste || k.Alt:
		return m, nil
	}
	switch k.String() {
	case "up", "k":
		return m.scroll(-1), nil
	case "down", "j":
		return m.scroll(1), nil
	case "pgup", "b":
		return m.scroll(-m.page()), nil
	case "pgdown", " ", "f":
		return m.scroll(m.page()), nil
	case "tab", "right", "]":
		return m.next(1), nil
	case "shift+tab", "left", "[":
		return m.next(-1), nil
	}
	for _, b := range m.offered() {
		if k.String() != b.key || b.reads && !m.complete() {
			continue
		}
		switch b.key {
		case "d":
			m.mode, m.input = words, editor.Buffer{}
			return m, nil
		case "e":
			return m.startEdit(), nil
		}
		return m.decide(assistant.Answer{Kind: b.kind})
	}
	return m, nil
}

// offered leaves out what a prompt can not do: one set of parameters can be edited,
// several can not, and parameters too large for the event are not all here.
func (m Model) offered() []binding {
	if len(m.prompts[m.at].pending) == 1 {
		return bindings
	}
	return bindings[:len(bindings)-1]
}

// page is how far a page key scrolls: one line stays, to read on from.
func (m Model) page() int { return max(m.rows()-1, 1) }

func (m Model) startEdit() Model {
	raw, err := json.MarshalIndent(m.prompts[m.at].pending[0].Params, "", "  ")
	if err != nil {
		m.problem = err.Error()
		return m
	}
	m.mode, m.input = edit, editor.New(string(raw))
	return m
}

func (m Model) wordsKey(k tea.KeyMsg) (Model, *Decision) {
	switch k.String() {
	case "esc":
		m.mode, m.input = choose, editor.Buffer{}
	case "enter":
		return m.decide(assistant.Answer{Kind: assistant.AnswerDeny, Reason: strings.TrimSpace(m.input.Text())})
	default:
		m.input = typed(m.input, k, m.width)
	}
	return m, nil
}

func (m Model) editKey(k tea.KeyMsg) (Model, *Decision) {
	switch k.String() {
	case "esc":
		m.mode, m.input, m.problem = choose, editor.Buffer{}, ""
	case "ctrl+s":
		params, err := decode(m.input.Text())
		if err != nil {
			m.problem = err.Error()
			return m, nil
		}
		return m.decide(assistant.Answer{Kind: assistant.AnswerEdit, Params: params})
	case "enter":
		m.input = m.input.Insert("\n")
	default:
		m.input = typed(m.input, k, m.width)
	}
	return m, nil
}

// decode reads edited parameters: exactly one object. An integer that a double can
// not hold is refused, because another value would be approved than was typed (D-18).
func decode(text string) (map[string]any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var params map[string]any
	if err := d.Decode(&params); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if params == nil {
		return nil, errors.New("parameters are an object, in braces")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text behind the object")
	}
	plain, err := numbers(params)
	if err != nil {
		return nil, err
	}
	return plain.(map[string]any), nil
}

// numbers turns the decoder's numbers into the doubles that everybody expects.
func numbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		const exact = 1<<53 - 1
		f, err := v.Float64()
		if _, notInt := v.Int64(); err != nil || (f > exact || f < -exact) && (notInt == nil || f == math.Trunc(f)) {
			return nil, fmt.Errorf("the number %s is too large to be exact", v)
		}
		return f, nil
	case map[string]any:
		for k := range v {
			if v[k], err = numbers(v[k]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func typed(b editor.Buffer, k tea.KeyMsg, width int) editor.Buffer {
	if k.Paste {
		return b.Insert(string(k.Runes))
	}
	b, _ = b.Key(k.String(), string(k.Runes), max(width-inset, 1))
	return b
}
