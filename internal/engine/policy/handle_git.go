package policy

import (
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// git judges git without a subcommand that the table has: an alias, a program
// named git-x, or the bare command.
func (j *judge) git(c *call) bool {
	j.gitGlobals(c)
	for _, o := range c.options {
		j.gitGlobal(c, o)
	}
	return false
}

// gitGlobals judges what stands between git and its subcommand (D15).
func (j *judge) gitGlobals(c *call) {
	for _, o := range c.globals {
		j.gitGlobal(c, o)
	}
	j.repository(c)
}

func (j *judge) gitGlobal(c *call, o given) {
	switch o.name {
	case "--config-env":
		j.ask(c, ruleHelper, "takes a setting from the environment", "")
	case "-p", "--paginate":
		j.ask(c, ruleHelper, "switches its pager on", "leave -p out")
	case "--exec-path":
		if o.value != nil {
			j.ask(c, ruleHelper, "takes its programs from elsewhere", "")
		}
	case "--git-dir", "--work-tree":
		if o.value != nil {
			if t, ok := o.value.Static(); ok && (t == ".git" || t == ".") {
				return
			}
		}
		j.ask(c, ruleHelper, "works on another repository or tree", "")
	}
}

// gitSetting judges key=value of git -c; a key alone means true.
func (j *judge) gitSetting(c *call, w shell.Word) {
	key, value, found := strings.Cut(w.String(), "=")
	if !found {
		value = "true"
	}
	j.gitKey(c, key, value, !w.HasUnknown())
}

// gitKey judges a setting by its name. Harmless keys are listed; all others may
// start a program or move what git works on.
func (j *judge) gitKey(c *call, key, value string, known bool) {
	low := strings.ToLower(key)
	section, last := low, low
	if i := strings.IndexByte(low, '.'); i >= 0 {
		section = low[:i]
		last = low[strings.LastIndexByte(low, '.')+1:]
	}
	switch {
	case section == "alias":
		j.gitAlias(c, value, known)
		return
	case section == "remote" && last == "push" && strings.HasPrefix(value, "+"), section == "remote" && last == "mirror" && !falseValue(value):
		j.deny(c, rulePush, "would force a push by a setting", "push without force, or with --force-with-lease")
		return
	case gitHarmless(low, section, last, value):
		return
	}
	j.ask(c, ruleHelper, "is given a setting that may start a program or move what it works on ("+shorten(key)+")", "leave the setting out")
	if known && shellSetting(section, last) && value != "" {
		j.readText(strings.TrimPrefix(value, "!"), j.dir(c), false, c)
	}
}

func falseValue(v string) bool {
	switch strings.ToLower(v) {
	case "false", "no", "off", "0", "":
		return true
	}
	return false
}

// shellSetting reports settings whose value git runs.
func shellSetting(section, last string) bool {
	switch last {
	case "fsmonitor", "sshcommand", "pager", "editor", "askpass", "gitproxy", "external", "command", "cmd", "textconv", "driver", "clean", "smudge", "process", "program", "helper", "uploadpack", "receivepack", "difffilter", "packobjectshook", "alternaterefscommand":
		return true
	}
	return section == "pager"
}

func gitHarmless(low, section, last, value string) bool {
	switch section {
	case "user", "author", "committer", "color", "advice", "branch", "push", "pull", "rebase", "merge", "column", "status", "grep", "tag", "i18n", "format", "blame", "rerere", "index", "pack", "gc", "feature", "stash", "versionsort", "help", "revert", "sparse", "am", "apply", "clean", "checkout", "commit", "fetch", "log", "diff", "submodule", "init", "core", "http", "protocol":
	default:
		return false
	}
	if shellSetting(section, last) {
		return last == "fsmonitor" && (falseValue(value) || value == "true") || (last == "pager" || last == "editor") && noHelper(value)
	}
	switch {
	case section == "core":
		switch last {
		case "quotepath", "autocrlf", "eol", "safecrlf", "abbrev", "ignorecase", "filemode", "precomposeunicode", "symlinks", "trustctime", "checkstat", "untrackedcache", "preloadindex", "commentchar", "whitespace", "longpaths", "logallrefupdates", "compression", "bigfilethreshold", "protecthfs", "protectntfs", "warnambiguousrefs", "splitindex":
			return true
		case "hookspath":
			return value == "/dev/null"
		}
		return false
	case section == "http":
		return last == "postbuffer" || last == "lowspeedlimit" || last == "lowspeedtime" || last == "version"
	case section == "protocol":
		return last == "version"
	case section == "init":
		return last == "defaultbranch"
	case section == "commit":
		return last != "template" && !(last == "gpgsign" && !falseValue(value))
	case section == "log" || section == "merge" || section == "tag" || section == "push":
		return last != "showsignature" && last != "verifysignatures" && last != "gpgsign" && last != "tool" && last != "guitool"
	case section == "submodule":
		return last == "recurse" || last == "fetchjobs"
	case section == "diff":
		return last != "tool" && last != "guitool" && last != "orderfile" && strings.Count(low, ".") == 1
	case section == "branch":
		return last != "pushremote" && last != "remote"
	case section == "fetch" || section == "rebase" || section == "format" || section == "blame" || section == "help":
		return last != "instructionformat_" && last != "ignorerevsfile" && last != "signature" && last != "browser"
	}
	return true
}

// gitAlias judges an alias by what it would run.
func (j *judge) gitAlias(c *call, value string, known bool) {
	j.ask(c, ruleHelper, "gives git an alias", "call what the alias stands for")
	if !known {
		j.undecided = true
		return
	}
	if text, ok := strings.CutPrefix(value, "!"); ok {
		j.readText(text, j.dir(c), false, c)
		return
	}
	j.readText("git "+value, j.dir(c), false, c)
}

// gitRead judges subcommands that look: what they show must be no secret.
func (j *judge) gitRead(c *call) bool {
	j.gitGlobals(c)
	sub := strings.TrimPrefix(c.name, "git ")
	switch sub {
	case "symbolic-ref":
		if len(c.operands) > 1 || c.has("-d", "--delete") {
			c.class = "commit"
		}
	case "format-patch", "archive", "show-branch", "maintenance run", "rerere":
		if sub == "format-patch" && !c.has("--stdout") || sub == "maintenance run" {
			c.class = "commit"
		}
	case "hash-object", "mktree", "commit-tree", "mktag", "unpack-file":
		if c.has("-w") || sub == "mktree" || sub == "commit-tree" || sub == "mktag" || sub == "unpack-file" {
			c.class = "commit"
		}
	case "lfs env", "fsck":
		if c.has("--lost-found") {
			c.class = "commit"
		}
	case "remote", "remote get-url":
		j.apply(c)
		return true
	}
	if c.has("--remote") {
		c.raise(ir.FullAccess, ir.Reversible, "reaches the network")
		j.network = true
	}
	j.apply(c)
	j.gitShown(c, sub)
	return true
}

// contentless subcommands show names, never what is in a file.
func contentless(sub string, c *call) bool {
	switch sub {
	case "status", "ls-files", "ls-tree", "check-ignore", "check-attr", "for-each-ref", "show-ref", "rev-parse", "rev-list", "describe", "merge-base", "name-rev", "count-objects", "shortlog", "reflog", "reflog show", "branch", "tag", "help", "version", "cherry", "check-ref-format", "stash list", "worktree list", "submodule status", "var", "symbolic-ref", "check-mailmap", "verify-commit", "verify-tag":
		return true
	case "log", "whatchanged":
		return !c.has("-p", "-u", "--patch", "-S", "-G", "-L", "-c", "--cc", "-m") && !c.has("--patch-with-stat", "--word-diff", "--color-words")
	case "diff", "show", "diff-tree", "diff-index", "diff-files":
		return c.has("--name-only", "--name-status", "--stat", "--numstat", "--shortstat", "--summary", "--check", "--quiet")
	}
	return false
}

// gitShown judges operands that may name files or objects (D04).
func (j *judge) gitShown(c *call, sub string) {
	noIndex := c.has("--no-index")
	quiet := contentless(sub, c)
	if sub == "grep" && len(c.operands) > 0 && !c.has("-e", "-f") {
		j.unknownText(c, c.operands[0])
		c.operands = c.operands[1:]
		c.dash--
	}
	for i, w := range c.operands {
		text, ok := w.Static()
		if !ok {
			if !quiet && j.globSecret(c, w) {
				continue
			}
			j.unknownText(c, w)
			continue
		}
		if noIndex || sub == "blame" || sub == "annotate" || sub == "hash-object" && !c.has("--stdin") || sub == "stripspace" {
			j.read(c, w, false)
			continue
		}
		if quiet {
			continue
		}
		name := text
		if rev, file, isObject := strings.Cut(text, ":"); isObject && !strings.HasPrefix(text, ":") && !strings.Contains(rev, "/") || isObject && !strings.Contains(text, "://") {
			name = file
		} else if c.dash >= 0 && i < c.dash {
			continue
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "(top)"), "/")
		if name == "" {
			continue
		}
		if hasGlob(name) && namesSecrets(name) {
			j.deny(c, ruleSecretRead, "would show secret files of the repository", "name the files that you mean")
			continue
		}
		at := j.place(c, name, true)
		if at.secret >= envFile {
			j.readAt(c, at, false)
		} else if at.zone == outside && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "../")) {
			j.outsideRead(c, at)
		} else {
			j.noteRead(c, at, false)
		}
	}
}

