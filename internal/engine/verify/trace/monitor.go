package trace

import (
	"fmt"
	"strings"

	"car/internal/engine/verify/report"
)

// Violation is a rule that an event breaks.
type Violation struct {
	Rule string `json:"rule"`
	Form string `json:"form"`
	// Event is the number of the event that breaks it; of the last one, where the end
	// of the trace does.
	Event uint64 `json:"event"`
	// Because are the numbers of the fewest events that decide it.
	Because     []uint64 `json:"because"`
	Explanation string   `json:"explanation"`
}

// Monitor watches one trace by rules. It is for one goroutine.
type Monitor struct {
	rules  *Rules
	states []monitor
	last   uint64
	// now is the event in hand; kept here so that none is allocated.
	now Event
}

// Monitor makes a monitor of a trace that has no events yet.
func (c *Rules) Monitor() *Monitor {
	m := &Monitor{rules: c, states: make([]monitor, len(c.rules))}
	for i, r := range c.rules {
		m.states[i] = r.make()
	}
	return m
}

// Would lists the rules that an event would break now, and changes nothing.
func (m *Monitor) Would(e Event) []Violation { return m.step(e, false) }

// Observe adds an event to the trace and lists the rules that it breaks.
func (m *Monitor) Observe(e Event) []Violation {
	m.last = e.Seq
	return m.step(e, true)
}

func (m *Monitor) step(e Event, change bool) []Violation {
	m.now = e
	var found []Violation
	for _, i := range m.rules.of(e.Tool) {
		if because := m.states[i].step(&m.now, change); because != nil {
			found = append(found, m.violation(int(i), e.Seq, because, ""))
		}
	}
	return found
}

// End closes the trace: what still waits for something will not get it. The monitor
// is of no use afterwards.
func (m *Monitor) End() []Violation {
	var found []Violation
	for i, s := range m.states {
		for _, because := range s.end() {
			found = append(found, m.violation(i, m.last, because, "the trace ends, and what had to follow never came"))
		}
	}
	return found
}

func (m *Monitor) violation(i int, at uint64, because []uint64, why string) Violation {
	r := m.rules.rules[i]
	if why == "" {
		why = sentence(r.form, len(because))
	}
	if r.reason != "" {
		why += "; " + r.reason
	}
	return Violation{Rule: r.name, Form: r.form, Event: at, Because: because, Explanation: why + " (" + events(because) + ")"}
}

// sentence says how a form is broken.
func sentence(form string, deciding int) string {
	switch form {
	case "never":
		return "this may never happen"
	case "before":
		return "what has to come first has not happened"
	case "after":
		return "this may not follow what happened before"
	case "at_most":
		return fmt.Sprintf("this happened %d times already, which is the most", deciding-1)
	default:
		return "what has to follow is due, and this is something else"
	}
}

// events names the deciding events, the ends of a long list only.
func events(because []uint64) string {
	texts := make([]string, 0, len(because))
	for k, n := range because {
		if len(because) > 8 && k > 2 && k < len(because)-3 {
			if k == 3 {
				texts = append(texts, "…")
			}
			continue
		}
		texts = append(texts, fmt.Sprint(n))
	}
	if len(texts) == 1 {
		return "event " + texts[0]
	}
	return "events " + strings.Join(texts, ", ")
}

// Report is what a whole trace comes to.
type Report struct {
	report.Scope
	OK         bool        `json:"ok"`
	Violations []Violation `json:"violations"`
}

// Check runs rules over a trace; ended says that nothing follows it (G-TRACE-2).
func (c *Rules) Check(events []Event, ended bool) Report {
	r := Report{Scope: report.Scope{Tier: report.DecisionProcedure, CannotVerify: []string{"what was not recorded", "other sessions"}}, Violations: []Violation{}}
	m := c.Monitor()
	for _, e := range events {
		r.Violations = append(r.Violations, m.Observe(e)...)
	}
	if ended {
		r.Violations = append(r.Violations, m.End()...)
	}
	r.OK = len(r.Violations) == 0
	return r
}
