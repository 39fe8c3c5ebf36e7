package shell

import (
	"strings"
)

// env follows env: options, assignments, then a command.
func (w *walker) env(s *state, cmd Command, c ctx) bool {
	o := getopt{short: "u:C:S:i0va:P:", long: "unset:,chdir:,split-string:,ignore-environment,null,debug,argv0:,block-signal,default-signal,ignore-signal,list-signal-handling", minus: true}
	opts, rest, clear := o.parse(cmd.Words[1:])
	if !clear {
		cmd.Opaque = "options that are not known"
	}
	if v := lastValue(opts, "S", "split-string"); v != nil {
		text, ok := v.Static()
		if !ok {
			cmd.Opaque = "env -S splits text that is not known"
			w.emit(s, cmd, c)
			return true
		}
		words := []Word{cmd.Words[0]}
		for f := range strings.FieldsSeq(strings.NewReplacer(`'`, "", `"`, "", `\_`, " ").Replace(text)) {
			words = append(words, Lit(f))
		}
		cmd.Words = append(words, rest...)
		return w.unwrap(s, "env", cmd, c) || w.emitTrue(s, cmd, c)
	}
	n := *s
	if v := lastValue(opts, "C", "chdir"); v != nil {
		text, ok := v.Static()
		if n.dir = n.dir.join(text); !ok {
			n.dir = place{}
		}
	}
	for len(rest) > 0 {
		name, _, found := strings.Cut(rest[0].Prefix(), "=")
		if !found {
			break
		}
		value, _ := rest[0].Cut(len(name) + 1)
		cmd.Assigns = append(cmd.Assigns, Assign{Name: name, Value: value, Exported: true})
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return false
	}
	w.wrap(&n, cmd, rest, "env", c)
	return true
}

func (w *walker) emitTrue(s *state, cmd Command, c ctx) bool {
	w.emit(s, cmd, c)
	return true
}

// subshell follows sh, bash and their kin: -c text, text on standard input, or
// a file, which is not followed.
func (w *walker) subshell(s *state, name string, cmd Command, c ctx) bool {
	o := getopt{short: "co:O:abefhiklmnprstuvxBCDEHPT", long: "rcfile:,init-file:,norc,noprofile,login,posix,version,help,restricted,verbose,debugger,dump-strings"}
	opts, rest, clear := parseShell(o, cmd.Words[1:])
	via := name + " -c"
	posix := name == "sh" || name == "dash" || name == "ash"
	switch {
	case !clear:
		cmd.Opaque = "options that are not known"
		w.emit(s, cmd, c)
		return true
	case hasOption(opts, "version", "help"), hasOption(opts, "n") && len(rest) > 0:
		cmd.Lookup = true
		w.emit(s, cmd, c)
		return true
	case hasOption(opts, "c"):
		if len(rest) == 0 {
			cmd.Opaque = name + " -c without text"
			w.emit(s, cmd, c)
			return true
		}
		text, ok := rest[0].Static()
		if !ok {
			cmd.Opaque = name + " -c runs text that is not known"
			w.emit(s, cmd, c)
			return true
		}
		return w.payload(s, cmd, text, rest, via, posix, c)
	case len(rest) == 0 || hasOption(opts, "s"):
		return w.fromInput(s, name, cmd, rest, posix, c)
	}
	return w.fromProcess(s, name, cmd, rest, posix, c)
}

// parseShell reads a shell's options; +x is one too.
func parseShell(o getopt, args []Word) (opts []option, rest []Word, clear bool) {
	clear = true
	for {
		more, left, ok := o.parse(args)
		opts, clear = append(opts, more...), clear && ok
		if len(left) == 0 {
			return opts, left, clear
		}
		text, static := left[0].Static()
		if !static || len(text) < 2 || text[0] != '+' || len(args) > 0 && len(left) < len(args) && endsOptions(args[:len(args)-len(left)]) {
			return opts, left, clear
		}
		args = left[1:]
		if strings.ContainsAny(text, "oO") && len(args) > 0 {
			args = args[1:]
		}
	}
}

func endsOptions(args []Word) bool {
	text, _ := args[len(args)-1].Static()
	return text == "--"
}

func (w *walker) payload(s *state, cmd Command, text string, rest []Word, via string, posix bool, c ctx) bool {
	outer := cmd
	outer.Words, outer.Wraps = cmd.Words[:len(cmd.Words)-len(rest)], true
	w.emit(s, outer, c)
	child := w.child(s, cmd.Assigns)
	if len(rest) > 1 {
		child.args = rest[2:]
		child.vars = child.vars.set("0", scalar(rest[1]))
	}
	for _, a := range child.args {
		for _, p := range a.Parts {
			if p.Kind == Unknown && p.Split {
				child.args, child.argsOpen = nil, true
			}
		}
	}
	c.input = cmd.Input
	w.text(child, text, c.through(via), posix)
	return true
}

