package shell

import (
	"slices"
	"strconv"
	"strings"
)

// wrapper is one row of wrapperTable.
type wrapper struct {
	opts  getopt
	skip  int
	shell bool
}

func findWrapper(name string) (wrapper, bool) {
	rows := wrapperTable()
	key := name + " "
	i, _ := slices.BinarySearch(rows, key)
	if i == len(rows) || !strings.HasPrefix(rows[i], key) {
		return wrapper{}, false
	}
	row := rows[i][len(key):]
	f := strings.Fields(row)
	if len(f) != 4 {
		return wrapper{}, false
	}
	skip, _ := strconv.Atoi(f[2])
	none := func(s string) string { return strings.TrimPrefix(s, "-") }
	return wrapper{opts: getopt{short: none(f[0]), long: none(f[1])}, skip: skip, shell: f[3] == "text"}, true
}

// unwrap follows what a wrapper runs. It reports false, having recorded
// nothing, for a program that is no wrapper or wraps nothing here.
func (w *walker) unwrap(s *state, name string, cmd Command, c ctx) bool {
	if c.depth++; c.depth > MaxDepth {
		w.problem(TooDeep, 0, "the text is nested deeper than %d levels", MaxDepth)
		return false
	}
	switch name {
	case "env":
		return w.env(s, cmd, c)
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash":
		return w.subshell(s, name, cmd, c)
	case "busybox", "toybox":
		return w.applet(s, name, cmd, c)
	case "xargs":
		return w.xargs(s, cmd, c)
	case "parallel":
		return w.parallel(s, cmd, c)
	case "find":
		return w.find(s, cmd, c)
	case "fd", "fdfind":
		return w.fd(s, cmd, c)
	case "flock":
		return w.flock(s, cmd, c)
	case "script":
		return w.script(s, cmd, c)
	case "ssh":
		return w.ssh(s, cmd, c)
	case "tmux":
		return w.tmux(s, cmd, c)
	}
	return w.tabled(s, name, cmd, c)
}

func (w *walker) tabled(s *state, name string, cmd Command, c ctx) bool {
	args, via := cmd.Words[1:], name
	row, ok := findWrapper(name)
	if !ok && len(args) > 0 {
		if sub, static := args[0].Static(); static && !strings.ContainsAny(sub, " \n") {
			row, ok = findWrapper(name + "_" + sub)
			args, via = args[1:], name+" "+sub
		}
	}
	if !ok {
		return false
	}
	if name == "nice" {
		args = legacyNice(args)
	}
	opts, rest, clear := row.opts.parse(args)
	if hasOption(opts, "pid", "pgid", "uid") || (name == "taskset" || name == "chrt") && hasOption(opts, "p") {
		return false
	}
	if len(rest) <= row.skip {
		return false
	}
	rest = rest[row.skip:]
	if !clear {
		cmd.Opaque = "options that are not known"
	}
	if row.shell && !hasOption(opts, "x", "exec") {
		return w.wrapText(s, cmd, rest, via, c)
	}
	w.wrap(s, cmd, rest, via, c)
	return true
}

// legacyNice drops nice -10.
func legacyNice(args []Word) []Word {
	if len(args) == 0 {
		return args
	}
	text, ok := args[0].Static()
	if ok && len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "0123456789-") == "" {
		return args[1:]
	}
	return args
}

// wrap records the wrapper without its operand and follows the operand.
func (w *walker) wrap(s *state, cmd Command, rest []Word, via string, c ctx) {
	inner := Command{Words: rest, Assigns: nil, Input: cmd.Input, Source: display(rest), Line: cmd.Line}
	outer := cmd
	outer.Wraps = true
	outer.Words = cmd.Words[:len(cmd.Words)-min(len(rest), len(cmd.Words)-1)]
	w.emit(s, outer, c)
	n := *s
	for _, a := range cmd.Assigns {
		n.vars = n.vars.set(a.Name, variable{words: []Word{a.Value}, exported: true})
	}
	c = c.through(via)
	c.plain = true
	c.input = cmd.Input
	// What a wrapper starts is a program: builtins and functions are out of reach,
	// but env cd and its like do no harm by being read as the builtin.
	w.dispatch(&n, inner, c)
}

// wrapText records the wrapper and follows operands joined into shell text.
func (w *walker) wrapText(s *state, cmd Command, rest []Word, via string, c ctx) bool {
	outer := cmd
	outer.Words = cmd.Words[:len(cmd.Words)-min(len(rest), len(cmd.Words)-1)]
	text, ok := joinStatic(rest)
	outer.Wraps = ok
	if !ok {
		outer.Words = cmd.Words
		outer.Opaque = via + " runs text that is not known"
	}
	w.emit(s, outer, c)
	if ok {
		child := w.child(s, cmd.Assigns)
		w.text(child, text, c.through(via), false)
	}
	return true
}

// child is the state of a shell that this one starts: exported variables only,
// no functions. Their bodies are followed on their own.
func (w *walker) child(s *state, assigns []Assign) *state {
	n := &state{dir: s.dir, argsOpen: false}
	for _, name := range s.vars.names() {
		if v, ok := s.vars.get(name); ok && v.exported && v.ref == "" && !v.array {
			n.vars = n.vars.set(name, v)
		} else if _, env := w.opts.Env[name]; ok && v.unset && env {
			n.vars = n.vars.set(name, v)
		}
	}
	for _, a := range assigns {
		n.vars = n.vars.set(a.Name, variable{words: []Word{a.Value}, exported: true})
	}
	return n
}
