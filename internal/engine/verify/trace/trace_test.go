package trace_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
	"car/internal/engine/verify/trace"
)

// tape reads "test ok, push, x" as events: a word dispatches that tool; "test ok" and
// "test failed" are results; the numbers count from 1.
func tape(text string) []trace.Event {
	var events []trace.Event
	for i, one := range strings.Split(text, ", ") {
		tool, status, _ := strings.Cut(one, " ")
		e := trace.Event{Seq: uint64(i + 1), Phase: trace.Dispatch, Tool: tool}
		switch status {
		case "ok":
			e.Phase, e.Status = trace.Result, ir.Succeeded
		case "failed":
			e.Phase, e.Status = trace.Result, ir.Failed
		}
		events = append(events, e)
	}
	return events
}

func compile(t testing.TB, rules ...trace.Rule) *trace.Rules {
	t.Helper()
	for i := range rules {
		rules[i].Name = fmt.Sprint("r", i)
	}
	c, err := trace.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tool(name string) trace.Pattern { return trace.Pattern{Tool: name} }

func passed(name string) trace.Pattern { return trace.Pattern{Tool: name, Status: "succeeded"} }

// V-TRACE-2 never, before_later_is_too_late, after_until_disarms, at_most_exactly,
// within_closes_at_n_and_end: what breaks a rule, and the events that decide it.
func TestForms(t *testing.T) {
	t.Parallel()
	until := tool("build")
	never := trace.Rule{Never: &trace.Pattern{Tool: "push"}}
	before := trace.Rule{Before: &trace.Before{First: passed("test"), Then: tool("push")}}
	after := trace.Rule{After: &trace.After{First: tool("edit"), Never: tool("push"), Until: &until}}
	always := trace.Rule{After: &trace.After{First: tool("edit"), Never: tool("push")}}
	most := trace.Rule{AtMost: &trace.AtMost{Event: tool("push"), N: 2}}
	none := trace.Rule{AtMost: &trace.AtMost{Event: tool("push"), N: 0}}
	within := trace.Rule{Within: &trace.Within{Event: tool("edit"), Then: tool("test"), N: 2}}
	green := trace.Rule{Within: &trace.Within{Event: tool("edit"), Then: passed("test"), N: 2}}
	for _, row := range []struct {
		name   string
		rule   trace.Rule
		events string
		want   string
	}{
		{"never", never, "edit, push, push", "[2] [3]"},
		{"never, its result is none", never, "push ok", ""},
		{"before", before, "test, test ok, push", ""},
		{"before, a failure is no success", before, "test, test failed, push", "[3]"},
		{"before_later_is_too_late", before, "push, test, test ok, push", "[1]"},
		{"after", after, "edit, push", "[1 2]"},
		{"after_until_disarms", after, "edit, build, push", ""},
		{"armed again", after, "edit, build, edit, push", "[3 4]"},
		{"the first arms", always, "edit, edit, push, push", "[1 3] [1 4]"},
		{"not armed", always, "push, edit", ""},
		{"at_most_exactly", most, "push, push, edit", ""},
		{"one too many", most, "push, edit, push, push", "[1 3 4]"},
		{"at most none", none, "push", "[1]"},
		{"within", within, "edit, x, test", ""},
		{"within_closes_at_n", within, "edit, x, y, test", "[1 2 3]"},
		{"within, results do not count", within, "edit, edit ok, x, x ok, test", ""},
		{"within, at the end", within, "x, edit, y", "end [2]"},
		{"within, one answer for all", within, "edit, edit, test", ""},
		{"within, the second window", within, "edit, edit, x, y", "[1 2 3] [2 3 4]"},
		{"within, a success", green, "edit, test, test ok", ""},
		{"within, the last may still succeed", green, "edit, x, test, test ok", ""},
		{"within, used up", green, "edit, x, test, test failed, y", "[1 2 3 5]"},
	} {
		m := compile(t, row.rule).Monitor()
		var got []string
		for _, e := range tape(row.events) {
			for _, v := range m.Observe(e) {
				got = append(got, fmt.Sprint(v.Because))
			}
		}
		for _, v := range m.End() {
			got = append(got, "end "+fmt.Sprint(v.Because))
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: %q, want %q", row.name, strings.Join(got, " "), row.want)
		}
	}
}

// V-TRACE-1: a pattern matches when each given field does.
func TestPatterns(t *testing.T) {
	t.Parallel()
	push := trace.Event{Seq: 1, Phase: trace.Dispatch, Tool: "shell", Commands: [][]string{{"cd", "x"}, {"git", "push", "-f"}}, Paths: []string{"src/a.go"}}
	for _, row := range []struct {
		p    trace.Pattern
		want bool
	}{
		{trace.Pattern{Run: "git push"}, true},
		{trace.Pattern{Run: "git push", Tool: "shell"}, true},
		{trace.Pattern{Run: "git push", Tool: "other"}, false},
		{trace.Pattern{Run: "git pull"}, false},
		{trace.Pattern{Path: "src/**"}, true},
		{trace.Pattern{Path: "docs/**"}, false},
		{trace.Pattern{Run: "git push", Path: "docs/**"}, false},
		{trace.Pattern{Tool: "shell", Status: "succeeded"}, false},
	} {
		if got := len(compile(t, trace.Rule{Never: &row.p}).Monitor().Would(push)) > 0; got != row.want {
			t.Errorf("%+v: %v", row.p, got)
		}
	}
}

// V-TRACE-1: what means nothing is an error with the rule's name; an empty pattern would match everything.
func TestBadRules(t *testing.T) {
	t.Parallel()
	ok := tool("x")
	for want, r := range map[string]trace.Rule{
		"exactly one of":                 {},
		"r: exactly one":                 {Name: "r", Never: &ok, AtMost: &trace.AtMost{Event: ok, N: 1}},
		"never is empty":                 {Never: &trace.Pattern{}},
		"before.then is empty":           {Before: &trace.Before{First: ok}},
		"after.until is empty":           {After: &trace.After{First: ok, Never: ok, Until: &trace.Pattern{}}},
		"at_most.n must be between 0":    {AtMost: &trace.AtMost{Event: ok, N: -1}},
		"within.n must be between 1":     {Within: &trace.Within{Event: ok, Then: ok}},
		"is no glob":                     {Never: &trace.Pattern{Path: "["}},
		"run is blank":                   {Never: &trace.Pattern{Run: " "}},
		`unknown status "done"`:          {Never: &trace.Pattern{Status: "done"}},
		"never comes of what was dispat": {Never: &trace.Pattern{Status: "rejected"}},
	} {
		if _, err := trace.Compile([]trace.Rule{r}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// V-TRACE-4 status_rule_not_enforceable: a rule about how something ends can only report.
func TestEnforceable(t *testing.T) {
	t.Parallel()
	c := compile(t, trace.Rule{Never: &trace.Pattern{Tool: "x", Status: "failed"}}, trace.Rule{Before: &trace.Before{First: passed("a"), Then: tool("b")}},
		trace.Rule{AtMost: &trace.AtMost{Event: passed("x"), N: 1}}, trace.Rule{Within: &trace.Within{Event: passed("x"), Then: passed("y"), N: 1}},
		trace.Rule{After: &trace.After{First: tool("a"), Never: passed("b")}})
	if got := c.Unenforceable(); !reflect.DeepEqual(got, []string{"r0", "r2", "r4"}) {
		t.Errorf("%v", got)
	}
}

// V-TRACE-4 refused_is_not_history: what would break a rule and is not observed leaves no mark.
func TestRefusedIsNotHistory(t *testing.T) {
	t.Parallel()
	m := compile(t, trace.Rule{AtMost: &trace.AtMost{Event: tool("push"), N: 1}}, trace.Rule{After: &trace.After{First: tool("push"), Never: tool("edit")}}).Monitor()
	events := tape("push, push, edit")
	m.Observe(events[0])
	for range 3 {
		if len(m.Would(events[1])) != 1 || len(m.Would(events[2])) != 1 {
			t.Fatal("asking changed the answer")
		}
	}
}

var toolNames = []string{"a", "b", "c"}

// drawn makes rules and events of few words, so that they meet.
func drawn(t *rapid.T) ([]trace.Rule, []trace.Event) {
	pattern := func(name string) trace.Pattern {
		p := tool(rapid.SampledFrom(append([]string{""}, toolNames...)).Draw(t, name))
		p.Status = rapid.SampledFrom([]string{"", "", "succeeded", "failed"}).Draw(t, name+" status")
		if p == (trace.Pattern{}) {
			p.Run = "run"
		}
		return p
	}
	var rules []trace.Rule
	for i := range rapid.IntRange(1, 4).Draw(t, "rules") {
		r := trace.Rule{Name: fmt.Sprint("r", i)}
		n := rapid.Int64Range(1, 3).Draw(t, "n")
		one, two := pattern("one"), pattern("two")
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			r.Never = &one
		case 1:
			r.Before = &trace.Before{First: one, Then: two}
		case 2:
			r.After = &trace.After{First: one, Never: two}
			if rapid.Bool().Draw(t, "until") {
				until := pattern("three")
				r.After.Until = &until
			}
		case 3:
			r.AtMost = &trace.AtMost{Event: one, N: n - 1}
		default:
			r.Within = &trace.Within{Event: one, Then: two, N: n}
		}
		rules = append(rules, r)
	}
	var events []trace.Event
	for i := range rapid.IntRange(0, 14).Draw(t, "events") {
		e := trace.Event{Seq: uint64(i + 1), Tool: rapid.SampledFrom(toolNames).Draw(t, "tool"), Phase: trace.Dispatch}
		if rapid.Bool().Draw(t, "run") {
			e.Commands = [][]string{{"run"}}
		}
		if rapid.Bool().Draw(t, "result") {
			e.Phase, e.Status = trace.Result, rapid.SampledFrom([]ir.Status{ir.Succeeded, ir.Failed}).Draw(t, "status")
		}
		events = append(events, e)
	}
	return rules, events
}

// V-TRACE-3 would_equals_offline: Would(e) is empty iff the trace with e has no
// violation more; V-TRACE-4 witness_replays: the deciding events alone break the rule too.
func TestWouldEqualsOffline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, events := drawn(t)
		c, err := trace.Compile(rules)
		if err != nil {
			t.Fatal(err)
		}
		m := c.Monitor()
		for i, e := range events {
			more := len(c.Check(events[:i+1], false).Violations) - len(c.Check(events[:i], false).Violations)
			would := m.Would(e)
			if got := m.Observe(e); len(would) != more || !reflect.DeepEqual(would, got) {
				t.Fatalf("event %d: would %v, observed %v, offline %d more", e.Seq, would, got, more)
			}
			for _, v := range would {
				replays(t, rules, events, v)
			}
		}
	})
}

