package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"car/internal/assistant/store"
)

// Conversation is one session that this process may write. Its methods are safe
// for concurrent use; none but Wait and Close waits for a model, a tool or a person.
type Conversation struct {
	// fixed at creation
	svc  *Service
	id   string
	opts StartOptions
	// system is the session's own, frozen when it began (A-SVC-2).
	system string
	hub    *hub
	asker  *asker

	// owned by the worker
	script  transcript
	loaded  bool
	runtime *Runtime
	// delivered are the inputs of the run in hand that a message on disk carries.
	delivered map[int64]bool
	// toldTodos is the list as the model was told it last.
	toldTodos string
	// fixed is the guessed size of what every request carries, gauge what the last
	// answered one taught; compactions counts those of this process.
	fixed       int64
	gauge       gauge
	warnedCut   bool
	compactions int

	// number is that of the newest run; written by the worker.
	number atomic.Int64

	// accept keeps inputs from being taken while others are given back; a disk may
	// be waited for under it, and never under mu.
	accept sync.Mutex

	mu      sync.Mutex
	queue   []waitingInput
	steers  []waitingInput
	current *run
	outcome Outcome
	filling ContextUse
	// compactNext is a person's wish for room before the next request.
	compactNext bool
	lost        error // why the session can no longer be written
	closed      bool
	wake        chan struct{} // holds a token when the worker has something to look at
	idle        chan struct{} // closed while nothing runs and nothing waits

	stop context.CancelCauseFunc
	done sync.WaitGroup
}

// waitingInput is an accepted input with its durable row.
type waitingInput struct {
	id int64
	Input
}

// The causes of a run's end from outside.
var (
	errCanceled = errors.New("canceled")
	errClosed   = errors.New("the conversation was closed")
)

// start opens the session's rows and its worker.
func (s *Service) start(ctx context.Context, id string, o StartOptions) (*Conversation, error) {
	if err := s.cfg.Store.AcquireLease(ctx, id); err != nil {
		return nil, err
	}
	row, recovered, err := s.sessionRow(ctx, id, o)
	if err != nil {
		return nil, errors.Join(err, s.cfg.Store.ReleaseLease(ctx, id))
	}
	c := &Conversation{svc: s, id: id, opts: o, system: row.System, hub: newHub(id, s.cfg.Now),
		delivered: map[int64]bool{}, wake: make(chan struct{}, 1), idle: make(chan struct{})}
	close(c.idle)
	c.asker = newAsker(c)
	life, stop := context.WithCancelCause(ctx)
	c.stop = stop
	c.done.Go(func() { c.work(life) })
	c.done.Go(func() { c.beat(life) })
	if n := len(recovered.Inputs); n > 0 {
		c.emit(Notice{Code: "inputs_waiting", Text: fmt.Sprintf("%d input(s) were not delivered when the session ended; they wait for you", n)})
	}
	return c, nil
}

// sessionRow finds the session, or makes it, and closes what an earlier process
// left open in it.
func (s *Service) sessionRow(ctx context.Context, id string, o StartOptions) (store.Session, store.Recovered, error) {
	if o.Resume == "" {
		row := store.Session{ID: id, Title: o.Title, Cwd: o.Cwd, Root: o.Root, Model: o.Model, System: s.cfg.System}
		return row, store.Recovered{}, s.cfg.Store.CreateSession(ctx, row)
	}
	row, err := s.cfg.Store.Session(ctx, id)
	if err != nil {
		return row, store.Recovered{}, err
	}
	recovered, err := s.cfg.Store.Recover(ctx, id)
	return row, recovered, err
}

// ID is the session's stable id, the one to resume it by.
func (c *Conversation) ID() string { return c.id }

