package verify

import (
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/goal"
	"car/internal/engine/verify/model"
	"car/internal/engine/verify/report"
	"car/internal/engine/verify/schema"
)

// DefaultMaxActions is the limit of the commands; gate and replan allow 100.
const DefaultMaxActions = 30

// Options are what is known beside the proposal (V-VERIFY-1).
type Options struct {
	// State is the state before the first action; nil is empty.
	State map[string]any
	// ToolNames are the registered tools; nil leaves existence unchecked, empty
	// means that there is none. Schemas, where given, win.
	ToolNames []string
	Schemas   *schema.Set
	// MaxActions bounds the proposal; 0 is DefaultMaxActions, below 0 no limit.
	MaxActions int
	// Goal is what the plan is for; nil asks nothing.
	Goal *goal.Condition
}

// Verify finds every fault that a proposal shows without running (V-VERIFY). It
// reads its arguments only, and takes time near linear in the proposal's size.
func Verify(p ir.Proposal, o Options) Result {
	r := newRun(p, o, newRegistry(o), inTurn(table))
	found := r.findings()
	r.addWitnesses(found)
	result := Result{
		Valid: true, Issues: make([]Issue, 0, len(found)), SimulatedState: r.state.Known(), ExecutionLevels: [][]ir.ActionID{},
		Conflicts: append([]Conflict{}, r.conflicts...),
	}
	for _, f := range found {
		result.Issues = append(result.Issues, r.issue(f))
		result.Valid = result.Valid && f.severity != report.Error
	}
	for _, level := range r.plan.Levels() {
		ids := make([]ir.ActionID, len(level.Actions))
		for at, i := range level.Actions {
			ids[at] = p.Actions[i].ID
		}
		result.ExecutionLevels = append(result.ExecutionLevels, ids)
	}
	result.Evidence = r.evidence(result)
	return result
}

// finding is an issue as a check hands it over. The check's name and tier are the
// table's to add.
type finding struct {
	check *check
	// about is the action it is on; proposalWide for none.
	about    int
	severity report.Severity
	message  string
	because  []string
	fix      string
	// witness are the actions that show it, ascending. isolate asks that they be
	// proved: replayed alone, and shrunk or left out if they do not show it.
	witness []int
	isolate bool
	// minimal says that no action of the witness alone can show it.
	minimal bool
}

const proposalWide = -1

// on is the commonest finding: an error that one action, if any, shows alone.
func on(i int, message, fix string, because ...string) finding {
	f := finding{about: i, severity: report.Error, message: message, because: because, fix: fix}
	if i != proposalWide {
		f.witness = []int{i}
	}
	return f
}

// warn makes a finding a warning.
func (f finding) warn() finding {
	f.severity = report.Warning
	return f
}

// shownBy makes other actions part of the witness.
func (f finding) shownBy(indices ...int) finding {
	f.witness, f.isolate = indices, true
	return f
}

// between makes two actions the witness of what is between them.
func (f finding) between(i, j int) finding {
	f.witness, f.isolate, f.minimal = []int{min(i, j), max(i, j)}, true, true
	return f
}

// run is one verification on its way.
type run struct {
	p        ir.Proposal
	o        Options
	registry registry
	plan     *model.Plan
	state    *model.State
	checks   []*check // in the order of their turns

	counts map[string]int
	// conflicts and notes are what checks leave beside their findings.
	conflicts []Conflict
	notes     []string
	// degraded are the tools whose schemas could not be used, in order of appearance.
	degraded []string
	// opaque are the calls, walked so far, that declare nothing of what they write.
	opaque []int
	// writers are the actions that change a key, by key, ascending.
	writers map[int][]int
	levelOf []int
}

func newRun(p ir.Proposal, o Options, reg registry, checks []*check) *run {
	r := &run{p: p, o: o, registry: reg, checks: checks, counts: map[string]int{}, writers: map[int][]int{}, levelOf: make([]int, len(p.Actions))}
	r.plan = model.Compile(p.Actions)
	r.state = r.plan.Start(o.State)
	for i := range p.Actions {
		if _, reserved := r.plan.ReservedBy(i); reserved {
			continue
		}
		for _, key := range r.plan.Writes(i) {
			if w := r.writers[key]; len(w) == 0 || w[len(w)-1] != i {
				r.writers[key] = append(w, i)
			}
		}
	}
	for n, level := range r.plan.Levels() {
		for _, i := range level.Actions {
			r.levelOf[i] = n
		}
	}
	return r
}

// findings runs the checks in their turns around the walk (V-VERIFY-3, V-VERIFY-5).
func (r *run) findings() []finding {
	var found []finding
	take := func(c *check, fresh []finding) {
		for at := range fresh {
			fresh[at].check = c
		}
		r.counts[c.name] += len(fresh)
		found = append(found, fresh...)
	}
	for _, c := range r.checks {
		if c.before != nil {
			take(c, c.before(r))
		}
	}
	for _, level := range r.plan.Levels() {
		for _, i := range level.Actions {
			for _, c := range r.checks {
				if c.each != nil {
					take(c, c.each(r, i))
				}
			}
			r.state.Assume(i)
			r.noteOpaque(i)
		}
	}
	for _, c := range r.checks {
		if c.after != nil {
			take(c, c.after(r))
		}
	}
	return found
}

// noteOpaque remembers a call that says nothing of what it writes.
func (r *run) noteOpaque(i int) {
	a := &r.p.Actions[i]
	if _, reserved := r.plan.ReservedBy(i); !reserved && a.Type == ir.ToolCall && len(a.ExpectedEffects) == 0 && len(a.WriteSet) == 0 {
		r.opaque = append(r.opaque, i)
	}
}

func (r *run) issue(f finding) Issue {
	id := ir.ActionID("proposal")
	if f.about != proposalWide {
		id = r.p.Actions[f.about].ID
	}
	e := &report.Explanation{Because: f.because, Witness: []ir.ActionID{}, Fix: f.fix}
	if e.Because == nil {
		e.Because = []string{}
	}
	for _, i := range f.witness {
		e.Witness = append(e.Witness, r.p.Actions[i].ID)
	}
	return Issue{ActionID: id, Severity: f.severity, Message: f.message, Tier: f.check.tier, Check: f.check.name, Explain: e}
}

// name is an action's id as a message says it.
func (r *run) name(i int) string { return report.Clip(r.p.Actions[i].ID) }

// registry says which tools there are, if anybody said.
type registry struct {
	schemas *schema.Set
	names   map[string]bool
	list    []string // the names, sorted
	given   bool
}

func newRegistry(o Options) registry {
	reg := registry{schemas: o.Schemas, given: o.Schemas != nil || o.ToolNames != nil}
	reg.list = o.Schemas.Names()
	if o.Schemas == nil && o.ToolNames != nil {
		reg.list = slices.Sorted(slices.Values(o.ToolNames))
		reg.names = make(map[string]bool, len(o.ToolNames))
		for _, name := range o.ToolNames {
			reg.names[name] = true
		}
	}
	return reg
}

// lacks reports a tool that is known not to be registered.
func (r registry) lacks(tool string) bool {
	switch {
	case !r.given:
		return false
	case r.schemas != nil:
		return !r.schemas.Has(tool)
	default:
		return !r.names[tool]
	}
}
