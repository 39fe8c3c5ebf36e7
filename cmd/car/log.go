package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"car/internal/assistant/store"
	"car/internal/engine/eventlog"
	"car/internal/tui/safe"
)

type logOptions struct {
	session string
	expect  string
	json    bool
	out     io.Writer
}

func newLogCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "log", Short: "Verify a session's record", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogVerifyCommand(a))
	return cmd
}

func newLogVerifyCommand(a *app) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "verify [SESSION]",
		Short: "Say whether a session's record is what was written",
		Long: "Checks the chain of a session's events against where it stood when it was last\n" +
			"anchored, and says how it was changed: an event that was edited, deleted or moved, a\n" +
			"record that was cut at either end or made anew. SESSION is the beginning of an id;\n" +
			"without it the newest is looked at.\n\n" +
			"It can not show what was done to events behind the last anchor, nor the work of\n" +
			"somebody who can read $CAR_HOME/chain.key and write both; against them a head that was\n" +
			"printed at the session's end helps (--expect). The exit code is 0 for a record as it\n" +
			"was written, else 1.",
		Example: "  car log verify\n  car log verify 0197 --expect 5f2c…",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.session = args[0]
			}
			o.out = cmd.OutOrStdout()
			return a.verifyLog(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.expect, "expect", "", "a `head` that the session printed: it must be in the record")
	f.BoolVar(&o.json, "json", false, "one JSON object")
	return cmd
}

// verifyLog needs no project: a record is checked where nothing else works any more.
func (a *app) verifyLog(ctx context.Context, o logOptions) error {
	home, err := a.env.state()
	if err != nil {
		return err
	}
	id, err := findSession(home, o.session)
	if err != nil {
		return err
	}
	key, err := readChainKey(home)
	if err != nil {
		return err
	}
	var audit eventlog.Audit
	err = a.withStore(ctx, func(db *store.DB) (err error) {
		audit, err = eventlog.VerifyAnchored(sessionLog(home, id), eventlog.Anchoring{Session: id, Store: anchors{db}, Key: key}, o.expect)
		return err
	})
	if err != nil {
		return err
	}
	if err := printAudit(o, id, audit); err != nil {
		return err
	}
	if !audit.OK() {
		return &exitError{code: exitFailed}
	}
	return nil
}

// auditDocument is an audit on the wire.
type auditDocument struct {
	Session    string           `json:"session"`
	Verdict    eventlog.Verdict `json:"verdict"`
	Text       string           `json:"text"`
	Reason     string           `json:"reason,omitempty"`
	Verified   int              `json:"verified"`
	Unanchored int              `json:"unanchored"`
	TamperedAt *int             `json:"tampered_at,omitempty"`
	Anchored   uint64           `json:"anchored"`
	Found      uint64           `json:"found"`
	Head       string           `json:"head"`
}

func printAudit(o logOptions, id string, audit eventlog.Audit) error {
	if o.json {
		d := auditDocument{Session: id, Verdict: audit.Verdict, Text: audit.String(), Reason: audit.Reason, Verified: audit.Chain.Verified,
			Unanchored: audit.Unanchored, Anchored: audit.Anchored, Found: audit.Found, Head: audit.Chain.Head}
		if audit.Verdict == eventlog.Tampered {
			d.TamperedAt = &audit.At
		}
		return writeJSONLine(o.out, d)
	}
	lines := []string{audit.String()}
	if audit.Reason != "" {
		lines = append(lines, audit.Reason)
	}
	lines = append(lines, "session "+id)
	if audit.OK() {
		lines = append(lines, "head "+audit.Chain.Head)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(o.out, safe.Line(line)); err != nil {
			return err
		}
	}
	return nil
}
