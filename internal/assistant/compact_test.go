package assistant

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// window gives the model of the house a context window.
func (h *house) window(tokens int64) {
	h.config.Models.(menu).choices[0].Window = tokens
}

// readings is a run of the model in which it reads n big files and then says a word.
func readings(n int) []said {
	var all []said
	for i := range n {
		all = append(all, callsTools("read_file", fmt.Sprintf(`{"path":"f%d.go"}`, i)))
	}
	return all
}

// bigFiles makes read_file answer with so many bytes.
func (h *house) bigFiles(size int) {
	h.hands.tools["read_file"] = func(_ context.Context, params map[string]any) ir.ActionResult {
		return ok(strings.Repeat(fmt.Sprint(params["path"])+" ", size/8))
	}
}

func noticeCodes(events []Event) string {
	var codes []string
	for _, n := range bodies[Notice](events) {
		codes = append(codes, n.Code)
	}
	return strings.Join(codes, " ")
}

// textOf is all that a request says, in order.
func textOf(req llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString("\n")
		for _, p := range m.Parts {
			b.WriteString(p.Text)
			if p.Result != nil {
				b.WriteString(p.Result.Text)
			}
		}
	}
	return b.String()
}

// A-CTX-8: within a turn, old results become one line each when the prompt nears
// the window; nobody is asked for a summary while that is enough, and the last four
// steps stay whole. A-CTX-9: every call keeps its result.
func TestOldResultsBecomeStubs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, append(readings(12), says("read them all"))...)
	h.window(30_000)
	h.bigFiles(6000)
	events := h.say(Input{Text: "read everything"})
	mustEnd[Done](t, events)
	if got := noticeCodes(events); !strings.Contains(got, "compacted") || strings.Contains(got, "compacting") {
		t.Errorf("notices %q", got)
	}
	all := h.model.requests()
	last := all[len(all)-1]
	if text := textOf(last); !strings.Contains(text, "[old result of read_file f0.go (ok) left out, ") || strings.Contains(text, "f0.go f0.go") {
		t.Errorf("the first result is whole:\n%.600s", text)
	}
	if text := textOf(last); !strings.Contains(text, "f11.go f11.go") || !strings.Contains(text, "f8.go f8.go") {
		t.Error("the last four results are not whole")
	}
	for i, req := range all {
		if need := estimate(req); need > 30_000 {
			t.Errorf("request %d needs %d tokens", i+1, need)
		}
	}
}

// A-CTX-8, A-CTX-10: a long conversation is summarised by the same model without
// tools; the first message, the person's words, and the last steps stay, the
// summary says how to recover the rest, and a resume shows the same.
func TestSummaryKeepsWhatMatters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.window(16_000)
	long := strings.Repeat("long reasoning about the matter ", 250)
	summaries := 0
	h.model.answer = func(req llm.Request) *said {
		if req.ToolChoice.Mode != llm.ToolNone {
			return nil
		}
		summaries++
		s := says("DECIDED: use the blue pipe")
		return &s
	}
	for range 10 {
		h.model.script = append(h.model.script, says(long))
	}
	c, f := h.start()
	for i := range 10 {
		if err := c.Send(t.Context(), Input{Text: fmt.Sprintf("request number %d: keep it blue", i)}); err != nil {
			t.Fatal(err)
		}
		mustEnd[Done](t, f.end())
	}
	if summaries == 0 {
		t.Fatal("nobody asked for a summary")
	}
	if strings.Contains(fmt.Sprint(bodies[Token](f.all)), "blue pipe") {
		t.Error("the summary was streamed to the screen as an answer")
	}
	all := h.model.requests()
	text := textOf(all[len(all)-1])
	for i := range 10 {
		if !strings.Contains(text, fmt.Sprintf("request number %d: keep it blue", i)) {
			t.Errorf("the person's message %d is gone", i)
		}
	}
	for _, want := range []string{"DECIDED: use the blue pipe", "events_query", "read_file"} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt does not hold %q", want)
		}
	}
	use, known := c.Context()
	if !known || use.Summaries == 0 || use.Used > use.CompactAt || use.Window != 16_000 || use.Compactions == 0 {
		t.Errorf("/context says %+v", use)
	}
	if past, err := c.History(t.Context()); err != nil || len(past) < 20 || !strings.Contains(past[1].Text, "long reasoning") {
		t.Errorf("the messages are not on disk any more: %d, %v", len(past), err)
	}
	before := textOf(all[len(all)-1])
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	h.opts.Resume = "s1"
	h.window(64_000)
	h.model.script = []said{says("hello again")}
	mustEnd[Done](t, h.say(Input{Text: "are you there"}))
	all = h.model.requests()
	if got := textOf(all[len(all)-1]); !strings.HasPrefix(got, before) {
		t.Errorf("after a resume the prompt begins otherwise:\n%.1500s\n--- before\n%.1500s", got, before)
	}
}

