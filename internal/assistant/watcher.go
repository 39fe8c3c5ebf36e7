package assistant

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"car/internal/engine/ir"
)

// watcher is the engine's observer of a step: it turns what happens to actions
// into events, one tool_call and one tool_result for every call (A-EVT-2). Its
// methods are called concurrently.
type watcher struct {
	r    *run
	plan map[ir.ActionID]*call

	mu      sync.Mutex
	told    map[ir.ActionID]bool
	spoke   map[ir.ActionID]time.Time
	results map[ir.ActionID]ir.ActionResult
}

func newWatcher(r *run, plan []*call) *watcher {
	w := &watcher{r: r, plan: map[ir.ActionID]*call{}, told: map[ir.ActionID]bool{}, spoke: map[ir.ActionID]time.Time{},
		results: map[ir.ActionID]ir.ActionResult{}}
	for _, c := range plan {
		w.plan[c.id] = c
	}
	return w
}

// Started announces a call when its turn has come, with the tier it needs.
func (w *watcher) Started(a ir.Action, tier ir.Tier) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.announce(a.ID, tier)
}

// announce tells of a call once. w.mu is held, so that its result comes after.
func (w *watcher) announce(id ir.ActionID, tier ir.Tier) {
	c := w.plan[id]
	if c == nil || w.told[id] {
		return
	}
	w.told[id] = true
	params := c.params
	if params == nil { // what the model sent cannot be read as parameters
		params = map[string]any{"arguments": c.Arguments}
	}
	w.r.emit(ToolCall{CallID: c.ID, Sequence: c.sequence, Tool: c.Name, Params: w.r.c.svc.lens.params(params), Tier: tier.Needed()})
}

// Progress passes the last line of a running call on, at most twice a second.
func (w *watcher) Progress(id ir.ActionID, tail string, elapsed time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, done := w.results[id]; done || !w.told[id] { // a tool that was abandoned may still speak
		return
	}
	now := w.r.c.svc.cfg.Now()
	if last, ok := w.spoke[id]; ok && now.Sub(last) < progressGap {
		return
	}
	w.spoke[id] = now
	tail = printable(w.r.c.svc.lens.text(tail))
	w.r.emit(ToolProgress{CallID: string(id), Tail: tailOf(tail, tailBytes), ElapsedMS: elapsed.Milliseconds()})
}

// Finished tells a call's result, once.
func (w *watcher) Finished(res ir.ActionResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.plan[res.ActionID]
	if _, done := w.results[res.ActionID]; done || c == nil {
		return
	}
	w.announce(res.ActionID, res.Tier)
	w.results[res.ActionID] = res
	l := w.r.c.svc.lens
	w.r.emit(ToolResult{CallID: c.ID, Sequence: c.sequence, Tool: c.Name, OK: worked(res), Status: res.Status, Excerpt: l.excerpt(res),
		Evidence: l.evidence(res), DurationMS: res.DurationMS, Ran: res.Attempts > 0, Blocks: res.Blocks})
}

// complete answers the calls that the engine did not, because it was stopped.
func (w *watcher) complete(ctx context.Context, plan []*call) {
	for _, c := range plan {
		w.mu.Lock()
		_, done := w.results[c.id]
		begun := w.told[c.id]
		w.mu.Unlock()
		if done {
			continue
		}
		why, attempts := "not run: the step ended before its turn came", 0
		if begun {
			attempts, why = 1, "interrupted: what it did before it ended is not known"
		}
		if ctx.Err() != nil {
			why = "canceled: " + why
		}
		w.Finished(ir.ActionResult{ActionID: c.id, Status: ir.Skipped, Error: why, ErrorClass: ir.ClassCanceled, Attempts: attempts})
	}
}

// worked says whether a call did what it was for: it succeeded, and its output
// names no other outcome. A shell worked if its exit code is 0 (A-EVT-7).
func worked(r ir.ActionResult) bool {
	if r.Status != ir.Succeeded || r.RolledBack {
		return false
	}
	out, _ := r.Output.(map[string]any)
	if code, ok := out["exit_code"].(float64); ok && code != 0 {
		return false
	}
	if timedOut, _ := out["timed_out"].(bool); timedOut {
		return false
	}
	if ok, said := out["ok"].(bool); said && !ok {
		return false
	}
	return true
}

// resultText is what the model reads of a result (A-LOOP-17, T-REND).
func resultText(tool string, r ir.ActionResult, max int) string {
	text := strings.ToValidUTF8(ir.FormatResult(r), "\uFFFD")
	if r.Status != ir.Succeeded && r.Output != nil {
		text += "\n" + strings.ToValidUTF8(ir.Render(r.Output), "\uFFFD")
	}
	switch {
	case len(text) <= max:
		return text
	case tool == "shell":
		return ir.TruncateKeepingEnds(text, max)
	default:
		return cutAtLine(text, max)
	}
}

// cutAtLine ends a text at a line border and says how to go on.
func cutAtLine(text string, max int) string {
	const more = "\n…[cut here to fit; ask for the rest with an offset or a narrower query]"
	room := max - len(more)
	if room <= 0 {
		return ir.TruncateKeepingEnds(text, max)
	}
	cut := room
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	if line := strings.LastIndexByte(text[:cut], '\n'); line > room/2 {
		cut = line
	}
	return text[:cut] + more
}
