package assistant

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// reads makes read_file answer with its path.
func reads(h *house) {
	h.hands.tools["read_file"] = func(_ context.Context, p map[string]any) ir.ActionResult {
		path, _ := p["path"].(string)
		return ok("content of " + path)
	}
}

// resultTexts are the results that the model was told in its last request.
func resultTexts(h *house) []string {
	var all []string
	requests := h.model.requests()
	for _, m := range requests[len(requests)-1].Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				all = append(all, p.Result.Text)
			}
		}
	}
	return all
}

// A-LOOP-2, D-2: reads share a level between writers, each writer comes after
// everything before it, by after and never by dependencies.
func TestStepIsOneProposalInOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"a"}`, "read_file", `{"path":"b"}`, "write_file", `{"path":"c"}`,
		"read_file", `{"path":"d"}`, "read_file", `{"path":"e"}`, "shell", `{"command":"x"}`), says("done"))
	reads(h)
	h.hands.tools["write_file"] = func(context.Context, map[string]any) ir.ActionResult { return wrote("c") }
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return exits(0, "") }
	h.say(Input{Text: "go"})

	proposals := h.hands.proposals()
	if len(proposals) != 1 {
		t.Fatalf("%d proposals for one step", len(proposals))
	}
	p := proposals[0]
	if p.Source != "m1" {
		t.Errorf("source is %q", p.Source)
	}
	levels, err := ir.Levels(p.Actions)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(levels); got != "[[0 1] [2] [3 4] [5]]" {
		t.Errorf("levels are %s", got)
	}
	for _, a := range p.Actions {
		if len(a.Dependencies) > 0 || a.FailureBehavior != ir.Retry || a.MaxRetries != 0 {
			t.Errorf("action %s: dependencies %v, %s, %d retries", a.ID, a.Dependencies, a.FailureBehavior, a.MaxRetries)
		}
	}
	if o := h.hands.options[0]; o.Refusal != 1 || o.Turn != 1 || o.Session != "s1" {
		t.Errorf("options are %+v", o)
	}
}

// A-LOOP-3, D-2: one refused call refuses itself; the others go on, and the model
// reads the reason.
func TestRefusedCallIsRefusedAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("write_file", `{"path":"a"}`, "read_file", `{"path":"b"}`), says("ok"))
	reads(h)
	h.hands.tools["write_file"] = func(context.Context, map[string]any) ir.ActionResult { return denied("no writes here (rule x)") }
	events := h.say(Input{Text: "go"})
	texts := resultTexts(h)
	if texts[0] != "[REJECTED] no writes here (rule x)" || texts[1] != "content of b" {
		t.Errorf("the model read %q", texts)
	}
	if results := bodies[ToolResult](events); results[0].OK || results[0].Status != ir.Rejected || !results[1].OK {
		t.Errorf("results %+v", results)
	}
}

// B055, A-LOOP-6, P-STREAM-3: cut arguments are refused with offset, excerpt and
// the required names, what is sent again is valid, and the run goes on.
func TestB055BrokenArguments(t *testing.T) {
	t.Parallel()
	cut := `{"path": "a.txt", "content": "hel`
	h := newHouse(t, callsTools("write_file", cut), says("sorry"))
	events := h.say(Input{Text: "write"})
	text := resultTexts(h)[0]
	for _, want := range []string{"[REJECTED]", "byte 33", `hel`, "not run", "needs path"} {
		if !strings.Contains(text, want) {
			t.Errorf("the refusal %q does not say %q", text, want)
		}
	}
	if len(h.hands.proposals()) != 0 {
		t.Error("the call reached the engine")
	}
	messages := h.model.requests()[1].Messages
	if got := llm.ReplayArguments(messages[1].Calls()[0].Arguments); !strings.HasPrefix(got, `{"invalid_arguments"`) {
		t.Errorf("what goes back is %s", got)
	}
	mustEnd[Done](t, events)
}

