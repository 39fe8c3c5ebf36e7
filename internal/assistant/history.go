package assistant

import (
	"context"
	"fmt"

	"car/internal/assistant/llm"
)

// Past is one message of a session as a screen shows it when the session is opened
// again. Secrets are masked (D-23).
type Past struct {
	Turn int
	// By is "user", "assistant", "tool", or "runtime" for words of the runtime's own.
	By   string
	Text string
	// Calls are the tools an assistant message called, with their raw arguments;
	// CallID says which call a tool's text answers.
	Calls  []PastCall
	CallID string
	// Mark is "cut" or "interrupted" for a reply that is not whole.
	Mark string
}

// PastCall is one call of an earlier message.
type PastCall struct {
	ID        string
	Tool      string
	Arguments string
}

// History reads the session's transcript from the store, oldest first, also what
// later requests leave out. It may be called at any time.
func (c *Conversation) History(ctx context.Context) ([]Past, error) {
	rows, err := c.svc.cfg.Store.Messages(ctx, c.id)
	if err != nil {
		return nil, err
	}
	var all []Past
	for _, row := range rows {
		e, err := decodeEntry(row.Body)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", row.Seq, err)
		}
		all = append(all, c.svc.lens.past(e, row.Turn)...)
	}
	return all, nil
}

// past is what a screen shows of an entry.
func (l lens) past(e entry, turn int) []Past {
	switch e.Kind {
	case entryResults:
		var all []Past
		for _, p := range e.Message.Parts {
			if p.Result != nil {
				all = append(all, Past{Turn: turn, By: "tool", CallID: p.Result.CallID, Text: l.text(p.Result.Text)})
			}
		}
		return all
	case entryReply:
		p := Past{Turn: turn, By: "assistant", Text: l.text(e.Message.Text()), Mark: e.Mark}
		for _, c := range e.Message.Calls() {
			p.Calls = append(p.Calls, PastCall{ID: c.ID, Tool: c.Name, Arguments: l.text(c.Arguments)})
		}
		return []Past{p}
	case entryNote, entryAnchor:
		return []Past{{Turn: turn, By: "runtime", Text: l.text(lastText(e.Message))}}
	default:
		return []Past{{Turn: turn, By: "user", Text: l.text(lastText(e.Message))}}
	}
}

// lastText is a person's words: what was told with them stands in parts before.
func lastText(m llm.Message) string {
	if len(m.Parts) == 0 {
		return ""
	}
	return m.Parts[len(m.Parts)-1].Text
}
