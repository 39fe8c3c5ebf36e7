package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/composer"
	"car/internal/tui/picker"
	"car/internal/tui/todo"
)

// Conversation is the session that the screen shows. Its methods may be called from
// several goroutines and none of them waits for a model, a tool or a person.
type Conversation interface {
	// Send accepts an input for the next turn, or says why not.
	Send(ctx context.Context, in assistant.Input) error
	// Cancel ends the running turn; without one it does nothing.
	Cancel()
	// Resolve answers a question and reports whether it was still open.
	Resolve(approvalID string, a assistant.Answer) bool
	// Subscribe returns the events after the one of that number, and a function that
	// ends the subscription.
	Subscribe(from uint64) (<-chan assistant.Event, func())
	// Returned lists inputs that were not delivered and belong back in the editor.
	Returned(ctx context.Context) ([]assistant.Waiting, error)
}

// Queue is a conversation whose waiting inputs can be taken back before they are
// delivered.
type Queue interface {
	// Queued lists what waits for the running turn's end, oldest first.
	Queued() []assistant.Waiting
	// TakeBack takes an input off the queue, or says that it is not there any more.
	TakeBack(ctx context.Context, id int64) (assistant.Waiting, error)
}

// Header is what a person is told before they type anything, and what the status
// line goes on showing.
type Header struct {
	Version string
	// Model is the model's name, ModelWhy where the choice came from.
	Model, ModelWhy string
	Session         string
	Root            string
	Tier            ir.Tier
	// Confinement says in words what the processes of tools are held by.
	Confinement string
	Gates       []string
	// Window is the model's context in tokens, 0 where it is not known.
	Window int64
	// Notices are further lines, such as what was left out on resuming.
	Notices []string
}

// Command is a slash command. Its name has no slash.
type Command struct {
	Name, Args, Help string
	// Run does what the command is for and returns what to show. It is called outside
	// of the screen's loop, one at a time, and may take its time.
	Run func(ctx context.Context, args string) (Result, error)
}

// Result is what a command did.
type Result struct {
	// Text is Markdown to print.
	Text string
	// Header, if not nil, replaces the header's values in the status line.
	Header *Header
	// Draft, if not empty, goes into the editor.
	Draft string
	// Model, if not nil, is asked for from the next message on; empty is the session's own.
	Model *string
	// Send, if not nil, is sent as if the person had typed it. It is not sent while a
	// turn runs.
	Send *assistant.Input
	// Pick, if not nil, asks the person to choose.
	Pick *Pick
	// Shell, if not empty, runs as if the person had typed it after an exclamation mark.
	Shell string
	// Leave ends the screen with the reason Switched, for the caller to open another.
	// It does not end a running turn: the person has to interrupt it first.
	Leave bool
}

// Pick is a list to choose from. Chosen is called like Command.Run, with the index of
// what was chosen; leaving the list calls nothing.
type Pick struct {
	Title  string
	Items  []picker.Item
	Chosen func(ctx context.Context, index int) (Result, error)
}

// Said is something that was said in the session before the screen was opened.
type Said struct {
	// Mine says that the person said it; else the model did, in Markdown.
	Mine bool
	Text string
}

// Config makes a screen. Conversation, In, Out, Environ and Now have to be there;
// everything else may be left out.
type Config struct {
	Conversation Conversation
	// In and Out are the terminal. Where one is none, or the terminal is dumb, the
	// screen is plain lines.
	In, Out *os.File
	// Environ is NAME=value, read for what the terminal can do.
	Environ []string
	Now     func() time.Time
	Header  Header
	// From is the number of the last event that is not to be shown.
	From uint64
	// First is sent at once. With Leave the screen ends when its run has ended.
	First *assistant.Input
	Leave bool
	// Past is printed below the header: the end of what was said before. Draft stands
	// in the editor at the start.
	Past  []Said
	Draft string
	// Commands are offered besides the screen's own.
	Commands []Command
	// History is what was sent in earlier sessions, oldest first; Remember is called
	// with every text that is sent.
	History  []string
	Remember func(ctx context.Context, text string)
	// Complete returns the completions of a word that begins with @.
	Complete func(ctx context.Context, word string) []composer.Choice
	// Edit opens the person's editor on a text and returns the changed one. The
	// terminal is theirs meanwhile.
	Edit func(ctx context.Context, text string) (string, error)
	// Attach adds to an input what its words name, such as pictures, before it is sent.
	// Its error keeps the input from being sent and is shown.
	Attach func(ctx context.Context, in *assistant.Input) error
	// Shell runs the person's own command and returns when it has ended. The terminal
	// is the command's meanwhile.
	Shell func(ctx context.Context, command string) (Shelled, error)
	// Todo returns the agent's list; it is asked after every call.
	Todo func(ctx context.Context) []todo.Item
	// Resume is the command line that opens this session again.
	Resume string
}

// Shelled is the person's own command after its end.
type Shelled struct {
	Command string
	// Output is the end of what it wrote, as plain text.
	Output string
	// Code is its exit code, -1 after a signal.
	Code int
	Took time.Duration
}

func (c Config) check() error {
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"Conversation", c.Conversation == nil}, {"In", c.In == nil}, {"Out", c.Out == nil}, {"Environ", c.Environ == nil}, {"Now", c.Now == nil},
	} {
		if f.missing {
			return fmt.Errorf("tui: Config.%s is nil", f.name)
		}
	}
	if c.Leave && c.First == nil {
		return errors.New("tui: Config.Leave without First would leave at once")
	}
	return nil
}

// Reason says why the screen ended. The zero value is unset.
type Reason uint8

// The reasons.
const (
	ReasonUnset Reason = iota
	// Quit: the person left, by /quit, ctrl+d or ctrl+c twice.
	Quit
	// Finished: the run of Config.First ended, and Leave was asked for.
	Finished
	// Stopped: the context ended, as after a signal.
	Stopped
	// Closed: the conversation ended its events.
	Closed
	// Switched: a command asked for another screen, with Result.Leave.
	Switched
)

// Exit is how the screen ended.
type Exit struct {
	Reason Reason
	// Last is the terminal event of the newest run, nil when none ended.
	Last assistant.Body
	// Running says that a run was still going on.
	Running bool
	// Unsent is what was typed and not sent.
	Unsent string
	// Resume is the command line that opens the session again.
	Resume string
}