// globSecret refuses a pathspec pattern that names secrets.
func (j *judge) globSecret(c *call, w shell.Word) bool {
	if !w.HasPattern() || w.HasUnknown() {
		return false
	}
	for _, at := range j.places(c, w, true) {
		if at.secret >= envFile {
			j.readAt(c, at, false)
		}
	}
	return true
}

// gitRemote judges subcommands that reach a remote.
func (j *judge) gitRemote(c *call) bool {
	j.gitGlobals(c)
	sub := strings.TrimPrefix(c.name, "git ")
	if sub == "remote show" && len(c.operands) == 0 || c.has("--get-url") {
		c.class = "read"
	}
	j.apply(c)
	for _, w := range c.operands {
		text, ok := plainText(w)
		if !ok {
			if what, secret := j.secretPart(w); secret {
				j.deny(c, ruleSecretSend, "would put "+what+" into a URL", "use a credential helper")
			}
			continue
		}
		j.gitURL(c, text)
	}
	if sub == "clone" || sub == "subtree add" || sub == "submodule add" {
		if n := len(c.operands); sub == "clone" && n > 1 {
			j.write(c, c.operands[1], creates)
		} else if n > 1 && sub == "submodule add" {
			j.write(c, c.operands[n-1], creates)
		}
	}
	switch sub {
	case "instaweb", "daemon", "send-email", "imap-send":
		c.raise(ir.FullAccess, ir.Irreversible, "serves or sends what is in the repository")
	}
	return true
}

