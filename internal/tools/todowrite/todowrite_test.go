package todowrite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

// list is a session's list in memory.
type list struct {
	items []tool.Todo
	err   error
}

func (l *list) Replace(items []tool.Todo) error {
	if l.err == nil {
		l.items = items
	}
	return l.err
}
func (l *list) List() []tool.Todo { return l.items }

func items(pairs ...string) map[string]any {
	var all []any
	for i := 0; i < len(pairs); i += 2 {
		item := map[string]any{"text": pairs[i]}
		if pairs[i+1] != "" {
			item["status"] = pairs[i+1]
		}
		all = append(all, item)
	}
	return map[string]any{"items": all}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	many := []any{}
	for range 51 {
		many = append(many, map[string]any{"text": "x"})
	}
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{Todos: &list{}}), House: tooltest.Open(t, time.Now),
		Good: []map[string]any{items("a", "", "b", "done"), {"items": []any{}}},
		Bad: []map[string]any{
			{}, {"items": "x"}, {"items": []any{"x"}}, items("", ""), items("  ", ""), items("a", "wip"), items(strings.Repeat("ä", 201), ""),
			{"items": many}, items("a\nb", ""), {"items": []any{map[string]any{"text": "a", "status": 1.0}}},
		},
	})
}

// T-SET-2, TODO-1: advertised only when a list is bound.
func TestAdvertisedOnlyWhenBound(t *testing.T) {
	t.Parallel()
	if New(tool.Bindings{}) != nil {
		t.Error("advertised without a list")
	}
}

// T-TODO-1: the echo is what stands.
func TestEcho(t *testing.T) {
	t.Parallel()
	h, l := tooltest.Open(t, time.Now), &list{}
	tw := New(tool.Bindings{Todos: l})
	out := h.Must(t, tw, items("write the fix", "", " run tests ", "done", "rename", "dropped"))
	status := out["status"].(string)
	if out["items"] != 3.0 || !strings.Contains(status, "1/2 done") || !strings.Contains(status, "write the fix") || strings.Contains(status, "rename") {
		t.Errorf("got %v", out)
	}
	if out := h.Must(t, tw, map[string]any{"items": []any{}}); out["status"] != "todo: (empty)" || out["items"] != 0.0 {
		t.Errorf("got %v", out)
	}
}

// T-TODO-1: a bad list changes nothing and says which words are known.
func TestRefusalChangesNothing(t *testing.T) {
	t.Parallel()
	h, l := tooltest.Open(t, time.Now), &list{}
	tw := New(tool.Bindings{Todos: l})
	h.Must(t, tw, items("keep", ""))
	h.Fails(t, tw, items("new", "", "x", "wip"), tool.BadArgs, "unknown status 'wip'", "open, done, or dropped", "item 2")
	h.Fails(t, tw, map[string]any{"items": map[string]any{}}, tool.BadArgs, "`items` must be an array of {text, status?} objects")
	l.err = errors.New("disk full")
	h.Fails(t, tw, items("new", ""), tool.Failed, "disk full")
	if len(l.items) != 1 || l.items[0].Text != "keep" {
		t.Errorf("the list is now %v", l.items)
	}
}
