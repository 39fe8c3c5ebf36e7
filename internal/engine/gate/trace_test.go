package gate

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// pattern reads "tool=x run=git push status=failed".
func pattern(text string) policy.TraceEvent {
	var e policy.TraceEvent
	into := map[string]*string{"tool": &e.Tool, "run": &e.Run, "path": &e.Path, "status": &e.Status}
	var at *string
	for word := range strings.FieldsSeq(text) {
		if key, value, ok := strings.Cut(word, "="); ok && into[key] != nil {
			at = into[key]
			*at = value
		} else if at != nil {
			*at += " " + word
		}
	}
	return e
}

// traceOf builds the gate of a row.
func traceOf(t *testing.T, r *row, report func(policy.Violation)) *Trace {
	t.Helper()
	var rule policy.TraceRule
	for form, texts := range r.set {
		part := strings.Split(texts[0], " | ")
		n := int64(0)
		if form == "at_most" || form == "within" {
			number, rest, _ := strings.Cut(part[0], " ")
			if _, err := fmt.Sscan(number, &n); err != nil {
				t.Fatal(err)
			}
			part[0] = rest
		}
		var e []policy.TraceEvent
		for _, p := range part {
			e = append(e, pattern(p))
		}
		switch form {
		case "never":
			rule.Never = &e[0]
		case "before":
			rule.Before = &policy.TraceBefore{First: e[0], Then: e[1]}
		case "after":
			rule.After = &policy.TraceAfter{First: e[0], Never: e[1], Until: &e[2]}
		case "at_most":
			rule.AtMost = &policy.TraceAtMost{Event: e[0], N: n}
		case "within":
			rule.Within = &policy.TraceWithin{Event: e[0], Then: e[1], N: n}
		}
	}
	g, err := NewTrace([]policy.RuleFile{{Path: "p.toml", Rules: policy.Rules{TraceRule: []policy.TraceRule{rule}}, Lines: map[string]int{"trace_rule[0]": 7}}}, report)
	if err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	return g
}

// G-TRACE-1, G-TRACE-2: the forms on facts that policy found out, and the attempts to get around them.
func TestTraceRows(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t, "trace") {
		p := newProject(t, r.files)
		g := traceOf(t, r, nil)
		o, v := r.run(t, p, g)
		if o.Verdict != policy.Allow {
			t.Errorf("%s: %+v", r.name, o)
		}
		h := admit.Happening{Phase: admit.Started, Session: "s", Action: v.Proposal.Actions[0], Judgement: v.Judged["a1"]}
		for name, found := range map[string][]policy.Violation{"would": g.Would(h), "enter": g.Enter(h)} {
			got, reason := "allow", ""
			if len(found) > 0 {
				got, reason = "deny", found[0].Reason
				if found[0].PolicyName != "trace_rule[0]" || found[0].File != "p.toml" || found[0].Line != 7 || found[0].ActionID != "a1" {
					t.Errorf("%s: %+v", r.name, found[0])
				}
			}
			if name == "would" || r.want == "deny" { // who entered is part of the trace then
				if got != r.want || !strings.Contains(reason, r.says) {
					t.Errorf("%s: %s\n %s %s: %s\n want %s: %s", r.file, r.name, name, got, reason, r.want, r.says)
				}
			}
		}
	}
}

// V-TRACE-4 refused_is_not_history, parallel_last_slot: what is refused leaves no mark,
// and of many that come at once the last place is given to one.
func TestTheLastPlaceOfARule(t *testing.T) {
	t.Parallel()
	g := traceOf(t, &row{set: map[string][]string{"at_most": {"3 tool=write_file"}}}, nil)
	h := admit.Happening{Action: ir.Action{ID: "a", Tool: "write_file"}}
	var wait sync.WaitGroup
	var mu sync.Mutex
	entered := 0
	for range 40 {
		wait.Go(func() {
			ok := len(g.Would(h)) == 0 && len(g.Enter(h)) == 0
			mu.Lock()
			defer mu.Unlock()
			if ok {
				entered++
			}
		})
	}
	wait.Wait()
	if entered != 3 {
		t.Errorf("%d entered", entered)
	}
}

// V-TRACE-4 status_rule_not_enforceable: a rule about how something ends refuses nothing, and is told.
func TestARuleAboutAnEndIsReported(t *testing.T) {
	t.Parallel()
	var told []policy.Violation
	r := &row{set: map[string][]string{"never": {"run=go test status=failed"}}, steps: []step{{tool: "shell", arg: "go test"}}}
	p := newProject(t, nil)
	g := traceOf(t, r, func(v policy.Violation) { told = append(told, v) })
	_, v := r.run(t, p, g)
	h := admit.Happening{Phase: admit.Started, Action: v.Proposal.Actions[0], Judgement: v.Judged["a1"]}
	if len(g.Enter(h)) != 0 {
		t.Error("refused what it cannot know")
	}
	h.Phase, h.Status = admit.Ended, ir.Failed
	if g.Happened(h); len(told) != 1 || told[0].File != "p.toml" || !strings.Contains(told[0].Reason, "go test failed ('a1')") {
		t.Errorf("%+v", told)
	}
	h.Reused = true
	if g.Happened(h); len(told) != 1 {
		t.Error("a reused result ran again")
	}
}

// P-GUARD-6: every rule that means nothing is an error with its place.
func TestTraceRefusesWhatMeansNothing(t *testing.T) {
	t.Parallel()
	f := policy.RuleFile{Path: "p.toml", Lines: map[string]int{"trace_rule[1]": 9}, Rules: policy.Rules{TraceRule: []policy.TraceRule{{}, {Never: &policy.TraceEvent{}}}}}
	_, err := NewTrace([]policy.RuleFile{f}, nil)
	if err == nil || !strings.Contains(err.Error(), "p.toml: trace_rule[0]: exactly one of") || !strings.Contains(err.Error(), "p.toml:9: trace_rule[1]: never is empty") {
		t.Errorf("%v", err)
	}
}
