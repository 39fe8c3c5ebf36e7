package gate

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/verify/flow"
	"car/internal/engine/verify/match"
)

// FlowConfig makes the information flow gate.
type FlowConfig struct {
	// Root is the session's working root, absolute.
	Root string
	// Files are the label files in force, outermost first.
	Files []LabelFile
	// List tells what folders hold; nil cannot tell, and then walks are a question.
	List Lister
}

// Flow is the information flow gate (G-FLOW): the lattice within a proposal, and a
// ledger of what each session has read. Safe for concurrent use.
type Flow struct {
	places    places
	labelling labelling
	ledger    flowLedger
}

// FlowName is the gate's name in the log.
const FlowName = "information_flow"

// NewFlow checks the files and builds the gate with an empty ledger.
func NewFlow(c FlowConfig) (*Flow, error) {
	f := &Flow{places: places{root: c.Root, list: c.List, globs: []globs{{c.Root, defaultConfidential()}}}, labelling: combine(c.Files)}
	for _, file := range c.Files {
		if err := file.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
		f.places.globs = append(f.places.globs, globs{file.Root, file.FlowPolicy.ConfidentialPaths})
	}
	f.ledger.sessions = map[string]*reading{}
	return f, nil
}

// Name is the gate's name.
func (f *Flow) Name() string { return FlowName }

// Check follows labels through a proposal, over what the session has read before.
func (f *Flow) Check(ctx context.Context, v admit.View) (admit.Opinion, error) {
	edges, err := ir.Edges(v.Proposal.Actions)
	if err != nil {
		return admit.Opinion{}, err
	}
	before := f.ledger.of(v.Session)
	actions := make([]flow.Action, len(v.Proposal.Actions))
	sources := map[ir.ActionID]taken{}
	for i, a := range v.Proposal.Actions {
		if err := ctx.Err(); err != nil {
			return admit.Opinion{}, err
		}
		actions[i], sources[a.ID] = f.lower(v, a)
	}
	f.linkFiles(v, actions)
	r, err := flow.Check(actions, edges, flow.Policy{Tools: f.labelling.tools, Orders: f.labelling.orders, MaxInput: f.labelling.limit,
		Floor: before.sure, MayFloor: before.may, Past: before.names}, nil)
	if err != nil {
		return admit.Opinion{}, err
	}
	for i := range r.Violations {
		r.Violations[i].Explanation = f.explain(v, r.Violations[i], before, sources)
	}
	return opinion(v, flow.Decide(r, f.labelling.worth)), nil
}

// lower says of one action what it takes in and whether it sends.
func (f *Flow) lower(v admit.View, a ir.Action) (flow.Action, taken) {
	j, open := v.Judged[a.ID]
	if !open {
		return flow.Action{ID: a.ID}, taken{} // it will not run
	}
	low := flow.Of(a)
	low.Reads, low.Writes = keysOf(v, a, low.Reads), keysOf(v, a, low.Writes)
	t := f.judge(&low, j)
	return low, t
}

// judge labels an action by policy's facts.
func (f *Flow) judge(low *flow.Action, j policy.Judgement) taken {
	dirs := served(j)
	low.Sink = j.Network || len(dirs) > 0
	low.MaySink = j.Undecided
	reads := slices.Clone(j.Reads)
	for _, dir := range dirs {
		reads = append(reads, policy.Read{Path: dir, Deep: true})
	}
	t := f.places.takes(reads, low.Sink)
	if t.sure != "" {
		low.Label.Confidentiality = flow.Secret
	}
	if t.may != "" {
		low.May.Confidentiality = flow.Secret
	}
	if low.Sink {
		low.Output.Trust = flow.Untrusted
	}
	low.Names = f.names(low, j)
	return t
}

// names are what orders may call an action.
func (f *Flow) names(low *flow.Action, j policy.Judgement) []string {
	var names []string
	if low.Sink {
		names = append(names, NetSend)
	}
	for _, o := range f.labelling.orders {
		for _, name := range []string{o.First, o.Then} {
			run, isRun := strings.CutPrefix(name, runPrefix)
			if isRun && slices.ContainsFunc(j.Programs, func(p policy.Program) bool { return match.Run(run, p.Words) }) {
				names = append(names, name)
			}
		}
	}
	return names
}

func keysOf(v admit.View, a ir.Action, keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		if out[i] = key; v.Key != nil {
			out[i] = v.Key(a, key)
		}
	}
	return out
}

// linkFiles lets a label go through files as through state: what an earlier action
// writes, a later one that reads there takes in. What is read may not be known; then
// it may be any of them.
func (f *Flow) linkFiles(v admit.View, actions []flow.Action) {
	var written []string
	for i, a := range v.Proposal.Actions {
		j := v.Judged[a.ID]
		for _, name := range written {
			if f.readsFile(j, name) {
				actions[i].Reads = append(actions[i].Reads, "file "+name)
			}
		}
		for _, target := range j.Targets {
			name := f.places.absolute(target)
			actions[i].Writes = append(actions[i].Writes, "file "+name)
			if !slices.Contains(written, name) {
				written = append(written, name)
			}
		}
	}
}

func (f *Flow) readsFile(j policy.Judgement, name string) bool {
	if j.Undecided {
		return true
	}
	for _, r := range j.Reads {
		if r.Path == "" {
			return true
		}
		at := f.places.absolute(r.Path)
		rel, inside := within(at, name)
		_, unpacked := within(name, at) // into a folder that was written as a whole
		if unpacked || inside && r.Deep && selected(r.Glob, rel) {
			return true
		}
	}
	for _, dir := range served(j) {
		if _, inside := within(f.places.absolute(dir), name); inside {
			return true
		}
	}
	return false
}

