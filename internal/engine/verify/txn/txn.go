package txn

import (
	"cmp"
	"fmt"
	"slices"

	"car/internal/engine/ir"
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
}

// Report is what a check found.
type Report struct {
	Consistent bool       `json:"consistent"`
	Conflicts  []Conflict `json:"conflicts"`
	// Unchecked are assumptions that could not be judged, and why.
	Unchecked []string `json:"unchecked"`
	// Tier says how the verdict was reached: it is decided over what is declared.
	Tier string `json:"tier"`
}

// View is shared state as the proposal would meet it. Value is nil where values
// are not known; then only versions are compared.
type View struct {
	Version func(key string) uint64
	Value   func(key string) (value any, present bool)
	// Key is where an action's key stands, for tenants; nil is as written.
	Key func(a ir.Action, key string) string
}

// Check looks for hazards in a proposal whose graph is sound.
func Check(p ir.Proposal, v View) (Report, error) {
	edges, err := ir.Edges(p.Actions)
	if err != nil {
		return Report{}, err
	}
	c := &checker{actions: p.Actions, view: v, next: make([][]int, len(p.Actions)), reached: map[int][]bool{}}
	for _, e := range edges {
		c.next[e.From] = append(c.next[e.From], e.To)
	}
	c.assumptions()
	c.pairs()
	slices.SortStableFunc(c.found, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]), cmp.Compare(a.Key, b.Key))
	})
	return Report{Consistent: len(c.found) == 0, Conflicts: c.found, Unchecked: c.unchecked, Tier: "decision_procedure"}, nil
}

// checker is one check under way.
type checker struct {
	actions   []ir.Action
	view      View
	next      [][]int
	reached   map[int][]bool // what each start reaches, found when first asked
	found     []Conflict
	unchecked []string
}

func (c *checker) key(i int, key string) string {
	if c.view.Key == nil {
		return key
	}
	return c.view.Key(c.actions[i], key)
}

// reaches reports that something orders i before j.
func (c *checker) reaches(i, j int) bool {
	seen, ok := c.reached[i]
	if !ok {
		seen = make([]bool, len(c.actions))
		stack := []int{i}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, n := range c.next[at] {
				if !seen[n] {
					seen[n] = true
					stack = append(stack, n)
				}
			}
		}
		c.reached[i] = seen
	}
	return seen[j]
}

// assumptions compares what proposers believed with what is there now.
func (c *checker) assumptions() {
	for i, a := range c.actions {
		for _, as := range a.Assumptions {
			key := c.key(i, as.Key)
			if w, written := c.writtenBefore(i, key); written {
				c.unchecked = append(c.unchecked, fmt.Sprintf("assumption of '%s' on '%s': '%s' writes it first", a.ID, key, c.actions[w].ID))
				continue
			}
			if why := c.stale(i, as, key); why != "" {
				c.found = append(c.found, Conflict{Kind: StaleAssumption, Key: key, Actions: []ir.ActionID{a.ID}, Explanation: why,
					Resolution: fmt.Sprintf("read '%s' again and plan from what it holds now", key)})
			}
		}
	}
}

func (c *checker) stale(i int, as ir.Assumption, key string) string {
	id := c.actions[i].ID
	if as.ReadVersion != nil {
		switch now := c.view.Version(key); {
		case now > *as.ReadVersion:
			return fmt.Sprintf("'%s' read '%s' at version %d; it is at version %d now", id, key, *as.ReadVersion, now)
		case now < *as.ReadVersion:
			return fmt.Sprintf("'%s' says it read '%s' at version %d, which is ahead of the store's %d", id, key, *as.ReadVersion, now)
		}
	}
	if as.ExpectedValue == nil {
		return ""
	}
	if c.view.Value == nil {
		c.unchecked = append(c.unchecked, fmt.Sprintf("value that '%s' expects of '%s': no state was given", id, key))
		return ""
	}
	value, present := c.view.Value(key)
	if !present || !ir.Equal(value, *as.ExpectedValue) {
		return fmt.Sprintf("'%s' expects another value of '%s' than it holds", id, key)
	}
	return ""
}

func (c *checker) writtenBefore(i int, key string) (writer int, written bool) {
	for j, a := range c.actions {
		for _, k := range a.WriteKeys() {
			if j != i && c.key(j, k) == key && c.reaches(j, i) {
				return j, true
			}
		}
	}
	return 0, false
}

// pairs looks for two actions that touch a key and that nothing orders.
func (c *checker) pairs() {
	readers, writers := map[string][]int{}, map[string][]int{}
	var keys []string
	note := func(in map[string][]int, key string, i int) {
		if len(readers[key])+len(writers[key]) == 0 {
			keys = append(keys, key)
		}
		in[key] = append(in[key], i)
	}
	for i, a := range c.actions {
		for _, k := range a.WriteKeys() {
			note(writers, c.key(i, k), i)
		}
		for _, k := range a.ReadKeys() {
			note(readers, c.key(i, k), i)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		c.pairsOf(key, readers[key], writers[key])
	}
}

func (c *checker) pairsOf(key string, readers, writers []int) {
	listed := 0
	add := func(kind Kind, i, j int, what string) {
		if listed++; listed > maxPairs {
			return
		}
		c.found = append(c.found, Conflict{Kind: kind, Key: key, Actions: []ir.ActionID{c.actions[i].ID, c.actions[j].ID},
			Explanation: fmt.Sprintf("'%s' and '%s' %s '%s', and nothing says which is first", c.actions[i].ID, c.actions[j].ID, what, key),
			Resolution:  fmt.Sprintf("let one depend on the other, or give '%s' one owner", key)})
	}
	for n, i := range writers {
		for _, j := range writers[n+1:] {
			if !c.ordered(i, j) {
				add(WriteWrite, i, j, "both write")
			}
		}
	}
	for _, r := range readers {
		for _, w := range writers {
			if r != w && !slices.Contains(writers, r) && !c.ordered(r, w) {
				add(ReadWrite, min(r, w), max(r, w), "read and write")
			}
		}
	}
}

func (c *checker) ordered(i, j int) bool { return c.reaches(i, j) || c.reaches(j, i) }