// A-LOOP-6: every kind of broken arguments is refused, and nothing runs on defaults.
func TestArgumentsThatAreNotOneObject(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`[1]`, `"x"`, `{"path":"a","path":"b"}`, `{"path":1`, `null`, `{"path":"a"} {}`} {
		h := newHouse(t, callsTools("read_file", raw), says("ok"))
		h.say(Input{Text: "go"})
		if len(h.hands.proposals()) != 0 || !strings.HasPrefix(resultTexts(h)[0], "[REJECTED] ") {
			t.Errorf("%s: ran, or the model read %q", raw, resultTexts(h)[0])
		}
	}
}

// A-LOOP-7: a tool that was not advertised never reaches the engine; the refusal
// names the nearest three; other calls of the step run.
func TestUnknownToolNamesTheNearest(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("readfile", `{"path":"a"}`, "read_file", `{"path":"b"}`), says("ok"))
	reads(h)
	h.say(Input{Text: "go"})
	texts := resultTexts(h)
	if texts[0] != `[REJECTED] unknown tool: "readfile"; the nearest are read_file, edit_file, write_file` || texts[1] != "content of b" {
		t.Errorf("the model read %q", texts)
	}
	if p := h.hands.proposals(); len(p) != 1 || len(p[0].Actions) != 1 || p[0].Actions[0].ID != "t1c2" {
		t.Errorf("proposals %+v", p)
	}
}

