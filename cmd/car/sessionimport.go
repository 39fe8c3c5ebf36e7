package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"car/internal/assistant"
	"car/internal/assistant/store"
	"car/internal/engine/redact"
)

// maxFileLine bounds one line of an export: a message with its results.
const maxFileLine = 16 << 20

func newSessionsImportCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Make a session of this project out of an exported one", Args: cobra.ExactArgs(1),
		Long: "Reads what car sessions export wrote and makes a new session of it in this project;\n" +
			"- reads stdin. The file says what was said, and nothing more is believed: it brings no\n" +
			"approval, no receipt and no system prompt, and its secrets are masked again.",
		Example: "  car sessions import session.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := io.Reader(a.io.in)
			if args[0] != stdinMark {
				f, err := os.Open(a.absolute(args[0]))
				if err != nil {
					return usageError(err)
				}
				defer f.Close()
				in = f
			}
			return a.withHouse(cmd.Context(), houseOptions{}, func(h *house) error { return h.importSession(cmd.Context(), in, args[0], cmd.OutOrStdout()) })
		},
	}
}

func (h *house) importSession(ctx context.Context, in io.Reader, name string, out io.Writer) error {
	head, lines, err := readSessionFile(in)
	if err != nil {
		return usageError(fmt.Errorf("%s: %w", name, err), "car sessions export writes such files")
	}
	t, dropped, err := transcriptOf(lines, assistant.NewArchive(redact.New(h.secrets())))
	if err != nil {
		return usageError(fmt.Errorf("%s: %w", name, err))
	}
	id, err := newSessionID()
	if err != nil {
		return err
	}
	title, _ := redact.New(h.secrets()).String(firstOf(head.Title, "imported from "+head.ID))
	s := store.Session{ID: id, Title: title, Root: h.project.Root, Cwd: h.project.Cwd, Model: head.Model, System: assistant.DefaultSystem()}
	if err := h.db.ImportSession(ctx, s, t); err != nil {
		return err
	}
	if dropped > 0 {
		h.notice("the last message asked for calls that nothing answered; it is left out")
	}
	_, err = fmt.Fprintln(out, id)
	return err
}

// readSessionFile reads the lines of an export and holds its head and its end.
func readSessionFile(in io.Reader) (*fileHead, []fileLine, error) {
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxFileLine)
	var lines []fileLine
	for n := 1; scan.Scan(); n++ {
		var l fileLine
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", n, err)
		}
		lines = append(lines, l)
	}
	if err := scan.Err(); err != nil {
		return nil, nil, err
	}
	switch last := len(lines) - 1; {
	case last < 1 || lines[0].Head == nil:
		return nil, nil, errors.New("is no exported session")
	case lines[0].Head.Format != sessionFormat:
		return nil, nil, fmt.Errorf("has the format %q, and this car reads %s", lines[0].Head.Format, sessionFormat)
	case lines[last].End == nil || lines[last].End.Lines != last:
		return nil, nil, fmt.Errorf("is not whole: it ends after %d lines without their count", len(lines))
	}
	return lines[0].Head, lines[1:], nil
}

// transcriptOf puts the lines in their places; the ranges of summaries follow the
// messages to their new numbers.
func transcriptOf(lines []fileLine, archive assistant.Archive) (t store.Transcript, dropped int, err error) {
	var messages []store.Message
	turns := map[int]bool{}
	for _, l := range lines {
		switch {
		case l.Turn != nil:
			turn := store.Turn{N: l.Turn.N, Kind: l.Turn.Kind, Started: l.Turn.Started, Ended: l.Turn.Ended, Terminal: archive.Value(l.Turn.Terminal)}
			if err := turn.Status.UnmarshalText([]byte(l.Turn.Status)); err != nil {
				return t, 0, err
			}
			turns[turn.N] = true
			t.Turns = append(t.Turns, turn)
		case l.Message != nil:
			m := l.Message
			messages = append(messages, store.Message{Seq: m.Seq, Turn: m.Turn, Body: m.Body, Provider: m.Provider, Model: m.Model, LastResort: m.LastResort, Created: m.Created})
		}
	}
	for i, m := range messages {
		if !turns[m.Turn] || i > 0 && m.Seq <= messages[i-1].Seq {
			return t, 0, fmt.Errorf("message %d stands in no turn, or not in order", m.Seq)
		}
	}
	if t.Entries, dropped, err = archive.Take(messages); err != nil {
		return t, 0, err
	}
	for _, l := range lines {
		if l.Compaction == nil {
			continue
		}
		c := store.Compaction{Summary: archive.Value(l.Compaction.Summary)}
		for i, m := range messages[:len(t.Entries)] {
			if m.Seq < l.Compaction.From || m.Seq > l.Compaction.To {
				continue
			}
			if c.FromSeq == 0 {
				c.FromSeq = int64(i + 1)
			}
			c.ToSeq = int64(i + 1)
		}
		if c.FromSeq > 0 && c.Summary != nil {
			t.Compactions = append(t.Compactions, c)
		}
	}
	return t, dropped, nil
}
