package gate

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
	"car/internal/engine/verify/intent"
)

// IntentFile is `.car/intent.json` with where it lies (G-INTENT-1).
type IntentFile struct {
	// Path is the file, Root the folder that its globs are written from; both absolute.
	Path string `json:"-"`
	Root string `json:"-"`

	Intent intent.Spec `json:"intent"`
	// UntrustedTools are trusted less than they are by themselves.
	UntrustedTools []string `json:"untrusted_tools"`
	// OnUntaintedDrift is what leaving the intent is worth where nothing untrusted led
	// there; absent asks.
	OnUntaintedDrift *intent.Disposition `json:"on_untainted_drift"`
}

// Validate reports the first value that means nothing, with its key.
func (f IntentFile) Validate() error {
	if err := f.Intent.Validate(); err != nil {
		return fmt.Errorf("intent.%w", err)
	}
	for i, name := range f.UntrustedTools {
		if name == "" {
			return fmt.Errorf("untrusted_tools[%d]: the tool is empty", i)
		}
	}
	return nil
}

func (f IntentFile) onDrift() intent.Disposition {
	if f.OnUntaintedDrift == nil {
		return intent.RequireApproval
	}
	return *f.OnUntaintedDrift
}

// IntentConfig makes the intent gate.
type IntentConfig struct {
	// Root and Scratch are the session's, absolute.
	Root    string
	Scratch string
	// Files are all intents in force; an action has to be inside every one.
	Files []IntentFile
	// Influences name what stands in a session's prompt from the beginning and is not
	// trusted, as the AGENTS.md of a project that nobody trusts.
	Influences []string
}

// Intent is the intent gate with its taint ledger (G-INTENT). Safe for concurrent use.
type Intent struct {
	cfg    IntentConfig
	ledger taintLedger
}

// IntentName is the gate's name in the log.
const IntentName = "intent"