// A-LOOP-8: "5" becomes 5 where the schema says integer, and nowhere else.
func TestTextBecomesAnIntegerOnlyByTheSchema(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"5","limit":"5"}`), says("ok"))
	reads(h)
	h.say(Input{Text: "go"})
	got := h.hands.proposals()[0].Actions[0].Parameters
	if got["path"] != "5" || got["limit"] != float64(5) {
		t.Errorf("parameters are %#v", got)
	}
}

// B057, A-LOOP-4: every call runs once under an id of the runtime's own, though the
// provider calls all of them the same in every turn.
func TestB057RepeatedProviderIDs(t *testing.T) {
	t.Parallel()
	same := func(path string) said {
		return said{calls: []llm.ToolCall{{ProviderID: "call_0", Name: "read_file", Arguments: `{"path":"` + path + `"}`}}, stop: llm.StopToolUse}
	}
	h := newHouse(t, same("a"), same("b"), says("first"), same("c"), says("second"))
	reads(h)
	c, f := h.start()
	for range 2 {
		if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		f.end()
	}
	if got, want := strings.Join(resultTexts(h), ","), "content of a,content of b,content of c"; got != want {
		t.Errorf("results %q, want %q", got, want)
	}
	var ids []string
	for _, call := range bodies[ToolCall](f.all) {
		ids = append(ids, call.CallID)
	}
	if got := strings.Join(ids, " "); got != "t1c1 t1c2 t2c1" {
		t.Errorf("ids are %q", got)
	}
	wire := llm.WireIDs(h.model.requests()[4].Messages, "fake")
	if len(wire) != 3 || wire["t1c1"] == wire["t1c2"] || wire["t1c2"] == wire["t2c1"] {
		t.Errorf("ids on the wire are %v", wire)
	}
}

// A-LOOP-9: after the limit of steps, one inference without tools sums up.
func TestStepLimitSumsUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, callsTools("read_file", `{"path":"a"}`), callsTools("read_file", `{"path":"b"}`), says("Two files read, one is left."))
	reads(h)
	h.opts.MaxSteps = 2
	end := mustEnd[Failure](t, h.say(Input{Text: "go"}))
	if end.Code != CodeMaxTurns || end.Text != "Two files read, one is left." {
		t.Errorf("ended with %+v", end)
	}
	if last := h.model.requests()[2]; last.ToolChoice.Mode != llm.ToolNone || len(last.Tools) == 0 {
		t.Errorf("the last request had tool choice %v and %d tools", last.ToolChoice.Mode, len(last.Tools))
	}
}

// B053, A-LOOP-10, P-STREAM-2: an empty answer is tried once more, then an error;
// no empty turn enters history.
func TestB053EmptyResponse(t *testing.T) {
	t.Parallel()
	empty := said{text: " \n", stop: llm.StopEnd, raw: "stop"}
	h := newHouse(t, empty, empty)
	end := mustEnd[Failure](t, h.say(Input{Text: "go"}))
	if end.Code != CodeEmpty || len(h.model.requests()) != 2 {
		t.Errorf("%d requests, ended with %+v", len(h.model.requests()), end)
	}
	if n := len(h.model.requests()[1].Messages); n != 1 {
		t.Errorf("the second request has %d messages", n)
	}
	h = newHouse(t, empty, says("here"))
	if done := mustEnd[Done](t, h.say(Input{Text: "go"})); done.Text != "here" {
		t.Errorf("done says %q", done.Text)
	}
}

// B053, A-LOOP-11: nothing but hidden reasoning before the limit ends at once and
// names the setting.
func TestB053OnlyHiddenReasoning(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{thinking: "hm", stop: llm.StopLength, raw: "length"})
	end := mustEnd[Failure](t, h.say(Input{Text: "go"}))
	if end.Code != CodeTruncated || !strings.Contains(end.Error, "max_tokens") {
		t.Errorf("ended with %+v", end)
	}
}

// B053, A-LOOP-13: a refusal is not tried again and is left out of later requests.
func TestB053ContentRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{stop: llm.StopRefusal, raw: "content_filter", detail: "violence"}, says("fine"))
	c, f := h.start()
	for _, text := range []string{"a bad wish", "a good wish"} {
		if err := c.Send(t.Context(), Input{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	end := mustEnd[Failure](t, f.end())
	if end.Code != CodeRefused || !strings.Contains(end.Error, "violence") {
		t.Errorf("ended with %+v", end)
	}
	f.end()
	second := h.model.requests()[1].Messages
	if len(second) != 1 || !strings.HasSuffix(second[0].Text(), "a good wish") || strings.Contains(second[0].Text(), "bad") {
		t.Errorf("the next request has %+v", second)
	}
}

// A-LOOP-11: calls of a reply that met its limit are never run; one continuation
// asks for smaller pieces, twice running ends the turn.
func TestLengthStopWithCalls(t *testing.T) {
	t.Parallel()
	cut := callsTools("read_file", `{"path":"a"}`, "write_file", `{}`)
	cut.stop, cut.text = llm.StopLength, "Writing. "
	h := newHouse(t, cut, says("smaller"))
	events := h.say(Input{Text: "go"})
	if len(h.hands.proposals()) != 0 {
		t.Error("a call of a cut reply ran")
	}
	again := h.model.requests()[1].Messages
	if note := again[len(again)-1].Text(); !strings.Contains(note, "smaller pieces") || len(again[1].Calls()) != 0 {
		t.Errorf("the model was told %q after %+v", note, again[1])
	}
	mustEnd[Done](t, events)

	h = newHouse(t, cut, cut)
	if end := mustEnd[Failure](t, h.say(Input{Text: "go"})); end.Code != CodeTruncated {
		t.Errorf("ended with %+v", end)
	}
}

// A-LOOP-11: text that met the limit is continued once and joined.
func TestLengthStopWithTextIsJoined(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{text: "one two", stop: llm.StopLength}, says(" three"))
	if done := mustEnd[Done](t, h.say(Input{Text: "count"})); done.Text != "one two three" {
		t.Errorf("done says %q", done.Text)
	}
	h = newHouse(t, said{text: "one", stop: llm.StopLength}, said{text: " two", stop: llm.StopLength})
	if end := mustEnd[Failure](t, h.say(Input{Text: "count"})); end.Code != CodeTruncated || end.Text != "one two" {
		t.Errorf("ended with %+v", end)
	}
}

// A-LOOP-12: a full window ends the turn and names what is big.
func TestContextExhausted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{err: &llm.Error{Kind: llm.KindContext, Provider: "fake", Message: "prompt is too long"}})
	end := mustEnd[Failure](t, h.say(Input{Text: "go"}))
	if end.Code != CodeContext || !strings.Contains(end.Error, "prompt is too long") || !strings.Contains(end.Error, "system prompt") {
		t.Errorf("ended with %+v", end)
	}
	h = newHouse(t)
	m := h.config.Models.(menu)
	m.choices[0].Window = 500
	end = mustEnd[Failure](t, h.say(Input{Text: strings.Repeat("long words ", 2000)}))
	if end.Code != CodeContext || !strings.Contains(end.Error, "the biggest (number 1)") || len(h.model.requests()) != 0 {
		t.Errorf("%d requests, ended with %+v", len(h.model.requests()), end)
	}
}

// A-LOOP-14: a paused reply goes back as it is, five times at most.
func TestPauseIsSentBack(t *testing.T) {
	t.Parallel()
	paused := said{text: "searching ", stop: llm.StopPause, raw: "pause_turn"}
	h := newHouse(t, paused, says("found"))
	if done := mustEnd[Done](t, h.say(Input{Text: "go"})); done.Text != "searching found" {
		t.Errorf("done says %q", done.Text)
	}
	h = newHouse(t, paused)
	h.model.forever = true
	if end := mustEnd[Failure](t, h.say(Input{Text: "go"})); end.Code != CodePaused || len(h.model.requests()) != 6 {
		t.Errorf("%d requests, ended with %+v", len(h.model.requests()), end)
	}
}

// B051: a word that is no known end is no end; nothing of it is run.
func TestB051UnknownStop(t *testing.T) {
	t.Parallel()
	odd := callsTools("read_file", `{"path":"a"}`)
	odd.stop, odd.raw, odd.text = llm.StopOther, "incomplete", "partial"
	h := newHouse(t, odd)
	end := mustEnd[Failure](t, h.say(Input{Text: "go"}))
	if end.Code != CodeProvider || end.Text != "partial" || !strings.Contains(end.Error, `"incomplete"`) || len(h.hands.proposals()) != 0 {
		t.Errorf("ended with %+v", end)
	}
}

// A-LOOP-17: the model reads at most 16 KiB a result and 64 KiB a step, and of a
// shell both ends.
func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 7 {
		pairs = append(pairs, "read_file", fmt.Sprintf(`{"path":"f%d"}`, i))
	}
	pairs = append(pairs, "shell", `{"command":"x"}`)
	h := newHouse(t, callsTools(pairs...), says("ok"))
	big := strings.Repeat("line of text\n", 4000)
	h.hands.tools["read_file"] = func(_ context.Context, p map[string]any) ir.ActionResult {
		if p["path"] == "f0" {
			return ok("short")
		}
		return ok(big)
	}
	h.hands.tools["shell"] = func(context.Context, map[string]any) ir.ActionResult { return exits(2, "FIRST\n"+big+"VERDICT") }
	h.say(Input{Text: "go"})
	texts := resultTexts(h)
	total := 0
	for i, text := range texts {
		if total += len(text); len(text) > resultBytes {
			t.Errorf("result %d has %d bytes", i, len(text))
		}
	}
	if total > stepBytes || total < stepBytes*9/10 {
		t.Errorf("the step has %d bytes", total)
	}
	if texts[0] != "short" || !strings.Contains(texts[1], "cut here") {
		t.Errorf("the first two are %q and …%q", texts[0], tailOf(texts[1], 90))
	}
	shell := texts[7]
	if !strings.HasPrefix(shell, "exit_code: 2\n") || !strings.HasSuffix(shell, "VERDICT") || !strings.Contains(shell, ir.ElidedPhrase) {
		t.Errorf("the shell's result is %q … %q", shell[:40], tailOf(shell, 40))
	}
}
