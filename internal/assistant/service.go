package assistant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"car/internal/assistant/llm"
	"car/internal/engine/redact"
)

// ClaimMode says what is done about claims that no receipt supports (A-CLAIM-6).
type ClaimMode uint8

// The modes. The zero value asks the model once and then annotates.
const (
	ClaimRedrive ClaimMode = iota
	ClaimAnnotate
	ClaimOff
)

// Config is what a Service stands on; Now, Rand, Models, Store and Open are required.
type Config struct {
	Models Models
	Store  Store
	// Open opens the engine of a session, with its first run.
	Open func(ctx context.Context, r OpenRequest) (Runtime, error)
	Now  func() time.Time
	// Rand is where approval ids and jitter come from.
	Rand io.Reader
	// NewID names a session that the host did not name; required by Start without an id.
	NewID func() string
	// System is the system prompt of new sessions; empty is DefaultSystem (A-SVC-2).
	System string
	Retry  llm.RetryPolicy
	// Redactor masks secrets in everything that leaves this package but the transcript; nil knows no values.
	Redactor *redact.Redactor
	// ApprovalWait is how long a question waits; 0 is 300 s (A-APPR-9).
	ApprovalWait time.Duration
	// Answer decides questions at once where nobody is attached; nil waits for
	// Resolve. See DenyUnattended.
	Answer func(ApprovalPending) (Answer, bool)
	Claims ClaimMode
	// NoLoopWatch lets a run repeat a call for ever (A-LOOP-15).
	NoLoopWatch bool
	// Dialect is the shell that runs texts, "bash" or "sh", for reading receipts.
	Dialect string
}

func (c Config) check() error {
	switch {
	case c.Models == nil:
		return errors.New("assistant: Config.Models is nil")
	case c.Store == nil:
		return errors.New("assistant: Config.Store is nil")
	case c.Open == nil:
		return errors.New("assistant: Config.Open is nil")
	case c.Now == nil:
		return errors.New("assistant: Config.Now is nil")
	case c.Rand == nil:
		return errors.New("assistant: Config.Rand is nil")
	case c.ApprovalWait != 0 && (c.ApprovalWait < minApprovalWait || c.ApprovalWait > maxApprovalWait):
		return fmt.Errorf("assistant: Config.ApprovalWait %s is not between %s and %s", c.ApprovalWait, minApprovalWait, maxApprovalWait)
	}
	return nil
}

// Service is many conversations over one store (A-SVC-1). Safe for concurrent use.
type Service struct {
	cfg  Config
	lens lens

	mu   sync.Mutex
	open map[string]*Conversation
}

// New makes a service, or says which field of the configuration is wrong.
func New(c Config) (*Service, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.System == "" {
		c.System = DefaultSystem()
	}
	if c.Retry == (llm.RetryPolicy{}) {
		c.Retry = llm.DefaultRetryPolicy()
	}
	if c.Redactor == nil {
		c.Redactor = redact.New(nil)
	}
	if c.ApprovalWait == 0 {
		c.ApprovalWait = approvalWait
	}
	return &Service{cfg: c, lens: lens{c.Redactor}, open: map[string]*Conversation{}}, nil
}

// StartOptions say which session to open and where it works.
type StartOptions struct {
	// Resume is the id of a session to go on with; empty starts a new one.
	Resume string
	// ID is the host's stable id of a new session; empty asks Config.NewID.
	ID    string
	Title string
	// Root is the canonical workspace, Cwd the folder below it where the person stands.
	Root string
	Cwd  string
	// Model is the model as configured, for the session's record.
	Model string
	// Environment and Guidance are told to the model with the first message, and
	// then stay as they were (A-CTX-1, A-CTX-2).
	Environment Environment
	Guidance    []Guidance
	// GuidanceBelow finds instruction files of deeper folders that were not told yet,
	// when a call first names a path in them; nil finds none. A path is as the call spells it.
	GuidanceBelow func(ctx context.Context, path string) []Guidance
	// MaxSteps bounds the inferences of a turn; 0 is 50 (A-LOOP-9).
	MaxSteps int
	Budget   Budget
	// Shape is what the answer of every chat turn must be; nil takes any text (A-CLI-8).
	Shape *Shape
}

// Budget bounds a run (A-LOOP-16). 0 is no bound, but for ToolCalls, where it is 500.
type Budget struct {
	Tokens    int64
	Requests  int
	ToolCalls int
	Wall      time.Duration
	// CostMicros is in millionths of a US dollar and counts where the price is known.
	CostMicros int64
}

// Start opens a session for writing and returns its conversation. ctx bounds the
// conversation's life: when it ends, the run in hand is canceled. A session that
// another process holds is an error of the store that says who.
func (s *Service) Start(ctx context.Context, o StartOptions) (*Conversation, error) {
	id, err := s.nameOf(o)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	_, busy := s.open[id]
	if !busy {
		s.open[id] = nil // held while it opens
	}
	s.mu.Unlock()
	if busy {
		return nil, fmt.Errorf("session %s is already open here", id)
	}
	c, err := s.start(ctx, id, o)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.open, id)
		return nil, err
	}
	s.open[id] = c
	return c, nil
}

func (s *Service) nameOf(o StartOptions) (string, error) {
	switch {
	case o.Root == "":
		return "", errors.New("assistant: StartOptions.Root is empty")
	case o.Resume != "":
		return o.Resume, nil
	case o.ID != "":
		return o.ID, nil
	case s.cfg.NewID != nil:
		return s.cfg.NewID(), nil
	default:
		return "", errors.New("assistant: neither StartOptions.ID nor Config.NewID names the session")
	}
}

// Close ends every conversation, at once.
func (s *Service) Close() error {
	s.mu.Lock()
	var all []*Conversation
	for _, c := range s.open {
		if c != nil {
			all = append(all, c)
		}
	}
	s.mu.Unlock()
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, c := range all {
		group.Go(func() { errs[i] = c.Close() })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (s *Service) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}
