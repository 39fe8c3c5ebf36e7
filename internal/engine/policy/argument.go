package policy

import (
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/redact"
	"car/internal/engine/shell"
)

// option judges one option by its row.
func (j *judge) option(c *call, o given) {
	if name, ok := flagText(o); ok && oddWord(name) != "" {
		j.ask(c, ruleLookAlike, "has "+oddWord(name)+" in an option", "type the option plainly")
	}
	if !o.known {
		j.unlisted(c, o)
		return
	}
	if o.spec.class != "" {
		if rule, ok := strings.CutPrefix(o.spec.class, "deny:"); ok {
			j.never(c, rule)
			return
		}
		j.reclass(c, o)
	}
	if o.value == nil || !o.spec.takes || o.joined && isText(o.spec.role) && !splits(*o.value) {
		return
	}
	j.argument(c, *o.value, o.spec.role)
}

func isText(r role) bool { return r == roleText || r == 0 }

// splits reports a word that may turn out to be several.
func splits(w shell.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p shell.Part) bool { return p.Split })
}

func flagText(o given) (string, bool) {
	return o.name, strings.HasPrefix(o.name, "-")
}

// reclass lifts the class of a call because of an option.
func (j *judge) reclass(c *call, o given) {
	switch o.spec.class {
	case "priv":
		j.never(c, rulePrivilege)
	case "socket":
		j.ask(c, ruleNetwork, "wires a program to a network connection", "")
	case "login":
	default:
		if info, ok := classOf(o.spec.class); ok {
			c.raise(info.tier, info.rev, info.why)
			if info.why != "" {
				j.say(Reason{Verdict: Ask, Rule: ruleHelper, Text: j.subject(c) + " " + info.why + " (" + o.name + ")"})
			}
		}
	}
}

// unlisted judges an option that the table does not have: its value may be a
// path that leads out.
func (j *judge) unlisted(c *call, o given) {
	if o.value == nil {
		return
	}
	if o.value.HasUnknown() {
		if o.open && j.openPart(*o.value) {
			j.ask(c, ruleUnknown, "gets an option that is not known before it runs", "spell the option out")
		}
		j.unknownText(c, *o.value)
		return
	}
	text, ok := o.value.Static()
	if !ok || !strings.Contains(text, "/") && !strings.HasPrefix(text, ".env") || strings.Contains(text, "://") {
		return
	}
	at := j.r.resolve(j.dir(c), text, true)
	switch {
	case at.secret > askSecret:
		j.readAt(c, at, false)
	case at.zone == outside && !at.badDevice && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "..")):
		j.ask(c, ruleOutRead, "is given a path outside the working root ("+at.text+")", "")
	}
}

// openPart reports an option word with a part of which nothing is known, or
// with letters behind one.
func (j *judge) openPart(w shell.Word) bool {
	seen := false
	for _, p := range w.Parts {
		if p.Kind != shell.Unknown {
			if seen && p.Text != "" {
				return true
			}
			continue
		}
		seen = true
		if kind, _ := j.shape(p); kind == shapeOpen {
			return true
		}
	}
	return false
}

func (j *judge) dir(c *call) string {
	if c.cmd.DirKnown {
		return c.cmd.Dir
	}
	return j.p.cfg.Root
}

// argument judges a word by the role the row gives it.
func (j *judge) argument(c *call, w shell.Word, r role) {
	switch r {
	case roleText:
		j.unknownText(c, w)
	case roleRead:
		if text, ok := w.Static(); !ok || text != "-" && text != "" {
			j.read(c, w, false)
		}
	case roleLook:
		j.look(c, w, false)
	case roleWrite, roleOutDir:
		if text, _ := w.Static(); text != "-" {
			j.write(c, w, creates)
		}
	case roleTemp:
		j.temporary(c, w)
	case roleTree:
		j.read(c, w, true)
		j.write(c, w, creates)
	case roleDelete:
		j.write(c, w, deletes)
	case roleMode:
		j.write(c, w, changesMode)
	case roleChdir:
		j.chdir(c, w)
	case roleHelper:
		j.helper(c, w)
	case roleShell:
		j.payload(c, w)
	case roleCode:
		j.foreignCode(c, w)
	case roleHost:
		j.address(c, w)
	case roleBody:
		j.sent(c, w, false)
	case roleUpload:
		j.upload(c, w)
	case roleLogin:
		j.sent(c, w, true)
	case roleSetting:
		if c.name == "git" || strings.HasPrefix(c.name, "git ") {
			j.gitSetting(c, w)
			return
		}
		j.ask(c, ruleHelper, "takes settings that may name a program", "")
		j.helperPath(c, w)
	}
}

// temporary judges a folder for temporary files, whose names the program picks.
func (j *judge) temporary(c *call, w shell.Word) {
	for _, at := range j.places(c, w, true) {
		if !at.safeZone() || at.guard != noGuard {
			j.ask(c, ruleOutWrite, "keeps temporary files outside the working root ("+at.text+")", "use a folder below the root")
		}
	}
}

// operandRoles judges operands by the row's roles.
func (j *judge) operandRoles(c *call, operands []shell.Word) {
	roles := c.row.operands
	at := 0
	for _, w := range operands {
		r := roleText
		if at < len(roles) {
			r = roles[at]
			if at+1 >= len(roles) || roles[at+1] != '*' {
				at++
			}
		}
		if r == '*' {
			r = roleText
		}
		j.argument(c, w, r)
	}
}

