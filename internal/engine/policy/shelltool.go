package policy

import (
	"path"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// maxNested bounds texts within texts that options and settings carry.
const maxNested = 12

// shellText judges shell text as it would run from the root.
func (j *judge) shellText(text string) {
	j.readText(text, j.p.cfg.Root, true, nil)
}

// readText reads and judges a text; outer is the call that carries it, if any.
func (j *judge) readText(text, dir string, top bool, outer *call) {
	if j.depth++; j.depth > maxNested {
		j.undecide("the text is nested too deep")
		j.depth--
		return
	}
	o := shell.Options{Dir: dir, Env: j.p.env(), DirExists: j.dirExists}
	if top && j.p.cfg.Dialect == "sh" {
		o.Dialect = shell.POSIX
	}
	s := shell.Read(text, o)
	if j.programs == nil {
		j.programs, j.views, j.runs = make([]Program, 0, len(s.Commands)), make([]ir.CommandView, 0, len(s.Commands)), make([][]string, 0, len(s.Commands))
	}
	script, calls := j.script, j.calls
	j.script, j.calls = &s, make([]*call, len(s.Commands))
	for _, p := range s.Problems {
		j.problem(p)
	}
	for i := range s.Commands {
		c := j.command(i)
		j.calls[i] = c
		j.add(c)
		if outer != nil {
			outer.raise(c.tier, c.rev, c.reason)
			outer.verdict = outer.verdict.Stricter(c.verdict)
		}
	}
	j.script, j.calls = script, calls
	j.depth--
}

// env is what a text may count on: the variables whose values are certain.
func (p *Policy) env() map[string]string {
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/bash", "LANG": "C.UTF-8"}
	if p.cfg.Home != "" {
		env["HOME"] = p.cfg.Home
		env["USER"] = path.Base(p.cfg.Home)
	}
	if p.cfg.Scratch != "" {
		env["TMPDIR"] = p.cfg.Scratch
	}
	return env
}

func (j *judge) dirExists(dir string) (exists, known bool) {
	if j.p.cfg.Facts == nil {
		return false, false
	}
	at := j.r.resolve(j.p.cfg.Root, dir, true)
	return at.found && at.info.Mode.IsDir(), true
}

// undecide is for what cannot be told: full access, and a question.
func (j *judge) undecide(why string) {
	j.undecided = true
	j.tier = ir.FullAccess
	j.rev = ir.Irreversible
	j.verdict = j.verdict.Stricter(Ask)
	j.say(Reason{Verdict: Ask, Rule: ruleUnknown, Text: why, WayOut: "write it plainly, in smaller steps"})
}

func (j *judge) problem(p shell.Problem) {
	switch {
	case p.Kind == shell.NUL:
		j.verdict = Deny
		j.say(Reason{Verdict: Deny, Rule: ruleLookAlike, Text: p.Text, WayOut: "send text without NUL bytes"})
	case p.Kind == shell.Ambiguous && j.p.cfg.Dialect == "sh":
		j.verdict = Deny
		j.say(Reason{Verdict: Deny, Rule: ruleUnknown, Text: p.Text, WayOut: "write it for a POSIX shell"})
	default:
		j.undecide(p.Text)
	}
}

// command judges one command of the current text.
func (j *judge) command(i int) *call {
	cmd := &j.script.Commands[i]
	c := &call{cmd: cmd, index: i, tier: ir.ReadOnly, rev: ir.Reversible, verdict: Allow, dash: -1}
	if cmd.Remote {
		j.remote(c)
	} else {
		j.redirections(c)
		if len(cmd.Words) > 0 {
			j.program(c)
		}
		j.assignments(c)
	}
	if cmd.Recursive && cmd.Forks {
		j.deny(c, ruleForkBomb, "would call itself without end, in processes of its own", "")
	}
	if cmd.Loop && cmd.Background {
		j.ask(c, ruleForkBomb, "starts processes in a loop without end", "")
	}
	if cmd.Opaque != "" {
		j.undecided = true
		j.ask(c, ruleUnknown, "— "+cmd.Opaque, "spell out what is to run")
	}
	j.commandRules(c)
	j.view(c)
	return c
}

// view keeps what a person is shown of a command.
func (j *judge) view(c *call) {
	cmd := c.cmd
	if cmd.Source == "" && len(cmd.Words) == 0 {
		return
	}
	v := ir.CommandView{Text: cmd.Source, Tier: c.tier, Reversibility: c.rev, Reason: c.reason}
	for _, o := range j.views {
		if o == v {
			return
		}
	}
	j.views = append(j.views, v)
	if len(cmd.Words) > 0 && !cmd.Lookup {
		words := make([]string, len(cmd.Words))
		for k, w := range cmd.Words {
			words[k] = w.String()
		}
		if name, trusted := j.r.programName(cmd, words[0]); trusted {
			words[0] = name
		}
		j.runs = append(j.runs, words)
	}
}

// remote: what another machine is told to do is not judged as if it ran here
// (D33).
func (j *judge) remote(c *call) {
	if name, ok := c.cmd.Name(); ok {
		c.name = name
		if row, full, globals, rest := j.p.find(baseName(name), c.cmd.Words[1:]); row != nil {
			c.row, c.name, c.globals, c.args, c.class = row, full, globals, rest, row.class
		}
	}
	c.tier, c.rev, c.verdict = ir.FullAccess, ir.Irreversible, Ask
	c.reason = "runs on another machine"
	j.network = true
}

func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// program judges the program and its arguments.
func (j *judge) program(c *call) {
	cmd := c.cmd
	word, static := cmd.Words[0].Static()
	if !static {
		j.unknownProgram(c)
		return
	}
	c.name = word
	if why := oddWord(word); why != "" {
		j.undecided = true
		j.ask(c, ruleLookAlike, "has "+why+" in its name", "type the program's name plainly")
		return
	}
	if cmd.Recursive {
		return
	}
	name, trusted := j.r.programName(cmd, word)
	c.name = name
	if !trusted {
		c.raise(ir.FullAccess, ir.Irreversible, "runs a program that is not in a system folder")
		j.undecided = true
		j.say(Reason{Verdict: Ask, Rule: ruleProgram, Text: shorten(word) + " is a program that is not in a system folder"})
		j.anyArguments(c, cmd.Words[1:])
		return
	}
	row, full, globals, rest := j.p.find(name, cmd.Words[1:])
	if row == nil {
		c.raise(ir.FullAccess, ir.Irreversible, "runs a program that policy does not know")
		j.undecided = true
		j.say(Reason{Verdict: Ask, Rule: ruleProgram, Text: shorten(word) + " is a program that policy does not know"})
		j.anyArguments(c, cmd.Words[1:])
		return
	}
	c.row, c.name, c.globals, c.args = row, full, globals, rest
	c.options, c.operands, c.dash = row.parse(rest, false)
	if cmd.Lookup {
		return
	}
	j.classify(c)
}

func (j *judge) unknownProgram(c *call) {
	w := c.cmd.Words[0]
	c.name = w.String()
	j.undecided = true
	j.ask(c, ruleUnknown, "is a program that is not known before it runs", "name the program")
	// What vanishes when it is unset leaves a name behind; judge that too.
	if rest := onlyLiterals(w); rest != "" && !w.HasPattern() {
		ghost := *c.cmd
		ghost.Words = append([]shell.Word{shell.Lit(rest)}, c.cmd.Words[1:]...)
		g := &call{cmd: &ghost, index: c.index, tier: ir.ReadOnly, rev: ir.Reversible, verdict: Allow, dash: -1}
		before := len(j.reasons)
		j.program(g)
		if g.verdict == Deny {
			c.verdict = Deny
		} else {
			j.reasons = j.reasons[:before]
		}
	}
}

func onlyLiterals(w shell.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind == shell.Literal {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// oddWord reports characters that make a command word or an option something
// else than it looks (D18).
func oddWord(s string) string {
	for _, r := range s {
		switch {
		case invisible(r):
			return "an invisible character"
		case r >= 0x80:
			return "a character that looks like another"
		}
	}
	return ""
}

// versionOnly reports a call that asks a program for its version or help.
func versionOnly(c *call) bool {
	if len(c.args) == 1 && len(c.globals) == 0 && len(c.cmd.Assigns) == 0 {
		if text, _ := c.args[0].Static(); text == "--help" {
			return true
		}
	}
	if len(c.cmd.Words) != 2 {
		return false
	}
	switch text, _ := c.cmd.Words[1].Static(); text {
	case "--version", "-version", "--help", "-V":
		return true
	case "version", "help":
		if text == "version" && asksItsServer(c.name) {
			return false
		}
		// A build runner may have a target of that name.
		return c.class != "build" && c.class != "script" && c.class != "code"
	case "-v":
		switch c.name {
		case "node", "php", "ruby", "perl", "lua", "npm", "pnpm", "yarn", "python2", "tsc", "mvn", "gradle", "nginx", "cargo", "rustc", "deno", "bun", "elixir", "dart":
			return true
		}
	case "-h":
		return c.class != "read" && c.class != "echo"
	}
	return false
}

// asksItsServer reports programs whose version command also asks the daemon or cluster
// for its own (D20).
func asksItsServer(name string) bool {
	switch name {
	case "docker", "podman", "nerdctl", "kubectl", "oc", "nomad", "consul", "vault", "argocd", "flux", "istioctl", "linkerd", "etcdctl", "ceph":
		return true
	}
	return false
}

// classify applies the row: class, options, operands, then the handler.
func (j *judge) classify(c *call) {
	c.class = c.row.class
	if sub, def, ok := strings.Cut(c.class, ":"); ok && sub == "sub" || c.class == "sub" {
		c.class = def
		if len(c.operands) > 0 || c.class == "" && len(c.args) > 0 && !versionOnly(c) {
			c.class = ""
		} else if c.class == "" {
			c.class = "fact"
		}
	}
	if versionOnly(c) && !strings.HasPrefix(c.class, "deny:") {
		return
	}
	if rule, ok := strings.CutPrefix(c.class, "deny:"); ok {
		if !j.handled(c) {
			j.never(c, rule)
		}
		return
	}
	switch c.class {
	case "read", "edit", "echo", "network":
		j.input(c)
	}
	j.globals(c)
	for _, o := range c.options {
		j.option(c, o)
	}
	if !j.handled(c) {
		j.apply(c)
		j.operandRoles(c, c.operands)
	}
	j.workingFolder(c)
	j.openWords(c)
}

// openWords asks about words that may become several, or options, wherever the
// handler has not: what a program does hangs on them.
func (j *judge) openWords(c *call) {
	switch c.class {
	case "echo":
		return
	case "fact":
		switch c.row.check {
		case "", "test", "builtins", "declaration", "setbuiltin", "wrapper", "env", "printenv", "compgen":
			return
		}
	}
	for _, w := range c.args {
		for _, p := range w.Parts {
			if p.Kind != shell.Unknown || !p.Split || c.tier > ir.SandboxEdit {
				continue
			}
			if kind, _ := j.shape(p); kind == shapeOpen {
				j.ask(c, ruleUnknown, "gets words that are not known before it runs ("+shorten(p.Text)+"): they may be options or paths", "spell the words out")
			}
		}
	}
}

// workingFolder judges programs that work on the folder they run in without
// being told.
func (j *judge) workingFolder(c *call) {
	if c.verdict == Deny || c.cmd.Lookup || c.cmd.Wraps && c.class != "build" {
		return
	}
	z, _ := j.p.zoneOf(j.dir(c))
	if c.cmd.DirKnown && (z == inside || z == scratch || z == readable && c.tier <= ir.ReadOnly) {
		return
	}
	uses := c.class == "build" || c.class == "commit" || strings.HasPrefix(c.name, "git ") && c.class != "fact"
	switch c.name {
	case "ls", "dir", "vdir", "exa", "eza", "lsd", "tree", "du", "fd", "fdfind", "find":
		uses = uses || len(c.operands) == 0
	case "rg", "ag", "ack":
		uses = uses || len(c.operands) < 2 && !c.cmd.Input.Feeds
	case "grep", "egrep", "fgrep":
		uses = uses || len(c.operands) < 2 && c.has("-r", "-R", "--recursive")
	}
	if !uses {
		return
	}
	if c.cmd.DirKnown {
		j.look(c, shell.Lit("."), true)
		if c.tier < ir.FullAccess && j.p.cfg.ReadOutside != Allow || c.class == "build" || c.class == "commit" {
			j.ask(c, ruleOutRead, "works in a folder outside the working root", "")
		}
		return
	}
	j.ask(c, ruleUnknown, "works in a folder that is not known before it runs", "")
}

// apply raises the call to what its class says, once.
func (j *judge) apply(c *call) {
	if c.classSet {
		return
	}
	c.classSet = true
	if c.class == "" {
		c.raise(ir.FullAccess, ir.Irreversible, "is a subcommand that policy does not know")
		j.undecided = true
		j.say(Reason{Verdict: Ask, Rule: ruleProgram, Text: j.subject(c) + " is used with a subcommand that policy does not know"})
		return
	}
	info, ok := classOf(c.class)
	if !ok {
		j.ask(c, ruleUnknown, "has no class", "")
		return
	}
	c.raise(info.tier, info.rev, info.why)
	c.always = c.always || info.always
	if info.network {
		j.network = true
	}
	if info.why != "" {
		j.say(Reason{Verdict: Ask, Rule: ruleTier, Text: j.subject(c) + " " + info.why})
	}
}

// never refuses what no approval opens.
func (j *judge) never(c *call, rule string) {
	way := map[string]string{
		rulePrivilege:    "ask the person to run it",
		"set_capability": "ask the person to set it",
		ruleDevice:       "work on files below the root",
		"shutdown":       "ask the person to do it",
		ruleEnvDump:      "name the one variable you need: printenv NAME",
		ruleSecretRead:   "ask the person for what you need; secrets do not travel",
	}[rule]
	what := map[string]string{
		rulePrivilege:    "would raise privileges or change the system",
		"set_capability": "would give a file privileges",
		ruleDevice:       "would write a raw device",
		"shutdown":       "would stop the machine",
		ruleEnvDump:      "would print the environment",
		ruleSecretRead:   "would print stored secrets",
	}[rule]
	j.deny(c, rule, what, way)
}

// globals judges options in front of a subcommand.
func (j *judge) globals(c *call) {
	for _, o := range c.globals {
		j.option(c, o)
	}
}
