package policy

import (
	"path"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/redact"
	"car/internal/engine/shell"
)

// secretVariable reports a variable whose value must not be printed (D05).
func (p *Policy) secretVariable(name string) bool { return redact.ShapedLikeSecret(name) }

// prints judges echo and printf: what they show must be no secret.
func (j *judge) prints(c *call) bool {
	j.apply(c)
	for i, w := range c.args {
		if c.name == "printf" && i == 0 && w.HasUnknown() {
			continue
		}
		j.shown(c, w)
	}
	return true
}

// shown judges a word that becomes output. Written into a login file or piped
// into a login, it is asked for; anywhere else it is refused (D05, D06).
func (j *judge) shown(c *call, w shell.Word) {
	for _, p := range w.Parts {
		if p.Var == shell.AnyVariable && slices.Contains(c.cmd.Via, "eval") {
			j.deny(c, ruleEnvDump, "would print variables whatever their names", "name the one variable you need")
			continue
		}
		if p.Var == shell.AnyVariable {
			j.ask(c, ruleSecretRead, "prints a variable whose name is not known", "name the variable")
			continue
		}
		if p.Var == "" || p.Derived || !j.p.secretVariable(p.Var) {
			continue
		}
		if j.toLogin(c) {
			j.ask(c, ruleSecretSend, "hands $"+p.Var+" to a login", "")
			return
		}
		j.deny(c, ruleSecretRead, "would print the value of $"+p.Var, "test it instead: test -n \"$"+p.Var+"\"")
		return
	}
}

// toLogin reports output that goes into a login file or a login's input.
func (j *judge) toLogin(c *call) bool {
	for _, r := range c.cmd.Redirs {
		if r.Op != shell.RedirWrite && r.Op != shell.RedirAppend {
			continue
		}
		if text, ok := r.Target.Static(); ok {
			switch path.Base(text) {
			case ".npmrc", ".pypirc", ".netrc", ".pgpass", ".git-credentials", "_netrc", ".yarnrc.yml", ".dockercfg":
				return true
			}
		}
	}
	for i := c.index + 1; i < len(j.script.Commands); i++ {
		next := j.script.Commands[i]
		if !next.Input.Feeds || c.index < next.Input.From || c.index >= next.Input.To {
			continue
		}
		words := make([]string, 0, len(next.Words))
		for _, w := range next.Words {
			words = append(words, w.String())
		}
		line := " " + strings.Join(words, " ") + " "
		return strings.Contains(line, " login ") && (strings.Contains(line, "--password-stdin") || strings.Contains(line, "--with-token"))
	}
	return false
}

// input judges a here-document or here-string whose text a program shows.
func (j *judge) input(c *call) {
	if c.cmd.Input.Word == nil {
		return
	}
	for _, p := range c.cmd.Input.Word.Parts {
		if p.Var == "" || p.Derived || !j.p.secretVariable(p.Var) {
			continue
		}
		if strings.Contains(" "+strings.Join(c.argText(), " ")+" ", " login ") || j.toLogin(c) {
			j.ask(c, ruleSecretSend, "hands $"+p.Var+" to a login", "")
			return
		}
		j.deny(c, ruleSecretRead, "would show the value of $"+p.Var, "")
	}
}

// facts judges programs that tell of the host: with options that change it they
// do more than that.
func (j *judge) facts(c *call) bool {
	switch c.name {
	case "hostname", "domainname", "hostnamectl", "timedatectl", "localectl", "loginctl":
		if len(c.operands) > 0 && c.word(0) != "status" && c.word(0) != "list-sessions" && c.word(0) != "show" && c.word(0) != "list-timezones" {
			j.never(c, rulePrivilege)
		}
	case "ifconfig", "route", "arp":
		if len(c.operands) > 1 {
			j.never(c, rulePrivilege)
		}
	case "ip":
		for _, t := range c.argText() {
			switch t {
			case "add", "del", "delete", "set", "change", "replace", "flush", "exec", "append", "netns", "vrf", "monitor":
				j.never(c, rulePrivilege)
				return true
			}
		}
	case "lsof", "fuser":
		if c.has("-k", "--kill") {
			c.raise(ir.FullAccess, ir.Irreversible, "signals processes")
		}
	}
	return false
}