// replays checks that the witness alone breaks its rule, and that without any one of
// its events it does not.
func replays(t *rapid.T, rules []trace.Rule, events []trace.Event, v trace.Violation) {
	for _, r := range rules {
		if r.Name != v.Rule {
			continue
		}
		c, err := trace.Compile([]trace.Rule{r})
		if err != nil {
			t.Fatal(err)
		}
		for drop := -1; drop < len(v.Because); drop++ {
			var part []trace.Event
			for k, seq := range v.Because {
				if k != drop {
					part = append(part, events[seq-1])
				}
			}
			broken := false
			for _, one := range c.Check(part, false).Violations {
				broken = broken || one.Event == v.Event
			}
			if broken != (drop < 0) {
				t.Fatalf("%+v: broken %v without the event at %d", v, broken, drop)
			}
		}
	}
}

// V-TRACE-2: the monitors agree with the formulas, worked out over the whole trace.
func TestMonitorsAgreeWithTheFormulas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, events := drawn(t)
		for _, r := range rules {
			c, err := trace.Compile([]trace.Rule{r})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := c.Check(events, true).OK, formula(r, events); got != want {
				t.Fatalf("%+v over %+v: %v, the formula says %v", r, events, got, want)
			}
		}
	})
}

// formula is the meaning of a rule, by quantifiers.
func formula(r trace.Rule, events []trace.Event) bool {
	is := func(p trace.Pattern, i int) bool {
		e := events[i]
		status := p.Status == "" && e.Phase == trace.Dispatch || p.Status != "" && e.Phase == trace.Result && e.Status.String() == p.Status
		return status && (p.Tool == "" || p.Tool == e.Tool) && (p.Run == "" || len(e.Commands) > 0)
	}
	for i := range events {
		switch {
		case r.Never != nil && is(*r.Never, i):
			return false
		case r.Before != nil && is(r.Before.Then, i):
			found := false
			for k := range i {
				found = found || is(r.Before.First, k)
			}
			if !found {
				return false
			}
		case r.After != nil && is(r.After.First, i):
			for k := i + 1; k < len(events); k++ {
				if r.After.Until != nil && is(*r.After.Until, k) {
					break
				}
				if is(r.After.Never, k) {
					return false
				}
			}
		case r.AtMost != nil:
			n := int64(0)
			for k := range events {
				if is(r.AtMost.Event, k) {
					n++
				}
			}
			if n > r.AtMost.N {
				return false
			}
		case r.Within != nil && is(r.Within.Event, i) && !answered(r.Within, events, i, is):
			return false
		}
	}
	return true
}

