package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// chdir follows cd, pushd and popd: on one way it succeeds, on the other the
// directory stays.
func (w *walker) chdir(s *state, name string, args []Word) []*state {
	failed := s.with(statusFailed)
	ok := *s
	ok.status = statusOK
	ok.old = s.dir
	switch {
	case name == "popd":
		if len(s.stack) == 0 || len(args) > 0 {
			ok.dir = place{}
		} else {
			ok.dir, ok.stack = s.stack[len(s.stack)-1], s.stack[:len(s.stack)-1]
		}
		return []*state{&ok, failed}
	case name == "pushd":
		ok.stack = append(slices.Clone(s.stack), s.dir)
	}
	target, sure := cdTarget(args)
	switch {
	case !sure:
		ok.dir = place{}
	case target == nil && name == "cd":
		home, known := w.lookup(s, "HOME").static()
		ok.dir = place{home, known}
	case target == nil:
		ok.dir = place{}
	default:
		text, static := target.Static()
		_, cdpath := s.vars.get("CDPATH")
		switch {
		case static && text == "-":
			ok.dir = s.old
		case static && !(cdpath && !strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "/")):
			ok.dir = s.dir.join(text)
		default:
			ok.dir = place{}
		}
	}
	if ok.dir.known && w.opts.DirExists != nil && !w.removes() {
		if exists, known := w.opts.DirExists(ok.dir.path); exists && known {
			return []*state{&ok}
		}
	}
	return []*state{&ok, failed}
}

// removes reports whether some command so far may have removed a directory.
func (w *walker) removes() bool {
	for _, c := range w.out.Commands {
		switch name, _ := c.Name(); baseName(name) {
		case "rm", "rmdir", "mv", "find", "git", "unlink", "make", "rsync":
			return true
		}
	}
	return false
}

func cdTarget(args []Word) (target *Word, sure bool) {
	for i, a := range args {
		text, ok := a.Static()
		if ok && text == "--" {
			continue
		}
		if ok && len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "LPe@n") == "" {
			continue
		}
		if i != len(args)-1 {
			return nil, false
		}
		for _, p := range a.Parts {
			if p.Kind == Unknown && p.Split {
				return nil, false
			}
		}
		return &args[i], true
	}
	return nil, true
}

// declCall follows a declaration builtin that was called by way of an expansion
// or of command and builtin.
func (w *walker) declCall(s *state, name string, cmd *Command, c ctx) {
	flags := ""
	for _, a := range cmd.Words[1:] {
		text, ok := a.Static()
		if ok && len(text) > 1 && (text[0] == '-' || text[0] == '+') {
			flags += text
			continue
		}
		if ok && isName(text) {
			w.declare(s, name, flags, text)
			w.typed(s, flags, text, c)
			continue
		}
		w.declWord(s, name, flags, a, cmd, c)
	}
	w.emit(s, *cmd, c)
}

func (w *walker) eval(s *state, cmd Command, c ctx) []*state {
	text, ok := joinStatic(cmd.Words[1:])
	if !ok {
		cmd.Opaque = "eval runs text that is not known"
		w.emit(s, cmd, c)
		// What is known of it is followed all the same: sudo stays sudo.
		n := *s
		w.text(&n, joinGuess(cmd.Words[1:]), c.through("eval"), c.posix)
		return []*state{w.forget(s)}
	}
	cmd.Wraps = true
	cmd.Words = cmd.Words[:1]
	w.emit(s, cmd, c)
	return w.text(s, text, c.through("eval"), c.posix)
}

// forget returns a state in which nothing that text could change is certain.
func (w *walker) forget(s *state) *state {
	n := *s
	n.dir, n.old, n.stack = place{}, place{}, nil
	n.args, n.argsOpen = nil, true
	for _, name := range n.vars.names() {
		n.vars = n.vars.set(name, unknownVar(name, FromMerge))
	}
	n.status = statusUnknown
	return &n
}