func (j *judge) envDump(c *call) bool {
	if c.cmd.Wraps {
		return true
	}
	if c.cmd.Opaque != "" {
		return true
	}
	if c.has("--help", "--version") {
		return true
	}
	j.never(c, ruleEnvDump)
	return true
}

func (j *judge) printenv(c *call) bool {
	if len(c.operands) == 0 {
		j.never(c, ruleEnvDump)
		return true
	}
	for _, w := range c.operands {
		name, ok := w.Static()
		if !ok {
			j.ask(c, ruleUnknown, "prints a variable whose name is not known", "name the variable")
			continue
		}
		if j.p.secretVariable(name) {
			j.deny(c, ruleSecretRead, "would print the value of $"+name, "test it instead: test -n \"$"+name+"\"")
		}
	}
	return true
}

func (j *judge) setBuiltin(c *call) bool {
	if len(c.args) == 0 {
		j.never(c, ruleEnvDump)
	}
	return true
}

// declaration judges export and its kin: listings show values.
func (j *judge) declaration(c *call) bool {
	names, prints, functions := 0, false, false
	for _, a := range c.args {
		t, ok := a.Static()
		switch {
		case ok && len(t) > 1 && (t[0] == '-' || t[0] == '+'):
			prints = prints || strings.Contains(t, "p")
			functions = functions || strings.ContainsAny(t, "fF")
		default:
			names++
			if ok && prints && j.p.secretVariable(t) {
				j.deny(c, ruleSecretRead, "would print the value of $"+t, "")
			}
		}
	}
	if names == 0 && !functions && c.name != "local" && len(c.cmd.Assigns) == 0 {
		j.never(c, ruleEnvDump)
	}
	return true
}

// builtins judges the shell's own words that load or rebind.
func (j *judge) builtins(c *call) bool {
	switch c.name {
	case "enable":
		if c.has("-f") || strings.Contains(strings.Join(c.argText(), " "), "-f") {
			j.ask(c, ruleHelper, "loads native code into the shell", "")
		}
	case "bind":
		if strings.Contains(strings.Join(c.argText(), " "), "-x") {
			j.ask(c, ruleHelper, "binds a key to a command", "")
		}
	case "hash":
		if strings.Contains(strings.Join(c.argText(), " "), "-p") {
			j.ask(c, ruleHelper, "gives a name another program", "")
		}
	case "complete", "compopt":
		for i, t := range c.argText() {
			if (t == "-C" || t == "-F") && i+1 < len(c.args) {
				j.helper(c, c.args[i+1])
			}
		}
	case "cd", "pushd":
		// Where it leads is judged with what runs there; a walk into a key store is none.
		for _, w := range c.operands {
			if t, ok := w.Static(); ok && t != "-" {
				if at := j.place(c, t, true); at.secret == keyStore {
					j.look(c, w, false)
				}
			}
		}
	case "read", "mapfile", "readarray":
		j.input(c)
		for i, t := range c.argText() {
			if t == "-C" && i+1 < len(c.args) {
				j.payload(c, c.args[i+1])
			}
		}
	}
	return true
}

func (j *judge) compgen(c *call) bool {
	for i, t := range c.argText() {
		if (t == "-C" || t == "-F") && i+1 < len(c.args) {
			j.helper(c, c.args[i+1])
		}
		if t == "-W" && i+1 < len(c.args) && c.args[i+1].HasUnknown() {
			j.ask(c, ruleUnknown, "expands words that are not known", "")
		}
	}
	return true
}

