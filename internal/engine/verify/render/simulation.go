package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/report"
)

// Simulation is the state that a plan would leave, key by key: + added, ~ changed,
// - gone, ? unknown, the rest unchanged (V-CLI-4).
func Simulation(initial map[string]any, sim verify.Simulation, s Style) string {
	p := newPage(s)
	keys := map[string]bool{}
	for _, m := range []map[string]any{initial, sim.State} {
		for key := range m {
			keys[key] = true
		}
	}
	for _, key := range sim.UnknownKeys {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		p.stateKey(key, initial, sim)
	}
	if len(keys) == 0 {
		p.line("the state is empty")
	}
	return p.String()
}

func (p *page) stateKey(key string, initial map[string]any, sim verify.Simulation) {
	before, was := initial[key]
	after, is := sim.State[key]
	name := p.esc(key)
	switch _, unknown := slices.BinarySearch(sim.UnknownKeys, key); {
	case unknown:
		p.value(p.paint(warns, "?"), name, "only a run tells")
	case !is:
		p.value(p.paint(bad, "-"), name, "gone")
	case !was:
		p.value(p.paint(good, "+"), name, jsonText(after))
	case !ir.Equal(before, after):
		p.value(p.paint(warns, "~"), name, jsonText(after)+"  (was "+jsonText(before)+")")
	default:
		p.value(" ", name, jsonText(after))
	}
}

// value writes one key with a mark of one column.
func (p *page) value(mark, name, text string) {
	if p.style.Width(name) > p.style.Columns/2 {
		p.para(mark+" ", "    ", name+" = "+text)
		return
	}
	p.para(mark+" "+name+" = ", "    ", text)
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(text)
}

// BlockedActions names the actions of a simulation that do not run, or may not, with
// every reason; empty where there is none.
func BlockedActions(sim verify.Simulation, s Style) string {
	p := newPage(s)
	write := func(list []verify.Blocked, word string, t tone) {
		for _, b := range list {
			p.lead(p.paint(t, word)+" ", report.Clip(b.ActionID))
			for _, why := range b.Because {
				p.item(why)
			}
		}
	}
	write(sim.Blocked, "blocked", bad)
	write(sim.Undecided, "undecided", warns)
	return p.String()
}

// Equivalence says whether two plans leave the same, and from which state they do not.
func Equivalence(e verify.Equivalence, s Style) string {
	p := newPage(s)
	tested := count(e.StatesTested, "state")
	if e.Derived > 0 {
		tested += fmt.Sprintf(", %d of them made from the plans' conditions", e.Derived)
	}
	if e.Equivalent {
		p.lead(p.paint(good, "no difference")+" ", "found from "+tested)
		p.item("that is no proof: states that were not tried may tell them apart")
		return p.String()
	}
	p.lead(p.paint(bad, "not equivalent")+": ", "tried "+tested)
	c := e.Counterexample
	p.para("  from ", "    ", jsonText(c.State))
	side := func(sim verify.Simulation, key string) string {
		v, known := sim.State[key]
		_, unknown := slices.BinarySearch(sim.UnknownKeys, key)
		switch {
		case unknown:
			return "unknown until it runs"
		case known:
			return jsonText(v)
		default:
			return "absent"
		}
	}
	for _, key := range c.Keys {
		p.para("  ", "    ", report.Clip(key)+": first "+side(c.Left, key)+", second "+side(c.Right, key))
	}
	return p.String()
}

// Optimization says what was pruned and on what that rests.
func Optimization(o verify.Optimization, s Style) string {
	p := newPage(s)
	if len(o.Pruned) == 0 {
		p.lead("", "nothing to prune: every dependency is one that an action fulfils")
		return p.String()
	}
	verb := "dependencies"
	if len(o.Pruned) == 1 {
		verb = "dependency"
	}
	p.lead("", fmt.Sprintf("pruned %d %s that no action fulfils; %s before, %s after", len(o.Pruned), verb, count(o.LevelsBefore, "level"), count(o.LevelsAfter, "level")))
	some(p, o.Pruned, maxRows, func(x verify.Pruned) { p.item(fmt.Sprintf("%s: %s", x.ActionID, x.Key)) })
	if len(o.HoldsIf) > 0 {
		p.lead(p.paint(warns, "holds if")+" ", "the state has: "+strings.Join(o.HoldsIf, ", ")+". Without them an action can run that was blocked.")
	}
	return p.String()
}
