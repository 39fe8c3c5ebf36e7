package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/engine/eventlog"
	"car/internal/tui/safe"
)

type eventsOptions struct {
	session string
	kinds   []eventlog.Kind
	follow  bool
	json    bool
	out     io.Writer
}

func newEventsCommand(a *app) *cobra.Command {
	var o eventsOptions
	var kinds []string
	cmd := &cobra.Command{
		Use:   "events [SESSION]",
		Short: "Show what happened in a session",
		Long: "Prints the record of a session, oldest first: every proposal, decision, effect and\n" +
			"outcome. SESSION is the beginning of an id; without it the newest is shown.\n" +
			"With --json each line is the record as it is kept.",
		Example: "  car events\n  car events --follow\n  car events 0197 --kind action_rejected,policy_violation --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 1 {
				o.session = args[0]
			}
			if o.kinds, err = parseKinds(kinds); err != nil {
				return err
			}
			o.out = cmd.OutOrStdout()
			return a.events(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&kinds, "kind", nil, "only events of these `kinds`, separated by commas")
	f.BoolVarP(&o.follow, "follow", "f", false, "go on as the session does, until ctrl+c")
	f.BoolVar(&o.json, "json", false, "one JSON object a line, as it is kept")
	return cmd
}

func parseKinds(words []string) ([]eventlog.Kind, error) {
	kinds := make([]eventlog.Kind, 0, len(words))
	for _, word := range words {
		var k eventlog.Kind
		if err := k.UnmarshalText([]byte(word)); err != nil {
			return nil, usageError(fmt.Errorf("--kind: %w", err))
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func (a *app) events(ctx context.Context, o eventsOptions) error {
	home, err := a.env.state()
	if err != nil {
		return err
	}
	id, err := findSession(home, o.session)
	if err != nil {
		return err
	}
	t, err := openTail(sessionLog(home, id))
	if err != nil {
		return err
	}
	defer t.close()
	for {
		e, line, ok, err := t.next()
		switch {
		case err != nil:
			return err
		case ok && (len(o.kinds) == 0 || slices.Contains(o.kinds, e.Kind)):
			if err := a.printEvent(o, e, line); err != nil {
				return err
			}
		case !ok && !o.follow:
			return nil
		case !ok:
			if err := t.wait(ctx); err != nil {
				return err
			}
		}
	}
}

func (a *app) printEvent(o eventsOptions, e eventlog.Event, line []byte) error {
	if o.json {
		_, err := fmt.Fprintf(o.out, "%s\n", line)
		return err
	}
	_, err := fmt.Fprintln(o.out, clipped(eventLine(e), a.io.columns))
	return err
}

// eventLine is an event for people.
func eventLine(e eventlog.Event) string {
	text := fmt.Sprintf("%5d  %s  %-24s %-14s %s", e.Seq, e.Timestamp.UTC().Format("15:04:05.000"), e.Kind, e.ActionID, essence(e.Data))
	return safe.Line(strings.TrimRight(text, " "))
}

// essentialMembers are the members of an event's data that say most, best first.
var essentialMembers = []string{"tool", "reason", "error", "verdict", "decision", "gate", "tier", "allowed_by", "source", "action_count"}

// essence is an event's data in a line: the members that say most, else all of it.
func essence(data map[string]any) string {
	var parts []string
	for _, name := range essentialMembers {
		if v, ok := data[name]; ok && v != nil && v != "" {
			parts = append(parts, fmt.Sprintf("%s=%v", name, v))
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	if len(data) == 0 {
		return ""
	}
	rest := maps.Clone(data)
	delete(rest, "proposal_digest") // long, and of use to programs only
	if len(rest) == 0 {
		return ""
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return ""
	}
	return string(text)
}

// clipped cuts a line at the terminal's edge; columns 0 cuts nothing.
func clipped(line string, columns int) string {
	runes := []rune(line)
	if columns <= 1 || len(runes) <= columns {
		return line
	}
	return string(runes[:columns-1]) + "…"
}