// source follows source <(command) and source /dev/stdin where the text is
// certain; files are not followed.
func (w *walker) source(s *state, cmd Command, c ctx) []*state {
	text, ok := "", false
	if len(cmd.Words) > 1 {
		name, _ := cmd.Words[1].Static()
		parts := cmd.Words[1].Parts
		switch {
		case name == "/dev/stdin" || name == "/dev/fd/0":
			text, ok = cmd.Input.Text, cmd.Input.Known
		case len(parts) == 1 && parts[0].Origin == FromProcess && len(parts[0].Subst) == 1:
			text, ok = w.written(parts[0].Subst[0])
		}
	}
	if !ok {
		w.emit(s, cmd, c)
		return []*state{w.forget(s)}
	}
	cmd.Wraps = true
	cmd.Words = cmd.Words[:1]
	w.emit(s, cmd, c)
	return w.text(s, text, c.through("source"), c.posix)
}

// anyName stands for text that is not known where known text is followed.
const anyName = "__any"

func joinGuess(words []Word) string {
	var b strings.Builder
	for i, a := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, p := range a.Parts {
			if p.Kind == Unknown {
				b.WriteString(anyName)
				continue
			}
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func joinStatic(words []Word) (string, bool) {
	texts := make([]string, len(words))
	for i, a := range words {
		t, ok := a.Static()
		if !ok {
			return "", false
		}
		texts[i] = t
	}
	return strings.Join(texts, " "), true
}

// trap follows the body of a trap, which runs later.
func (w *walker) trap(s *state, cmd Command, c ctx) {
	args := cmd.Words[1:]
	for len(args) > 0 {
		if t, ok := args[0].Static(); ok && (t == "--" || t == "-p" || t == "-l" || t == "-P") {
			args = args[1:]
			continue
		}
		break
	}
	if len(args) < 2 {
		w.emit(s, cmd, c)
		return
	}
	body, ok := args[0].Static()
	if !ok {
		cmd.Opaque = "trap runs text that is not known"
		w.emit(s, cmd, c)
		return
	}
	if body == "" || body == "-" {
		w.emit(s, cmd, c)
		return
	}
	cmd.Wraps = true
	w.emit(s, cmd, c)
	n := *s
	w.text(&n, body, c.through("trap"), c.posix)
}

// jump follows the builtins that leave.
func (w *walker) jump(s *state, name string, cmd Command, c ctx) []*state {
	n := *s
	switch name {
	case "exec":
		return w.exec(&n, cmd, c)
	case "exit":
		n.flow = flowExit
	case "return":
		n.flow = flowReturn
	case "break":
		n.flow = flowBreak
	case "continue":
		n.flow = flowContinue
	}
	w.emit(s, cmd, c)
	return []*state{&n}
}

// exec replaces the shell, or with redirections alone only moves descriptors.
func (w *walker) exec(s *state, cmd Command, c ctx) []*state {
	o := getopt{short: "a:cl"}
	rest := o.skip(cmd.Words[1:])
	if len(rest) == 0 {
		w.rewired = true
		w.emit(s, cmd, c)
		return []*state{s.with(statusOK)}
	}
	w.wrap(s, cmd, rest, "exec", c)
	n := s.with(statusUnknown)
	n.flow = flowExit
	return []*state{n}
}

func (w *walker) set(s *state, args []Word) {
	for i := 0; i < len(args); i++ {
		text, ok := args[i].Static()
		if !ok {
			s.args, s.argsOpen = nil, true
			return
		}
		if text == "--" || text == "-" {
			s.args, s.argsOpen = args[i+1:], false
			return
		}
		if len(text) < 2 || text[0] != '-' && text[0] != '+' {
			s.args, s.argsOpen = args[i:], false
			return
		}
		on := text[0] == '-'
		for _, ch := range text[1:] {
			switch ch {
			case 'e':
				s.opts.errexit = on
			case 'a':
				s.opts.allexport = on
			case 'f':
				s.opts.noglob = on
			case 'o':
				i++
				if i < len(args) {
					w.setLong(s, args[i], on)
				}
			}
		}
	}
}

func (w *walker) setLong(s *state, name Word, on bool) {
	switch text, _ := name.Static(); text {
	case "errexit":
		s.opts.errexit = on
	case "allexport":
		s.opts.allexport = on
	case "noglob":
		s.opts.noglob = on
	case "posix":
		s.opts.aliases = s.opts.aliases || on
	}
}

func (w *walker) shopt(s *state, args []Word) {
	on, off := false, false
	for _, a := range args {
		switch text, _ := a.Static(); text {
		case "-s":
			on = true
		case "-u":
			off = true
		case "dotglob":
			s.opts.dotglob = (s.opts.dotglob || on) && !off
		case "expand_aliases":
			s.opts.aliases = (s.opts.aliases || on) && !off
		}
	}
}

func (w *walker) unset(s *state, args []Word, c ctx) {
	funcs := false
	for _, a := range args {
		text, ok := a.Static()
		switch {
		case !ok && !funcs:
			w.named(s, a, c)
		case !ok:
		case text == "-f":
			funcs = true
		case strings.HasPrefix(text, "-"):
		case funcs:
		default:
			w.named(s, a, c)
			s.vars = s.vars.set(text, variable{unset: true})
		}
	}
}

func (w *walker) shift(s *state, args []Word) {
	if len(args) > 0 || s.argsOpen || len(s.args) == 0 {
		s.args, s.argsOpen = nil, s.argsOpen || len(args) > 0
		return
	}
	s.args = s.args[1:]
}

// defineAlias follows an alias body where it is defined, since some shells
// expand it and others do not.
func (w *walker) defineAlias(s *state, cmd Command, c ctx) {
	w.emit(s, cmd, c)
	for _, a := range cmd.Words[1:] {
		name, _, found := strings.Cut(a.Prefix(), "=")
		if !found {
			continue
		}
		value, _ := a.Cut(len(name) + 1)
		body, ok := value.Static()
		if !ok {
			w.problem(Opaque, 0, "an alias of text that is not known")
			continue
		}
		s.aliases = s.aliases.set(name, body)
		n := *s
		n.aliases = nil
		w.text(&n, body, c.through("alias "+name), false)
	}
}

// rebind follows hash -p, which gives a name another program.
func (w *walker) rebind(s *state, name string, args []Word) {
	if name != "hash" {
		return
	}
	o := getopt{short: "p:lrdt"}
	path := o.valueOf(args, 'p')
	if path == nil {
		return
	}
	for _, a := range o.skip(args) {
		text, ok := a.Static()
		target, known := path.Static()
		if ok && known {
			body := &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{quoted(target), allArgs()}}}
			s.funcs = s.funcs.set(text, function{body: body})
		}
	}
}

