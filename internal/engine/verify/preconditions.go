package verify

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/model"
	"car/internal/engine/verify/report"
)

func isCall(a *ir.Action) bool { return a.Type == ir.ToolCall }

// canonical is a value as text that is equal for equal values. One that JSON cannot
// hold has its Go form; it equals nothing it should not.
func canonical(v any) string {
	text, err := ir.Canonical(v)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(text)
}

// findUnmet is preconditions: those of an action, and the test of an assertion, that
// fail in the model. An action kept as a compensation runs in a state that no model
// knows, so nothing is said of it.
func findUnmet(r *run, i int) []finding {
	if _, reserved := r.plan.ReservedBy(i); reserved {
		return nil
	}
	var found []finding
	a := &r.p.Actions[i]
	for _, c := range a.Preconditions {
		key, _ := r.plan.Key(c.Key)
		value, presence, _ := r.state.Look(key)
		if presence == model.Unknown || c.Holds(value, presence == model.Present) {
			continue
		}
		f := on(i, "precondition will fail: "+model.ConditionText(c), r.repair(i, key, presence), "wanted: "+model.ConditionText(c), "had: "+r.state.Had(key))
		f.because = append(f.because, r.laterWriters(i, key)...)
		found = append(found, f.shownBy(r.withWriter(i, key)...))
	}
	if r.state.Asserts(i) == model.Blocked {
		name, _ := a.StateKey()
		key, _ := r.plan.Key(name)
		_, presence, _ := r.state.Look(key)
		f := on(i, fmt.Sprintf("assertion will fail: '%s' does not equal what is expected", report.Clip(name)), r.repair(i, key, presence), "had: "+r.state.Had(key))
		f.because = append(f.because, r.laterWriters(i, key)...)
		found = append(found, f.shownBy(r.withWriter(i, key)...))
	}
	return found
}

// withWriter is an action and the one that wrote a key last before it.
func (r *run) withWriter(i, key int) []int {
	if _, _, by := r.state.Look(key); by >= 0 && by != i {
		return []int{min(i, by), max(i, by)}
	}
	return []int{i}
}

// maxLooked bounds the writers that one explanation looks at.
const maxLooked = 64

// notYet lists actions that write a key and have not had their turn, the last 64 at most.
func (r *run) notYet(i, key int) []int {
	writers := r.writers[key]
	var later []int
	for _, w := range writers[max(0, len(writers)-maxLooked):] {
		if w != i && r.state.Ending(w) == model.Waiting {
			later = append(later, w)
		}
	}
	return later
}

// maxListed bounds the names in one explanation.
const maxListed = 8

func (r *run) laterWriters(i, key int) []string {
	later := r.notYet(i, key)
	var because []string
	for _, w := range later[:min(len(later), maxListed)] {
		because = append(because, fmt.Sprintf("action '%s' writes '%s' only later", r.name(w), report.Clip(r.plan.Keys[key])))
	}
	return because
}

// repair says what would give an action the key that it asks for.
func (r *run) repair(i, key int, had model.Presence) string {
	name := report.Clip(r.plan.Keys[key])
	if later := r.notYet(i, key); len(later) > 0 {
		if w := later[0]; !r.plan.Graph.Reaches(i, w) {
			return fmt.Sprintf("add '%s' to the dependencies of action '%s', so that it runs first", r.name(w), r.name(i))
		}
		return fmt.Sprintf("action '%s' writes '%s' but waits for action '%s'; undo one of the two", r.name(later[0]), name, r.name(i))
	}
	if had == model.Present {
		return fmt.Sprintf("change the condition, or what gives '%s' its value", name)
	}
	return fmt.Sprintf("supply '%s' in the initial state, or declare it in the expected_effects of the action that provides it", name)
}

// findMissing is state_dependencies: keys that are neither there nor written at run
// time when the action's turn comes.
func findMissing(r *run, i int) []finding {
	if _, reserved := r.plan.ReservedBy(i); reserved {
		return nil
	}
	var found []finding
	for _, name := range r.p.Actions[i].StateDependencies {
		key, _ := r.plan.Key(name)
		if _, presence, _ := r.state.Look(key); presence != model.Absent {
			continue
		}
		f := on(i, fmt.Sprintf("state dependency '%s' not available at this point", report.Clip(name)), r.repair(i, key, model.Absent))
		f.because = r.laterWriters(i, key)
		if len(f.because) == 0 {
			f.because = append(f.because, fmt.Sprintf("'%s' is not in the initial state and no action declares that it writes it", report.Clip(name)))
			f.because = append(f.because, r.opaqueCalls()...)
		}
		found = append(found, f)
	}
	return found
}

// opaqueCalls names the earlier calls that may well write a key and say nothing of
// it, with the field to say it in (V-BEYOND-1).
func (r *run) opaqueCalls() []string {
	var because []string
	for _, i := range r.opaque[:min(len(r.opaque), maxListed)] {
		because = append(because, fmt.Sprintf("action '%s' calls '%s' and declares nothing of what it writes: name the key in its expected_effects, or in its write_set where the value is not known",
			r.name(i), report.Clip(r.p.Actions[i].Tool)))
	}
	if more := len(r.opaque) - maxListed; more > 0 {
		because = append(because, fmt.Sprintf("so do %d more calls", more))
	}
	return because
}

// findUnknownReads is unknown_reads: what rests on a key that is written at run time
// with no declared value (V-BEYOND-1).
func findUnknownReads(r *run, i int) []finding {
	if _, reserved := r.plan.ReservedBy(i); reserved {
		return nil
	}
	var found []finding
	look := func(name, format string) {
		key, _ := r.plan.Key(name)
		_, presence, by := r.state.Look(key)
		if presence != model.Unknown {
			return
		}
		f := on(i, fmt.Sprintf(format, report.Clip(name), r.name(by)), fmt.Sprintf("declare '%s' in the expected_effects of action '%s' if its value is known", report.Clip(name), r.name(by)),
			r.state.Had(key)).warn()
		found = append(found, f.shownBy(r.withWriter(i, key)...))
	}
	a := &r.p.Actions[i]
	for _, name := range a.StateDependencies {
		look(name, "state dependency '%s' may be missing: action %s writes it with no declared effect")
	}
	for _, c := range a.Preconditions {
		look(c.Key, "precondition on '%s' cannot be decided: action %s sets it at run time")
	}
	if name, ok := a.StateKey(); ok && name != "" && a.Type == ir.Assertion {
		look(name, "assertion on '%s' cannot be decided: action %s sets it at run time")
	}
	return found
}
