package policy

import (
	"path"
	"slices"
	"strings"

	"car/internal/engine/ir"
)

// Program is one parsed command of an action as the program table knows it, for
// gates that judge by what runs (G-FLOW, G-INTENT, G-PROD, G-TRACE).
type Program struct {
	// Words are the program and subcommand by their names in the table, then the
	// arguments: git -C x push -f is git push -f. What is not known before it runs
	// stands as it was written.
	Words []string
	// Class is the word of its row, empty for what the table does not know.
	Class string
	Tier  ir.Tier
	// Dir is where it runs, relative to the root or absolute; empty is not known.
	Dir string
	// Env are the assignments in front of it, as NAME=value.
	Env []string
	// Wraps says that what it runs is a program of its own here; Remote that another
	// machine runs it.
	Wraps  bool
	Remote bool
}

// Read is a place whose content an action would read.
type Read struct {
	// Path is relative to the root with slashes, or absolute; empty is not known
	// before it runs.
	Path string
	// Deep says that what lies below is read too. Glob, where set, selects names below Path.
	Deep bool
	Glob string
	// Search says that output names the file of everything it shows.
	Search bool
}

// noteRead remembers what a call would read.
func (j *judge) noteRead(c *call, at where, deep bool) {
	r := Read{Path: at.abs, Deep: deep || at.below || at.found && at.info.Mode.IsDir(), Search: searches(c)}
	switch rel, in := below(j.p.cfg.Root, at.abs); {
	case at.zone == device || at.badDevice:
		return
	case at.zone == unknownZone:
		r.Path, r.Deep = "", false
	case in && path.Base(rel) == "…": // places that another command lists
		r.Path = path.Dir(rel)
	case in:
		r.Path = rel
	}
	// A pattern that was shortened selects everything.
	if at.pattern && r.Path != "" && !strings.Contains(at.text, "…") {
		_, r.Glob = splitGlob(path.Join(escapeGlob(j.dir(c)), at.text))
	}
	j.addRead(r)
}

func (j *judge) addRead(r Read) {
	for _, o := range j.reads {
		if o == r {
			return
		}
	}
	j.reads = append(j.reads, r)
}

// searches reports programs that say in which file they found what they show.
func searches(c *call) bool {
	switch c.name {
	case "grep_files":
		return true
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "git grep":
		return !c.has("-h", "--no-filename", "-I")
	}
	return false
}

// noteProgram remembers a parsed command.
func (j *judge) noteProgram(c *call) {
	if c.cmd == nil || len(c.cmd.Words) == 0 || c.cmd.Lookup {
		return
	}
	p := Program{Class: c.class, Tier: c.tier, Wraps: c.cmd.Wraps, Remote: c.cmd.Remote}
	if c.row != nil {
		p.Words = strings.Fields(c.name)
		for _, w := range c.args {
			p.Words = append(p.Words, w.String())
		}
	} else {
		for _, w := range c.cmd.Words {
			p.Words = append(p.Words, w.String())
		}
	}
	for _, a := range c.cmd.Assigns {
		p.Env = append(p.Env, a.Name+"="+a.Value.String())
	}
	if c.cmd.DirKnown {
		p.Dir = c.cmd.Dir
		if rel, ok := below(j.p.cfg.Root, p.Dir); ok {
			p.Dir = rel
		}
	}
	// A search without a place looks below where it runs.
	if searches(c) && len(c.operands) < 2 && !c.cmd.Input.Feeds && (c.name == "rg" || c.name == "ag" || c.name == "ack" || c.name == "git grep" || c.has("-r", "-R", "--recursive")) {
		j.addRead(Read{Path: p.Dir, Deep: true, Search: true})
	}
	j.deletes = j.deletes || p.Class == "delete" || p.Class == "loss" || c.name == "find" && slices.Contains(p.Words, "-delete")
	j.programs = append(j.programs, p)
}
