package txn

import (
	"cmp"
	"fmt"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// maxPairs bounds the pairs that are listed of one key (V-TXN-2).
const maxPairs = 1000

// Kind is a kind of hazard; its text is wire, its order is that of the report.
type Kind string

// The kinds.
const (
	StaleAssumption Kind = "stale_assumption"
	WriteWrite      Kind = "write_write"
	ReadWrite       Kind = "read_write"
)

var kindOrder = map[Kind]int{StaleAssumption: 0, WriteWrite: 1, ReadWrite: 2}

// Conflict is one hazard, with how to mend it.
type Conflict struct {
	Kind        Kind          `json:"kind"`
	Key         string        `json:"key"`
	Actions     []ir.ActionID `json:"actions"`
	Explanation string        `json:"explanation"`
	Resolution  string        `json:"resolution"`
	// Predicted says that a write of it is foreseen and not declared.
	Predicted bool `json:"predicted,omitempty"`

	first, second int
}

// Report is what a check found. Lists are never null in JSON.
type Report struct {
	Consistent bool       `json:"consistent"`
	Conflicts  []Conflict `json:"conflicts"`
	// Unchecked are assumptions that could not be judged and pairs that are not
	// listed, and why.
	Unchecked []string `json:"unchecked"`
	report.Scope
}

// View is shared state as the proposal would meet it.
type View struct {
	// Version is a key's version; nil where versions are not known.
	Version func(key string) uint64
	// Value is nil where values are not known; then only versions are compared.
	Value func(key string) (value any, present bool)
	// Key is where an action's key stands, for tenants; nil is as written. The order
	// between actions is always that of the proposal as written.
	Key func(a ir.Action, key string) string
	// Predicts names keys that an action is foreseen to write beside what it declares;
	// nil foresees nothing.
	Predicts func(a ir.Action) []string
}

// Check looks for hazards in a proposal. A pair is one when neither of two actions
// comes before the other by what they declare. What is wrong with the ids of a
// proposal is not looked at: it is left out of the order.
func Check(p ir.Proposal, v View) Report {
	g, _ := dag.Of(p.Actions)
	c := &checker{actions: p.Actions, view: v, graph: g, readers: map[string][]int{}, writers: map[string][]int{}, predicted: map[access]bool{}}
	c.collect()
	c.assumptions()
	c.pairs()
	slices.SortStableFunc(c.found, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]), cmp.Compare(a.Key, b.Key), cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second))
	})
	return Report{Consistent: len(c.found) == 0, Conflicts: append([]Conflict{}, c.found...), Unchecked: append([]string{}, c.unchecked...),
		Scope: report.Scope{Tier: report.DecisionProcedure, CannotVerify: []string{"access that is not declared", "changes between the check and the run"}}}
}

// access is an action and a key that it touches.
type access struct {
	action int
	key    string
}

// checker is one check under way.
type checker struct {
	actions []ir.Action
	view    View
	graph   *dag.Graph
	// readers and writers of each key, as resolved, ascending.
	readers, writers map[string][]int
	keys             []string
	predicted        map[access]bool
	found            []Conflict
	unchecked        []string
}

func (c *checker) key(i int, key string) string {
	if c.view.Key == nil {
		return key
	}
	return c.view.Key(c.actions[i], key)
}

func (c *checker) name(i int) string { return report.Clip(c.actions[i].ID) }

// collect notes who reads and who writes each key.
func (c *checker) collect() {
	seen := map[string]bool{}
	note := func(in map[string][]int, i int, name string) (key string, fresh bool) {
		key = c.key(i, name)
		if list := in[key]; len(list) > 0 && list[len(list)-1] == i {
			return key, false
		}
		in[key] = append(in[key], i)
		if !seen[key] {
			seen[key] = true
			c.keys = append(c.keys, key)
		}
		return key, true
	}
	for i, a := range c.actions {
		for _, k := range a.WriteKeys() {
			note(c.writers, i, k)
		}
		if c.view.Predicts != nil {
			for _, k := range c.view.Predicts(a) {
				if key, fresh := note(c.writers, i, k); fresh {
					c.predicted[access{i, key}] = true
				}
			}
		}
		for _, k := range a.ReadKeys() {
			note(c.readers, i, k)
		}
	}
	slices.Sort(c.keys)
}

