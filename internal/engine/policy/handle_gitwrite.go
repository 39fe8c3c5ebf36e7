package policy

import (
	"io"
	"path"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// gitWrite judges subcommands that change the work tree, the index or history.
func (j *judge) gitWrite(c *call) bool {
	j.gitGlobals(c)
	sub := strings.TrimPrefix(c.name, "git ")
	if j.gitLists(c, sub) {
		c.class = "read"
	}
	if j.gitDiscards(c, sub) {
		c.class = "loss"
	}
	if sub == "branch" {
		j.gitBranch(c)
	}
	j.gitMakes(c, sub)
	j.apply(c)
	j.gitPaths(c, sub)
	return true
}

// gitLists reports calls that only show.
func (j *judge) gitLists(c *call, sub string) bool {
	switch sub {
	case "tag":
		return len(c.operands) == 0 || c.has("-l", "--list", "-n", "--contains", "--no-contains", "--points-at", "--merged", "--no-merged", "-v", "--verify")
	case "notes":
		return len(c.operands) == 0
	case "apply":
		return c.has("--stat", "--numstat", "--summary", "--check") && !c.has("--apply")
	}
	return false
}

// gitDiscards reports calls that drop what no commit holds (D13).
func (j *judge) gitDiscards(c *call, sub string) bool {
	switch sub {
	case "checkout":
		return j.gitCheckout(c)
	case "switch":
		return c.has("-f", "--force", "--discard-changes", "-C", "--force-create")
	case "restore":
		return !c.has("--staged", "-S") || c.has("--worktree", "-W")
	case "reset":
		return c.has("--hard", "--merge", "--keep")
	case "read-tree", "checkout-index":
		return c.has("-u", "--reset", "-f", "--force", "-a", "--all")
	case "rm":
		return c.has("-f", "--force") && c.has("-r") || c.word(0) == "." && !c.has("--cached")
	}
	return false
}

// gitMakes judges what a call starts, and the files it makes beside the tree.
func (j *judge) gitMakes(c *call, sub string) {
	made := []shell.Word(nil)
	switch sub {
	case "rebase", "am", "cherry-pick", "revert", "merge":
		if c.has("-i", "--interactive", "-e", "--edit", "--edit-todo") {
			j.ask(c, ruleHelper, "starts the editor", "")
		}
	case "difftool", "mergetool", "citool", "gui", "gitk":
		j.ask(c, ruleHelper, "starts another program", "")
		if v := c.value("-x", "--extcmd"); v != nil {
			j.helper(c, *v)
		}
	case "bundle create", "worktree add":
		made = c.operands[:min(1, len(c.operands))]
	case "worktree move":
		made = c.operands[min(1, len(c.operands)):]
	case "init":
		made = c.operands
	case "apply":
		if c.has("--unsafe-paths", "--directory") {
			j.ask(c, ruleUnknown, "applies a patch to paths that it does not show", "")
		}
		for _, w := range c.operands {
			j.read(c, w, false)
		}
	}
	for _, w := range made {
		j.write(c, w, creates)
	}
}

// gitPaths judges operands that name files which would change.
func (j *judge) gitPaths(c *call, sub string) {
	for i, w := range c.operands {
		text, ok := w.Static()
		if !ok {
			j.unknownText(c, w)
			continue
		}
		switch sub {
		case "add", "stage", "mv", "rm", "checkout", "restore", "stash push", "reset", "checkout-index", "update-index", "commit":
		default:
			continue
		}
		if c.dash >= 0 && i < c.dash {
			continue
		}
		if !strings.ContainsAny(text, "./~") {
			continue
		}
		at := j.place(c, text, false)
		switch {
		case at.isRoot:
		case sub == "mv" || sub == "rm" && !c.has("--cached"):
			kind := deletes
			if sub == "mv" && i == len(c.operands)-1 {
				kind = creates
			}
			if at.zone == inside {
				j.gitChange(c, at, kind)
			} else {
				j.writeAt(c, at, kind)
			}
		case sub == "checkout" || sub == "restore":
			if at.guard == governance || at.secret >= envFile {
				j.writeAt(c, at, creates)
			}
		case (sub == "add" || sub == "stage") && at.secret >= envFile:
			j.ask(c, ruleSecretRead, "puts a secret file into history ("+at.text+")", "")
		}
	}
}

// gitChange judges a change by git, which keeps the old content in history.
func (j *judge) gitChange(c *call, at where, kind writeKind) {
	rev := c.rev
	j.writeAt(c, at, kind)
	if c.verdict != Deny && c.tier == ir.SandboxEdit {
		c.rev = rev
	}
}

func (j *judge) gitBranch(c *call) {
	switch {
	case c.has("--edit-description"):
	case c.has("-D") || c.has("-d", "--delete") && c.has("-f", "--force") || c.has("-M", "-C") || c.has("-f", "--force") && len(c.operands) > 0:
		c.class = "loss"
		if c.has("-M", "-C") && !c.has("-D") {
			c.class = "commit"
		}
	case c.has("-d", "--delete", "-m", "--move", "-c", "--copy", "-u", "--set-upstream-to", "--unset-upstream", "-t", "--track"):
	case len(c.operands) == 0 || c.has("-l", "--list", "-a", "--all", "-r", "--remotes", "-v", "-vv", "--verbose", "--show-current", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"):
		c.class = "read"
	}
}

// gitCheckout reports a checkout of paths, which discards what is not committed.
func (j *judge) gitCheckout(c *call) bool {
	switch {
	case c.has("-f", "--force"):
		return true
	case c.has("-b", "-B", "--orphan", "-t", "--track"):
		return false
	case c.has("--ours", "--theirs", "-p", "--patch"), c.dash >= 0 && len(c.operands) > c.dash, len(c.operands) > 1:
		return true
	case len(c.operands) != 1:
		return false
	}
	name := c.word(0)
	at := j.place(c, name, true)
	return name == "." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, ":") || at.found && at.zone == inside ||
		path.Ext(name) != "" && strings.Trim(path.Ext(name), "0123456789.") != "" && !strings.Contains(name, "@{")
}

func (j *judge) gitClean(c *call) bool {
	j.gitGlobals(c)
	if c.has("-n", "--dry-run") {
		c.class = "read"
	}
	j.apply(c)
	return true
}

func (j *judge) gitLoss(c *call) bool {
	j.gitGlobals(c)
	switch strings.TrimPrefix(c.name, "git ") {
	case "gc":
		if v := c.value("--prune"); v == nil && !c.has("--prune", "--aggressive") || c.has("--auto") {
			c.class = "commit"
		}
		for _, t := range c.argText() {
			if strings.HasPrefix(t, "--prune") {
				c.class = "loss"
			}
		}
	case "prune", "reflog expire":
		if c.has("-n", "--dry-run") {
			c.class = "read"
		}
	case "update-ref":
		if c.cmd.Input.Feeds || c.has("--stdin") {
			j.undecided = true
		}
	case "worktree remove":
		for _, w := range c.operands {
			for _, at := range j.places(c, w, true) {
				if at.zone == inside {
					continue
				}
				j.writeAt(c, at, deletesTree)
			}
		}
	}
	j.apply(c)
	return true
}

// gitConfig judges reading and writing settings.
func (j *judge) gitConfig(c *call) bool {
	j.gitGlobals(c)
	operands := c.operands
	verb := ""
	if len(operands) > 0 {
		switch c.word(0) {
		case "list", "get", "set", "unset", "rename-section", "remove-section", "edit", "get-all", "get-urlmatch":
			if len(operands) > 1 || c.word(0) == "list" || c.word(0) == "edit" {
				verb, operands = c.word(0), operands[1:]
			}
		}
	}
	reads := verb == "list" || verb == "get" || verb == "get-all" || verb == "get-urlmatch" ||
		c.has("--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--get-color", "--get-colorbool", "--name-only") ||
		verb == "" && len(operands) == 1 && !c.has("--unset", "--unset-all", "--remove-section", "--add", "--replace-all", "--edit", "-e")
	if reads {
		c.class = "read"
		j.apply(c)
		for _, w := range operands {
			key := strings.ToLower(w.String())
			if strings.Contains(key, "extraheader") || strings.Contains(key, "password") || strings.Contains(key, "token") || strings.HasPrefix(key, "credential") && !strings.HasSuffix(key, "helper") {
				j.never(c, ruleSecretRead)
				return true
			}
		}
		return true
	}
	if v := c.value("-f", "--file"); v != nil {
		j.gitConfigFile(c, *v)
	}
	j.apply(c)
	if c.has("--edit", "-e") || verb == "edit" {
		j.ask(c, ruleHelper, "starts the editor", "")
		return true
	}
	if len(operands) > 1 && verb != "unset" && !c.has("--unset", "--unset-all") {
		key, _ := operands[0].Static()
		value, known := operands[1].Static()
		if what, ok := j.secretPart(operands[1]); ok {
			j.ask(c, ruleSecretSend, "stores "+what, "")
		}
		j.gitKey(c, key, value, known)
	}
	return true
}

// gitConfigFile judges writing a settings file: git's own is asked for like any
// setting, others are files.
func (j *judge) gitConfigFile(c *call, w shell.Word) {
	for _, at := range j.places(c, w, true) {
		if at.guard == gitCore {
			continue
		}
		j.writeAt(c, at, creates)
	}
}

// gitForeach judges the shell text that runs in each submodule.
func (j *judge) gitForeach(c *call) bool {
	j.gitGlobals(c)
	words := c.args
	for len(words) > 0 {
		if t, _ := words[0].Static(); t != "--recursive" && t != "--quiet" && t != "-q" {
			break
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return true
	}
	if len(words) == 1 {
		j.payload(c, words[0])
		return true
	}
	j.readText(join(words), j.dir(c), false, c)
	return true
}

func (j *judge) gitBisect(c *call) bool {
	j.gitGlobals(c)
	j.ask(c, ruleHelper, "runs a command for each step", "")
	if len(c.args) > 0 {
		j.readText(join(c.args), j.dir(c), false, c)
	}
	return true
}

// repository asks about settings of the repository itself that start programs,
// as far as they are plain to see (D25).
func (j *judge) repository(c *call) {
	if j.p.cfg.Facts == nil || c.cmd == nil {
		return
	}
	dir := j.dir(c)
	for {
		rel, in := below(j.p.cfg.Root, dir)
		if !in {
			return
		}
		if l := j.r.look(path.Join(dir, ".git")); l.found {
			j.repoSettings(c, path.Join(dir, ".git", "config"))
			return
		}
		if j.bare(dir) {
			j.repoSettings(c, path.Join(dir, "config"))
			return
		}
		if rel == "." {
			return
		}
		dir = path.Dir(dir)
	}
}

// bare reports a folder that git would take for a bare repository.
func (j *judge) bare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs", "config"} {
		if !j.r.look(path.Join(dir, name)).found {
			return false
		}
	}
	return true
}

