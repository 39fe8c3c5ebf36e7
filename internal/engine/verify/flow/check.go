package flow

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// Action is an action as far as flow goes.
type Action struct {
	ID   ir.ActionID
	Tool string
	// Reads and Writes are state keys. Needs are actions whose results it is declared
	// to be made of; an order alone carries nothing.
	Reads  []string
	Writes []string
	Needs  []ir.ActionID
	// Label is of what it takes in by itself, as the content of a file it reads; May of
	// what it may take in beside that.
	Label Label
	May   Label
	// Output is of what it brings beside what its tool always does, as an answer from a network.
	Output Label
	// Sink says that this call sends what it is given, whatever its tool does else;
	// MaySink that it may.
	Sink    bool
	MaySink bool
	// Names are what orders may call it beside its tool and capability.
	Names []string
}

// Policy is what a check is made by.
type Policy struct {
	Tools  map[string]ToolLabels
	Orders []Order
	// MaxInput bounds every sink beside its own limit; unset bounds none.
	MaxInput Confidentiality
	// Floor is what the author of the actions has read before, MayFloor what it may
	// have read beside that: every action is made of it.
	Floor    Label
	MayFloor Label
	// Past are the names of what has happened before, for orders.
	Past map[string]bool
}

// Order forbids that Then follows First. Both are a tool, a capability, or a name
// that the caller gives its actions.
type Order struct {
	First string `json:"first"`
	Then  string `json:"then"`
}

// Kind is what is wrong. The zero value is unset.
type Kind uint8

// The kinds of violation.
const (
	KindUnset Kind = iota
	Exfiltration
	UntrustedInfluence
	ForbiddenOrder
)

var kindLabels = []string{Exfiltration: "exfiltration", UntrustedInfluence: "untrusted_influence", ForbiddenOrder: "forbidden_order"}

// String returns the wire label.
func (k Kind) String() string { return word(kindLabels, int(k)) }

// MarshalText writes the wire label.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Violation is one flow that must not be.
type Violation struct {
	Kind Kind `json:"kind"`
	// Source is the action it comes from; empty where it comes from a state key (Key)
	// or from before the proposal.
	Source ir.ActionID `json:"source,omitempty"`
	Key    string      `json:"key,omitempty"`
	Sink   ir.ActionID `json:"sink"`
	// Path leads from source to sink, both included, by the fewest steps.
	Path  []ir.ActionID `json:"path"`
	Label Label         `json:"label"`
	// Certain is false for what may happen.
	Certain     bool   `json:"certain"`
	Explanation string `json:"explanation"`
}

// Report is what Check found.
type Report struct {
	report.Scope
	Secure     bool        `json:"secure"`
	Violations []Violation `json:"violations"`
	// Labels are of every action's output, in the order of the actions.
	Labels []Label `json:"labels"`
}

// Check follows labels from the state along writer-to-reader edges to a fixpoint
// and lists every flow that must not be (V-FLOW-2, V-FLOW-3). edges are what orders
// the actions, by index; keys are the labels of state. It takes time linear in actions
// and edges, and for orders one search for each action that Then names. An unknown
// label is an error.
func Check(actions []Action, edges []ir.Edge, policy Policy, keys map[string]Label) (Report, error) {
	if err := known(actions, policy, keys); err != nil {
		return Report{}, err
	}
	c := newCheck(actions, edges, policy, keys)
	c.settle()
	found := Report{Scope: report.Scope{Tier: report.DecisionProcedure, CannotVerify: []string{
		"flow that is not declared", "labels that are wrong", "what timing and order of effects give away",
	}}, Labels: make([]Label, len(actions)), Violations: []Violation{}}
	for i := range actions {
		found.Labels[i] = c.out[i].sure
		found.Violations = c.exfiltration(found.Violations, i)
		found.Violations = c.influence(found.Violations, i)
	}
	found.Violations = c.orders(found.Violations)
	found.Secure = len(found.Violations) == 0
	return found, nil
}