// B049, A-CTX-10, P-STREAM-7: what cannot be made to fit is a clear end that names
// it, after at most two passes and without a loop of requests.
func TestWindowTooSmallForTheTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, says("ok"))
	h.window(8_000)
	h.config.System = strings.Repeat("Be careful with pipes. ", 600)
	c, f := h.start()
	if err := c.Send(t.Context(), Input{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	if err := c.Send(t.Context(), Input{Text: strings.Repeat("look at this log line ", 1000)}); err != nil {
		t.Fatal(err)
	}
	run := f.end()
	end := mustEnd[Failure](t, run)
	if end.Code != CodeContext || !strings.Contains(end.Error, "the biggest (number ") || !strings.Contains(end.Error, "larger window") {
		t.Errorf("ended with %+v", end)
	}
	if n := strings.Count(noticeCodes(run), "compacted"); n > 2 {
		t.Errorf("%d compactions", n)
	}
	if n := len(h.model.requests()); n > 3 {
		t.Errorf("%d requests", n)
	}
}

// A-LOOP-12: a provider that says its window is full is asked once more with a
// shorter prompt; a summary that fails leaves the runtime's own record.
func TestFullWindowCompactsOnce(t *testing.T) {
	t.Parallel()
	full := said{err: &llm.Error{Kind: llm.KindContext, Provider: "fake", Message: "prompt is too long"}}
	script := append(readings(8), full, said{stop: llm.StopEnd}, says("done in time"))
	h := newHouse(t, script...)
	h.bigFiles(4000)
	events := h.say(Input{Text: "go"})
	if end := mustEnd[Done](t, events); end.Text != "done in time" {
		t.Errorf("ended with %+v", end)
	}
	h = newHouse(t, append(readings(8), full, says("notes"), full)...)
	h.bigFiles(4000)
	if end := mustEnd[Failure](t, h.say(Input{Text: "go"})); end.Code != CodeContext {
		t.Errorf("ended with %+v", end)
	}
}

// P-STREAM-7: a cancel while a summary is written ends the run at once and leaves
// the old view whole.
func TestCompactionIsCancellable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	long := strings.Repeat("long reasoning about the matter ", 250)
	for range 6 {
		h.model.script = append(h.model.script, says(long))
	}
	c, f := h.start()
	for i := range 6 {
		if err := c.Send(t.Context(), Input{Text: fmt.Sprint("request ", i)}); err != nil {
			t.Fatal(err)
		}
		mustEnd[Done](t, f.end())
	}
	h.model.script = []said{{text: "DECIDED", hold: true}, says("whole again")}
	c.Compact()
	if err := c.Send(t.Context(), Input{Text: "and now"}); err != nil {
		t.Fatal(err)
	}
	f.until(func(e Event) bool { n, ok := e.Body.(Notice); return ok && n.Code == "compacting" })
	c.Cancel()
	if end := mustEnd[Failure](t, f.end()); end.Code != CodeCanceled {
		t.Errorf("ended with %+v", end)
	}
	if err := c.Send(t.Context(), Input{Text: "go on"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	all := h.model.requests()
	if text := textOf(all[len(all)-1]); strings.Contains(text, "DECIDED") || strings.Count(text, long) != 6 {
		t.Error("the old view is not whole")
	}
}

// A-CTX-8: a second compaction takes the first in, a refused exchange after it stays
// out, and a rewind makes those void that reach behind it.
func TestCompactionsFollowEachOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	long := strings.Repeat("long reasoning about the matter ", 250)
	h.model.answer = func(req llm.Request) *said {
		if req.ToolChoice.Mode != llm.ToolNone {
			return nil
		}
		s := says("NOTES of the model")
		return &s
	}
	h.model.script, h.model.forever = []said{says(long)}, true
	c, f := h.start()
	send := func(text string) []Event {
		t.Helper()
		if err := c.Send(t.Context(), Input{Text: text}); err != nil {
			t.Fatal(err)
		}
		return f.end()
	}
	for i := range 14 {
		if i == 6 || i == 12 {
			c.Compact()
		}
		send(fmt.Sprint("request ", i))
	}
	h.model.answer = func(llm.Request) *said { return &said{stop: llm.StopRefusal, detail: "no"} }
	mustEnd[Failure](t, send("something forbidden"))
	h.model.answer = nil
	send("go on")
	all := h.model.requests()
	text := textOf(all[len(all)-1])
	if n := strings.Count(text, "NOTES of the model"); n != 1 {
		t.Errorf("%d summaries stand in the prompt", n)
	}
	if strings.Contains(text, "forbidden") {
		t.Error("the refused exchange stands in the prompt")
	}
	if !strings.Contains(text, "request 0") || !strings.Contains(text, "request 13") {
		t.Error("words of the person are lost")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.db.Rewind(t.Context(), "s1", 9); err != nil {
		t.Fatal(err)
	}
	h.opts.Resume = "s1"
	h.model.forever, h.model.script = false, []said{says("back")}
	mustEnd[Done](t, h.say(Input{Text: "again"}))
	all = h.model.requests()
	if text := textOf(all[len(all)-1]); strings.Count(text, long) != 2 || !strings.Contains(text, "request 4") || strings.Contains(text, "request 5") {
		t.Error("the rewound prompt is not that of the true messages")
	}
}

// A-CTX-6, A-CTX-7: what the provider counted corrects the guess; a server that
// counts far less than was sent cuts prompts, and that is said once.
func TestWhatTheProviderCounts(t *testing.T) {
	t.Parallel()
	g := gauge{told: 20_000, guessed: 10_000}
	if got := g.need(11_000); got != 22_200 {
		t.Errorf("the next request is expected to count %d", got)
	}
	big := strings.Repeat("a line of the log\n", 2000)
	cut := says("fine")
	cut.usage = &llm.Usage{Input: 2048, Output: 3}
	h := newHouse(t, cut, cut)
	c, f := h.start()
	for range 2 {
		if err := c.Send(t.Context(), Input{Text: big}); err != nil {
			t.Fatal(err)
		}
		f.end()
	}
	if n := strings.Count(noticeCodes(f.all), "truncated_prompt"); n != 1 {
		t.Errorf("%d notices", n)
	}
}
