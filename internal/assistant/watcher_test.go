package assistant

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"car/internal/engine/ir"
)

// A-EVT-1, A-EVT-2: progress comes at most twice a second, in at most 512 bytes,
// never before its call was told and never after its result.
func TestProgressIsSparseAndInItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := bareRun(t, &model{t: t})
		c := &call{ToolCall: callsTools("shell", `{}`).callAt(0), id: "t1c1", sequence: 1, params: map[string]any{}}
		c.ID = "t1c1"
		w := newWatcher(r, []*call{c})
		w.Progress("t1c1", "early", 0)
		w.Started(ir.Action{ID: "t1c1"}, ir.SandboxEdit)
		for range 30 {
			w.Progress("t1c1", strings.Repeat("é", 400)+"\x1b[2J", time.Second)
			time.Sleep(100 * time.Millisecond)
		}
		w.Finished(ir.ActionResult{ActionID: "t1c1", Status: ir.Succeeded})
		time.Sleep(time.Second)
		w.Progress("t1c1", "late", 0)
		events := told(r.c)
		progress := bodies[ToolProgress](events)
		if len(progress) != 6 {
			t.Errorf("%d progress events in 3 s", len(progress))
		}
		for _, p := range progress {
			if len(p.Tail) > tailBytes || !utf8.ValidString(p.Tail) || strings.ContainsRune(p.Tail, 0x1b) || p.ElapsedMS != 1000 {
				t.Errorf("progress %+v", p)
			}
		}
		if first, last := events[0].Body.Kind(), events[len(events)-1].Body.Kind(); first != KindToolCall || last != KindToolResult {
			t.Errorf("from %s to %s", first, last)
		}
	})
}

// A-EVT-2: a call that the engine never settled, because a record could not be
// written, is answered too.
func TestCallsThatTheEngineNeverSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := bareRun(t, &model{t: t})
		var plan []*call
		for _, id := range []string{"t1c1", "t1c2"} {
			c := &call{ToolCall: callsTools("shell", `{}`).callAt(0), id: ir.ActionID(id), params: map[string]any{}}
			c.ID = id
			plan = append(plan, c)
		}
		w := newWatcher(r, plan)
		w.Started(ir.Action{ID: "t1c1"}, ir.SandboxEdit)
		w.complete(t.Context(), plan)
		if got := w.results["t1c1"].Error; got != "interrupted: what it did before it ended is not known" {
			t.Errorf("the first says %q", got)
		}
		if got := w.results["t1c2"].Error; got != "not run: the step ended before its turn came" {
			t.Errorf("the second says %q", got)
		}
		if n := len(bodies[ToolResult](told(r.c))); n != 2 {
			t.Errorf("%d results", n)
		}
	})
}
