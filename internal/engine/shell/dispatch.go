package shell

import (
	"slices"
	"strings"
)

// maxCalls bounds how deep functions are followed into each other.
const maxCalls = 32

// dispatch follows a command whose words are expanded: a function, a builtin
// that changes the state, a wrapper, or a program.
func (w *walker) dispatch(s *state, cmd Command, c ctx) []*state {
	if len(cmd.Words) == 0 {
		w.emit(s, cmd, c)
		return []*state{s.with(statusUnknown)}
	}
	name, ok := cmd.Words[0].Static()
	if !ok {
		w.emit(s, cmd, c)
		return []*state{s.with(statusUnknown)}
	}
	if !c.plain {
		if fn, ok := s.funcs.get(name); ok {
			return w.invoke(s, name, fn, cmd, c)
		}
	}
	c.plain = false
	if out, ok := w.builtin(s, name, cmd, c); ok {
		return out
	}
	if w.unwrap(s, baseName(name), cmd, c) {
		return []*state{s.with(statusUnknown)}
	}
	w.emit(s, cmd, c)
	switch name {
	case "true", ":":
		return []*state{s.with(statusOK)}
	case "false":
		return []*state{s.with(statusFailed)}
	}
	return []*state{s.with(statusUnknown)}
}

// baseName is the name of a wrapper however it is reached. A path that is no
// system directory is still followed: what it claims to wrap is judged too.
func baseName(name string) string {
	return name[strings.LastIndexByte(name, '/')+1:]
}

// invoke follows a function call.
func (w *walker) invoke(s *state, name string, fn function, cmd Command, c ctx) []*state {
	w.called[fn.body] = true
	if slices.Contains(c.calls, name) || len(c.calls) >= maxCalls {
		cmd.Recursive, cmd.Forks = true, c.forked
		w.emit(s, cmd, c)
		return []*state{s.with(statusUnknown)}
	}
	if len(cmd.Redirs) > 0 || len(cmd.Assigns) > 0 {
		w.emit(s, Command{Assigns: cmd.Assigns, Redirs: cmd.Redirs, Source: cmd.Source, Line: cmd.Line}, c)
	}
	in := *s
	in.args, in.argsOpen = cmd.Words[1:], false
	for _, a := range cmd.Words[1:] {
		for _, p := range a.Parts {
			if p.Kind == Unknown && p.Split {
				in.args, in.argsOpen = nil, true
			}
		}
	}
	inner := c.through("function " + name)
	inner.calls = append(slices.Clone(c.calls), name)
	inner.forked = false
	inner.src = fn.text
	inner.input = cmd.Input
	out := w.stmt(&in, fn.body, inner)
	for i, o := range out {
		n := *o
		n.args, n.argsOpen = s.args, s.argsOpen
		if n.flow == flowReturn {
			n.flow = flowNext
		}
		out[i] = &n
	}
	return settle(out)
}

// builtin follows the builtins that change what the rest of the text means.
func (w *walker) builtin(s *state, name string, cmd Command, c ctx) ([]*state, bool) {
	cmd.Builtin = true
	args := cmd.Words[1:]
	one := func() []*state { return []*state{s.with(statusUnknown)} }
	switch name {
	case "cd", "pushd", "popd":
		w.emit(s, cmd, c)
		return w.chdir(s, name, args), true
	case "export", "readonly", "declare", "typeset", "local":
		w.declCall(s, name, &cmd, c)
		return one(), true
	case "eval":
		return w.eval(s, cmd, c), true
	case "trap":
		w.trap(s, cmd, c)
		return one(), true
	case "exit", "return", "break", "continue", "exec":
		return w.jump(s, name, cmd, c), true
	case "set":
		w.emit(s, cmd, c)
		w.set(s, args)
		return []*state{s.with(statusOK)}, true
	case "shopt":
		w.emit(s, cmd, c)
		w.shopt(s, args)
		return []*state{s.with(statusOK)}, true
	case "unset":
		w.emit(s, cmd, c)
		w.unset(s, args, c)
		return []*state{s.with(statusOK)}, true
	case "shift":
		w.shift(s, args)
		w.emit(s, cmd, c)
		return one(), true
	case "read", "mapfile", "readarray", "getopts":
		w.emit(s, cmd, c)
		w.fill(s, name, args, cmd.Input, c)
		return append(one(), w.filled(s, cmd, c)...), true
	case "printf":
		w.emit(s, cmd, c)
		w.printfVar(s, args, c)
		return []*state{s.with(statusOK)}, true
	case "alias":
		w.defineAlias(s, cmd, c)
		return one(), true
	case "unalias", "hash", "enable", "bind", "complete", "compopt":
		w.emit(s, cmd, c)
		w.rebind(s, name, args)
		return one(), true
	case "test", "[":
		w.emit(s, cmd, c)
		w.testNames(s, args, c)
		return one(), true
	case "let":
		w.emit(s, cmd, c)
		for _, a := range args {
			w.evaluated(s, a, c)
		}
		return one(), true
	case "command", "builtin":
		return w.bypass(s, name, cmd, c), true
	case "time":
		return nil, false
	case "source", ".":
		return w.source(s, cmd, c), true
	}
	return nil, false
}
