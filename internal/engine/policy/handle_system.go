package policy

import (
	"strings"

	"car/internal/engine/ir"
)

func (j *judge) systemctl(c *call) bool {
	switch c.word(0) {
	case "status", "list-units", "list-unit-files", "show", "is-active", "is-enabled", "is-failed", "cat", "list-timers", "list-sockets", "list-dependencies", "get-default", "help", "--version":
		c.raise(ir.ReadOnly, ir.Reversible, "")
		c.classSet = true
		if c.has("-H", "-M") {
			c.raise(ir.FullAccess, ir.Reversible, "reaches another machine")
		}
		return true
	}
	return false
}

func (j *judge) launchctl(c *call) bool {
	if c.name == "launchctl" && (c.word(0) == "list" || c.word(0) == "print") {
		c.classSet = true
		return true
	}
	return false
}

func (j *judge) sshAdd(c *call) bool {
	if c.has("-l", "-L") {
		c.classSet = true
		return true
	}
	return false
}

func (j *judge) sysctl(c *call) bool {
	for _, t := range c.argText() {
		if c.name == "sysctl" && (strings.Contains(t, "=") || t == "-w" || t == "-p" || t == "--system") {
			j.never(c, rulePrivilege)
			return true
		}
	}
	switch c.name {
	case "sysctl", "lsmod", "modinfo":
		c.classSet = true
		return true
	}
	return false
}

// mounts: bare listings are facts, all else needs the system.
func (j *judge) mounts(c *call) bool {
	switch {
	case c.name == "mount" && (len(c.args) == 0 || len(c.args) == 1 && c.has("-l")),
		c.name == "losetup" && (len(c.args) == 0 || c.has("-l", "-a")),
		(c.name == "zfs" || c.name == "zpool") && (c.word(0) == "list" || c.word(0) == "status" || c.word(0) == "get"),
		c.name == "btrfs" && len(c.operands) > 1 && (c.word(1) == "show" || c.word(1) == "list" || c.word(1) == "usage" || c.word(1) == "df"):
		return true
	}
	return false
}

func (j *judge) power(c *call) bool {
	return c.name == "shutdown" && c.has("-c")
}

// passwords: stores of secrets, but for what only lists names.
func (j *judge) passwords(c *call) bool {
	switch c.name {
	case "doppler", "infisical", "chamber", "aws-vault", "op", "teller":
		if c.word(0) == "run" || c.word(0) == "exec" {
			j.deny(c, ruleSecretRead, "would hand stored secrets to a program", "ask the person to run it")
			return true
		}
	case "security":
		switch c.word(0) {
		case "list-keychains", "default-keychain", "error", "help":
			j.ask(c, ruleSecretRead, "looks into a key store", "")
			return true
		}
	}
	return false
}

// car judges calls of this program by what it governs: no child decides.
func (j *judge) car(c *call) bool {
	switch c.word(0) {
	case "version", "help":
		c.classSet = true
		return true
	case "approvals", "trust", "policy", "config", "sessions", "undo", "init":
		j.deny(c, ruleGovernance, "would reach into what governs this agent", "ask the person to do it")
		return true
	}
	return false
}

func (j *judge) packages(c *call) bool {
	switch c.name {
	case "dpkg":
		if c.has("-l", "-L", "-s", "-S", "--list", "--listfiles", "--status", "--search", "--print-architecture", "-p") {
			c.classSet = true
			return true
		}
	case "rpm":
		if c.has("-q", "--query") {
			c.classSet = true
			return true
		}
	case "apk", "pacman":
		if c.word(0) == "info" || c.has("-Q") {
			c.classSet = true
			return true
		}
	case "nix-shell", "nix":
		for i, t := range c.argText() {
			if (t == "--run" || t == "--command" || t == "-c") && i+1 < len(c.args) {
				j.payload(c, c.args[i+1])
			}
		}
	}
	return false
}

func (j *judge) scheduler(c *call) bool {
	j.apply(c)
	for i, w := range c.operands {
		if t, ok := w.Static(); ok && c.name == "crontab" && i == 0 && t != "-" {
			j.read(c, w, false)
		}
	}
	if c.cmd.Input.Known && (c.name == "at" || c.name == "batch") {
		j.readText(c.cmd.Input.Text, j.dir(c), false, c)
	}
	return true
}
