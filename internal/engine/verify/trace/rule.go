package trace

import (
	"errors"
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify/match"
)

// Phase is which end of an action an event is. The zero value is unset.
type Phase uint8

// The phases.
const (
	PhaseUnset Phase = iota
	Dispatch
	Result
)

// Event is one thing that happened. Facts are policy's.
type Event struct {
	// Seq is the caller's number of the event; numbers grow.
	Seq      uint64
	ActionID ir.ActionID
	Phase    Phase
	Tool     string
	// Commands are the words of each parsed command; Paths what it reads and changes,
	// relative to the root.
	Commands [][]string
	Paths    []string
	// Status belongs to a result.
	Status ir.Status
}

// Pattern matches an event when every field that is given does. Without a status it
// means the dispatch of an action, with one its result.
type Pattern struct {
	Tool   string
	Run    string
	Path   string
	Status string
}

// Rule is one rule; exactly one form is set (G-TRACE-1).
type Rule struct {
	// Name is how violations call it.
	Name   string
	Reason string
	Never  *Pattern
	Before *Before
	After  *After
	AtMost *AtMost
	Within *Within
}

// Before says that Then needs an earlier First.
type Before struct{ First, Then Pattern }

// After says that behind First there is no Never, until Until.
type After struct {
	First, Never Pattern
	Until        *Pattern
}

// AtMost bounds how often Event happens.
type AtMost struct {
	Event Pattern
	N     int64
}

// Within says that Then must be among the N events that are dispatched after Event.
type Within struct {
	Event, Then Pattern
	N           int64
}

// maxCount bounds N, so that no rule holds a trace in memory.
const maxCount = 1_000_000

// pattern is a compiled Pattern.
type pattern struct {
	Pattern
	run    []string
	status ir.Status
}

func compilePattern(what string, p Pattern) (pattern, error) {
	out := pattern{Pattern: p, run: strings.Fields(p.Run)}
	if p == (Pattern{}) {
		return out, fmt.Errorf("%s is empty, and would match everything", what)
	}
	if p.Run != "" && len(out.run) == 0 {
		return out, fmt.Errorf("%s: run is blank", what)
	}
	if p.Path != "" {
		if err := match.CheckPath(p.Path); err != nil {
			return out, fmt.Errorf("%s: path: %w", what, err)
		}
	}
	if p.Status == "" {
		return out, nil
	}
	if err := out.status.UnmarshalText([]byte(p.Status)); err != nil {
		return out, fmt.Errorf("%s: status: %w", what, err)
	}
	if out.status != ir.Succeeded && out.status != ir.Failed {
		return out, fmt.Errorf("%s: status: %q never comes of what was dispatched (one of succeeded, failed)", what, p.Status)
	}
	return out, nil
}

// phase is the end of an action that the pattern speaks of.
func (p *pattern) phase() Phase {
	if p.Status != "" {
		return Result
	}
	return Dispatch
}

// matches allocates nothing.
func (p *pattern) matches(e *Event) bool {
	if e.Phase != p.phase() || p.Tool != "" && p.Tool != e.Tool || p.Status != "" && p.status != e.Status {
		return false
	}
	return (len(p.run) == 0 || runs(p.run, e.Commands)) && (p.Path == "" || touches(p.Path, e.Paths))
}

func runs(run []string, commands [][]string) bool {
	for _, words := range commands {
		if match.Words(run, words) {
			return true
		}
	}
	return false
}

func touches(glob string, paths []string) bool {
	for _, p := range paths {
		if match.Path(glob, p) {
			return true
		}
	}
	return false
}

// Rules are compiled rules. They are immutable and safe for concurrent use.
type Rules struct {
	rules []compiled
	// byTool lists the rules that may care for an event of a tool; anyTool those that
	// may care for every other.
	byTool  map[string][]int32
	anyTool []int32
}

// compiled is a rule with what makes a monitor of it.
type compiled struct {
	name, form, reason string
	patterns           []*pattern
	// everyDispatch: the form counts events whatever they match.
	everyDispatch bool
	enforceable   bool
	make          func() monitor
}

// Compile checks rules and makes them ready. Every rule that means nothing is an
// error with its name.
func Compile(rules []Rule) (*Rules, error) {
	c := &Rules{byTool: map[string][]int32{}}
	var errs []error
	for _, r := range rules {
		one, err := compileOne(r)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Name, err))
			continue
		}
		c.rules = append(c.rules, one)
	}
	c.index()
	return c, errors.Join(errs...)
}

func compileOne(r Rule) (compiled, error) {
	var made []compiled
	var errs []error
	take := func(c compiled, err error) {
		c.name, c.reason = r.Name, r.Reason
		made, errs = append(made, c), append(errs, err)
	}
	if r.Never != nil {
		take(compileNever(*r.Never))
	}
	if r.Before != nil {
		take(compileBefore(*r.Before))
	}
	if r.After != nil {
		take(compileAfter(*r.After))
	}
	if r.AtMost != nil {
		take(compileAtMost(*r.AtMost))
	}
	if r.Within != nil {
		take(compileWithin(*r.Within))
	}
	if len(made) != 1 {
		return compiled{}, errors.New("exactly one of never, before, after, at_most, within must be set")
	}
	return made[0], errors.Join(errs...)
}

// index sorts the rules by the tools they name.
func (c *Rules) index() {
	tools := map[string]bool{}
	for _, r := range c.rules {
		for _, p := range r.patterns {
			if p.Tool != "" {
				tools[p.Tool] = true
			}
		}
	}
	for i, r := range c.rules {
		named := map[string]bool{}
		any := r.everyDispatch
		for _, p := range r.patterns {
			named[p.Tool] = true
			any = any || p.Tool == ""
		}
		if any {
			c.anyTool = append(c.anyTool, int32(i))
		}
		for tool := range tools {
			if any || named[tool] {
				c.byTool[tool] = append(c.byTool[tool], int32(i))
			}
		}
	}
}

// of lists the rules that may care for an event.
func (c *Rules) of(tool string) []int32 {
	if list, ok := c.byTool[tool]; ok {
		return list
	}
	return c.anyTool
}

// Len is the number of rules.
func (c *Rules) Len() int { return len(c.rules) }

// Unenforceable names the rules that can only report after the fact, because they
// speak of how something ended (V-TRACE-4).
func (c *Rules) Unenforceable() []string {
	var names []string
	for _, r := range c.rules {
		if !r.enforceable {
			names = append(names, r.name)
		}
	}
	return names
}
