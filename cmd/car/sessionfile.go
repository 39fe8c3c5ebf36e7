package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"car/internal/assistant"
	"car/internal/assistant/store"
	"car/internal/engine/redact"
)

// sessionFormat names the files of `car sessions export`.
const sessionFormat = "car.session/1"

// fileLine is one line of an exported session; exactly one member is set. The first
// is the head, the last the end, whose count tells a file that was cut.
type fileLine struct {
	Head       *fileHead       `json:"session,omitempty"`
	Turn       *fileTurn       `json:"turn,omitempty"`
	Message    *fileMessage    `json:"message,omitempty"`
	Compaction *fileCompaction `json:"compaction,omitempty"`
	Action     *fileAction     `json:"action,omitempty"`
	End        *fileEnd        `json:"end,omitempty"`
}

type fileHead struct {
	Format  string    `json:"format"`
	ID      string    `json:"id"`
	Title   string    `json:"title,omitempty"`
	Root    string    `json:"root"`
	Cwd     string    `json:"cwd"`
	Model   string    `json:"model"`
	Parent  string    `json:"parent,omitempty"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

type fileTurn struct {
	N        int             `json:"n"`
	Kind     string          `json:"kind"`
	Status   string          `json:"status"`
	Started  time.Time       `json:"started"`
	Ended    time.Time       `json:"ended"`
	Terminal json.RawMessage `json:"terminal,omitempty"`
}

type fileMessage struct {
	Seq        int64           `json:"seq"`
	Turn       int             `json:"turn"`
	Body       json.RawMessage `json:"body"`
	Provider   string          `json:"provider,omitempty"`
	Model      string          `json:"model,omitempty"`
	LastResort bool            `json:"last_resort,omitempty"`
	Created    time.Time       `json:"created"`
}

type fileCompaction struct {
	From    int64           `json:"from"`
	To      int64           `json:"to"`
	Summary json.RawMessage `json:"summary"`
}

// fileAction is the audit line of an effect. It is for readers: no import takes it.
type fileAction struct {
	ID      string    `json:"id"`
	CallID  string    `json:"call_id"`
	Tool    string    `json:"tool"`
	State   string    `json:"state"`
	Allowed string    `json:"allowed_by"`
	Updated time.Time `json:"updated"`
}

// fileEnd says how many lines stand before it and what is not in them.
type fileEnd struct {
	Lines          int `json:"lines"`
	HiddenMessages int `json:"hidden_messages_left_out"`
	HiddenParts    int `json:"reasoning_parts_left_out"`
}

func newSessionsExportCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "export ID [FILE]", Short: "Write a session as JSON lines, secrets masked", Args: cobra.RangeArgs(1, 2),
		Long: "Writes what a session said and did to FILE, or to stdout. Secrets are masked. Left out\n" +
			"are hidden reasoning, undo data, standing approvals, and messages that a rewind hid;\n" +
			"the last line counts them.",
		Example: "  car sessions export 0197 session.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error {
				id, _, err := h.sessionFor(cmd.Context(), taskOptions{resume: args[0]})
				if err != nil {
					return err
				}
				if len(args) == 1 {
					return h.export(cmd.Context(), id, cmd.OutOrStdout())
				}
				return writeNew(a.absolute(args[1]), func(w io.Writer) error { return h.export(cmd.Context(), id, w) })
			})
		},
	}
}

// writeNew writes a file of its owner's alone that was not there before; what is
// not written whole does not stay.
func writeNew(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return usageError(err, "name a file that is not there yet")
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // the reason why is told
	}
	return err
}

// exporter writes the lines of one session and counts them.
type exporter struct {
	w       io.Writer
	archive assistant.Archive
	end     fileEnd
}

func (h *house) export(ctx context.Context, id string, w io.Writer) error {
	whole, err := h.wholeSession(ctx, id)
	if err != nil {
		return err
	}
	s, turns, messages, compactions := whole.session, whole.turns, whole.messages, whole.compactions
	effects, err := h.db.EffectsOf(ctx, id, "")
	if err != nil {
		return err
	}
	e := exporter{w: w, archive: assistant.NewArchive(redact.New(h.secrets()))}
	title, _ := redact.New(h.secrets()).String(s.Title)
	lines := []fileLine{{Head: &fileHead{Format: sessionFormat, ID: s.ID, Title: title, Root: s.Root, Cwd: s.Cwd, Model: s.Model, Parent: s.Parent,
		Created: s.Created, Updated: s.Updated}}}
	for _, t := range turns {
		lines = append(lines, fileLine{Turn: &fileTurn{N: t.N, Kind: t.Kind, Status: t.Status.String(), Started: t.Started, Ended: t.Ended, Terminal: e.archive.Value(t.Terminal)}})
	}
	said, err := e.transcript(messages, compactions)
	if err != nil {
		return err
	}
	lines = append(lines, said...)
	for _, f := range effects {
		lines = append(lines, fileLine{Action: &fileAction{ID: string(f.ID), CallID: f.CallID, Tool: f.Scope.Tool, State: f.State.String(), Allowed: f.AllowedBy, Updated: f.Updated}})
	}
	e.end.Lines = len(lines)
	for _, line := range append(lines, fileLine{End: &e.end}) {
		if err := writeJSONLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

// transcript is what prompts are built of: the messages that are not hidden, and
// the summaries with the messages that they stand for.
func (e *exporter) transcript(messages []store.Message, compactions []store.Compaction) ([]fileLine, error) {
	var lines []fileLine
	kept := 0
	add := func(m store.Message) error {
		body, hidden, err := e.archive.Copy(m)
		if err != nil {
			return fmt.Errorf("%w; car sessions show tells what can be read", err)
		}
		e.end.HiddenParts += hidden
		kept++
		lines = append(lines, fileLine{Message: &fileMessage{Seq: m.Seq, Turn: m.Turn, Body: body, Provider: m.Provider, Model: m.Model, LastResort: m.LastResort, Created: m.Created}})
		return nil
	}
	for _, item := range store.Visible(messages, compactions) {
		if item.Message != nil {
			if err := add(*item.Message); err != nil {
				return nil, err
			}
			continue
		}
		for _, m := range messages {
			if m.Seq >= item.FromSeq && m.Seq <= item.ToSeq && !m.Excluded {
				if err := add(m); err != nil {
					return nil, err
				}
			}
		}
		lines = append(lines, fileLine{Compaction: &fileCompaction{From: item.FromSeq, To: item.ToSeq, Summary: e.archive.Value(item.Summary)}})
	}
	e.end.HiddenMessages = len(messages) - kept
	return lines, nil
}
