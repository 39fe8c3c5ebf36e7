package assistant

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
	"car/internal/engine/ir"
	"car/internal/engine/redact"
)

// notebook is a store of questions that keeps nothing; for tests inside a bubble of
// fake time, where no database can wait.
type notebook struct {
	Store
	answer, beat error
}

func (n *notebook) BeatLease(context.Context, string) error { return n.beat }

func (n *notebook) Ask(context.Context, store.Question) error { return nil }

func (n *notebook) Answer(context.Context, string, string, string, string) (bool, error) {
	return n.answer == nil, n.answer
}

func (n *notebook) AddUsage(context.Context, string, store.Usage) error { return nil }

func (n *notebook) AppendMessages(context.Context, string, int, ...store.Entry) (int64, error) {
	return 1, nil
}

// bareConversation is one without a worker, for its parts.
func bareConversation(t *testing.T) *Conversation {
	svc := &Service{cfg: Config{Store: &notebook{}, Now: time.Now, Rand: &steady{}, ApprovalWait: approvalWait}, lens: lens{redact.New(nil)}}
	c := &Conversation{svc: svc, id: "s1", hub: newHub("s1", time.Now), delivered: map[int64]bool{}}
	c.asker = newAsker(c)
	t.Cleanup(func() { c.hub.close(time.Second) })
	return c
}

// proposeEffect writes the row of an effect that is about to be asked for.
func proposeEffect(ctx context.Context, db *store.DB, id string) error {
	ledger, err := approval.New(approval.Config{Store: db, Now: time.Now})
	if err != nil {
		return err
	}
	return ledger.Propose(ctx, approval.Effect{ID: approval.EffectID(id), Session: "s1", CallID: "t1c1", Action: ir.ActionID("t1c1"), Attempt: 1})
}

func (n *notebook) AddCompaction(context.Context, string, int64, int64, json.RawMessage) error {
	return nil
}
