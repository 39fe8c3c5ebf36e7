package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"car/internal/engine/admit"
	"car/internal/engine/policy"
	"car/internal/engine/verify/trace"
)

// Trace enforces trace rules (G-TRACE): in an action's turn, before anybody is asked,
// and once more as the last word before the hand moves. It belongs to one session,
// whose trace it keeps. Safe for concurrent use.
type Trace struct {
	rules *trace.Rules
	from  map[string]policy.Violation
	// report is told of rules that were broken where nobody could refuse it.
	report func(policy.Violation)

	// Guarded by mu: one lock over asking and noting, so that a last place is given once.
	mu      sync.Mutex
	monitor *trace.Monitor
	seq     uint64
	// what names the events, for the reasons of refusals.
	what []string
}

// TraceName is the gate's name in the log.
const TraceName = "trace_rules"

// TraceRules compiles the trace rules of policy files. A rule is named by where it
// stands; one that means nothing is an error with file, line and key.
func TraceRules(files []policy.RuleFile) (*trace.Rules, error) {
	rules, errs := traceRules(files)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return trace.Compile(rules)
}

func traceRules(files []policy.RuleFile) (rules []trace.Rule, errs []error) {
	for _, f := range files {
		for i, r := range f.Rules.TraceRule {
			one := trace.Rule{Name: ruleName(f, i), Reason: r.Reason, Never: patternOf(r.Never)}
			if r.Before != nil {
				one.Before = &trace.Before{First: *patternOf(&r.Before.First), Then: *patternOf(&r.Before.Then)}
			}
			if r.After != nil {
				one.After = &trace.After{First: *patternOf(&r.After.First), Never: *patternOf(&r.After.Never), Until: patternOf(r.After.Until)}
			}
			if r.AtMost != nil {
				one.AtMost = &trace.AtMost{Event: *patternOf(&r.AtMost.Event), N: r.AtMost.N}
			}
			if r.Within != nil {
				one.Within = &trace.Within{Event: *patternOf(&r.Within.Event), Then: *patternOf(&r.Within.Then), N: r.Within.N}
			}
			if _, err := trace.Compile([]trace.Rule{one}); err != nil {
				errs = append(errs, err)
			}
			rules = append(rules, one)
		}
	}
	return rules, errs
}

func patternOf(e *policy.TraceEvent) *trace.Pattern {
	if e == nil {
		return nil
	}
	return &trace.Pattern{Tool: e.Tool, Run: e.Run, Path: e.Path, Status: e.Status}
}

// ruleName is a rule by its place, as violations and `car policy list` call it.
func ruleName(f policy.RuleFile, i int) string {
	name := fmt.Sprintf("trace_rule[%d]", i)
	if line := f.Lines[name]; line > 0 {
		return fmt.Sprintf("%s:%d: %s", f.Path, line, name)
	}
	return f.Path + ": " + name
}

// NewTrace builds the gate of a session that nothing has happened in yet. report is
// told of rules broken by how something ended, which no gate can refuse; nil drops it.
func NewTrace(files []policy.RuleFile, report func(policy.Violation)) (*Trace, error) {
	rules, err := TraceRules(files)
	if err != nil {
		return nil, err
	}
	t := &Trace{rules: rules, monitor: rules.Monitor(), report: report, from: map[string]policy.Violation{}}
	for _, f := range files {
		for i := range f.Rules.TraceRule {
			t.from[ruleName(f, i)] = policy.Violation{File: f.Path, Line: f.Lines[fmt.Sprintf("trace_rule[%d]", i)], PolicyName: fmt.Sprintf("trace_rule[%d]", i)}
		}
	}
	return t, nil
}

// Name is the gate's name.
func (t *Trace) Name() string { return TraceName }

// Check has nothing to say about a proposal: what will have happened by then is not
// known before each action's turn.
func (t *Trace) Check(context.Context, admit.View) (admit.Opinion, error) {
	return admit.Opinion{Verdict: policy.Allow}, nil
}

// Would lists the rules that the start of an action would break now.
func (t *Trace) Would(h admit.Happening) []policy.Violation {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.violations(h, t.monitor.Would(t.event(h, trace.Dispatch)))
}

// Enter does the same, and notes the start where nothing speaks against it.
func (t *Trace) Enter(h admit.Happening) []policy.Violation {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.event(h, trace.Dispatch)
	if found := t.monitor.Would(e); len(found) > 0 {
		return t.violations(h, found)
	}
	t.note(e, h)
	return nil
}

// Happened notes results, and starts that a record tells of.
func (t *Trace) Happened(h admit.Happening) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case h.Phase == admit.Started:
		t.note(t.event(h, trace.Dispatch), h)
	case h.Phase == admit.Ended && !h.Reused:
		found := t.note(t.event(h, trace.Result), h)
		for _, v := range t.violations(h, found) {
			if t.report != nil {
				t.report(v)
			}
		}
	}
}

// event is a happening as the next event of the trace.
func (t *Trace) event(h admit.Happening, phase trace.Phase) trace.Event {
	e := trace.Event{Seq: t.seq + 1, ActionID: h.Action.ID, Phase: phase, Tool: h.Action.Tool, Commands: commandsOf(h.Judgement), Paths: pathsOf(h.Judgement)}
	if phase == trace.Result {
		e.Status = h.Status
	}
	return e
}

func commandsOf(j policy.Judgement) [][]string {
	var all [][]string
	for _, p := range j.Programs {
		all = append(all, p.Words)
	}
	return all
}

func pathsOf(j policy.Judgement) []string {
	paths := slices.Clone(j.Targets)
	for _, r := range j.Reads {
		if r.Path != "" {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

func (t *Trace) note(e trace.Event, h admit.Happening) []trace.Violation {
	t.seq++
	t.what = append(t.what, nameOf(h, e))
	return t.monitor.Observe(e)
}

// nameOf names an event in a few words.
func nameOf(h admit.Happening, e trace.Event) string {
	name := h.Action.Tool
	if name == "" {
		name = h.Action.Type.String()
	}
	for _, words := range e.Commands {
		if len(words) > 0 {
			name = short(strings.Join(words[:min(2, len(words))], " "))
		}
	}
	if e.Phase == trace.Result {
		name += " " + e.Status.String()
	}
	return fmt.Sprintf("%s ('%s')", name, h.Action.ID)
}

// violations words what speaks against an action, with the part of the trace that
// decides it (G-TRACE-2).
func (t *Trace) violations(h admit.Happening, found []trace.Violation) []policy.Violation {
	var out []policy.Violation
	for _, one := range found {
		v := t.from[one.Rule]
		v.ActionID, v.Reason = h.Action.ID, one.Explanation
		var before []string
		for _, seq := range one.Because {
			if seq <= uint64(len(t.what)) && len(before) < maxSources {
				before = append(before, t.what[seq-1])
			}
		}
		if len(before) > 0 {
			v.Reason += ", after " + strings.Join(before, ", ")
		}
		out = append(out, v)
	}
	return out
}