func quoted(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: text}}}
}

func allArgs() *syntax.Word {
	at := &syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "@"}}
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{at}}}}
}

// testNames follows test -v, which evaluates subscripts.
func (w *walker) testNames(s *state, args []Word, c ctx) {
	for i, a := range args {
		if text, ok := a.Static(); ok && (text == "-v" || text == "-R") && i+1 < len(args) {
			w.named(s, args[i+1], c)
		}
	}
}

// bypass follows command and builtin, which skip functions.
func (w *walker) bypass(s *state, name string, cmd Command, c ctx) []*state {
	rest := cmd.Words[1:]
	for len(rest) > 0 {
		text, ok := rest[0].Static()
		if !ok || len(text) < 2 || text[0] != '-' {
			break
		}
		rest = rest[1:]
		if text == "--" {
			break
		}
		if strings.ContainsAny(text, "vV") {
			cmd.Lookup = true
			w.emit(s, cmd, c)
			return []*state{s.with(statusUnknown)}
		}
	}
	if len(rest) == 0 {
		w.rewired = true
		w.emit(s, cmd, c)
		return []*state{s.with(statusOK)}
	}
	inner := cmd
	inner.Words = rest
	inner.Source = ""
	inner.Source = display(rest)
	c = c.through(name)
	c.plain = true
	return w.dispatch(s, inner, c)
}

func display(words []Word) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		text := word.String()
		if strings.ContainsAny(text, " \t\n'\"\\;&|<>()") || text == "" {
			text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
		b.WriteString(text)
	}
	return b.String()
}
