package tool

import (
	"time"

	"car/internal/engine/ir"
)

// Bindings are what a host lends tools for a session beside Env. A tool whose
// binding is absent is not advertised (T-SET-2).
type Bindings struct {
	Events Events
	Todos  Todos
	// Describe is the bound substrate, for tool descriptions that name the dialect.
	// Without a dialect there is no shell.
	Describe Description
	// GlobalIgnore is the text of the person's own git ignore file (core.excludesFile),
	// which lies where tools do not read; empty when there is none (T-FILE-19).
	GlobalIgnore string
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
