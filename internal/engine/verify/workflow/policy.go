package workflow

import (
	"encoding/json"
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/verify/input"
	"car/internal/engine/verify/report"
)

// PolicyType is the form of a rule about the order of stages: its wire label.
type PolicyType string

// The forms (V-WF-2).
const (
	// Precedes: whoever comes to Then has been at First.
	Precedes PolicyType = "precedes"
	// AlwaysFollowedBy: after First, Then comes before the run ends.
	AlwaysFollowedBy PolicyType = "always_followed_by"
	// NeverAfter: after First, Then does not come any more.
	NeverAfter PolicyType = "never_after"
	// Required: every run that ends has been at Node.
	Required PolicyType = "required"
	// AtMostOnce: no run comes to Node twice.
	AtMostOnce PolicyType = "at_most_once"
)

// Policy is one rule. Node counts for required and at_most_once, First and Then for
// the others.
type Policy struct {
	Type  PolicyType `json:"type"`
	First string     `json:"first,omitempty"`
	Then  string     `json:"then,omitempty"`
	Node  string     `json:"node,omitempty"`
}

// PolicyReport is which rules hold on every path.
type PolicyReport struct {
	OK         bool        `json:"ok"`
	Violations []Violation `json:"violations"`
	report.Scope
}

// Violation is a rule with a shortest path that breaks it, from the start.
type Violation struct {
	Policy      Policy   `json:"policy"`
	Path        []string `json:"path"`
	Explanation string   `json:"explanation"`
}

// DecodePolicies reads rules from JSON: an array of {"type", …}, or an object with
// such an array as "policies". Errors are *ir.PathError values, wrapped.
func DecodePolicies(data []byte) ([]Policy, error) {
	var file struct {
		Policies []Policy `json:"policies"`
	}
	var whole json.RawMessage
	err := input.Decode(data, &whole)
	path := ""
	switch {
	case err != nil:
	case whole[0] == '{':
		path, err = "policies", input.Part(whole, "", &file)
	default:
		err = input.Part(whole, "", &file.Policies)
	}
	for i := 0; err == nil && i < len(file.Policies); i++ {
		err = file.Policies[i].check(fmt.Sprintf("%s[%d]", path, i))
	}
	if err != nil {
		return nil, fmt.Errorf("decode policies: %w", err)
	}
	return file.Policies, nil
}

func (p Policy) check(path string) error {
	field := ""
	switch p.Type {
	case Precedes, AlwaysFollowedBy, NeverAfter:
		if p.First == "" {
			field = "first"
		} else if p.Then == "" {
			field = "then"
		}
	case Required, AtMostOnce:
		if p.Node == "" {
			field = "node"
		}
	default:
		return &ir.PathError{Path: input.Join(path, "type"), Problem: fmt.Sprintf("unknown policy %q (one of %s, %s, %s, %s, %s)", p.Type, Precedes, AlwaysFollowedBy, NeverAfter, Required, AtMostOnce)}
	}
	if field != "" {
		return &ir.PathError{Path: input.Join(path, field), Problem: "required"}
	}
	return nil
}

// stages are the ids that a rule names.
func (p Policy) stages() []string {
	if p.Type == Required || p.Type == AtMostOnce {
		return []string{p.Node}
	}
	return []string{p.First, p.Then}
}

// CheckPolicies decides each rule over every path of a workflow (V-WF-2), in time
// linear in the workflow for each. Errors: a rule or start that names no stage, an
// unknown form; the report would say nothing.
func CheckPolicies(w Graph, policies []Policy) (PolicyReport, error) {
	n := newNet(w)
	if n.start == none {
		return PolicyReport{}, fmt.Errorf("check policies: start stage '%s' does not exist", report.Clip(w.Start))
	}
	r := PolicyReport{OK: true, Violations: []Violation{}, Scope: scope()}
	r.CannotVerify = append(r.CannotVerify, "runs that never end")
	for i, p := range policies {
		if err := p.check(fmt.Sprintf("[%d]", i)); err != nil {
			return PolicyReport{}, fmt.Errorf("check policies: %w", err)
		}
		for _, id := range p.stages() {
			if _, ok := n.index[id]; !ok {
				return PolicyReport{}, fmt.Errorf("check policies: policy %d (%s) names stage '%s', which the workflow does not have", i+1, p.Type, report.Clip(id))
			}
		}
		if path, why := n.counterexample(p); path != nil {
			r.OK = false
			r.Violations = append(r.Violations, Violation{p, n.ids(path), why})
		}
	}
	return r, nil
}

// counterexample is a shortest path from the start that breaks a rule, or nil.
func (n *net) counterexample(p Policy) (path []int, why string) {
	is := func(id string) func(int) bool {
		at := n.index[id]
		return func(i int) bool { return i == at }
	}
	first, then, node := report.Clip(p.First), report.Clip(p.Then), report.Clip(p.Node)
	switch p.Type {
	case Precedes:
		if n.index[p.First] == n.start {
			return nil, ""
		}
		return n.graph.Path(n.start, is(p.Then), is(p.First)), fmt.Sprintf("'%s' is reached without '%s' before it", then, first)
	case AlwaysFollowedBy:
		tail := n.escape(n.index[p.First], n.index[p.Then])
		return n.via(n.index[p.First], tail), fmt.Sprintf("after '%s' the run can end without '%s'", first, then)
	case NeverAfter:
		tail := n.graph.PathBack(n.index[p.First], is(p.Then), nobody)
		return n.via(n.index[p.First], tail), fmt.Sprintf("'%s' can come after '%s'", then, first)
	case Required:
		if n.index[p.Node] == n.start {
			return nil, ""
		}
		return n.escape(n.start, n.index[p.Node]), fmt.Sprintf("a run can end without '%s'", node)
	default:
		tail := n.graph.PathBack(n.index[p.Node], is(p.Node), nobody)
		return n.via(n.index[p.Node], tail), fmt.Sprintf("'%s' lies on a cycle, so a run can come to it again", node)
	}
}

func nobody(int) bool { return false }

// escape is a shortest path from a node to where a run ends, or is sure not to come to
// another any more, without having come to that other after its first node.
func (n *net) escape(from, other int) []int {
	ends := make([]bool, len(n.nodes))
	for _, i := range n.endings() {
		ends[i] = true
	}
	leads := n.leadingTo([]int{other})
	lost := func(i int) bool { return ends[i] || !leads[i] }
	isOther := func(i int) bool { return i == other }
	if lost(from) || from == other && n.graph.PathBack(from, isOther, nobody) == nil {
		return []int{from}
	}
	return n.graph.PathBack(from, func(i int) bool { return lost(i) && i != other }, isOther)
}

// via puts a shortest path from the start before a tail; nil where there is either no
// tail or no such path.
func (n *net) via(node int, tail []int) []int {
	if tail == nil || !n.reached[node] {
		return nil
	}
	return append(n.graph.Path(n.start, func(i int) bool { return i == node }, nobody), tail[1:]...)
}
