package policy

import (
	"regexp"
	"slices"
	"strings"

	"car/internal/engine/shell"
)

// Signals: what they reach decides. Every process is D37; car itself and the process
// that started the shell, which is car, are what governs (G-SHELL-4): a child that
// ended them would have the last word.

const ruleSignalAll = "signal_all"

func (j *judge) kill(c *call) bool {
	args := c.argText()
	if len(args) > 0 && (args[0] == "-l" || args[0] == "-L" || args[0] == "--list") {
		c.class = "fact"
	}
	j.apply(c)
	if c.class == "fact" {
		return true
	}
	if c.name != "kill" {
		j.killNamed(c)
		return true
	}
	j.killAll(c, args)
	for _, w := range c.args {
		if j.governs(w) {
			j.deny(c, ruleGovernance, "would signal what governs this agent", "name the process that the work started")
		}
	}
	return true
}

// killAll refuses kill -1. The first dashed word is a signal unless -- came before
// it; a later -1 means everything.
func (j *judge) killAll(c *call, args []string) {
	signalled := false
	for i, t := range args {
		switch {
		case t == "--":
			signalled = true
		case (t == "-s" || t == "-n" || t == "--signal") && i+1 < len(args):
			signalled = true
		case t == "-1" && signalled, t == "-1" && len(args) == 1:
			j.deny(c, ruleSignalAll, "would signal every process", "name the process")
		case strings.HasPrefix(t, "-"):
			signalled = true
		}
	}
}

// governs reports a word that is the number of car's process: the parent of the
// shell, or what looking for car by name prints.
func (j *judge) governs(w shell.Word) bool {
	for _, p := range w.Parts {
		if p.Kind != shell.Unknown {
			continue
		}
		if strings.Contains(p.Text, "PPID") {
			return true
		}
		for _, i := range p.Subst {
			if i < len(j.script.Commands) && findsGovernor(j.script.Commands[i]) {
				return true
			}
		}
	}
	return false
}

// findsGovernor reports a command that prints the number of car's process.
func findsGovernor(cmd shell.Command) bool {
	if len(cmd.Words) == 0 {
		return false
	}
	texts := make([]string, len(cmd.Words))
	parent := false
	for i, w := range cmd.Words {
		texts[i] = w.String()
		parent = parent || strings.Contains(texts[i], "PPID")
	}
	args := texts[1:]
	switch base(texts[0]) {
	case "pgrep":
		return parent || slices.ContainsFunc(operandsOf(args, "-u", "-U", "-P", "-g", "-G", "-s", "-t", "-d"), namesGovernor)
	case "pidof":
		return slices.ContainsFunc(args, func(t string) bool { return base(t) == governorName })
	case "ps":
		return parent || slices.ContainsFunc(args, func(t string) bool { return strings.Contains(t, "ppid") }) || slices.Contains(args, governorName)
	case "grep", "awk", "sed":
		return parent || slices.ContainsFunc(args, func(t string) bool {
			return strings.Contains(t, "PPid") || t == governorName || t == "[c]ar" || t == "/"+governorName+"/"
		})
	}
	return parent
}

// governorName is what this program is called in lists of processes.
const governorName = "car"

// namesGovernor reports a pattern, as pgrep reads it, that this program matches.
func namesGovernor(pattern string) bool {
	re, err := regexp.Compile("(?i)" + pattern)
	return err == nil && (re.MatchString(governorName) || re.MatchString("/bin/"+governorName+" ") && !re.MatchString("/bin/"))
}

// operandsOf leaves out options, and the values of those named.
func operandsOf(args []string, takes ...string) []string {
	var list []string
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(takes, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			list = append(list, args[i])
		}
	}
	return list
}

// killNamed judges the programs that choose processes by name, owner or place.
func (j *judge) killNamed(c *call) {
	args := c.argText()
	names := operandsOf(args, "-u", "-U", "-P", "-g", "-G", "-s", "-t", "-o", "-y", "--signal", "--uid", "--euid", "--user", "--parent", "--terminal")
	everyone := slices.ContainsFunc(args, func(t string) bool {
		return t == "-v" || t == "--inverse" || strings.HasPrefix(t, "--negate")
	})
	owner := slices.ContainsFunc(args, func(t string) bool {
		return strings.HasPrefix(t, "-u") || strings.HasPrefix(t, "-U") || strings.HasPrefix(t, "--uid") || strings.HasPrefix(t, "--euid") || strings.HasPrefix(t, "--user")
	})
	if (c.name == "pkill" || c.name == "killall" || c.name == "skill") && (everyone || owner && len(names) == 0) {
		j.deny(c, ruleSignalAll, "would signal every process of a user", "name the process")
		return
	}
	for _, name := range names {
		exact := base(name) == governorName
		if exact || (c.name == "pkill" || slices.Contains(args, "-r") || slices.Contains(args, "--regexp")) && namesGovernor(name) {
			j.deny(c, ruleGovernance, "would signal what governs this agent", "name the process that the work started")
			return
		}
	}
}

// base is the last element of a path.
func base(text string) string { return text[strings.LastIndexByte(text, '/')+1:] }
