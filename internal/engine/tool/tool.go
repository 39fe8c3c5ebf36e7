package tool

import (
	"context"
	"encoding/json"
	"time"

	"car/internal/engine/ir"
)

// Effect is the worst a tool can do (T-SET-1). The zero value is the worst.
type Effect uint8

// The effects, from worst to best.
const (
	Outward Effect = iota
	Write
	Read
)

// Spec is what a tool says of itself, fixed for the process (T-SET-1).
type Spec struct {
	Name        string
	Description string
	// Parameters is a JSON Schema object with additionalProperties false; Returns is optional.
	Parameters json.RawMessage
	Returns    json.RawMessage
	Effect     Effect
	// Category groups tools for people: filesystem, shell, utility.
	Category string
	// CountField names the output member whose number is the result count of receipts (E-LOG-3).
	CountField string
	// Timeout bounds an attempt when its action names none; 0 is no bound.
	Timeout time.Duration
	// CacheTTL is how long a result may answer the same call again; 0 is never (E-CACHE-1).
	CacheTTL time.Duration
	// RateLimit bounds attempts; nil is no bound (E-RATE-1).
	RateLimit *ir.RateLimit
	// Source is who the tool comes from; the zero value is user_defined (E-EXEC-13).
	// A registry that knows better has the last word.
	Source ir.ToolSource
	// Version takes part in approvals, so that a changed tool is asked for again (G-APPR-1).
	Version string
}

// Call is one attempt as a tool sees it (E-EXEC-3). Parameters passed the schema.
type Call struct {
	Tool     string
	Params   map[string]any
	Action   ir.ActionID
	Proposal ir.ProposalID
	// CallID is the host's own name for the call (A-LOOP-4), empty outside a conversation.
	CallID  string
	Session string
	Tenant  string
	// Turn numbers the conversation's turn, 0 outside one.
	Turn int
	// Attempt counts from 1, by the engine.
	Attempt int
	// Timeout is what the engine allows; 0 is no bound.
	Timeout         time.Duration
	ExpectedEffects map[string]any
	Returns         json.RawMessage
	Mode            ir.InvocationMode
}

// Effects is what a call would do, as data (T-SET-1). The zero value declares
// nothing and is judged as if it could do everything.
type Effects struct {
	Declared bool
	// Reads and Writes are paths as the call spells them: relative to the root, or absolute.
	Reads  []string
	Writes []string
	// Shell is text that a shell would run; empty Text means none.
	Shell Shell
	// Hosts are host names or addresses that the call itself would contact.
	Hosts []string
	// Program is what the call would start without a shell; nil means nothing. A tool
	// that has one leaves Declared false: what the program then does, nobody knows.
	Program *Program
}

// Shell is text for a shell.
type Shell struct {
	Text string
}

// OnlyReads reports whether the declaration is nothing more than reads, so that
// no durable effect row is needed (E-PIPE-10).
func (e Effects) OnlyReads() bool {
	return e.Declared && len(e.Writes) == 0 && e.Shell.Text == "" && len(e.Hosts) == 0 && e.Program == nil
}

// Execution is what an attempt brought (E-EXEC-3).
type Execution struct {
	// Output is I-JSON: nil, bool, float64, string, []any, map[string]any.
	Output any
	// Blocks are for a screen.
	Blocks []ir.Block
	// Stream is the rest of a detached call: it runs beside the DAG until it ends or
	// its context does, and emits chunks (E-DET-1). Only calls whose Mode is not one_shot may have one.
	Stream func(ctx context.Context, emit func(ir.Chunk))
	// StateChanges follow E-EXEC-7; a nil map declares none.
	StateChanges map[string]ir.StateChange
}

// Tool is a hand. Implementations are safe for concurrent use and hold no
// state of a session: that lives in Env and in Bindings.
type Tool interface {
	Spec() Spec
	// Effects is pure: it reads the call and nothing else. An error refuses the
	// call as mis-stated; its text goes to the model.
	Effects(call Call) (Effects, error)
	// Run acts. It ends within 3 s of ctx (T-SET-9). A plain error is an ordinary
	// failure; see Fault for one that says what kind it is.
	Run(ctx context.Context, call Call, env Env) (Execution, error)
}

// Previewer is a tool that can show what a call would do before it does it. A
// preview reads and changes nothing; its digest is compared again just before
// the attempt (E-PIPE-7).
type Previewer interface {
	Preview(ctx context.Context, call Call, files Files) ([]ir.Block, error)
}

// Exclusive is a tool that alone answers its name: nothing registered beside it is
// tried, before or after (E-TOOL-3).
type Exclusive interface {
	Tool
	// Listed is false while the tool can only refuse: no model is told of it, and a
	// call is refused in the tool's own words.
	Listed() bool
}

// FaultKind says what kind of failure a tool met (T-SET-8).
type FaultKind uint8

// The kinds; the zero value is a plain failure.
const (
	Failed FaultKind = iota
	BadArgs
	Denied
	NotFound
	Stale
	TimedOut
	Canceled
	TooLarge
	Unsupported
	// Unhandled means "not my tool": the next executor is tried (E-EXEC-4).
	Unhandled
	// Terminal ends the proposal: no retry, no later level, rollback (E-FAIL-1).
	Terminal
	// BadOutput means that the tool acted and what it brought is no I-JSON (E-EXEC-9).
	BadOutput
)

// Fault is a tool's typed failure. Text says what, where and what to do next in
// at most three lines.
type Fault struct {
	Kind FaultKind
	Text string
	// Output is shown to the model beside the text, for example the fresh content of a stale file.
	Output any
}

// Error returns the text.
func (f *Fault) Error() string { return f.Text }