func (j *judge) repoSettings(c *call, file string) {
	f, err := j.p.cfg.Facts.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 256<<10))
	if err != nil {
		j.ask(c, ruleHelper, "works in a repository whose settings cannot be read", "")
		return
	}
	for key, value := range gitSettings(string(data)) {
		if startsProgram(key, value) {
			j.ask(c, ruleHelper, "works in a repository whose settings start a program ("+shorten(key)+")", "look at .git/config, and ask the person")
			return
		}
	}
}

// gitSettings reads the format of git's settings far enough for keys and values.
func gitSettings(text string) map[string]string {
	out := map[string]string{}
	section := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", ""), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			head, rest, _ := strings.Cut(line[1:], "]")
			name, sub, quoted := strings.Cut(head, " ")
			section = strings.ToLower(name)
			if quoted {
				section += "." + strings.Trim(sub, `" `)
			}
			if rest = strings.TrimSpace(rest); rest != "" {
				k, v, _ := strings.Cut(rest, "=")
				out[section+"."+strings.ToLower(strings.TrimSpace(k))] = strings.TrimSpace(v)
			}
		default:
			k, v, _ := strings.Cut(line, "=")
			out[section+"."+strings.ToLower(strings.TrimSpace(k))] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return out
}

func startsProgram(key, value string) bool {
	section, _, _ := strings.Cut(key, ".")
	last := key[strings.LastIndexByte(key, '.')+1:]
	switch {
	case section == "include" || section == "includeif":
		return true
	case section == "alias" || section == "credential" || section == "mergetool" || section == "difftool":
		return false
	case section == "filter" && strings.HasPrefix(value, "git-lfs "):
		return false
	case section == "log" && last == "showsignature":
		return !falseValue(value)
	case last == "fsmonitor":
		return !falseValue(value) && value != "true"
	case last == "pager" || last == "editor" || section == "pager":
		return !noHelper(value) && value != "less" && !falseValue(value) && value != "true"
	case last == "uploadpack" || last == "receivepack" || last == "helper":
		return false
	}
	return shellSetting(section, last)
}