func answered(w *trace.Within, events []trace.Event, i int, is func(trace.Pattern, int) bool) bool {
	n := int64(0)
	for k := i; k < len(events); k++ {
		if k > i && events[k].Phase == trace.Dispatch {
			n++
		}
		if n > w.N {
			return false
		}
		if is(w.Then, k) {
			return true
		}
	}
	return false
}

// V-BENCH: nothing is allocated for an event that breaks nothing.
func TestNothingIsAllocatedForAnEvent(t *testing.T) {
	rules := make([]trace.Rule, 20)
	for i := range rules {
		rules[i] = trace.Rule{Before: &trace.Before{First: trace.Pattern{Tool: fmt.Sprint("t", i)}, Then: trace.Pattern{Run: "git push"}}}
	}
	m := compile(t, rules...).Monitor()
	e := trace.Event{Seq: 1, Phase: trace.Dispatch, Tool: "shell", Commands: [][]string{{"git", "status"}}, Paths: []string{"a/b.go"}}
	if n := testing.AllocsPerRun(100, func() { m.Observe(e) }); n != 0 {
		t.Errorf("%g allocations an event", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	rules := make([]trace.Rule, 20)
	for i := range rules {
		rules[i] = trace.Rule{Before: &trace.Before{First: passed(fmt.Sprint("t", i)), Then: trace.Pattern{Run: "git push"}}}
	}
	c := compile(b, rules...)
	for _, n := range []int{100_000, 200_000} {
		events := make([]trace.Event, n)
		for i := range events {
			events[i] = trace.Event{Seq: uint64(i), Phase: trace.Dispatch, Tool: fmt.Sprint("u", i%30), Commands: [][]string{{"git", "status"}}}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				c.Check(events, true)
			}
		})
	}
}