// assumptions compares what proposers believed with what is there now.
func (c *checker) assumptions() {
	for i, a := range c.actions {
		for _, as := range a.Assumptions {
			key := c.key(i, as.Key)
			if w, ok := c.writtenBefore(i, key); ok {
				c.skip("assumption of '%s' on '%s': '%s' writes it first", c.name(i), report.Clip(key), c.name(w))
				continue
			}
			if why := c.stale(i, as, key); why != "" {
				c.found = append(c.found, Conflict{Kind: StaleAssumption, Key: key, Actions: []ir.ActionID{a.ID}, Explanation: why, first: i,
					Resolution: fmt.Sprintf("read '%s' again and plan from what it holds now", report.Clip(key))})
			}
		}
	}
}

// writtenBefore finds a writer of a key that comes before an action. Mostly it is one
// that the action waits for, since what is assumed is read.
func (c *checker) writtenBefore(i int, key string) (writer int, ok bool) {
	writers := c.writers[key]
	if len(writers) == 0 || len(writers) == 1 && writers[0] == i {
		return 0, false
	}
	for _, j := range c.graph.In(i) {
		if _, writes := slices.BinarySearch(writers, int(j)); writes {
			return int(j), true
		}
	}
	before := dag.NewSet(len(c.actions))
	for _, j := range c.graph.Ancestors(i) {
		before.Add(j)
	}
	if at := slices.IndexFunc(writers, before.Has); at >= 0 {
		return writers[at], true
	}
	return 0, false
}

func (c *checker) skip(format string, args ...any) {
	c.unchecked = append(c.unchecked, fmt.Sprintf(format, args...))
}

func (c *checker) stale(i int, as ir.Assumption, key string) string {
	id, name := c.name(i), report.Clip(key)
	if as.ReadVersion != nil {
		if c.view.Version == nil {
			c.skip("version that '%s' read of '%s': no versions were given", id, name)
		} else if now := c.view.Version(key); now > *as.ReadVersion {
			return fmt.Sprintf("'%s' read '%s' at version %d; it is at version %d now", id, name, *as.ReadVersion, now)
		} else if now < *as.ReadVersion {
			return fmt.Sprintf("'%s' says it read '%s' at version %d, which is ahead of the store's %d", id, name, *as.ReadVersion, now)
		}
	}
	if as.ExpectedValue == nil {
		return ""
	}
	if c.view.Value == nil {
		c.skip("value that '%s' expects of '%s': no state was given", id, name)
		return ""
	}
	value, present := c.view.Value(key)
	if !present || !ir.Equal(value, *as.ExpectedValue) {
		return fmt.Sprintf("'%s' expects another value of '%s' than it holds", id, name)
	}
	return ""
}

// pairs looks for two actions that touch a key and that nothing orders.
func (c *checker) pairs() {
	for _, key := range c.keys {
		writers := c.writers[key]
		both := c.graph.Unordered(writers, writers, maxPairs)
		for _, p := range both.List {
			c.add(WriteWrite, key, p[0], p[1])
		}
		var readers []int // who writes it too is in the pairs above
		for _, i := range c.readers[key] {
			if _, writes := slices.BinarySearch(writers, i); !writes {
				readers = append(readers, i)
			}
		}
		one := c.graph.Unordered(readers, writers, maxPairs-len(both.List))
		for _, p := range one.List {
			c.add(ReadWrite, key, min(p[0], p[1]), max(p[0], p[1]))
		}
		if n := both.More + one.More; both.Partial || one.Partial {
			c.skip("%d or more further pairs on '%s': the plan is too large for all to be compared", n, report.Clip(key))
		} else if n > 0 {
			c.skip("%d further pairs on '%s', not listed", n, report.Clip(key))
		}
	}
}

func (c *checker) add(kind Kind, key string, i, j int) {
	what := map[Kind]string{WriteWrite: "both write", ReadWrite: "read and write"}[kind]
	predicted := c.predicted[access{i, key}] || c.predicted[access{j, key}]
	foreseen := ""
	if predicted {
		foreseen = " (foreseen, not declared)"
	}
	c.found = append(c.found, Conflict{Kind: kind, Key: key, Actions: []ir.ActionID{c.actions[i].ID, c.actions[j].ID}, Predicted: predicted, first: i, second: j,
		Explanation: fmt.Sprintf("'%s' and '%s' %s '%s'%s, and nothing says which is first", c.name(i), c.name(j), what, report.Clip(key), foreseen),
		Resolution:  fmt.Sprintf("add a dependency between '%s' and '%s', or give '%s' one owner", c.name(i), c.name(j), report.Clip(key))})
}
