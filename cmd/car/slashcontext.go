package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"car/internal/assistant"
	"car/internal/assistant/project"
	"car/internal/tui"
)

// slashContext says what fills the model's window (U-TUI-8).
func (s *session) slashContext(context.Context, string) (tui.Result, error) {
	u, known := s.conv.Context()
	if !known {
		return tui.Result{Text: "Nothing was sent to a model yet; the window fills with the first message."}, nil
	}
	return fenced(contextText(u)), nil
}

func contextText(u assistant.ContextUse) string {
	percent := func(n int64) string { return fmt.Sprintf("%7d  %3d%%", n, 100*n/u.Window) }
	var b strings.Builder
	how := "guessed"
	if u.Measured {
		how = "counted by the provider, parts scaled to it"
	}
	fmt.Fprintf(&b, "%s\n%-22s %s  %s\n", u.Model, "in the prompt", percent(u.Used), how)
	for _, part := range []struct {
		name string
		n    int64
	}{
		{"system prompt", u.System}, {"tools", u.Tools}, {"first message", u.First}, {"your messages", u.Persons}, {"replies", u.Replies},
		{"results of calls", u.Results}, {"notes of the runtime", u.Notes}, {"summaries", u.Summaries},
	} {
		if part.n > 0 {
			fmt.Fprintf(&b, "  %-20s %s\n", part.name, percent(part.n))
		}
	}
	window := fmt.Sprintf("%7d tokens", u.Window)
	if !u.Known {
		window += ", assumed: set the true one with --context-window"
	}
	fmt.Fprintf(&b, "%-22s %s  /compact does it now\n%-22s %s\n", "summarised from", percent(u.CompactAt), "window", window)
	if u.Compactions > 0 {
		fmt.Fprintf(&b, "older messages were summarised %d time(s); all of them stay in the session\n", u.Compactions)
	}
	return b.String()
}

// slashCompact asks for room before the next request.
func (s *session) slashCompact(context.Context, string) (tui.Result, error) {
	s.conv.Compact()
	return tui.Result{Text: "Older messages will be summarised before the next request. All of them stay in the session."}, nil
}

// guidanceBelow tells the instruction files of folders that a call touches for the
// first time (A-CTX-1). One that nobody trusts is left out and named, unless what
// the session was told already is untrusted too: it would influence all that
// follows, and that has to be known from the beginning (G-INTENT-3).
func (h *house) guidanceBelow(guide *project.Guide, influenced bool) func(context.Context, string) []assistant.Guidance {
	return func(ctx context.Context, path string) []assistant.Guidance {
		if !filepath.IsAbs(path) {
			path = filepath.Join(h.project.Root, path)
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil { // a folder that is not there yet has no instructions
			return nil
		}
		found, skipped, err := guide.Below(ctx, dir)
		if err != nil {
			skipped = append(skipped, project.Skipped{Path: dir, Why: err.Error()})
		}
		var list []assistant.Guidance
		for _, s := range skipped {
			list = append(list, assistant.Guidance{Path: s.Path, LeftOut: s.Why})
		}
		for _, i := range found {
			one := assistant.Guidance{Path: i.Path, Text: i.Text, Omitted: i.Omitted}
			if !i.Trusted && !influenced {
				one = assistant.Guidance{Path: i.Path, LeftOut: "nobody trusts it yet (car trust)"}
			}
			list = append(list, one)
		}
		return list
	}
}