// NewIntent checks the files and builds the gate with an empty ledger.
func NewIntent(c IntentConfig) (*Intent, error) {
	if len(c.Files) == 0 {
		return nil, fmt.Errorf("intent gate: no intent is given")
	}
	for _, f := range c.Files {
		if err := f.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return &Intent{cfg: c, ledger: newTaintLedger()}, nil
}

// Name is the gate's name.
func (g *Intent) Name() string { return IntentName }

// Check asks every intent about every action. The strictest word about an action wins.
func (g *Intent) Check(_ context.Context, v admit.View) (admit.Opinion, error) {
	edges, err := ir.Edges(v.Proposal.Actions)
	if err != nil {
		return admit.Opinion{}, err
	}
	edges = append(edges, fileEdges(g.cfg.Root, v)...)
	o := admit.Opinion{Verdict: policy.Allow}
	var refusals []string
	for _, file := range g.cfg.Files {
		r, err := intent.Check(file.Intent, g.lower(v, edges, file))
		if err != nil {
			return admit.Opinion{}, err
		}
		for _, one := range intent.Decide(r, file.onDrift()) {
			if _, open := v.Judged[one.Action]; !open {
				continue
			}
			if one.Outcome == intent.Reject {
				if !slices.Contains(o.Blocked, one.Action) {
					o.Blocked = append(o.Blocked, one.Action)
				}
				refusals = append(refusals, fmt.Sprintf("'%s': %s", one.Action, one.Reason))
				continue
			}
			o.Escalations = append(o.Escalations, admit.Escalation{Actions: []ir.ActionID{one.Action}, Reason: one.Reason,
				Fingerprint: fingerprint(IntentName, v, one.Action, append(one.Subject, "goal "+file.Intent.Goal))})
		}
	}
	switch {
	case len(refusals) > 0:
		o.Verdict, o.Reason = policy.Deny, strings.Join(refusals, "; ")
	case len(o.Escalations) > 0:
		o.Verdict = policy.Ask
	}
	return o, nil
}

// lower says of every action what an intent needs to know, with taint.
func (g *Intent) lower(v admit.View, edges []ir.Edge, file IntentFile) []intent.Action {
	facts := map[ir.ActionID]intent.Facts{}
	for _, a := range v.Proposal.Actions {
		if j, open := v.Judged[a.ID]; open {
			facts[a.ID] = g.facts(j, v.Effects[a.ID], v.Sources[a.ID], file.Root)
		}
	}
	keyed := v.Proposal
	keyed.Actions = slices.Clone(v.Proposal.Actions)
	for i, a := range keyed.Actions {
		keyed.Actions[i] = underStoreKeys(v, a)
	}
	influences := append(slices.Clone(g.cfg.Influences), g.ledger.influences(v.Session)...)
	return intent.ActionsFrom(keyed, edges, facts, g.untrusted(), g.ledger.tainted(), influences)
}

// underStoreKeys is an action whose keys are spelled as the store spells them, so
// that one tenant's taint is no other's.
func underStoreKeys(v admit.View, a ir.Action) ir.Action {
	if v.Key == nil {
		return a
	}
	key := func(k string) string { return v.Key(a, k) }
	reads, writes := intent.Reads(a), a.WriteKeys()
	low := ir.Action{ID: a.ID, Type: ir.ToolCall, Tool: a.Tool}
	for _, k := range reads {
		low.ReadSet = append(low.ReadSet, key(k))
	}
	for _, k := range writes {
		low.WriteSet = append(low.WriteSet, key(k))
	}
	return low
}

// untrusted are the tools whose output is not trusted, whatever it is (G-INTENT-3).
func (g *Intent) untrusted() []string {
	names := []string{"http_request", "web_search"}
	for _, f := range g.cfg.Files {
		names = append(names, f.UntrustedTools...)
	}
	return names
}

// facts are policy's facts as an intent from root needs them.
func (g *Intent) facts(j policy.Judgement, e tool.Effects, source ir.ToolSource, root string) intent.Facts {
	f := intent.Facts{Hosts: j.Hosts, Capabilities: g.capabilities(j), Untrusted: untrustedOutput(j, source),
		UnknownPaths: j.Undecided, UnknownHosts: j.Undecided || j.Network && len(j.Hosts) == 0}
	for _, p := range j.Programs {
		switch {
		case p.Wraps || p.Class == "echo" || p.Class == "fact":
		case len(p.Words) == 0 || j.Undecided && runsText(p):
			f.UnknownCommands = true
		default:
			f.Commands = append(f.Commands, p.Words)
		}
	}
	add := func(name string) {
		if rel := g.relative(root, name); !slices.Contains(f.Paths, rel) {
			f.Paths = append(f.Paths, rel)
		}
	}
	for _, r := range j.Reads {
		if r.Path == "" {
			f.UnknownPaths = true
			continue
		}
		add(r.Path)
	}
	for _, name := range slices.Concat(j.Targets, e.Reads, e.Writes) {
		add(name)
	}
	return f
}

// runsText reports programs that run text given to them: where a text was not known,
// neither is what runs.
func runsText(p policy.Program) bool {
	switch path.Base(p.Words[0]) {
	case "eval", "source", ".", "sh", "bash", "dash", "zsh", "ksh", "xargs", "parallel", "ssh":
		return true
	}
	return strings.ContainsAny(p.Words[0], "$`{*?")
}

// relative is a path of a judgement as an intent's globs see it; what lies outside of
// the intent's folder keeps its full name.
func (g *Intent) relative(root, name string) string {
	p := places{root: g.cfg.Root}
	abs := p.absolute(name)
	if rel, ok := within(root, abs); ok {
		return rel
	}
	return abs
}

// capabilities are the kinds of effect that policy found in an action.
func (g *Intent) capabilities(j policy.Judgement) []intent.Capability {
	has := map[intent.Capability]bool{
		intent.Network: j.Network || len(served(j)) > 0,
		intent.Delete:  j.Deletes,
	}
	for _, p := range j.Programs {
		has[intent.Publish] = has[intent.Publish] || p.Class == "publish"
		has[intent.Install] = has[intent.Install] || p.Class == "install"
		has[intent.GitPush] = has[intent.GitPush] || pushes(p)
	}
	has[intent.Deploy] = slices.Contains(kindsOf(j), Deployment)
	for _, r := range j.Reasons {
		switch r.Rule {
		case "secret_read", "secret_write", "secret_send", "environment_dump":
			has[intent.Credential] = true
		case "outside_read", "outside_write":
			has[intent.OutsideRoot] = true
		}
	}
	secrets := places{root: g.cfg.Root, globs: []globs{{g.cfg.Root, defaultConfidential()}}}
	for _, r := range j.Reads {
		has[intent.Credential] = has[intent.Credential] || r.Path != "" && secrets.confidential(r.Path)
		has[intent.OutsideRoot] = has[intent.OutsideRoot] || g.outside(r.Path)
	}
	for _, t := range j.Targets {
		has[intent.OutsideRoot] = has[intent.OutsideRoot] || g.outside(t)
	}
	var list []intent.Capability
	for c := intent.Network; c <= intent.OutsideRoot; c++ {
		if has[c] {
			list = append(list, c)
		}
	}
	return list
}

func (g *Intent) outside(name string) bool {
	if name == "" || !path.IsAbs(name) {
		return false
	}
	_, scratch := within(g.cfg.Scratch, name)
	_, inside := within(g.cfg.Root, name)
	return !scratch && !inside
}

// pushes reports programs that change a remote repository.
func pushes(p policy.Program) bool {
	return p.Class == "push" || len(p.Words) > 1 && p.Words[0] == "git" && (p.Words[1] == "push" || p.Words[1] == "send-pack")
}

// untrustedOutput reports output that comes from elsewhere: of a network, shell
// included, and of every MCP tool.
func untrustedOutput(j policy.Judgement, source ir.ToolSource) bool {
	return j.Network || source == ir.MCP
}

// fileEdges let taint go through files: what one action writes and a later one
// reads, or may read. Programs that are run are read.
func fileEdges(root string, v admit.View) []ir.Edge {
	f := Flow{places: places{root: root}}
	var edges []ir.Edge
	for to, a := range v.Proposal.Actions {
		for from := range to {
			for _, target := range v.Judged[v.Proposal.Actions[from].ID].Targets {
				if f.readsFile(v.Judged[a.ID], f.places.absolute(target)) {
					edges = append(edges, ir.Edge{From: from, To: to})
					break
				}
			}
		}
	}
	return edges
}

// Happened keeps the taint ledger (G-INTENT-3).
func (g *Intent) Happened(h admit.Happening) {
	untrusted := untrustedOutput(h.Judgement, h.Source) || slices.Contains(g.untrusted(), h.Action.Tool)
	switch h.Phase {
	case admit.Started:
		g.ledger.started(h)
	case admit.Ended:
		if untrusted {
			g.ledger.influence(h.Session, h.Action.Tool)
		}
		if h.Status == ir.Succeeded {
			g.ledger.ended(h, untrusted)
		}
	case admit.Kept:
		g.ledger.kept(h, untrusted)
	}
}