// Send accepts an input: it is durable, and a run will take it, when Send returns
// nil. Nothing of a model is awaited (A-SVC-1). A steering input joins the running
// turn, or is queued when there is none. At most 16 inputs wait (A-SVC-4).
func (c *Conversation) Send(ctx context.Context, in Input) error {
	if err := in.check(); err != nil {
		return err
	}
	in.Model = strings.TrimSpace(in.Model)
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("the input cannot be kept: %w", err)
	}
	c.accept.Lock()
	defer c.accept.Unlock()
	steer, err := c.mayAccept(in.Steer)
	if err != nil {
		return err
	}
	mode := store.Queue
	if steer {
		mode = store.Steer
	}
	id, err := c.svc.cfg.Store.AddInput(ctx, c.id, mode, body, in.Replaces...)
	if err != nil {
		return fmt.Errorf("the input was not accepted: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w := waitingInput{id: id, Input: in}
	if steer && c.current != nil { // conclude clears it before it looks for late ones
		c.steers = append(c.steers, w)
		return nil
	}
	c.queue = append(c.queue, w)
	c.busy()
	c.nudge()
	return nil
}

// mayAccept says why nothing is accepted any more, or whether an input that wants
// to steer finds a turn to join.
func (c *Conversation) mayAccept(steer bool) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return false, errClosed
	case c.lost != nil:
		return false, c.lost
	default:
		return steer && c.current != nil, nil
	}
}

// Cancel ends the run in hand: the model's stream is closed, the processes of its
// tools die, its questions are denied. Inputs that wait go back to the person. It
// does nothing when nothing runs, and never reaches the next run (A-SVC-8).
func (c *Conversation) Cancel() {
	c.mu.Lock()
	r := c.current
	c.mu.Unlock()
	if r != nil {
		r.cancel(errCanceled)
	}
}

// Resolve answers a question and reports whether it was waiting: late, second and
// unknown answers are false (A-SVC-9, A-APPR-10).
func (c *Conversation) Resolve(approvalID string, a Answer) bool {
	return c.asker.resolve(approvalID, a)
}

// Subscribe returns the events after the one numbered from, as far as they are
// kept in memory, and all that follow; 0 is from the beginning. The channel is
// closed after the last event, or by the returned function. A reader that is slow
// gets pieces of text joined, and is let go with the notice "lagged" when it is
// 10,000 events behind; nobody waits for it (A-EVT-4).
func (c *Conversation) Subscribe(from uint64) (<-chan Event, func()) { return c.hub.subscribe(from) }

// Outcome says how the newest finished run ended; its zero value is no run yet.
func (c *Conversation) Outcome() Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outcome
}

// Returned lists the inputs that wait for the person, oldest first: they belong
// back in the editor. Sending one again with Replaces, or Withdraw, ends that.
func (c *Conversation) Returned(ctx context.Context) ([]Waiting, error) {
	rows, err := c.svc.cfg.Store.WaitingInputs(ctx, c.id)
	if err != nil {
		return nil, err
	}
	returned := rows[:0]
	for _, r := range rows {
		if r.Returned {
			returned = append(returned, r)
		}
	}
	return waiting(returned), nil
}

// Withdraw throws a waiting input away.
func (c *Conversation) Withdraw(ctx context.Context, id int64) error {
	return c.svc.cfg.Store.WithdrawInput(ctx, c.id, id)
}

// Wait returns when nothing runs and nothing is queued, or ctx ends.
func (c *Conversation) Wait(ctx context.Context) error {
	c.mu.Lock()
	idle := c.idle
	c.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close cancels the run in hand, waits at most 10 s for its end, gives the session
// up and ends every subscription. It may be called twice (A-SVC-12).
func (c *Conversation) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop(errClosed)
	c.nudge()
	ended := make(chan struct{})
	go func() {
		c.done.Wait()
		close(ended)
	}()
	t := time.NewTimer(closeWait)
	defer t.Stop()
	var err error
	select {
	case <-ended:
	case <-t.C:
		err = fmt.Errorf("session %s: the run in hand did not end within %s", c.id, closeWait)
	}
	c.hub.close(flushWait)
	c.svc.forget(c.id)
	return err
}

// emit publishes an event of the newest run, with secrets masked.
func (c *Conversation) emit(body Body) { c.hub.publish(int(c.number.Load()), c.svc.lens.body(body)) }

// stopRun ends the run in hand after its calls: a person said "deny and stop".
func (c *Conversation) stopRun(by, reason string) {
	c.mu.Lock()
	r := c.current
	c.mu.Unlock()
	if r != nil {
		r.stop(by, reason)
	}
}

func (c *Conversation) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// busy opens the wait of Wait. c.mu is held.
func (c *Conversation) busy() {
	select {
	case <-c.idle:
		c.idle = make(chan struct{})
	default:
	}
}