func known(actions []Action, policy Policy, keys map[string]Label) error {
	for _, a := range actions {
		for _, l := range []Label{a.Label, a.May, a.Output} {
			if err := l.check(); err != nil {
				return fmt.Errorf("action '%s': %w", report.Clip(a.ID), err)
			}
		}
	}
	for name, t := range policy.Tools {
		if err := t.output().check(); err != nil || t.MaxInput > Secret || t.DeclassifiesTo > Secret {
			return fmt.Errorf("tool '%s': unknown label", report.Clip(name))
		}
	}
	for key, l := range keys {
		if err := l.check(); err != nil {
			return fmt.Errorf("state key '%s': %w", report.Clip(key), err)
		}
	}
	if policy.MaxInput > Secret {
		return fmt.Errorf("unknown label %d", policy.MaxInput)
	}
	for _, l := range []Label{policy.Floor, policy.MayFloor} {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

// pair is what a value surely is, and what it may be at most.
type pair struct{ sure, may Label }

// of is what is sure, or what may be.
func (p pair) of(sure bool) Label {
	if sure {
		return p.sure
	}
	return p.may
}

func (p pair) join(o pair) pair { return pair{p.sure.Join(o.sure), p.may.Join(o.may)} }

// check is one check in the making.
type check struct {
	actions []Action
	policy  Policy
	keys    map[string]Label
	// order holds all edges; back the carrying ones turned around, so that a search from a
	// sink finds the nearest source.
	order *dag.Graph
	back  *dag.Graph
	tools []ToolLabels
	// own is what an action takes in from outside the proposal, in what it is made of.
	own, in, out []pair
	// nearest keeps the answers of sources.
	nearest map[excess][]int32
}

func newCheck(actions []Action, edges []ir.Edge, policy Policy, keys map[string]Label) *check {
	n := len(actions)
	c := &check{actions: actions, policy: policy, keys: keys, order: dag.New(n, edges), nearest: map[excess][]int32{},
		tools: make([]ToolLabels, n), own: make([]pair, n), in: make([]pair, n), out: make([]pair, n)}
	c.back = dag.New(n, c.carrying(edges))
	floor := pair{policy.Floor, policy.Floor.Join(policy.MayFloor)}
	for i, a := range actions {
		labels, ok := policy.Tools[a.Tool]
		if !ok {
			labels = Unlabelled()
		}
		labels = labels.Strengthen(ToolLabels{Sink: a.Sink, MaxInput: policy.MaxInput, Confidentiality: a.Output.Confidentiality, Trust: a.Output.Trust})
		c.tools[i] = labels
		c.own[i] = floor.join(pair{a.Label, a.Label.Join(a.May)})
		for _, key := range a.Reads {
			c.own[i] = c.own[i].join(pair{keys[key], keys[key]})
		}
		c.in[i] = c.own[i]
	}
	return c
}

// carrying lists, turned around, the edges along which a value goes: from the
// nearest earlier writer of a key to its reader (preconditions make no edge of the
// proposal, but being gated on a secret tells it), and from an action to one that
// needs its result.
func (c *check) carrying(edges []ir.Edge) []ir.Edge {
	var back []ir.Edge
	for _, e := range edges {
		if e.Key != "" || e.From < 0 || e.To < 0 || e.From >= len(c.actions) || e.To >= len(c.actions) {
			continue
		}
		if contains(c.actions[e.To].Needs, c.actions[e.From].ID) {
			back = append(back, ir.Edge{From: e.To, To: e.From})
		}
	}
	writer := map[string]int{}
	for i := range c.actions {
		for _, key := range c.actions[i].Reads {
			if w, ok := writer[key]; ok {
				back = append(back, ir.Edge{From: i, To: w, Key: key})
			}
		}
		for _, key := range c.actions[i].Writes {
			writer[key] = i
		}
	}
	return back
}

// Of lowers an action: what it reads and writes of state, preconditions included,
// and whose results it is declared to be made of (V-FLOW-1).
func Of(a ir.Action) Action {
	reads := append(a.ReadKeys(), a.StateDependencies...)
	for _, p := range a.Preconditions {
		reads = append(reads, p.Key)
	}
	return Action{ID: a.ID, Tool: a.Tool, Reads: reads, Writes: a.WriteKeys(), Needs: a.Dependencies}
}

func contains[T comparable](list []T, x T) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// settle runs labels along the edges until nothing changes. Each of the few steps of
// the lattice is taken once by an action, so every edge is walked a few times.
func (c *check) settle() {
	work := make([]int32, 0, len(c.actions))
	queued := make([]bool, len(c.actions))
	for i := range c.actions {
		c.out[i] = c.outputOf(i)
		work, queued[i] = append(work, int32(i)), true
	}
	for done := 0; done < len(work); done++ {
		i := int(work[done])
		queued[i] = false
		for _, j := range c.back.In(i) { // whoever takes from i
			if next := c.in[j].join(c.out[i]); next != c.in[j] {
				c.in[j] = next
				c.out[j] = c.outputOf(int(j))
				if !queued[j] {
					work, queued[j] = append(work, j), true
				}
			}
		}
	}
}

// outputOf joins what an action takes in with its tool's own label, unless the tool
// declassifies.
func (c *check) outputOf(i int) pair {
	t := c.tools[i]
	out := c.in[i].join(pair{t.output(), t.output()})
	if to := t.DeclassifiesTo; to != ConfidentialityUnset {
		out.sure.Confidentiality, out.may.Confidentiality = min(out.sure.Confidentiality, to), min(out.may.Confidentiality, to)
	}
	return out
}