// unknownText asks about words that may turn out to be options or several
// words. Programs that only print do not mind.
func (j *judge) unknownText(c *call, w shell.Word) {
	if c.class == "echo" || c.class == "fact" || !w.HasUnknown() {
		return
	}
	if c.tier > ir.SandboxEdit {
		return
	}
	for i, p := range w.Parts {
		if p.Kind != shell.Unknown {
			continue
		}
		if kind, _ := j.shape(p); kind != shapeOpen {
			continue
		}
		if p.Split || i == 0 && c.dash < 0 {
			j.ask(c, ruleUnknown, "gets words that are not known before it runs ("+shorten(p.Text)+"): they may be options or paths", "spell the words out")
			return
		}
	}
}

// anyArguments judges the words of a program that nobody knows: secrets and
// governance stay closed whoever asks.
func (j *judge) anyArguments(c *call, words []shell.Word) {
	for _, w := range words {
		text, ok := w.Static()
		if !ok || text == "" || strings.HasPrefix(text, "-") || strings.Contains(text, "://") {
			continue
		}
		at := j.r.resolve(j.dir(c), text, true)
		if at.secret > askSecret || at.guard == governance && at.zone != inside {
			j.readAt(c, at, false)
		}
	}
}

// chdir judges a directory that a program changes to.
func (j *judge) chdir(c *call, w shell.Word) {
	if at := j.places(c, w, true); len(at) == 1 && at[0].safeZone() {
		cmd := *c.cmd
		cmd.Dir, cmd.DirKnown = at[0].abs, true
		c.cmd = &cmd
		return
	}
	cmd := *c.cmd
	text, static := w.Static()
	cmd.DirKnown = static && c.cmd.DirKnown
	if static {
		cmd.Dir = j.r.resolve(j.dir(c), text, true).abs
		cmd.DirKnown = true
	}
	c.cmd = &cmd
	j.look(c, w, false)
}

// helper judges a program that an option, a setting or a variable names (D15).
// What it says as shell text is opened: what is denied there is denied here.
func (j *judge) helper(c *call, w shell.Word) {
	text, static := w.Static()
	if static && noHelper(text) {
		return
	}
	j.ask(c, ruleHelper, "is told to start another program", "leave the helper out")
	if static {
		j.readText(text, j.dir(c), false, c)
	} else {
		j.undecided = true
	}
}

// noHelper reports programs that stand for none.
func noHelper(text string) bool {
	switch strings.TrimSpace(text) {
	case "", "cat", "true", ":", "/bin/true", "/bin/cat", "/usr/bin/cat", "/usr/bin/true":
		return true
	}
	return false
}

// helperPath reads the file that settings come from, as far as secrets go.
func (j *judge) helperPath(c *call, w shell.Word) {
	if text, ok := w.Static(); ok && !strings.Contains(text, "=") {
		at := j.r.resolve(j.dir(c), text, true)
		if at.secret > askSecret {
			j.readAt(c, at, false)
		}
	}
}

// payload judges shell text in an argument.
func (j *judge) payload(c *call, w shell.Word) {
	text, ok := w.Static()
	if !ok {
		j.undecided = true
		j.ask(c, ruleUnknown, "runs text that is not known", "spell out what is to run")
		return
	}
	j.readText(text, j.dir(c), false, c)
}

// foreignCode judges program text of another language (D08).
func (j *judge) foreignCode(c *call, w shell.Word) {
	j.undecided = true
	j.ask(c, ruleUnknown, "runs code that policy cannot read", "use a build or test runner, or ask")
	if text, ok := w.Static(); ok {
		j.codeHints(c, text)
	}
}

// secretPart returns the name of a secret that a word would show, and whether
// there is one: a variable named like a secret, or a literal shaped like one.
func (j *judge) secretPart(w shell.Word) (what string, ok bool) {
	for _, p := range w.Parts {
		if p.Var != "" && !p.Derived && redact.ShapedLikeSecret(p.Var) {
			return "$" + p.Var, true
		}
	}
	if text, known := plainText(w); known {
		if _, n := j.p.redactor.String(text); n > 0 {
			return "a literal secret", true
		}
	}
	return "", false
}

// plainText is a word as it stands when no file matches its globs, as with the
// question mark of a URL.
func plainText(w shell.Word) (string, bool) { return w.String(), !w.HasUnknown() }

// sent judges data on its way to another machine (D06). login says that it is
// the header or option made for secrets.
func (j *judge) sent(c *call, w shell.Word, login bool) {
	what, ok := j.secretPart(w)
	if !ok {
		return
	}
	if login {
		j.ask(c, ruleSecretSend, "sends "+what+" as a login", "")
		return
	}
	j.deny(c, ruleSecretSend, "would send "+what+" to another machine", "use the header made for it, such as Authorization")
}

// upload judges data that is given as text or as @file.
func (j *judge) upload(c *call, w shell.Word) {
	j.sent(c, w, false)
	text := w.Prefix()
	i := strings.Index(text, "@")
	if i < 0 || strings.Contains(text[:i], "{") {
		return
	}
	if i > 0 && !strings.HasSuffix(text[:i], "=") {
		return
	}
	if path, ok := w.Cut(i + 1); ok {
		if text, _ := path.Static(); text != "-" {
			j.read(c, path, false)
		}
	}
}
