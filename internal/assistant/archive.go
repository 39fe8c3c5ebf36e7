package assistant

import (
	"encoding/json"
	"fmt"

	"car/internal/assistant/llm"
	"car/internal/assistant/store"
	"car/internal/engine/redact"
)

// Archive makes the copies of stored messages that may leave a session: for a
// screen, and for a file that another car reads. It is immutable.
type Archive struct{ lens lens }

// NewArchive makes an archive that masks what r knows; nil knows no values.
func NewArchive(r *redact.Redactor) Archive {
	if r == nil {
		r = redact.New(nil)
	}
	return Archive{lens{r}}
}

// Show is a stored message as a screen shows it, secrets masked (D-23). An error
// says that the row is damaged; the others are as good as they were.
func (a Archive) Show(m store.Message) ([]Past, error) {
	e, err := decodeEntry(m.Body)
	if err != nil {
		return nil, fmt.Errorf("message %d: %w", m.Seq, err)
	}
	return a.lens.past(e, m.Turn), nil
}

// Copy is a stored message for an export (A-DUR-7): secrets masked, without the
// providers' hidden reasoning, which nobody can mask and only its maker can read,
// and without receipts, which prove something here and nowhere else. hidden counts
// the parts left out.
func (a Archive) Copy(m store.Message) (body json.RawMessage, hidden int, err error) {
	e, err := decodeEntry(m.Body)
	if err != nil {
		return nil, 0, fmt.Errorf("message %d: %w", m.Seq, err)
	}
	e.Receipts = nil
	parts := e.Message.Parts[:0]
	for _, p := range e.Message.Parts {
		if p.Kind == llm.PartThinking || p.Kind == llm.PartOpaque {
			hidden++
			continue
		}
		parts = append(parts, a.masked(p))
	}
	e.Message.Parts = parts
	body, err = e.encode()
	return body, hidden, err
}

func (a Archive) masked(p llm.Part) llm.Part {
	p.Text = a.lens.text(p.Text)
	if p.Call != nil {
		call := *p.Call
		call.Arguments = a.arguments(call.Arguments)
		p.Call = &call
	}
	if p.Result != nil {
		result := *p.Result
		result.Text = a.lens.text(result.Text)
		p.Result = &result
	}
	return p
}

// arguments masks inside the values of arguments, so that they stay the JSON they
// are; what is none is masked as text.
func (a Archive) arguments(raw string) string {
	var v map[string]any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return a.lens.text(raw)
	}
	b, err := json.Marshal(a.lens.object(v))
	if err != nil {
		return a.lens.text(raw)
	}
	return string(b)
}

// Value masks the secrets of a JSON value; what is no JSON is nothing.
func (a Archive) Value(raw json.RawMessage) json.RawMessage {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	b, err := json.Marshal(a.lens.value(v))
	if err != nil {
		return nil
	}
	return b
}

// Take turns the messages of an export into the entries of a new session, masking
// again: a file says what it likes. It holds what requests are built on: known
// kinds, and every call answered by the message after it, once (P-WORK-2). Calls
// of the last message that nothing answers are left out with it.
func (a Archive) Take(messages []store.Message) (entries []store.Entry, dropped int, err error) {
	seen := map[string]bool{}
	var open []string
	for i, m := range messages {
		body, _, err := a.Copy(m)
		if err != nil {
			return nil, 0, err
		}
		e, err := decodeEntry(body)
		if err != nil {
			return nil, 0, fmt.Errorf("message %d: %w", m.Seq, err)
		}
		if err := e.fits(open, seen); err != nil {
			return nil, 0, fmt.Errorf("message %d: %w", m.Seq, err)
		}
		open = open[:0]
		for _, c := range e.Message.Calls() {
			open = append(open, c.ID)
		}
		if len(open) > 0 && i == len(messages)-1 {
			return entries, 1, nil
		}
		stored, err := row{entry: e, provider: m.Provider, model: m.Model, lastResort: m.LastResort}.stored()
		if err != nil {
			return nil, 0, err
		}
		stored.Message.Turn, stored.Message.Created = m.Turn, m.Created
		entries = append(entries, stored)
	}
	return entries, 0, nil
}

// fits holds an entry against the calls that are open before it.
func (e entry) fits(open []string, seen map[string]bool) error {
	roles := map[entryKind]llm.Role{entryInput: llm.User, entrySteer: llm.User, entryAnchor: llm.User, entryNote: llm.User, entryResults: llm.User, entryReply: llm.Assistant}
	if role, known := roles[e.Kind]; !known || role != e.Message.Role {
		return fmt.Errorf("a %s message of kind %q is none of car's", e.Message.Role, e.Kind)
	}
	var answered []string
	for _, p := range e.Message.Parts {
		switch {
		case (p.Kind == llm.PartToolCall) != (p.Call != nil), (p.Kind == llm.PartToolResult) != (p.Result != nil):
			return fmt.Errorf("a part of kind %s does not hold what it says", p.Kind)
		case p.Call != nil && (p.Call.ID == "" || seen[p.Call.ID] || e.Kind != entryReply):
			return fmt.Errorf("the call %q has no id of its own", p.Call.ID)
		case p.Call != nil:
			seen[p.Call.ID] = true
		case p.Result != nil:
			answered = append(answered, p.Result.CallID)
		}
	}
	if len(answered) != len(open) {
		return fmt.Errorf("%d calls stand before it and %d results are in it", len(open), len(answered))
	}
	for i := range open {
		if answered[i] != open[i] {
			return fmt.Errorf("it answers the call %q where %q stands", answered[i], open[i])
		}
	}
	return nil
}
