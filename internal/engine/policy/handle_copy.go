package policy

import (
	"path"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// destination splits operands of cp and its kin into sources and target.
func destination(c *call) (sources []shell.Word, target *shell.Word) {
	if v := c.value("-t", "--target-directory"); v != nil {
		return c.operands, v
	}
	if len(c.operands) < 2 {
		return c.operands, nil
	}
	n := len(c.operands) - 1
	return c.operands[:n], &c.operands[n]
}

// copyTargets judges what appears at the target: for a folder, each source's
// name below it.
func (j *judge) copyTargets(c *call, sources []shell.Word, target shell.Word) {
	j.write(c, target, creates)
	dir, ok := target.Static()
	if !ok {
		return
	}
	for _, s := range sources {
		name, ok := s.Static()
		if !ok {
			continue
		}
		base := path.Base(name)
		if at := j.place(c, path.Join(dir, base), false); at.guard > noGuard || at.secret >= envFile && at.zone == inside {
			if !strings.HasSuffix(dir, "/") && !isFolder(j.place(c, dir, true)) && dir != "." {
				continue
			}
			j.writeAt(c, at, creates)
		}
	}
}

func isFolder(w where) bool { return w.isRoot || w.found && w.info.Mode.IsDir() }

func (j *judge) copy(c *call) bool {
	j.apply(c)
	sources, target := destination(c)
	deep := c.has("-r", "-R", "-a", "--recursive", "--archive")
	for _, s := range sources {
		j.read(c, s, deep)
	}
	if target != nil {
		if !c.has("-t", "--target-directory") {
			j.copyTargets(c, sources, *target)
		}
		if c.has("-s", "--symbolic-link", "-l", "--link") {
			j.linkTo(c, sources, *target, c.has("-s", "--symbolic-link"))
		}
	}
	return true
}

func (j *judge) move(c *call) bool {
	j.apply(c)
	sources, target := destination(c)
	for _, s := range sources {
		for _, at := range j.places(c, s, false) {
			j.odd(c, at)
			if at.secret >= envFile && at.zone == inside {
				j.moveSecret(c, at, target)
				continue
			}
			if at.secret >= envFile {
				j.readAt(c, at, false)
			}
			j.writeAt(c, at, moves)
		}
	}
	if target != nil && !c.has("-t", "--target-directory") {
		j.copyTargets(c, sources, *target)
	}
	return true
}

// moveSecret: a secret file may become another secret file, never a plain one.
func (j *judge) moveSecret(c *call, at where, target *shell.Word) {
	if target != nil {
		if to := j.places(c, *target, true); len(to) == 1 && to[0].secret >= envFile {
			j.writeAt(c, at, moves)
			return
		}
	}
	j.readAt(c, at, false)
}

func (j *judge) install(c *call) bool {
	if m := c.value("-m", "--mode"); m != nil {
		j.modeBits(c, *m)
	}
	if c.has("-d", "--directory") {
		j.apply(c)
		for _, w := range c.operands {
			j.write(c, w, creates)
		}
		return true
	}
	return j.copy(c)
}

func (j *judge) link(c *call) bool {
	j.apply(c)
	sources, target := destination(c)
	symbolic := c.has("-s", "--symbolic")
	if target == nil && len(sources) == 1 {
		text, _ := sources[0].Static()
		here := shell.Lit(path.Base(text))
		target = &here
	}
	if target == nil {
		return true
	}
	if !c.has("-t", "--target-directory") {
		j.write(c, *target, links)
	}
	j.linkTo(c, sources, *target, symbolic)
	return true
}

// linkTo judges what a link points to and remembers it for what follows.
func (j *judge) linkTo(c *call, sources []shell.Word, target shell.Word, symbolic bool) {
	to, targetKnown := target.Static()
	for _, s := range sources {
		text, known := s.Static()
		name := where{zone: unknownZone}
		if targetKnown {
			name = j.place(c, to, false)
			if isFolder(j.place(c, to, true)) && known {
				name = j.place(c, path.Join(to, path.Base(text)), false)
			}
		}
		if symbolic && known && !path.IsAbs(text) && name.abs != "" {
			// A relative target counts from where the link lies.
			text = path.Join(path.Dir(name.abs), text)
			s = shell.Lit(text)
		}
		for _, at := range j.places(c, s, true) {
			j.odd(c, at)
			j.linkTarget(c, at, symbolic)
		}
		if symbolic && known && name.abs != "" && len(j.r.made) < 64 {
			j.r.link(name.abs, j.place(c, text, false).abs)
		}
	}
}

func (j *judge) linkTarget(c *call, at where, symbolic bool) {
	switch {
	case at.secret >= envFile:
		j.readAt(c, at, false)
	case at.guard == governance:
		j.deny(c, ruleGovernance, "would give what governs this agent another name ("+at.text+")", "")
	case at.zone == unknownZone:
		j.ask(c, ruleUnknown, "links to a path that is not known", "")
	case (at.zone == outside || at.zone == readable) && !symbolic:
		j.deny(c, ruleOutWrite, "would make a file outside the root writable under a name inside ("+at.text+")", "copy the file")
	case at.zone == outside || at.zone == readable:
		c.raise(ir.FullAccess, ir.Compensable, "makes a link that leads out of the root")
		j.say(Reason{Verdict: Ask, Rule: ruleOutRead, Text: j.subject(c) + " makes a link that leads out of the working root (" + at.text + ")"})
	case at.guard == gitCore:
		j.ask(c, ruleGitCore, "links to hooks or settings of the repository", "")
	}
}

func (j *judge) remove(c *call) bool {
	j.apply(c)
	kind := deletes
	if c.has("-r", "-R", "--recursive", "-d") {
		kind = deletesTree
	}
	for _, w := range c.operands {
		j.write(c, w, kind)
	}
	return true
}

// modeBits refuses set-user-id and set-group-id bits (D22).
func (j *judge) modeBits(c *call, mode shell.Word) {
	text, ok := mode.Static()
	if !ok {
		j.ask(c, ruleUnknown, "sets a mode that is not known", "")
		return
	}
	if numeric := strings.Trim(text, "01234567") == ""; numeric {
		digits := strings.TrimLeft(text, "0")
		if len(digits) > 3 && digits[len(digits)-4] != '1' {
			j.deny(c, rulePrivilege, "would set a set-user-id or set-group-id bit", "set plain permissions")
		}
		return
	}
	for clause := range strings.SplitSeq(text, ",") {
		i := strings.IndexAny(clause, "+=")
		if i >= 0 && strings.Contains(clause[i:], "s") {
			j.deny(c, rulePrivilege, "would set a set-user-id or set-group-id bit", "set plain permissions")
			return
		}
	}
}

func (j *judge) chmod(c *call) bool {
	j.apply(c)
	operands := c.operands
	if c.name == "chmod" {
		// chmod -x FILE: the mode looks like an option.
		mode := ""
		for _, a := range c.args {
			t, _ := a.Static()
			if strings.HasPrefix(t, "-") && len(t) > 1 && strings.Trim(t[1:], "rwxXstugo+=,-") == "" && strings.Trim(t[1:], "Rcfv") != "" {
				mode = t
			}
		}
		if mode == "" && !c.has("--reference") && len(operands) > 0 {
			j.modeBits(c, operands[0])
			operands = operands[1:]
		} else if mode != "" {
			j.modeBits(c, shell.Lit(mode))
		}
	} else if len(operands) > 0 && !c.has("--reference", "-M", "-x", "-m") {
		if c.name != "chattr" && c.name != "chflags" || strings.ContainsAny(operands[0].Prefix()[:min(1, len(operands[0].Prefix()))], "+-=") {
			operands = operands[1:]
		}
	}
	for _, w := range operands {
		j.write(c, w, changesMode)
	}
	if c.name == "chown" || c.name == "chgrp" || c.name == "chattr" || c.name == "setfacl" || c.name == "chflags" {
		c.raise(ir.SandboxEdit, ir.Compensable, "changes owners or attributes")
	}
	return true
}

func (j *judge) mknod(c *call) bool {
	if len(c.operands) > 1 && c.name == "mknod" && c.word(1) != "p" {
		j.deny(c, ruleDevice, "would make a device", "")
	}
	return false
}

func (j *judge) dd(c *call) bool {
	c.class = "read"
	for _, w := range c.args {
		if strings.HasPrefix(w.Prefix(), "of=") {
			c.class = "edit"
		}
	}
	j.apply(c)
	for _, w := range c.args {
		name, _, _ := strings.Cut(w.Prefix(), "=")
		value, ok := w.Cut(len(name) + 1)
		if !ok {
			continue
		}
		switch name {
		case "if":
			j.read(c, value, false)
		case "of":
			j.write(c, value, creates)
		}
	}
	return true
}

func (j *judge) split(c *call) bool {
	switch {
	case c.name == "csplit" && !c.has("-f", "--prefix"):
		j.write(c, shell.Lit("xx00"), creates)
	case c.name == "split" && len(c.operands) == 1:
		j.write(c, shell.Lit("xaa"), creates)
	}
	return false
}

func (j *judge) patch(c *call) bool {
	if c.has("--dry-run", "-C") {
		c.class = "read"
		for _, w := range c.operands {
			j.read(c, w, false)
		}
		j.apply(c)
		return true
	}
	return false
}

func (j *judge) xxd(c *call) bool {
	j.apply(c)
	if len(c.operands) > 0 && c.word(0) != "-" {
		j.read(c, c.operands[0], false)
	}
	if len(c.operands) > 1 {
		j.write(c, c.operands[1], creates)
	}
	return true
}

func (j *judge) uniq(c *call) bool {
	if c.name != "uniq" {
		return false
	}
	return j.xxd(c)
}

func (j *judge) shuf(c *call) bool {
	if c.has("-e", "--echo", "-i", "--input-range") {
		j.apply(c)
		return true
	}
	return false
}

func (j *judge) stat(c *call) bool {
	j.apply(c)
	switch c.name {
	case "file":
		for _, w := range c.operands {
			j.look(c, w, false)
		}
		return true
	case "du":
		for _, w := range c.operands {
			j.look(c, w, true)
		}
		return true
	}
	return false
}

// mktemp picks a name in $TMPDIR, which is the session's own folder (D01), or
// by a template that is given.
func (j *judge) mktemp(c *call) bool {
	elsewhere := c.has("-p", "--tmpdir", "-t")
	if j.p.cfg.Scratch != "" && !c.has("-p", "--tmpdir") || len(c.operands) > 0 && !elsewhere {
		c.class = "temporary"
	}
	j.apply(c)
	if elsewhere {
		return true
	}
	for _, w := range c.operands {
		j.write(c, w, creates)
	}
	return true
}
