package tool

import (
	"context"
	"time"

	"car/internal/engine/ir"
)

// Bindings are what a host lends tools for a session beside Env. A tool whose
// binding is absent is not advertised (T-SET-2).
type Bindings struct {
	Events Events
	Todos  Todos
	// Messages carries messages to people; nil refuses them (E-TOOL-3).
	Messages Messages
	// Describe is the bound substrate, for tool descriptions that name the dialect.
	// Without a dialect there is no shell.
	Describe Description
	// GlobalIgnore is the text of the person's own git ignore file (core.excludesFile),
	// which lies where tools do not read; empty when there is none (T-FILE-19).
	GlobalIgnore string
	// Network says that tools may reach the network by themselves (T-WEB-7).
	Network bool
	// Search is where web_search asks; nil is nowhere.
	Search *Search
}

// Events is this session's log, read-only (T-EVENTS-1). Safe for concurrent use.
type Events interface {
	// Query answers at most limit events, newest first, and how many matched in all.
	Query(q EventQuery) (events []Event, total int)
	// Kinds lists every kind the log knows.
	Kinds() []string
}

// EventQuery filters events; empty members match everything.
type EventQuery struct {
	Kinds    []string
	ActionID ir.ActionID
	Tool     string
	// CallID is the host's own name for a call (T-EVENTS-3).
	CallID string
	// Since is inclusive; the zero time is the beginning.
	Since time.Time
	Limit int
}

// Event is one logged event, redacted as the log keeps it.
type Event struct {
	Kind      string
	ActionID  ir.ActionID
	Timestamp string
	Data      any
}

// Messages is the one way out for words to people (E-TOOL-3). Safe for concurrent use.
type Messages interface {
	// Send delivers a message or hands it on for delivery. A message of a key that was
	// sent before is not sent again.
	Send(ctx context.Context, m Message) (Receipt, error)
}

// Message is words for a person or a group of them.
type Message struct {
	// Channel is the medium, as the host names it: mail, chat.
	Channel string
	// Direct is true for one person, false for a room that To names.
	Direct bool
	To     string
	Body   string
	// Key makes sending twice the same as once. It is never empty: without one of the
	// call's own it names the action, so that a retry sends nothing twice.
	Key string
}

// Receipt is what became of a message.
type Receipt struct {
	// ID is the medium's name for it, empty where it gives none.
	ID string
	// Duplicate says that a message of this key had been sent before.
	Duplicate bool
}

// Todos is the session's list (T-TODO). Safe for concurrent use.
type Todos interface {
	Replace(items []Todo) error
	List() []Todo
}

// Todo is one item of the list.
type Todo struct {
	Text string `json:"text"`
	// Status is open, done or dropped.
	Status string `json:"status"`
}