// explain says what would flow from where to where, naming source and sink (B023).
func (f *Flow) explain(v admit.View, one flow.Violation, before reading, sources map[ir.ActionID]taken) string {
	if one.Kind != flow.Exfiltration {
		return one.Explanation
	}
	source := ""
	if t := sources[one.Source]; one.Source != "" {
		source = firstOf(t.sure, t.may)
	}
	if one.Source == "" && one.Key == "" {
		source = strings.Join(before.from, ", ")
	}
	if source == "" {
		source = "what '" + string(one.Source) + "' brings"
	}
	certain := "would"
	if !one.Certain {
		certain = "may"
	}
	return fmt.Sprintf("%s data (%s) %s reach the network through '%s' (%s)", one.Label.Confidentiality, source, certain, one.Sink, describe(v, one.Sink))
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// describe names an action by its tool and, for a shell, the programs that run.
func describe(v admit.View, id ir.ActionID) string {
	for _, a := range v.Proposal.Actions {
		if a.ID != id {
			continue
		}
		var programs []string
		for _, p := range v.Judged[id].Programs {
			if !p.Wraps && len(p.Words) > 0 {
				programs = append(programs, strings.Join(p.Words[:min(len(p.Words), 3)], " "))
			}
		}
		if len(programs) == 0 {
			return a.Tool
		}
		return a.Tool + ": " + short(strings.Join(programs, "; "))
	}
	return "?"
}

// short keeps a name fit for a sentence.
func short(s string) string {
	if len(s) > 120 {
		return s[:100] + "…"
	}
	return s
}

// opinion turns a decision into what admit takes.
func opinion(v admit.View, d flow.Decision) admit.Opinion {
	o := admit.Opinion{Verdict: policy.Allow}
	switch d.Outcome {
	case flow.Reject:
		return admit.Opinion{Verdict: policy.Deny, Blocked: d.Blocked, Reason: d.Reason, Escalations: escalations(v, d.Asks)}
	case flow.NeedsApproval:
		o.Verdict, o.Escalations = policy.Ask, escalations(v, d.Asks)
	}
	return o
}

func escalations(v admit.View, asks []flow.Ask) []admit.Escalation {
	var out []admit.Escalation
	for _, ask := range asks {
		out = append(out, admit.Escalation{Actions: []ir.ActionID{ask.Action}, Reason: ask.Reason, Fingerprint: fingerprint(FlowName, v, ask.Action, ask.Subject)})
	}
	return out
}

// fingerprint covers one action with its parameters, and what is asked about it.
func fingerprint(gate string, v admit.View, id ir.ActionID, subject []string) string {
	for _, a := range v.Proposal.Actions {
		if a.ID != id {
			continue
		}
		about := make([]any, len(subject))
		for i, s := range subject {
			about[i] = s
		}
		d, err := ir.DigestOf(map[string]any{"gate": gate, "kind": a.Type.String(), "tool": a.Tool, "parameters": a.Parameters, "subject": about})
		if err != nil {
			return "" // no approval can be filed under it, so none is found
		}
		return string(d)
	}
	return ""
}

// Happened keeps the ledger: what the session has read, and from where.
func (f *Flow) Happened(h admit.Happening) {
	if h.Phase == admit.Kept {
		return
	}
	low := flow.Action{ID: h.Action.ID, Tool: h.Action.Tool}
	if h.Phase == admit.Started {
		low.Sink = h.Judgement.Network || len(served(h.Judgement)) > 0
		f.ledger.started(h.Session, append(f.names(&low, h.Judgement), low.Tool, f.labelling.tools[low.Tool].Capability))
		return
	}
	t := f.judge(&low, h.Judgement)
	if t.searched {
		if name := f.shown(h); name != "" {
			t.sure, low.Label.Confidentiality = name, flow.Secret
		}
	}
	labels, ok := f.labelling.tools[low.Tool]
	if !ok {
		labels = flow.Unlabelled()
	}
	brought := low.Label.Join(low.Output).Join(flow.Label{Confidentiality: labels.Confidentiality, Trust: labels.Trust})
	if labels.DeclassifiesTo != flow.ConfidentialityUnset {
		brought.Confidentiality, low.May.Confidentiality = min(brought.Confidentiality, labels.DeclassifiesTo), flow.ConfidentialityUnset
	}
	source := low.Tool
	if name := firstOf(t.sure, t.may); name != "" {
		source = name + " by " + low.Tool
	}
	f.ledger.read(h.Session, brought, low.May, source)
}

// shown looks through the output of a search for the name of a confidential file.
// Where the output is not kept any more, what was searched decides.
func (f *Flow) shown(h admit.Happening) string {
	if h.Output == nil {
		for _, r := range h.Judgement.Reads {
			if held := f.places.holds(r.Path, r.Glob, false); r.Search && held.name != "" {
				return held.name
			}
		}
		return ""
	}
	dirs := []string{"."}
	for _, r := range h.Judgement.Reads {
		dirs = append(dirs, r.Path)
	}
	for _, p := range h.Judgement.Programs {
		dirs = append(dirs, p.Dir)
	}
	return f.namedIn(h.Output, dirs)
}

func (f *Flow) namedIn(output any, dirs []string) string {
	switch out := output.(type) {
	case string:
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			for _, dir := range dirs {
				if name != "" && len(name) < 1024 && f.places.confidential(path.Join(dir, name)) {
					return path.Join(dir, name)
				}
			}
		}
	case []any:
		for _, one := range out {
			if name := f.namedIn(one, dirs); name != "" {
				return name
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(out)) {
			if name := f.namedIn(out[key], dirs); name != "" {
				return name
			}
		}
	}
	return ""
}
