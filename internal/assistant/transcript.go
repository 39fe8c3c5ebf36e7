package assistant

import (
	"encoding/json"
	"fmt"
	"slices"

	"car/internal/assistant/claim"
	"car/internal/assistant/llm"
)

// entry is one message exactly as models are sent it, with what the conversation
// knows beside it. Its JSON form is the body that the store keeps.
type entry struct {
	Message llm.Message `json:"message"`
	Kind    entryKind   `json:"kind"`
	// Mark says that the text of a reply is not whole: markCut or markInterrupted.
	Mark string `json:"mark,omitempty"`
	// Receipts stand beside results, so that claims can be checked after a restart.
	Receipts []claim.Receipt `json:"receipts,omitempty"`
	// Notes are a model's own of the messages that a summary stands for.
	Notes string `json:"notes,omitempty"`
}

// entryKind says what a message is for; the label is what is stored.
type entryKind string

const (
	entryInput   entryKind = "input"   // a person's words
	entrySteer   entryKind = "steer"   // a person's words into a running turn
	entryAnchor  entryKind = "anchor"  // a goal's objective
	entryReply   entryKind = "reply"   // a model's message
	entryResults entryKind = "results" // the results of a step
	entryNote    entryKind = "note"    // the runtime's own words to the model
	entrySummary entryKind = "summary" // what stands for messages that prompts leave out
)

const (
	markCut         = "cut"
	markInterrupted = "interrupted"
)

// row is an entry in its place.
type row struct {
	entry
	// seq is the stored message's; a row that a compaction shows has the first and, in
	// to, the last of those it stands for.
	seq, to int64
	turn    int
	// tokens is the guessed size.
	tokens int64
	// stubbed says that the row is not as it was stored.
	stubbed bool
	// provider and model are who made a reply, as served, else as asked.
	provider, model string
	lastResort      bool
	// input is the waiting input that this row delivers; 0 is none.
	input int64
}

// transcript is what prompts see of a session, in order: the stored rows first.
// It is owned by the conversation's worker.
type transcript struct {
	rows []row
	// stored counts the rows that are on disk.
	stored int
}

// add appends a row in memory; a checkpoint writes it.
func (t *transcript) add(r row) {
	r.tokens = messageTokens(r.Message)
	t.rows = append(t.rows, r)
}

// newRow is a row of an entry, with its size.
func newRow(e entry, turn int) row {
	return row{entry: e, turn: turn, tokens: messageTokens(e.Message)}
}

// tokens is the guessed size of all messages.
func (t *transcript) tokens() int64 { return rowTokens(t.rows) }

// unsaved are the rows that no checkpoint has written yet.
func (t *transcript) unsaved() []row { return t.rows[t.stored:] }

// messages are what the next request sends. The same rows always give the same
// messages, and more rows only add to them (A-CTX-4).
func (t *transcript) messages() []llm.Message {
	all := make([]llm.Message, len(t.rows))
	for i, r := range t.rows {
		all[i] = r.Message
	}
	return all
}

// receipts are those of the whole session, oldest first: earlier turns count (A-CLAIM-4).
func (t *transcript) receipts() []claim.Receipt {
	var all []claim.Receipt
	for _, r := range t.rows {
		all = append(all, r.Receipts...)
	}
	return all
}

// unanswered are the calls of the last message when no results follow it: the
// process ended in between (P-WORK-2).
func (t *transcript) unanswered() []*llm.ToolCall {
	if len(t.rows) == 0 {
		return nil
	}
	return t.rows[len(t.rows)-1].Message.Calls()
}

// isFirst reports that no person has spoken in this session yet.
func (t *transcript) isFirst() bool {
	return !slices.ContainsFunc(t.rows, func(r row) bool { return r.Kind == entryInput || r.Kind == entryAnchor })
}

// encode writes the entry as the store keeps it.
func (e entry) encode() (json.RawMessage, error) { return json.Marshal(e) }

// decodeEntry reads a stored entry.
func decodeEntry(body json.RawMessage) (entry, error) {
	var e entry
	if err := json.Unmarshal(body, &e); err != nil {
		return entry{}, fmt.Errorf("message body: %w", err)
	}
	return e, nil
}
