package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"car/internal/assistant"
	"car/internal/tui/safe"
)

// answer leaves the run's text on stdout. A terminal gets it through the filter; a
// pipe gets the text as it is, since whoever reads it is no terminal, but for
// control characters, which no answer needs.
func (a *app) answer(w io.Writer, r *runLog) error {
	text, _ := r.answer()
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, safe.Text(text))
	return err
}

// ending says on stderr how a run ended that did not simply end well, and what to
// type next.
func (a *app) ending(h *house, t *task, outcome assistant.Outcome) {
	w := a.io.err
	switch end := t.log.end.(type) {
	case assistant.AuthRequired:
		if end.Reason == "no_provider" {
			fmt.Fprintf(w, "car: %s", noProviderScreen(h.models.providerNames(), h.models.offered()))
			return
		}
		fmt.Fprintf(w, "car: %s: %s\n", safe.Line(end.Provider), safe.Line(end.Message))
		fmt.Fprintf(w, "  try: %s\n", safe.Line(end.Help))
	case assistant.Failure:
		complain(w, errors.New(end.Error))
	}
	for _, f := range outcome.Refused {
		fmt.Fprintf(w, "car: refused and not achieved otherwise: %s %s\n", safe.Line(f.Tool), safe.Line(f.Brief))
	}
	if claims := t.log.report.UngroundedClaims; len(claims) > 0 {
		fmt.Fprintf(w, "car: claimed without a receipt: %s\n", safe.Line(strings.Join(claims, "; ")))
	}
	if _, head := t.room.log.Head(); head != "" && t.verbose {
		fmt.Fprintf(w, "· record: car log verify %s --expect %s\n", t.id, head)
	}
	if outcome.Terminal != assistant.KindDone && !t.gone {
		fmt.Fprintf(w, "  go on: car do --resume %s \"…\"\n", t.id)
	}
}

// documented gives a command line that was not followed its document: under
// --json there is exactly one, whatever happens (D-14).
func (a *app) documented(f format, w io.Writer, run func() error) error {
	err := run()
	var coded *exitError
	if f != formatJSON || err == nil || errors.As(err, &coded) && coded.cause == nil {
		return err
	}
	hints := []string{}
	if coded != nil {
		hints = coded.hints
	}
	return errors.Join(err, writeJSONLine(w, refusedDocument(err, codeOf(err), hints)))
}

func writeJSONLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