// sourced judges source and dot: a secret file is refused, any other file is
// code that policy has not read.
func (j *judge) sourced(c *call) bool {
	if c.cmd.Wraps {
		return true
	}
	j.undecided = true
	if len(c.operands) > 0 {
		j.read(c, c.operands[0], false)
	}
	j.apply(c)
	return true
}

// pager judges less and its kin: +command may run a program.
func (j *judge) pager(c *call) bool {
	j.apply(c)
	for _, w := range c.operands {
		text := w.Prefix()
		if !strings.HasPrefix(text, "+") || c.dash >= 0 {
			j.argument(c, w, roleRead)
			continue
		}
		run := strings.TrimLeft(text, "+")
		switch {
		case strings.HasPrefix(run, "!"):
			j.ask(c, ruleHelper, "is told to start another program", "leave the command out")
			j.readText(run[1:], j.dir(c), false, c)
		case strings.HasPrefix(run, "/"), strings.HasPrefix(run, "?"), run == "F", run == "G", run == "g", strings.Trim(run, "0123456789gGp") == "":
		default:
			j.ask(c, ruleHelper, "is given a command of its own", "leave the command out")
		}
	}
	return true
}

func (j *judge) man(c *call) bool {
	j.apply(c)
	for _, w := range c.operands {
		if t, ok := w.Static(); ok && strings.Contains(t, "/") {
			j.read(c, w, false)
		}
	}
	return true
}

// ps refuses listings that show environments (D32). BSD letters stand without a
// dash; -e means something else with one.
func (j *judge) ps(c *call) bool {
	for i, w := range c.args {
		t, ok := w.Static()
		if !ok || t == "" {
			continue
		}
		if i > 0 {
			if prev, _ := c.args[i-1].Static(); strings.HasPrefix(prev, "-") && strings.IndexByte("opuUCgGtq", prev[len(prev)-1]) >= 0 {
				continue
			}
		}
		letters := strings.Trim(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
		if letters && strings.Contains(t, "e") || t == "-E" || strings.Contains(t, "environ") {
			j.never(c, ruleEnvDump)
			return true
		}
	}
	return true
}

// wrapper judges programs that run others: those are commands of their own.
func (j *judge) wrapper(c *call) bool {
	j.apply(c)
	return true
}

func (j *judge) typescript(c *call) bool {
	if !c.has("-c", "--command") && len(c.operands) < 1 {
		j.write(c, shell.Lit("typescript"), creates)
		j.ask(c, ruleHelper, "starts an interactive shell", "")
	}
	return false
}

// tracer judges strace and its kin, which watch or keep what they start.
func (j *judge) tracer(c *call) bool {
	if v := c.value("-o", "--output"); v != nil {
		if text := v.Prefix(); strings.HasPrefix(text, "|") || strings.HasPrefix(text, "!") {
			if rest, ok := v.Cut(1); ok {
				j.helper(c, rest)
			}
		}
	}
	return false
}

// shells judges a shell that runs a file or is interactive; -c text and known
// input are commands of their own.
func (j *judge) shells(c *call) bool {
	redirs := c.cmd.Redirs
	for i := c.index - 1; i >= 0 && i < len(j.script.Commands) && j.script.Commands[i].Wraps; i-- {
		redirs = append(redirs[:len(redirs):len(redirs)], j.script.Commands[i].Redirs...)
	}
	for _, r := range redirs {
		if deviceOf(r.Target.String(), r.Target.String()) == networkDevice {
			j.deny(c, ruleNetwork, "would wire a shell to a network connection", "")
		}
	}
	if c.cmd.Lookup || c.cmd.Wraps {
		if c.cmd.Lookup {
			for _, w := range c.operands {
				j.read(c, w, false)
			}
		}
		return true
	}
	if c.cmd.Opaque != "" {
		c.raise(ir.FullAccess, ir.Irreversible, "runs text that is not known")
		return true
	}
	if len(c.operands) > 0 {
		j.read(c, c.operands[0], false)
	}
	j.undecided = true
	j.apply(c)
	return true
}
