package model

import (
	"car/internal/engine/ir"
)

// Presence is what is known of a state key. The zero value is absent.
type Presence uint8

// What can be known.
const (
	Absent Presence = iota
	Present
	// Unknown is written at run time, its value undeclared: it may be there or not.
	Unknown
)

// Gate is whether an action may start where the walk stands.
type Gate uint8

// The answers; the zero value is blocked.
const (
	Blocked Gate = iota
	Undecided
	Open
)

// Ending is how an action ended in a walk.
type Ending uint8

// The endings. Rejected covers refused and skipped: the action never started.
const (
	Waiting Ending = iota
	Rejected
	// Failed started and left nothing: a call that failed, an assertion that does not hold.
	Failed
	// Clouded may or may not have run; whatever it writes is unknown since.
	Clouded
	Landed
)

// slot is what a key holds: the number of a value, absent, or unknown and who made
// it so, which is -2 less the number of the action.
type slot int32

const (
	slotAbsent  slot = -1
	slotUnknown slot = -2
)

// State is where a walk stands. Reset begins another walk. Not safe for concurrent use.
type State struct {
	plan    *Plan
	base    map[string]any
	initial []slot
	slots   []slot
	endings []Ending
	// given are the values of base that the plan names, numbered after the plan's own.
	given []any
}

// Start makes the state before the first action. The base map is read, not kept in
// step and not changed.
func (p *Plan) Start(base map[string]any) *State {
	s := &State{plan: p, base: base, initial: make([]slot, len(p.Keys)), slots: make([]slot, len(p.Keys)), endings: make([]Ending, len(p.Actions))}
	for k, name := range p.Keys {
		s.initial[k] = slotAbsent
		if v, ok := base[name]; ok {
			s.initial[k] = slot(len(p.values) + len(s.given))
			s.given = append(s.given, v)
		}
	}
	copy(s.slots, s.initial)
	return s
}

// Reset goes back to the state before the first action.
func (s *State) Reset() {
	copy(s.slots, s.initial)
	clear(s.endings)
}

// Ending is how an action ended so far.
func (s *State) Ending(i int) Ending { return s.endings[i] }

// look reads a slot.
func (s *State) look(k int32) (v any, p Presence, by int) {
	switch at := s.slots[k]; {
	case at == slotAbsent:
		return nil, Absent, none
	case at < slotAbsent:
		return nil, Unknown, int(slotUnknown - at)
	case int(at) < len(s.plan.values):
		v := s.plan.values[at]
		return v.any, Present, int(v.by)
	default:
		return s.given[int(at)-len(s.plan.values)], Present, none
	}
}

// Look reads a key that the plan names: its value, what is known of it, and the
// action that wrote it last, -1 for the initial state.
func (s *State) Look(key int) (v any, p Presence, by int) { return s.look(int32(key)) }

// Value reads any key.
func (s *State) Value(name string) (v any, p Presence) {
	if k, ok := s.plan.index[name]; ok {
		v, p, _ = s.look(k)
		return v, p
	}
	if v, ok := s.base[name]; ok {
		return v, Present
	}
	return nil, Absent
}

// Source numbers what a key holds, for those who count: equal numbers hold equal
// values, -1 is absent, below it unknown.
func (s *State) Source(key int) int { return int(s.slots[key]) }

// SourceValue is the value of a source that is not negative.
func (s *State) SourceValue(source int) any {
	if source < len(s.plan.values) {
		return s.plan.values[source].any
	}
	return s.given[source-len(s.plan.values)]
}

// Known is a copy of the state, without what is unknown. Values are shared.
func (s *State) Known() map[string]any {
	known := make(map[string]any, len(s.base)+len(s.slots))
	for name, v := range s.base {
		known[name] = v
	}
	for k, name := range s.plan.Keys {
		switch v, p, _ := s.look(int32(k)); p {
		case Present:
			known[name] = v
		default:
			delete(known, name)
		}
	}
	return known
}

// UnknownKeys lists the keys of which nothing is known, in the plan's order.
func (s *State) UnknownKeys() []string {
	var keys []string
	for k, at := range s.slots {
		if at < slotAbsent {
			keys = append(keys, s.plan.Keys[k])
		}
	}
	return keys
}

// Gate decides whether an action may start here: its preconditions hold, its
// dependencies are present, what it waits for has succeeded (E-EXEC-2, E-DAG-5).
// One that is certain to fail decides, whatever else is unknown.
func (s *State) Gate(i int) Gate {
	step := &s.plan.steps[i]
	if step.broken != "" || s.plan.reservedBy[i] != none {
		return Blocked
	}
	gate := Open
	for _, j := range step.after {
		switch s.endings[j] {
		case Rejected, Failed:
			return Blocked
		case Clouded:
			gate = Undecided
		}
	}
	for _, k := range step.needs {
		switch at := s.slots[k]; {
		case at == slotAbsent:
			return Blocked
		case at < slotAbsent:
			gate = Undecided
		}
	}
	for _, c := range step.conditions {
		switch v, p, _ := s.look(c.key); {
		case p == Unknown:
			gate = Undecided
		case !c.Holds(v, p == Present):
			return Blocked
		}
	}
	return gate
}

// Asserts decides an assertion that may start: Open where it holds, Blocked where
// it fails. Any other action holds.
func (s *State) Asserts(i int) Gate {
	step := &s.plan.steps[i]
	if step.asserts == none {
		return Open
	}
	v, p, _ := s.look(step.asserts)
	switch {
	case p == Unknown:
		return Undecided
	case ir.Equal(v, step.want):
		return Open
	default:
		return Blocked
	}
}

// land leaves everything that an action leaves.
func (s *State) land(i int) {
	s.endings[i] = Landed
	for _, e := range s.plan.steps[i].sets {
		s.slots[e.key] = slot(e.value)
	}
	s.forget(i)
}

// Assume lands what an action declares, inert effects too, whether it could run or
// not. It is Verify's optimism: one fault, one finding (V-VERIFY-3).
func (s *State) Assume(i int) {
	if s.plan.reservedBy[i] != none {
		return
	}
	s.land(i)
	for _, e := range s.plan.steps[i].inert {
		s.slots[e.key] = slot(e.value)
	}
}

// Cloud ends an action of which it is not decided whether it runs: what it writes
// is unknown since.
func (s *State) Cloud(i int) {
	s.endings[i] = Clouded
	for _, e := range s.plan.steps[i].sets {
		s.slots[e.key] = slotUnknown - slot(i)
	}
	s.forget(i)
}

func (s *State) forget(i int) {
	for _, k := range s.plan.steps[i].opaque {
		s.slots[k] = slotUnknown - slot(i)
	}
}
