// Package todowrite is the todo_write tool: the session's list of what is left
// to do, replaced as a whole (T-TODO). The list lives in Bindings.Todos, outlasts
// compaction, and is shown to the person; it is never an instruction.
//
// It imports engine/ir, engine/tool and the wire beside it.
package todowrite

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

const (
	maxItems = 50
	maxChars = 200
)

const schema = `{
  "type": "object",
  "properties": {
    "items": {
      "type": "array",
      "description": "The whole list; what is left out is gone. 50 items at most.",
      "items": {
        "type": "object",
        "properties": {
          "text": {"type": "string", "description": "What to do, 200 characters at most."},
          "status": {"type": "string", "description": "open (default), done or dropped."}
        },
        "required": ["text"],
        "additionalProperties": false
      }
    }
  },
  "required": ["items"],
  "additionalProperties": false
}`

// output has the names of T-TODO-1.
type output struct {
	Status string `json:"status"`
	Items  int    `json:"items"`
}

type todoWrite struct{ todos tool.Todos }

// New returns the tool, nil where no list is bound.
func New(b tool.Bindings) tool.Tool {
	if b.Todos == nil {
		return nil
	}
	return todoWrite{todos: b.Todos}
}

// Spec says what the tool is. It changes the session's own list and nothing of
// the world, so a session that may only read can keep one.
func (todoWrite) Spec() tool.Spec {
	return tool.Spec{
		Name: "todo_write",
		Description: "Replace your list of tasks for this session. Keep it for work of several steps: one item a step, " +
			"each marked done when it is done. The person sees it.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "utility", Version: "1",
	}
}

// Effects declares nothing of the world.
func (todoWrite) Effects(call tool.Call) (tool.Effects, error) {
	_, err := parse(call)
	return tool.Effects{Declared: true}, err
}

// parse reads the items by hand, because its words are a contract (T-TODO-1).
func parse(call tool.Call) ([]tool.Todo, error) {
	list, ok := call.Params["items"].([]any)
	if !ok {
		return nil, wire.Bad("`items` must be an array of {text, status?} objects")
	}
	if len(list) > maxItems {
		return nil, wire.Bad("%d items, %d at most; merge some", len(list), maxItems)
	}
	items := make([]tool.Todo, 0, len(list))
	for i, one := range list {
		fields, ok := one.(map[string]any)
		if !ok {
			return nil, wire.Bad("`items` must be an array of {text, status?} objects")
		}
		item, err := parseItem(fields)
		if err != nil {
			return nil, wire.Bad("item %d: %v", i+1, err)
		}
		items = append(items, item)
	}
	return items, nil
}

func parseItem(fields map[string]any) (tool.Todo, error) {
	text, ok := fields["text"].(string)
	text = strings.TrimSpace(text)
	switch {
	case !ok || text == "":
		return tool.Todo{}, fmt.Errorf("text is missing or empty")
	case utf8.RuneCountInString(text) > maxChars:
		return tool.Todo{}, fmt.Errorf("text has %d characters, %d at most", utf8.RuneCountInString(text), maxChars)
	case strings.ContainsAny(text, "\r\n"):
		return tool.Todo{}, fmt.Errorf("text must be one line")
	}
	item := tool.Todo{Text: text, Status: "open"}
	if status, given := fields["status"]; given {
		item.Status, ok = status.(string)
		if !ok {
			return item, fmt.Errorf("status must be a string: open, done, or dropped")
		}
	}
	switch item.Status {
	case "open", "done", "dropped":
		return item, nil
	}
	return item, fmt.Errorf("unknown status '%s'; it is open, done, or dropped", item.Status)
}

// Run replaces the list and echoes what stands, so that the answer is what is so.
func (t todoWrite) Run(ctx context.Context, call tool.Call, _ tool.Env) (tool.Execution, error) {
	items, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Execution{}, wire.Canceled(err)
	}
	if err := t.todos.Replace(items); err != nil {
		return tool.Execution{}, wire.Fault(tool.Failed, "the list was not saved: %v", err)
	}
	now := t.todos.List()
	o, err := wire.Out(output{Status: status(now), Items: len(now)})
	return tool.Execution{Output: o, Blocks: []ir.Block{table(now)}}, err
}

// status is "1/2 done" and the texts that are open; dropped items do not count.
func status(items []tool.Todo) string {
	done, counted := 0, 0
	var open []string
	for _, item := range items {
		switch item.Status {
		case "done":
			done++
			counted++
		case "open":
			counted++
			open = append(open, item.Text)
		}
	}
	if len(items) == 0 {
		return "todo: (empty)"
	}
	text := fmt.Sprintf("todo: %d/%d done", done, counted)
	if len(open) > 0 {
		text += "; open: " + strings.Join(open, "; ")
	}
	return text
}

func table(items []tool.Todo) ir.Block {
	b := ir.Block{Kind: ir.BlockTable, Title: "todo", Header: []string{"status", "text"}}
	for _, item := range items {
		b.Rows = append(b.Rows, []string{item.Status, item.Text})
	}
	return b
}
