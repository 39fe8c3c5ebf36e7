package eventsquery

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

// log is a session's log in memory, oldest first.
type log struct {
	events []tool.Event
	asked  tool.EventQuery
}

func (l *log) Kinds() []string {
	return []string{"action_failed", "action_succeeded", "policy_violation"}
}

func (l *log) Query(q tool.EventQuery) ([]tool.Event, int) {
	l.asked = q
	var found []tool.Event
	total := 0
	for _, e := range slices.Backward(l.events) {
		if len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) || q.ActionID != "" && q.ActionID != e.ActionID {
			continue
		}
		if total++; len(found) < q.Limit {
			found = append(found, e)
		}
	}
	return found, total
}

func filled(n int) *log {
	l := &log{}
	for i := range n {
		kind := "action_succeeded"
		if i%3 == 0 {
			kind = "action_failed"
		}
		l.events = append(l.events, tool.Event{
			Kind: kind, ActionID: ir.ActionID(fmt.Sprintf("a%d", i)), Timestamp: fmt.Sprintf("t%03d", i),
			Data: map[string]any{"note": "<tag> " + strings.Repeat("ü", i*10)},
		})
	}
	return l
}

func TestSuite(t *testing.T) {
	t.Parallel()
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{Events: filled(30)}), House: tooltest.Open(t, time.Now),
		Good: []map[string]any{{}, {"kinds": []any{"action_failed"}}, {"limit": 100000.0}, {"since": "2026-01-31T12:00:00Z", "tool": "shell", "call_id": "c"}},
		Bad:  []map[string]any{{"kinds": []any{"tool_error"}}, {"kinds": []any{1.0}}, {"kinds": "x"}, {"limit": "3"}, {"since": "yesterday"}},
	})
}

// EVENTS, T-SET-2: advertised only when a log is bound.
func TestAdvertisedOnlyWhenBound(t *testing.T) {
	t.Parallel()
	if New(tool.Bindings{}) != nil {
		t.Error("advertised without a log")
	}
}

// T-EVENTS-1: newest first, bounded, with totals.
func TestBoundedWithTotals(t *testing.T) {
	t.Parallel()
	h, l := tooltest.Open(t, time.Now), filled(130)
	eq := New(tool.Bindings{Events: l})
	out := h.Must(t, eq, map[string]any{})
	events := out["events"].([]any)
	if len(events) != 20 || out["returned"] != 20.0 || out["total_matching"] != 130.0 || events[0].(map[string]any)["timestamp"] != "t129" {
		t.Errorf("got %v of %v, first %v", out["returned"], out["total_matching"], events[0])
	}
	for _, e := range events {
		if data := e.(map[string]any)["data"].(string); len(data) >= 400 || !strings.Contains(data, "<tag>") {
			t.Errorf("data of %d bytes: %.40s", len(data), data)
		}
	}
	for limit, want := range map[float64]float64{0: 1, -4: 1, 7: 7, 5000: 100} {
		if out := h.Must(t, eq, map[string]any{"limit": limit}); out["returned"] != want {
			t.Errorf("limit %v: %v", limit, out["returned"])
		}
	}
	out = h.Must(t, eq, map[string]any{"kinds": []any{"action_failed"}, "limit": 3.0})
	if out["total_matching"] != 44.0 || out["returned"] != 3.0 {
		t.Errorf("got %v", out)
	}
}

// T-EVENTS-2: a kind nobody knows is an error which names those there are.
func TestUnknownKind(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	eq := New(tool.Bindings{Events: filled(1)})
	h.Fails(t, eq, map[string]any{"kinds": []any{"tool_error"}}, tool.BadArgs, "unknown event kind 'tool_error'. Valid kinds include:", "action_failed")
	h.Fails(t, eq, map[string]any{"kinds": []any{1.0}}, tool.BadArgs, "kinds entries must be strings")
}

// T-EVENTS-3: the filters reach the log.
func TestFiltersReachTheLog(t *testing.T) {
	t.Parallel()
	h, l := tooltest.Open(t, time.Now), filled(3)
	h.Must(t, New(tool.Bindings{Events: l}), map[string]any{"call_id": "c1", "tool": "shell", "since": "2026-01-31T12:00:00Z", "action_id": "a1"})
	if l.asked.CallID != "c1" || l.asked.Tool != "shell" || l.asked.ActionID != "a1" || !l.asked.Since.Equal(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("asked %+v", l.asked)
	}
}
