package assistant

import (
	"context"
	"fmt"
	"strings"
)

// asides is what the model is told beside the results of a step: instruction files
// of folders that a call has touched for the first time (A-CTX-1), and the list of
// what is to do, when it is another than the one told last (A-CTX-3).
func (r *run) asides(ctx context.Context, plan []*call) []string {
	var found []Guidance
	if below := r.c.opts.GuidanceBelow; below != nil {
		for _, c := range plan {
			if path, ok := c.params["path"].(string); ok && path != "" {
				for _, g := range below(ctx, path) {
					if g.LeftOut != "" {
						r.emit(Notice{Code: "guidance", Text: g.Path + " is left out: " + g.LeftOut})
						continue
					}
					found = append(found, g)
				}
			}
		}
	}
	var all []string
	if text := guidanceText(found); text != "" {
		all = append(all, text)
	}
	if now := r.c.todoLine(); now != r.c.toldTodos {
		r.c.toldTodos = now
		all = append(all, bracketed(now)...)
	}
	return all
}

// todoLine is the session's list in one line; empty is no list.
func (c *Conversation) todoLine() string {
	if c.runtime.Todos == nil {
		return ""
	}
	var open []string
	done, total := 0, 0
	for _, t := range c.runtime.Todos() {
		switch t.Status {
		case "dropped":
			continue
		case "done":
			done++
		default:
			open = append(open, strings.Join(strings.Fields(t.Text), " "))
		}
		total++
	}
	if total == 0 {
		return ""
	}
	line := fmt.Sprintf("todo: %d/%d done", done, total)
	if len(open) > 0 {
		line += "; open: " + strings.Join(open, "; ")
	}
	return line
}

// bracketed marks the runtime's own words; none is none.
func bracketed(text string) []string {
	if text == "" {
		return nil
	}
	return []string{"[" + text + "]"}
}
