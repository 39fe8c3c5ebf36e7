package model

import (
	"fmt"
	"maps"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// Plan is a proposal prepared for any number of walks: keys are numbered, and each
// action is reduced to what it needs and leaves. It does not change once made and
// is safe for concurrent use; the Graph is not.
type Plan struct {
	Actions []ir.Action
	Graph   *dag.Graph
	// Faults are what is wrong with the ids that order actions (V-GAP-8, E-DAG-3).
	Faults []dag.Fault
	// Refused says why the engine refuses the proposal whole, so that nothing of it
	// starts; empty when it does not.
	Refused string
	// Keys are the state keys that the plan names, by number.
	Keys []string

	index  map[string]int32
	byID   map[ir.ActionID]int32
	values []value
	steps  []step
	levels []Level
	// reservedBy is the action that an action is kept for as a compensation, or -1.
	reservedBy []int32
}

// Level is actions that the engine takes together. Sequential ones are each checked
// after the one before has ended; the others are all checked first (E-DAG-4).
type Level struct {
	Actions    []int
	Sequential bool
}

// value is what a key can come to hold, and the action that gives it.
type value struct {
	any any
	by  int32
}

// step is an action reduced to numbers.
type step struct {
	conditions []condition
	needs      []int32 // keys that have to be present
	after      []int32 // actions that have to have succeeded
	sets       []set
	inert      []set
	opaque     []int32 // keys written at run time with no declared value
	// asserts is the key of an assertion or -1; it holds where the key equals want,
	// an absent key counting as null (E-EXEC-5).
	asserts int32
	want    any
	// broken says why the engine refuses the action whatever the state (E-EXEC-2).
	broken string
}

type condition struct {
	key int32
	*ir.Precondition
}

type set struct{ key, value int32 }

const none = -1

// Compile prepares a proposal. It takes time linear in what the actions name.
func Compile(actions []ir.Action) *Plan {
	p := &Plan{Actions: actions, index: map[string]int32{}, steps: make([]step, len(actions)), reservedBy: make([]int32, len(actions))}
	p.Graph, p.Faults = dag.Of(actions)
	p.byID = make(map[ir.ActionID]int32, len(actions))
	for i := len(actions) - 1; i >= 0; i-- {
		p.byID[actions[i].ID] = int32(i)
		p.reservedBy[i] = none
	}
	for i := range actions {
		p.steps[i] = p.compile(int32(i))
		p.reserve(i)
	}
	if len(p.Faults) > 0 {
		p.Refused = p.Faults[0].Text
	} else {
		p.checkReserved()
	}
	for _, level := range p.Graph.Levels() {
		p.levels = append(p.levels, Level{Actions: level, Sequential: ir.LevelRunsSequentially(actions, level)})
	}
	return p
}

// reserve keeps the action that another names as its compensation from running.
func (p *Plan) reserve(i int) {
	c := p.Actions[i].Compensation
	if c == nil || c.Type != ir.CompensateByAction {
		return
	}
	j, ok := p.byID[c.ActionID]
	switch {
	case !ok:
		p.refuse("action '%s' names unknown compensation '%s'", p.Actions[i].ID, c.ActionID)
	case int(j) == i:
		p.refuse("action '%s' names itself as its compensation", p.Actions[i].ID)
	case p.Actions[j].Compensation != nil:
		p.refuse("action '%s' names compensation '%s', which has one of its own", p.Actions[i].ID, c.ActionID)
	}
	if ok && int(j) != i {
		p.reservedBy[j] = int32(i) // of several the last, as the engine has it
	}
}

// checkReserved refuses plans in which something waits for what never runs (B-COMP-4).
func (p *Plan) checkReserved() {
	for i := range p.Actions {
		for _, ids := range [2][]ir.ActionID{p.Actions[i].Dependencies, p.Actions[i].After} {
			for _, id := range ids {
				if by := p.reservedBy[p.byID[id]]; by != none {
					p.refuse("action '%s' waits for '%s', which is reserved as compensation for '%s'", p.Actions[i].ID, id, p.Actions[by].ID)
				}
			}
		}
	}
}

// refuse keeps the first reason.
func (p *Plan) refuse(format string, ids ...ir.ActionID) {
	if p.Refused == "" {
		args := make([]any, len(ids))
		for i, id := range ids {
			args[i] = report.Clip(id)
		}
		p.Refused = fmt.Sprintf(format, args...)
	}
}

// Levels are the plan's actions in the order of a walk.
func (p *Plan) Levels() []Level { return p.levels }

// ReservedBy names the action that the one at an index is kept for as its
// compensation (B-COMP-4). Such an action never runs forward.
func (p *Plan) ReservedBy(i int) (by int, reserved bool) {
	return int(p.reservedBy[i]), p.reservedBy[i] != none
}

// Key finds the number of a key that the plan names.
func (p *Plan) Key(name string) (int, bool) {
	k, ok := p.index[name]
	return int(k), ok
}

// ByID finds an action; the first of a doubled id.
func (p *Plan) ByID(id ir.ActionID) (int, bool) {
	i, ok := p.byID[id]
	return int(i), ok
}

// Broken says why the engine refuses the action whatever the state is, or nothing.
func (p *Plan) Broken(i int) string { return p.steps[i].broken }

// Inert reports declared effects that are never applied, because the action is no
// tool call (V-GAP-1).
func (p *Plan) Inert(i int) bool { return len(p.steps[i].inert) > 0 }

// Opaque lists the keys that a tool call writes with no declared value, each once
// (V-BEYOND-1).
func (p *Plan) Opaque(i int) []string {
	var keys []string
	for _, k := range p.steps[i].opaque {
		keys = append(keys, p.Keys[k])
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Writes lists the keys that an action changes if it runs, known and opaque ones.
func (p *Plan) Writes(i int) []int {
	var keys []int
	for _, s := range p.steps[i].sets {
		keys = append(keys, int(s.key))
	}
	for _, k := range p.steps[i].opaque {
		keys = append(keys, int(k))
	}
	return keys
}

// Needs lists the keys that an action looks at before it runs: dependencies and
// preconditions, and what an assertion tests.
func (p *Plan) Needs(i int) []int {
	s := &p.steps[i]
	var keys []int
	for _, k := range s.needs {
		keys = append(keys, int(k))
	}
	for _, c := range s.conditions {
		keys = append(keys, int(c.key))
	}
	if s.asserts != none {
		keys = append(keys, int(s.asserts))
	}
	return keys
}

// Requires lists the actions whose success an action waits for.
func (p *Plan) Requires(i int) []int {
	var actions []int
	for _, j := range p.steps[i].after {
		actions = append(actions, int(j))
	}
	return actions
}

func (p *Plan) key(name string) int32 {
	k, ok := p.index[name]
	if !ok {
		k = int32(len(p.Keys))
		p.index[name] = k
		p.Keys = append(p.Keys, name)
	}
	return k
}

func (p *Plan) give(v any, by int32) int32 {
	p.values = append(p.values, value{v, by})
	return int32(len(p.values) - 1)
}

func (p *Plan) compile(i int32) step {
	a := &p.Actions[i]
	s := step{asserts: none}
	for c := range a.Preconditions {
		s.conditions = append(s.conditions, condition{p.key(a.Preconditions[c].Key), &a.Preconditions[c]})
	}
	for _, name := range a.StateDependencies {
		s.needs = append(s.needs, p.key(name))
	}
	for _, id := range a.Dependencies {
		if j, ok := p.byID[id]; ok && p.precedes(j, i) {
			s.after = append(s.after, j)
		}
	}
	name, ok := a.StateKey()
	switch {
	case a.Type == ir.ActionUnset:
		s.broken = "action has no type"
	case a.Type == ir.ToolCall && a.Tool == "":
		s.broken = "tool_call requires 'tool'"
	case a.Type != ir.ToolCall && (!ok || name == ""):
		s.broken = fmt.Sprintf("%s requires 'key' parameter", a.Type)
	}
	if ok && name != "" {
		p.compileState(&s, a, name, i)
	}
	p.compileEffects(&s, a, i)
	return s
}

// precedes keeps a success to wait for that the walk can wait for: the order between
// two actions of a cycle is none.
func (p *Plan) precedes(j, i int32) bool {
	return p.Graph.Level(int(j)) < p.Graph.Level(int(i))
}

func (p *Plan) compileState(s *step, a *ir.Action, name string, i int32) {
	switch a.Type {
	case ir.StateWrite:
		s.sets = append(s.sets, set{p.key(name), p.give(a.Parameters["value"], i)})
	case ir.Assertion:
		s.asserts, s.want = p.key(name), a.Parameters["expected"]
	}
}

// compileEffects adds what the action declares, in the order of the keys.
func (p *Plan) compileEffects(s *step, a *ir.Action, i int32) {
	for _, name := range slices.Sorted(maps.Keys(a.ExpectedEffects)) {
		effect := set{p.key(name), p.give(a.ExpectedEffects[name], i)}
		if a.Type == ir.ToolCall {
			s.sets = append(s.sets, effect)
		} else {
			s.inert = append(s.inert, effect)
		}
	}
	if a.Type != ir.ToolCall {
		return
	}
	for _, name := range a.WriteSet {
		if _, declared := a.ExpectedEffects[name]; !declared {
			s.opaque = append(s.opaque, p.key(name))
		}
	}
}

// Names are the ids of actions, clipped for a message.
func (p *Plan) Names(indices []int) []string {
	names := make([]string, len(indices))
	for at, i := range indices {
		names[at] = report.Clip(p.Actions[i].ID)
	}
	return names
}
