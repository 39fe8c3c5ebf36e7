package policy

import (
	"path"
	"regexp"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// python judges python: test and build modules are runners, files and text are
// code (D08, D09, D24).
func (j *judge) python(c *call) bool {
	module := ""
	for i, a := range c.args {
		t, ok := a.Static()
		if !ok {
			break
		}
		if t == "-m" && i+1 < len(c.args) {
			module, _ = c.args[i+1].Static()
			return j.pythonModule(c, module, c.args[i+2:])
		}
		if strings.HasPrefix(t, "-m") && len(t) > 2 {
			return j.pythonModule(c, t[2:], c.args[i+1:])
		}
		if !strings.HasPrefix(t, "-") || t == "-c" {
			break
		}
	}
	return j.interpreter(c)
}

func (j *judge) pythonModule(c *call, module string, rest []shell.Word) bool {
	top, _, _ := strings.Cut(module, ".")
	name := ""
	switch top {
	case "pytest", "unittest", "tox", "nox", "coverage", "mypy", "ruff", "black", "isort", "flake8", "pylint", "pyright", "bandit", "autopep8", "yapf", "nose", "behave", "robot", "pycodestyle", "pydocstyle", "pyflakes", "vulture", "sphinx":
		name = top
	case "doctest", "compileall", "py_compile", "build", "timeit", "cProfile", "trace", "zipapp", "ensurepip", "mkdocs":
		name = "pytest"
		if top == "cProfile" || top == "trace" || top == "timeit" {
			name = ""
		}
	case "pip", "pipx", "uv", "poetry", "pipenv", "pre_commit", "twine", "hatch", "pdm", "virtualenv":
		name = strings.ReplaceAll(top, "_", "-")
	case "venv":
		c.raise(ir.SandboxEdit, ir.Compensable, "makes an environment")
		c.classSet = true
		for _, w := range rest {
			if t, ok := w.Static(); ok && !strings.HasPrefix(t, "-") {
				j.write(c, w, creates)
			}
		}
		return true
	case "json":
		c.classSet = true
		for i, w := range rest {
			if t, ok := w.Static(); ok && !strings.HasPrefix(t, "-") {
				j.read(c, w, false)
				if i > 0 {
					j.write(c, w, creates)
				}
			}
		}
		return true
	case "http":
		c.raise(ir.FullAccess, ir.Irreversible, "serves the folder to the network")
		j.network = true
		c.classSet = true
		return true
	case "site", "sysconfig", "platform", "this", "calendar", "ast", "tokenize", "dis", "inspect", "pyclbr":
		c.classSet = true
		for _, w := range rest {
			if t, ok := w.Static(); ok && strings.ContainsAny(t, "./") {
				j.read(c, w, false)
			}
		}
		return true
	}
	if name == "" {
		j.undecided = true
		c.class = "code"
		j.apply(c)
		return true
	}
	j.as(c, name, rest)
	return true
}

// as judges a call as if another program were called with some words.
func (j *judge) as(c *call, name string, words []shell.Word) {
	row, full, globals, rest := j.p.find(name, words)
	if row == nil {
		j.ask(c, ruleProgram, "is told to run a program that policy does not know", "")
		return
	}
	inner := *c
	inner.row, inner.name, inner.globals, inner.args, inner.classSet = row, full, globals, rest, false
	inner.options, inner.operands, inner.dash = row.parse(rest, false)
	j.classify(&inner)
	c.tier, c.rev, c.verdict, c.always, c.reason = inner.tier, inner.rev, inner.verdict, inner.always, inner.reason
	c.name, c.row, c.args, c.options, c.operands, c.class, c.classSet = inner.name, inner.row, inner.args, inner.options, inner.operands, inner.class, true
}

// interpreter judges programs that run code: given as text, as a file, on
// standard input or typed in.
func (j *judge) interpreter(c *call) bool {
	j.undecided = true
	j.apply(c)
	if len(c.operands) > 0 && c.value("-c", "-e", "-r", "-p", "-E") == nil {
		j.read(c, c.operands[0], false)
	}
	if c.cmd.Input.Known {
		j.codeHints(c, c.cmd.Input.Text)
	}
	for _, w := range c.operands {
		if t, ok := w.Static(); ok {
			at := j.place(c, t, true)
			if at.secret >= envFile {
				j.readAt(c, at, false)
			}
		}
	}
	return true
}

func (j *judge) java(c *call) bool {
	j.undecided = true
	return false
}

func (j *judge) editor(c *call) bool {
	j.undecided = true
	j.apply(c)
	for i, a := range c.args {
		t, ok := a.Static()
		switch {
		case ok && (t == "-c" || t == "--cmd" || t == "-S" || t == "-s" || t == "--eval" || t == "-e" && strings.HasPrefix(c.name, "emacs")) && i+1 < len(c.args):
			if text, ok := c.args[i+1].Static(); ok {
				j.editorCommand(c, text)
			}
		case ok && strings.HasPrefix(t, "+"):
			j.editorCommand(c, t[1:])
		case ok && strings.HasPrefix(t, "-"):
		default:
			if i > 0 {
				if prev, _ := c.args[i-1].Static(); prev == "-c" || prev == "--cmd" {
					continue
				}
			}
			for _, at := range j.places(c, a, true) {
				j.odd(c, at)
				if at.secret >= envFile {
					j.readAt(c, at, false)
				}
				if at.guard == governance {
					j.writeAt(c, at, creates)
				}
			}
		}
	}
	return true
}

// editorCommand opens the commands of vi-like editors: ! runs, w writes.
func (j *judge) editorCommand(c *call, text string) {
	text = strings.TrimLeft(text, ": ")
	switch {
	case strings.HasPrefix(text, "!"):
		j.readText(text[1:], j.dir(c), false, c)
	case strings.HasPrefix(text, "w ") || strings.HasPrefix(text, "w! ") || strings.HasPrefix(text, "saveas ") || strings.HasPrefix(text, "wq "):
		name := strings.TrimSpace(text[strings.IndexByte(text, ' '):])
		if cmd, ok := strings.CutPrefix(name, "!"); ok {
			j.readText(cmd, j.dir(c), false, c)
			return
		}
		if rest, ok := strings.CutPrefix(name, "~/"); ok && j.p.cfg.Home != "" {
			name = path.Join(j.p.cfg.Home, rest)
		}
		j.write(c, shell.Lit(name), creates)
	case strings.HasPrefix(text, "r ") || strings.HasPrefix(text, "e "):
		name := strings.TrimSpace(text[2:])
		if cmd, ok := strings.CutPrefix(name, "!"); ok {
			j.readText(cmd, j.dir(c), false, c)
			return
		}
		j.read(c, shell.Lit(name), false)
	}
}

func (j *judge) sqlite(c *call) bool {
	j.apply(c)
	for i, w := range c.operands {
		if i == 0 {
			if t, _ := w.Static(); t != ":memory:" && t != "" {
				j.write(c, w, creates)
			}
			continue
		}
		text, ok := w.Static()
		if !ok {
			continue
		}
		if cmd, found := strings.CutPrefix(strings.TrimSpace(text), ".shell "); found {
			j.readText(cmd, j.dir(c), false, c)
		} else if cmd, found := strings.CutPrefix(strings.TrimSpace(text), ".system "); found {
			j.readText(cmd, j.dir(c), false, c)
		}
	}
	return true
}

// codePatterns are what codeHints looks for. They only ever turn a question
// into a refusal; a question it was already, because it is code.
type codePatterns struct {
	shell  *regexp.Regexp
	dump   *regexp.Regexp
	quoted *regexp.Regexp
	bare   *regexp.Regexp
}

func newCodePatterns() *codePatterns {
	return &codePatterns{
		// A call that runs shell text, up to its first literal.
		shell:  regexp.MustCompile(`(?:\b(?:system|popen|exec|execSync|execFileSync|spawn|spawnSync|shell_exec|passthru|proc_open|getoutput|check_output|check_call|call|run|Popen|execute|execl|execlp|execv|execvp|qx|open3|capture2e?|backtick|cmd)\s*\(\s*\[?\s*|\b(?:system|exec)\s+|%x[\[({]|\bqx[/({])(.*)`),
		dump:   regexp.MustCompile(`\bos\.environ\b\s*(?:[^\s.\[(]|$|\.(?:items|values|copy)\b)|\bdict\(os\.environ|\bprocess\.env\b\s*(?:[^\s.\[]|$)|%ENV\b|\bENV\.(?:to_h|to_a|each|inspect|map|values|select|entries|sort)\b|\b(?:puts|p|pp|print)\s*\(?\s*ENV\s*\)?\s*(?:$|[;'"])|\$_ENV\b\s*(?:[^\s\[]|$)|\bgetenv\(\s*\)|\bDeno\.env\.toObject\b|\bSystem\.getenv\(\s*\)|\bos\.Environ\(\)`),
		quoted: regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`),
		bare:   regexp.MustCompile("`([^`]*)`"),
	}
}

// codeHints looks into program text of another language for what would be
// refused by itself: an environment printed, shell text run, a secret opened.
func (j *judge) codeHints(c *call, text string) {
	pats := j.p.code()
	if pats.dump.MatchString(text) {
		j.deny(c, ruleEnvDump, "would print the environment", "name the one variable you need: printenv NAME")
	}
	for _, line := range strings.Split(text, "\n") {
		if m := pats.shell.FindStringSubmatch(line); m != nil {
			j.codeShell(c, m[1])
		}
	}
	for _, m := range pats.bare.FindAllStringSubmatch(text, -1) {
		if c.name == "ruby" || c.name == "perl" || c.name == "php" {
			j.readText(m[1], j.dir(c), false, c)
		}
	}
	for _, m := range pats.quoted.FindAllStringSubmatch(text, -1) {
		lit := m[1] + m[2]
		if lit == "" || len(lit) > 300 || strings.ContainsAny(lit, " \n(){}") {
			continue
		}
		if rest, ok := strings.CutPrefix(lit, "~/"); ok && j.p.cfg.Home != "" {
			lit = path.Join(j.p.cfg.Home, rest)
		}
		at := j.place(c, lit, true)
		if at.secret >= envFile {
			j.readAt(c, at, false)
		}
	}
}

// codeShell judges the literals of a call that runs shell text: one string, or
// a list that makes up a command.
func (j *judge) codeShell(c *call, rest string) {
	var words []string
	for _, m := range j.p.code().quoted.FindAllStringSubmatchIndex(rest, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if len(words) > 0 && strings.Trim(rest[:m[0]], " ,\t\"'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/.~$[") != "" {
			break
		}
		words = append(words, rest[from:to])
	}
	if len(words) == 0 {
		return
	}
	if strings.ContainsAny(words[0], " ;|&") || len(words) == 1 {
		j.readText(words[0], j.dir(c), false, c)
		return
	}
	j.readText(strings.Join(words, " "), j.dir(c), false, c)
}
