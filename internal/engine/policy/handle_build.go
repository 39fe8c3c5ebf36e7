package policy

import (
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// buildPaths judges operands of runners: those that lead out of the root build
// or read another tree.
func (j *judge) buildPaths(c *call) bool {
	j.apply(c)
	if j.npmPrefix(c) {
		return true
	}
	for _, w := range c.operands {
		t, ok := w.Static()
		if !ok || !strings.Contains(t, "/") && t != ".." || strings.Contains(t, "://") || strings.HasPrefix(t, "//") {
			continue
		}
		at := j.place(c, strings.TrimSuffix(t, "/..."), true)
		switch {
		case at.secret >= envFile:
			j.readAt(c, at, false)
		case at.zone == outside:
			j.ask(c, ruleOutRead, "works on what lies outside the working root ("+at.text+")", "")
		}
	}
	return true
}

// npmPrefix: options of npm that stand before the subcommand.
func (j *judge) npmPrefix(c *call) bool {
	for _, o := range append(c.globals, c.options...) {
		switch o.name {
		case "-g", "--global", "--location":
			if strings.HasPrefix(c.name, "npm") || strings.HasPrefix(c.name, "pnpm") || strings.HasPrefix(c.name, "yarn") {
				c.raise(ir.FullAccess, ir.Compensable, "changes what is installed outside the root")
			}
		}
	}
	return false
}

func (j *judge) make(c *call) bool {
	j.apply(c)
	for _, o := range c.options {
		if o.value == nil {
			continue
		}
		switch o.name {
		case "-C", "--directory":
			for _, at := range j.places(c, *o.value, true) {
				if at.zone == outside {
					j.ask(c, ruleOutRead, "builds another tree", "")
				}
			}
		}
	}
	for _, w := range c.operands {
		t, ok := w.Static()
		if name, _, assigns := strings.Cut(w.Prefix(), "="); assigns {
			switch strings.TrimRight(name, ":+?! ") {
			case "SHELL", ".SHELLFLAGS", "MAKEFLAGS", "MAKE", "PATH", "LD_PRELOAD":
				if value, ok := w.Cut(len(name) + 1); ok {
					j.helper(c, value)
				}
			case "DESTDIR", "PREFIX", "prefix":
				if value, ok := w.Cut(len(name) + 1); ok {
					for _, at := range j.places(c, value, true) {
						if at.zone != inside && at.zone != scratch {
							j.ask(c, ruleOutWrite, "installs outside the working root", "")
						}
					}
				}
			default:
				if v, ok := w.Cut(len(name) + 1); ok {
					j.environValue(c, name, v)
				}
			}
			continue
		}
		if !ok {
			continue
		}
		if t == "install" || t == "uninstall" || strings.HasPrefix(t, "install-") {
			c.raise(ir.FullAccess, ir.Compensable, "installs to a place that the command does not show")
		}
	}
	return true
}

func (j *judge) cmake(c *call) bool {
	args := c.argText()
	if len(args) > 0 && args[0] == "-E" && len(args) > 1 {
		return j.cmakeTool(c, args[1], c.args[2:])
	}
	j.apply(c)
	if c.has("--install") || slices.Contains(args, "install") {
		c.raise(ir.FullAccess, ir.Compensable, "installs to a place that the command does not show")
	}
	for _, t := range args {
		if strings.HasPrefix(t, "-D") && strings.Contains(t, "LAUNCHER") {
			j.ask(c, ruleHelper, "is told to start another program", "")
		}
	}
	for _, w := range c.operands {
		j.look(c, w, false)
	}
	return true
}

// cmakeTool judges cmake -E, which is a set of file tools.
func (j *judge) cmakeTool(c *call, tool string, rest []shell.Word) bool {
	same := map[string]string{
		"cat": "cat", "copy": "cp", "copy_if_different": "cp", "copy_directory": "cp", "rename": "mv", "rm": "rm", "remove": "rm", "remove_directory": "rm",
		"make_directory": "mkdir", "touch": "touch", "create_symlink": "ln", "create_hardlink": "ln", "tar": "tar", "echo": "echo", "compare_files": "cmp",
		"md5sum": "md5sum", "sha256sum": "sha256sum", "sleep": "sleep", "true": "true", "false": "false", "env": "env", "environment": "printenv",
	}
	name, ok := same[tool]
	switch {
	case tool == "env":
		for i, w := range rest {
			if t, ok := w.Static(); ok && !strings.HasPrefix(t, "-") && !strings.Contains(t, "=") {
				j.readText(join(rest[i:]), j.dir(c), false, c)
				return true
			}
		}
		j.never(c, ruleEnvDump)
		return true
	case tool == "time" || tool == "chdir":
		if tool == "chdir" && len(rest) > 0 {
			j.chdir(c, rest[0])
			rest = rest[1:]
		}
		j.readText(join(rest), j.dir(c), false, c)
		return true
	case tool == "create_symlink":
		rest = append([]shell.Word{shell.Lit("-s")}, rest...)
	case tool == "copy_directory" || tool == "remove_directory":
		rest = append([]shell.Word{shell.Lit("-r")}, rest...)
	}
	if !ok {
		j.ask(c, ruleProgram, "is used with a tool that policy does not know", "")
		return true
	}
	j.as(c, name, rest)
	return true
}

// join writes words as shell text again.
func join(words []shell.Word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w.String(), "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

func (j *judge) bazel(c *call) bool {
	switch c.word(0) {
	case "run":
		j.undecided = true
		c.class = "script"
	case "query", "cquery", "aquery", "info", "version", "help":
		c.class = "fact"
	}
	j.apply(c)
	return true
}

// installs raises builders that are told to install.
func (j *judge) installs(c *call) bool {
	for _, t := range c.argText() {
		switch t {
		case "install", "uninstall", "upgrade", "publish", "upload", "push", "update", "add", "fetch":
			c.class = "install"
		case "run", "exec":
			if c.name == "zig" || c.name == "cabal" || c.name == "stack" || c.name == "dune" || c.name == "spago" || c.name == "nimble" || c.name == "fpm" {
				c.class = "script"
				j.undecided = true
			}
		}
	}
	return j.buildPaths(c)
}

// versions judges managers of languages: what only tells is a fact.
func (j *judge) versions(c *call) bool {
	switch c.word(0) {
	case "list", "ls", "show", "current", "which", "version", "versions", "info", "status", "help", "default", "local", "env", "whence", "root", "installed":
		if len(c.operands) == 1 || c.word(0) == "which" || c.word(0) == "show" || c.word(0) == "info" {
			switch c.name {
			case "rustup", "asdf", "nvm", "fnm", "pyenv", "rbenv", "nodenv", "goenv", "jenv", "sdk", "volta", "ghcup", "opam", "juliaup", "tfenv":
				c.class = "fact"
			}
		}
	}
	return false
}

func (j *judge) composer(c *call) bool {
	if c.name != "composer" {
		return j.buildPaths(c)
	}
	switch c.word(0) {
	case "install", "update", "require", "remove", "create-project", "global", "self-update", "i", "u", "r":
		c.class = "install"
	case "show", "info", "outdated", "validate", "licenses", "why", "depends", "status", "check-platform-reqs", "diagnose", "about", "help", "list":
		c.class = "fact"
	case "config":
		c.class = "state"
	case "exec":
		c.class = "program"
	}
	return j.buildPaths(c)
}

// settings judges npm config and its kin: reading is a fact, unless it shows a
// secret.
func (j *judge) settings(c *call) bool {
	verb := c.word(0)
	switch c.name {
	case "npm get":
		verb = "get"
	case "npm set":
		verb = "set"
	}
	switch verb {
	case "get", "list", "ls", "debug", "":
		for i, t := range c.argText() {
			low := strings.ToLower(t)
			if i >= 0 && (strings.Contains(low, "_auth") || strings.Contains(low, "_password") || j.p.secretVariable(t[strings.LastIndexByte(t, ':')+1:])) {
				j.never(c, ruleSecretRead)
				return true
			}
		}
		c.classSet = true
		return true
	}
	for _, t := range c.argText() {
		for _, key := range []string{"script-shell", "node-options", "git", "shell", "editor", "viewer", "init-module", "userconfig", "globalconfig", "onload-script"} {
			if t == key || strings.HasPrefix(t, key+"=") {
				j.ask(c, ruleHelper, "stores a program to be started later", "")
			}
		}
	}
	return false
}

// npx runs a package: from the project when it may not install, else from
// elsewhere.
func (j *judge) npx(c *call) bool {
	if c.has("--no-install", "--no") || c.has("--offline") {
		if len(c.operands) > 0 {
			if name, ok := c.operands[0].Static(); ok {
				at := slices.IndexFunc(c.args, func(w shell.Word) bool { t, _ := w.Static(); return t == name })
				row, _, _, _ := j.p.find(name, nil)
				if row != nil && at >= 0 {
					j.as(c, name, c.args[at+1:])
					return true
				}
			}
			j.undecided = true
			c.class = "script"
			j.apply(c)
			return true
		}
	}
	j.apply(c)
	return true
}

// packageScript tells a script that the project's settings name from a file.
func (j *judge) packageScript(c *call) bool {
	if name := c.word(0); strings.ContainsAny(name, "./") || name == "" && len(c.operands) > 0 {
		j.undecided = true
		c.class = "script"
	}
	return j.buildPaths(c)
}

// goRoot judges go without a subcommand that the table has.
func (j *judge) goRoot(c *call) bool { return false }

func (j *judge) goTool(c *call) bool {
	j.apply(c)
	switch c.name {
	case "go tool":
		switch c.word(0) {
		case "", "cover", "pprof", "trace", "vet", "nm", "objdump", "addr2line", "buildid", "dist", "doc", "pack", "test2json", "compile", "link", "asm", "fix", "cgo", "covdata":
		default:
			j.undecided = true
			c.raise(ir.FullAccess, ir.Irreversible, "runs a tool of the project")
		}
	case "go clean":
		if c.has("-modcache", "-cache", "-testcache", "-fuzzcache") {
			c.raise(ir.FullAccess, ir.Compensable, "changes caches outside the root")
		}
	}
	for _, o := range c.options {
		switch o.name {
		case "-ldflags", "-gcflags", "-asmflags", "-gccgoflags":
			if t := o.text(); strings.Contains(t, "-extld") || strings.Contains(t, "-fplugin") || strings.Contains(t, "-tmpdir") {
				j.ask(c, ruleHelper, "is told to start another program", "")
			}
		case "-mod":
			if o.text() == "mod" {
				c.raise(ir.SandboxEdit, ir.Reversible, "")
			}
		}
	}
	for _, w := range c.operands {
		if t, ok := w.Static(); ok && (strings.HasPrefix(t, "../") || t == ".." || strings.HasPrefix(t, "/")) {
			at := j.place(c, strings.TrimSuffix(t, "/..."), true)
			if at.zone == outside {
				j.ask(c, ruleOutRead, "works on what lies outside the working root ("+at.text+")", "")
			}
		}
	}
	return true
}

func (j *judge) goList(c *call) bool {
	if c.name == "go env" {
		for _, t := range c.argText() {
			if j.p.secretVariable(t) {
				j.deny(c, ruleSecretRead, "would print the value of $"+t, "")
			}
		}
	}
	if c.name == "go list" && c.has("-m", "-u", "-versions") && strings.Contains(strings.Join(c.argText(), " "), "-u") {
		c.class = "fetch"
	}
	return false
}

func (j *judge) goMod(c *call) bool {
	if c.name != "go mod" {
		return false
	}
	switch c.word(0) {
	case "graph", "why", "verify", "help":
		c.class = "fact"
	case "edit", "init":
		c.class = "edit"
		if c.word(0) == "edit" && strings.Contains(strings.Join(c.argText(), " "), "-json") {
			c.class = "fact"
		}
	}
	return false
}

func (j *judge) formatter(c *call) bool {
	j.apply(c)
	writes := c.has("-w") || c.name == "gci" && c.word(0) == "write"
	for _, w := range c.operands {
		j.read(c, w, false)
		if writes {
			for _, at := range j.places(c, w, true) {
				if !at.isRoot {
					j.writeAt(c, at, creates)
				}
			}
		}
	}
	return true
}

// compiler judges compilers: what they write by default lies in the working
// directory.
func (j *judge) compiler(c *call) bool {
	if c.has("-E", "-M", "-MM", "-fsyntax-only", "-dM", "-v", "-print-search-dirs", "-dumpversion", "-dumpmachine") && c.value("-o") == nil {
		c.class = "read"
	}
	j.apply(c)
	for _, t := range c.argText() {
		switch {
		case strings.HasPrefix(t, "-fplugin"), strings.HasPrefix(t, "-wrapper"), strings.HasPrefix(t, "-specs"), strings.HasPrefix(t, "-B") && len(t) > 2, strings.HasPrefix(t, "--ld-path"), strings.HasPrefix(t, "-fuse-ld=/"), strings.HasPrefix(t, "-fuse-ld=."):
			j.ask(c, ruleHelper, "is told to start or load another program", "")
		case strings.HasPrefix(t, "-C") && strings.Contains(t, "linker="), strings.HasPrefix(t, "linker="):
			j.ask(c, ruleHelper, "is told to start another program", "")
		case strings.HasPrefix(t, "@"):
			j.ask(c, ruleUnknown, "takes options from a file", "")
		}
	}
	for _, w := range c.operands {
		if t, ok := w.Static(); ok && strings.ContainsAny(t, "/.") {
			j.read(c, w, false)
		}
	}
	return true
}
