package policy

import (
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// The names of built-in rules, as refusals and `car policy explain` show them.
const (
	ruleTier        = "tier"
	ruleUnknown     = "undecidable"
	ruleProgram     = "unknown_program"
	ruleOutRead     = "outside_read"
	ruleOutWrite    = "outside_write"
	ruleSecretRead  = "secret_read"
	ruleSecretWrite = "secret_write"
	ruleSecretSend  = "secret_send"
	ruleEnvDump     = "environment_dump"
	ruleGovernance  = "governance"
	ruleGitCore     = "git_internals"
	ruleAutorun     = "runs_later"
	ruleDevice      = "raw_device"
	ruleLoss        = "data_loss"
	ruleHelper      = "helper_program"
	rulePrivilege   = "privilege_escalation"
	rulePush        = "force_push"
	ruleForkBomb    = "fork_bomb"
	ruleLookAlike   = "look_alike"
	ruleNetwork     = "network_target"
	ruleInternal    = "internal"
	ruleCeiling     = "ceiling"
)

// raise lifts what a call needs, with the reason of the strongest lift.
func (c *call) raise(t ir.Tier, rev ir.Reversibility, why string) {
	if t > c.tier || c.reason == "" && t == c.tier && t > ir.ReadOnly {
		c.reason = why
	}
	c.tier = c.tier.Higher(t)
	c.rev = c.rev.Worse(rev)
}

// ask raises to full access for a named reason.
func (j *judge) ask(c *call, rule, why, wayOut string) {
	c.raise(ir.FullAccess, ir.Irreversible, why)
	c.verdict = c.verdict.Stricter(Ask)
	j.undecided = j.undecided || rule == ruleUnknown
	j.say(Reason{Verdict: Ask, Rule: rule, Text: j.subject(c) + " " + why, WayOut: wayOut})
}

// deny refuses for a named reason.
func (j *judge) deny(c *call, rule, why, wayOut string) {
	c.raise(ir.FullAccess, ir.Irreversible, why)
	if c.verdict != Deny {
		c.reason = why
	}
	c.verdict = Deny
	j.say(Reason{Verdict: Deny, Rule: rule, Text: j.subject(c) + " " + why, WayOut: wayOut})
}

// subject is how a call is named in messages; never its arguments.
func (j *judge) subject(c *call) string {
	if c.name == "" {
		return "the command"
	}
	if c.cmd != nil && len(c.cmd.Via) > 0 {
		return shorten(c.name) + " (through " + shorten(c.cmd.Via[len(c.cmd.Via)-1]) + ")"
	}
	return shorten(c.name)
}

func (j *judge) say(r Reason) {
	for _, o := range j.reasons {
		if o.Verdict == r.Verdict && o.Rule == r.Rule && o.Text == r.Text {
			return
		}
	}
	j.reasons = append(j.reasons, r)
}

// look judges looking at a name or its metadata.
func (j *judge) look(c *call, w shell.Word, recursive bool) {
	for _, at := range j.places(c, w, false) {
		j.odd(c, at)
		switch {
		case j.carHome(c, at, recursive):
		case at.secret == keyStore:
			j.deny(c, ruleSecretRead, "would look into a key store ("+at.text+")", "ask the person for what you need to know")
		case at.zone == unknownZone:
			j.ask(c, ruleUnknown, "names a path that is not known before it runs ("+at.text+")", "")
		case at.zone == outside && !at.badDevice:
			j.outsideRead(c, at)
		case recursive && at.holdsHome:
			j.outsideRead(c, at)
		}
	}
}

func (j *judge) outsideRead(c *call, at where) {
	if j.p.cfg.ReadOutside == Allow {
		return
	}
	c.raise(ir.FullAccess, ir.Reversible, "reads outside the root")
	j.say(Reason{Verdict: Ask, Rule: ruleOutRead, Text: j.subject(c) + " reads outside the working root (" + at.text + ")", WayOut: "name a path inside the root, or let the person open this one with [tools] read_roots"})
}

// read judges reading content. deep is true for a walk that goes below.
func (j *judge) read(c *call, w shell.Word, deep bool) {
	for _, at := range j.places(c, w, true) {
		j.odd(c, at)
		j.readAt(c, at, deep || at.below && !at.pattern)
	}
}

func (j *judge) readAt(c *call, at where, deep bool) {
	j.noteRead(c, at, deep)
	if j.carHome(c, at, deep) {
		return
	}
	switch at.secret {
	case keyStore, credential, envFile:
		j.deny(c, ruleSecretRead, "would read "+at.text+", which holds secrets", "work from a template such as .env.example, or ask the person")
		return
	case environment:
		j.deny(c, ruleEnvDump, "would print an environment ("+at.text+")", "name the one variable you need")
		return
	case askSecret:
		j.ask(c, ruleSecretRead, "reads a key file ("+at.text+")", "")
	case noSecret:
	}
	switch {
	case deviceOf(at.abs, at.abs) == networkDevice:
		c.raise(ir.FullAccess, ir.Irreversible, "opens a network connection")
		j.network = true
		j.ask(c, ruleNetwork, "opens a network connection", "")
	case at.zone == unknownZone:
		j.ask(c, ruleUnknown, "reads a path that is not known before it runs ("+at.text+")", "")
	case at.badDevice:
		j.ask(c, ruleDevice, "reads a device ("+at.text+")", "")
	case (at.zone == outside || at.zone == readable) && deep && at.holdsHome:
		j.deny(c, ruleSecretRead, "would walk a folder that holds credentials ("+at.text+")", "name the folder that you mean")
	case at.zone == outside:
		j.outsideRead(c, at)
	}
}

// writeKind says how a path is changed.
type writeKind uint8

const (
	creates writeKind = iota
	changesMode
	// links makes another name; the target is judged apart.
	links
	// moves takes a name away and gives another.
	moves
	deletes
	deletesTree
)

// removes reports kinds after which the name is gone.
func (k writeKind) removes() bool { return k >= moves }

// write judges a change of a path.
func (j *judge) write(c *call, w shell.Word, kind writeKind) {
	follow := kind == creates || kind == changesMode
	for _, at := range append(j.places(c, w, follow), j.foundGit(w)...) {
		j.odd(c, at)
		j.writeAt(c, at, kind)
	}
}

func (j *judge) writeAt(c *call, at where, kind writeKind) {
	if at.zone == device {
		return
	}
	j.target(at)
	j.deletes = j.deletes || kind == deletes || kind == deletesTree
	switch {
	case deviceOf(at.abs, at.abs) == networkDevice:
		j.network = true
		j.ask(c, ruleNetwork, "opens a network connection", "")
	case at.badDevice:
		j.deny(c, ruleDevice, "would write a device ("+at.text+")", "write a file below the root")
	case at.guard == governance:
		j.deny(c, ruleGovernance, "would change what governs this agent ("+at.text+")", "ask the person to change it")
	case at.zone == unknownZone:
		j.ask(c, ruleUnknown, "changes a path that is not known before it runs ("+at.text+")", "spell the path out")
	case at.zone == outside || at.zone == readable:
		j.outsideWrite(c, at, kind)
	case at.guard == gitCore:
		j.deny(c, ruleGitCore, "would change hooks or settings of the repository directly ("+at.text+")", "use git config or the hook manager's own command")
	case at.guard == gitDir && !kind.removes():
		j.deny(c, ruleGitCore, "would replace the git directory ("+at.text+")", "use git's own commands")
	case at.isRoot && kind.removes():
		j.deny(c, ruleGovernance, "would remove the working root and what governs this agent", "name what is to be removed")
	default:
		j.insideWrite(c, at, kind)
	}
}

func (j *judge) outsideWrite(c *call, at where, kind writeKind) {
	what := "would write outside the working root (" + at.text + ")"
	way := "write below the root, or in $TMPDIR, the session's own folder"
	switch kind {
	case moves, deletes, deletesTree:
		what, way = "would remove what lies outside the working root ("+at.text+")", "ask the person to remove it"
	case changesMode:
		what = "would change a file outside the working root (" + at.text + ")"
	}
	j.deny(c, ruleOutWrite, what, way)
}

func (j *judge) insideWrite(c *call, at where, kind writeKind) {
	rev := ir.Compensable
	if kind >= deletes {
		rev = ir.Irreversible
	}
	c.raise(ir.SandboxEdit, rev, "changes files inside the root")
	if at.listed {
		j.ask(c, ruleUnknown, "changes files that another command names", "name the files")
	}
	switch {
	case at.guard == gitDir || at.guard == gitOther:
		// Without its git directory a project has lost every commit: no standing tier
		// stands for that (P-WORK-1, D13).
		c.always = c.always || kind == deletesTree || kind.removes() && (at.guard == gitDir || at.below)
		j.ask(c, ruleGitCore, "changes a file of the git directory ("+at.text+")", "")
	case at.guard == autorun:
		j.ask(c, ruleAutorun, "changes a file that another program runs later ("+at.text+")", "")
	case at.secret == envFile || at.secret == credential || at.secret == keyStore:
		j.ask(c, ruleSecretWrite, "creates, replaces or removes a secret file ("+at.text+")", "")
	case at.isRoot && kind == changesMode:
		j.ask(c, ruleLoss, "changes the working root as a whole", "")
	}
	if kind.removes() && at.pattern && at.rel == "." && at.below {
		c.always = true
		j.ask(c, ruleLoss, "removes everything in the working root", "name what is to be removed")
	}
}

// odd asks about spellings that may name something else.
func (j *judge) odd(c *call, at where) {
	if at.odd != "" {
		j.ask(c, ruleLookAlike, "names a path with "+at.odd+" in it", "spell the path plainly")
	}
}

// target remembers a path that would change.
func (j *judge) target(at where) {
	name := at.abs
	if at.zone == inside {
		name = at.rel
	}
	if name == "" {
		name = at.text
	}
	for _, t := range j.targets {
		if t == name {
			return
		}
	}
	j.targets = append(j.targets, name)
}

func (j *judge) host(name string) {
	j.network = true
	if name == "" {
		return
	}
	for _, h := range j.hosts {
		if h == name {
			return
		}
	}
	j.hosts = append(j.hosts, strings.ToLower(name))
}
