package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"car/internal/engine/verify/flow"
	"car/internal/engine/verify/match"
)

// LabelFile is `.car/tool-labels.json` with where it lies (G-FLOW-1). Every part is
// optional; it adds to what is built in and strengthens it.
type LabelFile struct {
	// Path is the file, Root the folder its globs are written from; both absolute.
	// Trusted says that a person trusts it: only then does it declassify.
	Path    string `json:"-"`
	Root    string `json:"-"`
	Trusted bool   `json:"-"`

	Labels     map[string]flow.ToolLabels `json:"labels"`
	FlowPolicy FlowPolicy                 `json:"flow_policy"`
	GatePolicy GatePolicy                 `json:"gate_policy"`
}

// FlowPolicy says which flows are none.
type FlowPolicy struct {
	// MaxInput is the most that any sink may be given; unset is internal.
	MaxInput flow.Confidentiality `json:"max_input"`
	// ConfidentialPaths are globs whose content is secret.
	ConfidentialPaths []string `json:"confidential_paths"`
	// ForbiddenOrders name tools, capabilities, or commands as "run:git push".
	ForbiddenOrders []flow.Order `json:"forbidden_orders"`
	// DeclassifiesTo says what a tool's output is whatever went in.
	DeclassifiesTo map[string]flow.Confidentiality `json:"declassifies_to"`
}

// GatePolicy says what a violation is worth; what is not written stays as it is.
type GatePolicy struct {
	Exfiltration       *flow.Disposition `json:"exfiltration"`
	UntrustedInfluence *flow.Disposition `json:"untrusted_influence"`
	ForbiddenOrder     *flow.Disposition `json:"forbidden_order"`
}

// Validate reports the first value that means nothing, with its key.
func (f LabelFile) Validate() error {
	for i, glob := range f.FlowPolicy.ConfidentialPaths {
		if err := match.CheckPath(glob); err != nil {
			return fmt.Errorf("flow_policy.confidential_paths[%d]: %w", i, err)
		}
	}
	for i, o := range f.FlowPolicy.ForbiddenOrders {
		for key, name := range map[string]string{"first": o.First, "then": o.Then} {
			if strings.TrimSpace(strings.TrimPrefix(name, runPrefix)) == "" {
				return fmt.Errorf("flow_policy.forbidden_orders[%d].%s: names no tool, capability or command", i, key)
			}
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(f.Labels)) {
		if tool == "" {
			return fmt.Errorf("labels: a tool has no name")
		}
	}
	return nil
}

// runPrefix marks a command in an order.
const runPrefix = "run:"

// NetSend is the capability of tools that send what they are given.
const NetSend = "net_send"

// builtinLabels are what is said of the tools of this house (G-FLOW-1). A tool that
// is not here is unlabelled: internal and not trusted.
func builtinLabels() map[string]flow.ToolLabels {
	read := flow.ToolLabels{Capability: "file_read", Confidentiality: flow.Internal, Trust: flow.Trusted}
	write := flow.ToolLabels{Capability: "file_write", Confidentiality: flow.Internal, Trust: flow.Trusted}
	exec := flow.ToolLabels{Capability: "exec", Confidentiality: flow.Internal, Trust: flow.Trusted}
	plain := flow.ToolLabels{Confidentiality: flow.Public, Trust: flow.Trusted}
	net := flow.ToolLabels{Capability: NetSend, Confidentiality: flow.Public, Trust: flow.Untrusted, Sink: true}
	return map[string]flow.ToolLabels{
		"read_file": read, "list_dir": read, "find_files": read, "grep_files": read, "write_file": write, "edit_file": write,
		"shell": exec, "shell_output": exec, "shell_kill": exec, "calculate": plain, "todo_write": plain, "events_query": plain,
		"http_request": net, "web_search": net,
		"": plain, // actions on state have no tool
	}
}

// labelling is what all files come to together.
type labelling struct {
	tools  map[string]flow.ToolLabels
	orders []flow.Order
	worth  flow.GatePolicy
	// limit is the most that a sink may be given, whichever it is.
	limit flow.Confidentiality
}

// combine merges files over what is built in; every one can only add or strengthen.
func combine(files []LabelFile) labelling {
	l := labelling{tools: builtinLabels(), worth: flow.DefaultGatePolicy(), limit: flow.Internal}
	for _, f := range files {
		for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
			known, ok := l.tools[name]
			if !ok {
				known = flow.Unlabelled()
			}
			if !ok && f.Trusted {
				known = knownBy(f.Labels[name])
			}
			l.tools[name] = known.Strengthen(f.Labels[name])
		}
		if f.Trusted {
			l.declassify(f.FlowPolicy.DeclassifiesTo)
		}
		l.orders = append(l.orders, f.FlowPolicy.ForbiddenOrders...)
		l.worth = l.worth.Strengthen(f.GatePolicy.over(l.worth))
		if m := f.FlowPolicy.MaxInput; m != flow.ConfidentialityUnset {
			l.limit = min(l.limit, m)
		}
	}
	return l
}

// knownBy is what a person's label makes of a tool that nobody knew: where it is
// silent, nothing is known still.
func knownBy(t flow.ToolLabels) flow.ToolLabels {
	if t.Confidentiality == flow.ConfidentialityUnset {
		t.Confidentiality = flow.Internal
	}
	if t.Trust == flow.TrustUnset {
		t.Trust = flow.Untrusted
	}
	return t
}

func (l *labelling) declassify(to map[string]flow.Confidentiality) {
	for name, level := range to {
		t, ok := l.tools[name]
		if !ok {
			t = flow.Unlabelled()
		}
		t.DeclassifiesTo = level
		l.tools[name] = t
	}
}

// over is the policy with what is written.
func (p GatePolicy) over(base flow.GatePolicy) flow.GatePolicy {
	for _, one := range []struct {
		into *flow.Disposition
		from *flow.Disposition
	}{{&base.Exfiltration, p.Exfiltration}, {&base.UntrustedInfluence, p.UntrustedInfluence}, {&base.ForbiddenOrder, p.ForbiddenOrder}} {
		if one.from != nil {
			*one.into = *one.from
		}
	}
	return base
}
