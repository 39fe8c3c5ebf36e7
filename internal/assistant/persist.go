package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"car/internal/assistant/llm"
	"car/internal/assistant/store"
)

// Store keeps conversations durably; *store.DB is one. Every method is one
// transaction that is on disk when it returns. Safe for concurrent use.
type Store interface {
	SessionStore
	TranscriptStore
	InputStore
	QuestionStore
}

// SessionStore keeps sessions and who may write them.
type SessionStore interface {
	CreateSession(ctx context.Context, s store.Session) error
	Session(ctx context.Context, id string) (store.Session, error)
	AcquireLease(ctx context.Context, session string) error
	BeatLease(ctx context.Context, session string) error
	ReleaseLease(ctx context.Context, session string) error
	Recover(ctx context.Context, session string) (store.Recovered, error)
}

// TranscriptStore keeps turns and their messages.
type TranscriptStore interface {
	StartTurn(ctx context.Context, session, kind string) (int, error)
	EndTurn(ctx context.Context, session string, n int, status store.TurnStatus, terminal json.RawMessage) error
	AppendMessages(ctx context.Context, session string, turn int, entries ...store.Entry) (int64, error)
	Messages(ctx context.Context, session string) ([]store.Message, error)
	Compactions(ctx context.Context, session string) ([]store.Compaction, error)
	AddCompaction(ctx context.Context, session string, from, to int64, summary json.RawMessage) error
}

// InputStore keeps what people typed until a message carries it.
type InputStore interface {
	AddInput(ctx context.Context, session string, mode store.InputMode, body json.RawMessage, replaces ...int64) (int64, error)
	WaitingInputs(ctx context.Context, session string) ([]store.Input, error)
	ReturnInputs(ctx context.Context, session string) ([]store.Input, error)
	WithdrawInput(ctx context.Context, session string, id int64) error
	ReturnInput(ctx context.Context, session string, id int64) error
}

// QuestionStore keeps questions, the goal and what requests cost.
type QuestionStore interface {
	Ask(ctx context.Context, q store.Question) error
	Answer(ctx context.Context, id, decision, by, reason string) (bool, error)
	PutGoal(ctx context.Context, g store.Goal) error
	AddUsage(ctx context.Context, session string, u store.Usage) error
}

var _ Store = (*store.DB)(nil)

// load reads the transcript of the session as prompts see it.
func (c *Conversation) load(ctx context.Context) error {
	if c.loaded {
		return nil
	}
	messages, err := c.svc.cfg.Store.Messages(ctx, c.id)
	if err != nil {
		return err
	}
	compactions, err := c.svc.cfg.Store.Compactions(ctx, c.id)
	if err != nil {
		return err
	}
	var t transcript
	for _, item := range store.Visible(messages, compactions) {
		if item.Message == nil {
			rows, err := decodeRows(item.Summary, item.FromSeq, item.ToSeq)
			if err != nil {
				return err
			}
			t.rows = append(t.rows, rows...)
			continue
		}
		e, err := decodeEntry(item.Message.Body)
		if err != nil {
			return fmt.Errorf("message %d: %w", item.Message.Seq, err)
		}
		m := item.Message
		t.add(row{entry: e, seq: m.Seq, turn: m.Turn, provider: m.Provider, model: m.Model, lastResort: m.LastResort})
	}
	t.stored = len(t.rows)
	c.script, c.loaded = t, true
	return nil
}

// checkpoint writes the rows that are not on disk yet, whole or not at all (A-DUR-3).
func (c *Conversation) checkpoint(ctx context.Context) error {
	rows := c.script.unsaved()
	if len(rows) == 0 {
		return nil
	}
	entries := make([]store.Entry, len(rows))
	for i, r := range rows {
		e, err := r.stored()
		if err != nil {
			return err
		}
		entries[i] = e
	}
	first, err := c.svc.cfg.Store.AppendMessages(ctx, c.id, rows[0].turn, entries...) // a checkpoint is of one turn
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].seq = first + int64(i)
		if rows[i].input != 0 {
			c.delivered[rows[i].input] = true
		}
	}
	c.script.stored = len(c.script.rows)
	return nil
}

// stored is the row with the rows that stand or fall with it.
func (r row) stored() (store.Entry, error) {
	body, err := r.encode()
	if err != nil {
		return store.Entry{}, fmt.Errorf("message body: %w", err)
	}
	e := store.Entry{Input: r.input, Message: store.Message{Role: r.Message.Role.String(), Body: body,
		Provider: r.provider, Model: r.model, LastResort: r.lastResort}}
	for _, p := range r.Message.Parts {
		switch p.Kind {
		case llm.PartToolCall:
			e.Calls = append(e.Calls, store.Call{ID: p.Call.ID, ProviderID: p.Call.ProviderID, Tool: p.Call.Name, Args: p.Call.Arguments})
		case llm.PartToolResult:
			e.Answers = append(e.Answers, p.Result.CallID)
		}
	}
	return e, nil
}

// hide leaves the messages of a turn out of later requests; they stay on disk (A-LOOP-13).
func (c *Conversation) hide(ctx context.Context, turn int) error {
	if err := c.checkpoint(ctx); err != nil {
		return err
	}
	rows := c.script.rows
	at := slices.IndexFunc(rows, func(r row) bool { return r.turn == turn })
	if at < 0 {
		return nil
	}
	lo, hi := rows[at].first(), rows[len(rows)-1].last()
	var kept []row
	for at > 0 && rows[at-1].first() >= lo { // of the same compaction
		at--
	}
	for _, r := range rows[at:] {
		if r.turn != turn {
			kept = append(kept, r)
		}
	}
	var body json.RawMessage // without rows the range is hidden
	if len(kept) > 0 {
		var err error
		if body, err = encodeRows(kept); err != nil {
			return err
		}
	}
	if err := c.svc.cfg.Store.AddCompaction(ctx, c.id, lo, hi, body); err != nil {
		return err
	}
	fresh := slices.Clone(rows[:at])
	for _, r := range kept {
		r.seq, r.to = lo, hi
		fresh = append(fresh, r)
	}
	c.script = transcript{rows: fresh, stored: len(fresh)}
	return nil
}

// waiting turns stored inputs into what a person gets back. One that cannot be
// read is told as its error, never dropped in silence.
func waiting(rows []store.Input) []Waiting {
	all := make([]Waiting, len(rows))
	for i, r := range rows {
		all[i].ID = r.ID
		if err := json.Unmarshal(r.Body, &all[i].Input); err != nil {
			all[i].Text = fmt.Sprintf("(an input of %s could not be read back: %v)", r.Created.Format("2006-01-02 15:04"), err)
		}
	}
	return all
}
