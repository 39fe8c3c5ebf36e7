package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"car/internal/assistant/store"
)

// ErrDelivered says that an input is no longer in the queue: a run took it, it was
// taken back, or it was never there.
var ErrDelivered = errors.New("the input is not in the queue any more: it was delivered or taken back")

// Queued lists what waits for the run in hand, oldest first: steering inputs, which
// join it after the current step, then those that open the next turns (A-SVC-4).
func (c *Conversation) Queued() []Waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Waiting
	for _, w := range slices.Concat(c.steers, c.queue) {
		all = append(all, Waiting{ID: w.id, Input: w.Input})
	}
	return all
}

// TakeBack takes an input out of the queue, back into the editor. It stays on disk
// as one that waits for the person: send it again with Replaces, or Withdraw it
// (P-WORK-7). ErrDelivered says that it was too late.
func (c *Conversation) TakeBack(ctx context.Context, id int64) (Waiting, error) {
	c.accept.Lock()
	defer c.accept.Unlock()
	w, put, err := c.unqueue(id)
	if err != nil {
		return Waiting{}, err
	}
	if err := c.svc.cfg.Store.ReturnInput(ctx, c.id, id); err != nil {
		put(w)
		return Waiting{}, fmt.Errorf("the input stays in the queue: %w", err)
	}
	c.nudge() // the worker looks whether anything is left
	return Waiting{ID: id, Input: w.Input}, nil
}

// EditQueued changes the words of an input that waits, in its place. It has a new id
// then. ErrDelivered says that it was too late.
func (c *Conversation) EditQueued(ctx context.Context, id int64, text string) (int64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, Input{}.check()
	}
	c.accept.Lock()
	defer c.accept.Unlock()
	w, put, err := c.unqueue(id)
	if err != nil {
		return 0, err
	}
	next := w
	next.Text, next.Replaces = text, []int64{id}
	body, err := json.Marshal(next.Input)
	if err == nil {
		mode := store.Queue
		if w.Steer {
			mode = store.Steer
		}
		next.id, err = c.svc.cfg.Store.AddInput(ctx, c.id, mode, body, id)
	}
	if err != nil {
		put(w)
		return 0, fmt.Errorf("the input stays as it was: %w", err)
	}
	put(next)
	return next.id, nil
}

// unqueue takes an input out of the lists, so that no run takes it meanwhile. put
// brings it, or what it became, back into its place.
func (c *Conversation) unqueue(id int64) (w waitingInput, put func(waitingInput), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range []*[]waitingInput{&c.steers, &c.queue} {
		i := slices.IndexFunc(*list, func(w waitingInput) bool { return w.id == id })
		if i < 0 {
			continue
		}
		w = (*list)[i]
		*list = slices.Delete(slices.Clone(*list), i, i+1)
		steering := list == &c.steers
		return w, func(back waitingInput) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if steering && c.current == nil { // its run ended meanwhile: it opens the next turn
				c.queue = slices.Insert(c.queue, 0, back)
			} else {
				*list = slices.Insert(*list, min(i, len(*list)), back)
			}
			c.busy()
			c.nudge()
		}, nil
	}
	return waitingInput{}, nil, ErrDelivered
}