// fromInput follows a shell that reads commands from its standard input.
func (w *walker) fromInput(s *state, name string, cmd Command, args []Word, posix bool, c ctx) bool {
	if !cmd.Input.Known {
		cmd.Opaque = name + " runs text that it reads from its input"
		w.emit(s, cmd, c)
		return true
	}
	cmd.Wraps = true
	w.emit(s, cmd, c)
	child := w.child(s, cmd.Assigns)
	child.args = args
	text := cmd.Input.Text
	c.input = Input{}
	if clean, fatal := w.checkBytes(text); !fatal {
		w.text(child, clean, c.through(name), posix)
	}
	return true
}

// fromProcess follows bash <(command) where the command's output is certain.
func (w *walker) fromProcess(s *state, name string, cmd Command, rest []Word, posix bool, c ctx) bool {
	parts := rest[0].Parts
	if len(parts) != 1 || parts[0].Origin != FromProcess {
		return false
	}
	if sub := parts[0].Subst; len(sub) == 1 {
		if text, ok := w.written(sub[0]); ok {
			cmd.Wraps = true
			w.emit(s, cmd, c)
			w.text(w.child(s, cmd.Assigns), text, c.through(name), posix)
			return true
		}
	}
	cmd.Opaque = name + " runs text that it reads from another command"
	w.emit(s, cmd, c)
	return true
}

// applet follows busybox and toybox, which are many programs in one.
func (w *walker) applet(s *state, name string, cmd Command, c ctx) bool {
	if len(cmd.Words) < 2 || strings.HasPrefix(cmd.Words[1].Prefix(), "-") {
		return false
	}
	w.wrap(s, cmd, cmd.Words[1:], name, c)
	return true
}

// flock follows flock FILE COMMAND and flock FILE -c TEXT.
func (w *walker) flock(s *state, cmd Command, c ctx) bool {
	o := getopt{short: "eE:Fnosuvw:x", long: "exclusive,conflict-exit-code:,nonblock,no-fork,close,shared,unlock,verbose,timeout:,wait:"}
	_, rest, _ := o.parse(cmd.Words[1:])
	if len(rest) < 2 {
		return false
	}
	if flag, _ := rest[1].Static(); (flag == "-c" || flag == "--command") && len(rest) > 2 {
		return w.wrapText(s, cmd, rest[2:3], "flock", c)
	}
	w.wrap(s, cmd, rest[1:], "flock", c)
	return true
}

// script follows script -c TEXT FILE.
func (w *walker) script(s *state, cmd Command, c ctx) bool {
	o := getopt{short: "ac:E:eFfI:iO:o:m:qT:t:", long: "append,command:,echo:,return,flush,log-in:,log-out:,log-io:,log-timing:,quiet,output-limit:"}
	opts, _, _ := o.parse(cmd.Words[1:])
	v := lastValue(opts, "c", "command")
	if v == nil {
		return false
	}
	text, ok := v.Static()
	if !ok {
		cmd.Opaque = "script -c runs text that is not known"
	}
	w.emit(s, cmd, c)
	if ok {
		w.text(w.child(s, cmd.Assigns), text, c.through("script -c"), false)
	}
	return true
}

// ssh follows the text that another machine would run.
func (w *walker) ssh(s *state, cmd Command, c ctx) bool {
	o := getopt{short: "B:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:46AaCfGgKkMNnqsTtVvXxYy"}
	opts, rest, _ := o.parse(cmd.Words[1:])
	if len(rest) < 2 || hasOption(opts, "V", "Q") {
		return false
	}
	// Options may also stand after the host.
	_, remote, _ := o.parse(rest[1:])
	w.emit(s, cmd, c)
	if text, ok := joinStatic(remote); ok && text != "" {
		c.remote = true
		there := &state{}
		w.text(there, text, c.through("ssh"), false)
	}
	return true
}

// tmux follows the shell text of commands that open a window.
func (w *walker) tmux(s *state, cmd Command, c ctx) bool {
	global := getopt{short: "c:f:L:S:T:2CDluUvV"}
	_, rest, _ := global.parse(cmd.Words[1:])
	if len(rest) < 2 {
		return false
	}
	switch sub, _ := rest[0].Static(); sub {
	case "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "respawnp", "respawn-window", "respawnw",
		"run-shell", "run", "if-shell", "if", "pipe-pane", "pipep", "display-popup", "popup":
	default:
		return false
	}
	local := getopt{short: "c:e:F:f:n:s:t:x:y:l:d"}
	_, text, _ := local.parse(rest[1:])
	if len(text) == 0 {
		return false
	}
	return w.wrapText(s, cmd, text, "tmux", c)
}