// gitURL judges a remote's address: transports that start programs, and secrets.
func (j *judge) gitURL(c *call, text string) {
	transport, rest, ok := strings.Cut(text, "::")
	if ok && transport != "" && !strings.ContainsAny(transport, "/.:@[ ") {
		j.ask(c, ruleHelper, "uses a transport that starts a program", "use https or ssh")
		if transport == "ext" {
			j.readText(rest, j.dir(c), false, c)
		}
		return
	}
	if !strings.Contains(text, "://") {
		if host, _, ok := strings.Cut(text, ":"); ok && !strings.Contains(host, "/") {
			j.host(host[strings.LastIndexByte(host, '@')+1:])
		}
		return
	}
	if j.holdsSecret(text) {
		j.deny(c, ruleSecretSend, "would put a secret into a URL", "use a credential helper")
	}
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme == "http" || scheme == "https" {
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			rest = rest[:i]
		}
		rest = rest[strings.LastIndexByte(rest, '@')+1:]
		host, _, _ := strings.Cut(rest, ":")
		j.host(host)
		j.judgeReach(c, host)
	}
}

// gitPush judges pushing: by no spelling may it force (D02).
func (j *judge) gitPush(c *call) bool {
	j.gitGlobals(c)
	j.apply(c)
	forced := c.has("-f", "--force", "--mirror")
	for _, o := range c.options {
		// git takes abbreviations; --forc is none of --force-with-lease.
		if strings.HasPrefix("--force", o.name) && len(o.name) >= 5 || strings.HasPrefix("--mirror", o.name) && len(o.name) >= 4 {
			forced = true
		}
	}
	for i, w := range c.operands {
		if what, secret := j.secretPart(w); secret && i == 0 {
			j.deny(c, ruleSecretSend, "would put "+what+" into a URL", "use a credential helper")
		}
		if strings.HasPrefix(w.Prefix(), "+") && i > 0 || strings.HasPrefix(w.Prefix(), "+") && strings.Contains(w.Prefix(), ":") {
			forced = true
		}
		if text, ok := w.Static(); ok && i == 0 {
			j.gitURL(c, text)
		}
	}
	if forced {
		j.deny(c, rulePush, "would overwrite what others have pushed", "push without force, or ask for --force-with-lease")
	}
	if c.has("--delete", "-d", "--prune") {
		c.rev = ir.Irreversible
	}
	return true
}
