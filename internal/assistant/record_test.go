package assistant

import (
	"slices"
	"strings"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/engine/eventlog"
)

// E-LOG-3, E-LOG-5: what the conversation did stands in the engine's record, among
// the proposals it led to, and the record's metrics are of both.
func TestTheRecordHoldsTheConversation(t *testing.T) {
	t.Parallel()
	use := func(s said) said {
		s.usage = &llm.Usage{Input: 100, Output: 7, CacheRead: 10}
		return s
	}
	b := newBench(t, use(callsTools("write_file", `{"path":"x","content":"1"}`)), use(says("One file.")), use(callsTools("write_file", `{"path":"y","content":"1"}`)), use(says("Two files.")))
	b.config.Models.(menu).choices[0].Price = flatPrice(250_000)
	b.file("check.sh", "#!/bin/sh\ntest -f x && test -f y || { echo missing; exit 1; }\n")
	mustEnd[Done](t, b.say(Input{Text: "make it pass", Goal: &Goal{Check: "./check.sh", Typed: true}}))
	events := b.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.RunStarted, eventlog.InferenceMetered, eventlog.GoalEvaluated, eventlog.RunCompleted}})
	slices.Reverse(events)
	var story []string
	for _, e := range events {
		story = append(story, e.Kind.String())
		if e.RunID != "1" {
			t.Errorf("%s is of run %q", e.Kind, e.RunID)
		}
	}
	if got := strings.Join(story, " "); got != "run_started inference_metered inference_metered goal_evaluated inference_metered inference_metered goal_evaluated run_completed" {
		t.Errorf("story: %s", got)
	}
	last := events[len(events)-2].Data
	if last["met"] != true || last["grounded"] != true || last["iteration"] != 2.0 || last["goal"] != "make it pass" || last["condition"].(map[string]any)["command"] != "./check.sh" {
		t.Errorf("verdict %v", last)
	}
	if end := events[len(events)-1].Data; end["outcome"] != "done" {
		t.Errorf("end %v", end)
	}
	m := b.log.Metrics()
	if m.TokensIn != 440 || m.TokensOut != 28 || m.CostUSD != 1 || m.CumulativeCostUSD != 1 || m.GoalEvaluations != 2 || m.GoalsMet != 1 || m.ActionsSucceeded < 4 ||
		len(m.CostByAgent) != 1 || m.CostByAgent[0].Agent != "assistant" || m.CostByAgent[0].Calls != 4 {
		t.Errorf("metrics %+v", m)
	}
}

// P-TRUE-6: a request of unknown price is metered without one, and a run that ends
// badly says how.
func TestTheRecordOfAFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, said{text: "x", stop: llm.StopEnd, usage: &llm.Usage{Input: 5, Output: 1}}, said{err: &llm.Error{Kind: llm.KindInvalid, Message: "no"}})
	c, f := b.start()
	if err := c.Send(t.Context(), Input{Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	if err := c.Send(t.Context(), Input{Text: "again"}); err != nil {
		t.Fatal(err)
	}
	end := mustEnd[Failure](t, f.end())
	events := b.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.RunCompleted, eventlog.InferenceMetered}})
	if got := events[0]; got.RunID != "2" || got.Data["code"] != end.Code || got.Data["outcome"] != "error" {
		t.Errorf("end %+v", got)
	}
	if _, priced := events[len(events)-1].Data["cost_usd"]; priced || b.log.Metrics().CostUSD != 0 {
		t.Errorf("a cost that nobody knows: %v", events[len(events)-1].Data)
	}
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	b.model.script = []said{says("still here")}
	if err := c.Send(t.Context(), Input{Text: "more"}); err != nil {
		t.Fatal(err)
	}
	told := false
	for _, n := range bodies[Notice](f.end()) {
		told = told || strings.Contains(n.Text, "the session's record is not complete")
	}
	if !told {
		t.Error("nobody was told that the record has a gap")
	}
}
