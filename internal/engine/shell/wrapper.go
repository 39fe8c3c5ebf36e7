package shell

import (
	"strconv"
	"strings"
)

// wrapperTable lists programs that run the command in their operands, one a
// line: name (and subcommand), short options, long options, how many operands
// come before the command, and how the rest is run: argv as it stands, or text
// joined and given to a shell. A dash is nothing.
const wrapperTable = `
nohup           -                       -                                                       0 argv
nice            n:                      adjustment:                                             0 argv
ionice          c:n:p:P:u:t             class:,classdata:,ignore,pid:,pgid:,uid:                0 argv
time            f:o:apvqV               format:,output:,append,portability,verbose,quiet       0 argv
timeout         k:s:vfp                 kill-after:,signal:,foreground,preserve-status,verbose  1 argv
stdbuf          i:o:e:                  input:,output:,error:                                   0 argv
setsid          cfw                     ctty,fork,wait                                          0 argv
taskset         apc                     all-tasks,pid,cpu-list                                  1 argv
chrt            abfioprmvRTP:D:         batch,fifo,idle,other,rr,reset-on-fork,pid              1 argv
numactl         C:N:m:p:i:l             cpunodebind:,membind:,interleave:,physcpubind:          0 argv
unbuffer        p                       -                                                       0 argv
chronic         ev                      -                                                       0 argv
eatmydata       -                       -                                                       0 argv
catchsegv       -                       -                                                       0 argv
caffeinate      disumt:w:               -                                                       0 argv
dbus-run-session -                      config-file:,dbus-daemon:                               0 argv
xvfb-run        ae:f:hln:p:s:w:         auto-display,server-args:,server-num:,error-file:       0 argv
strace          a:b:e:E:I:o:O:p:P:s:S:u:U:X:cCdDfFhiknqrtTvVxyYzZ output:,trace:,attach:        0 argv
ltrace          a:A:D:e:F:l:n:o:p:s:u:w:x:X:cCfhiLrStTV           output:                       0 argv
valgrind        -                       -                                                       0 argv
faketime        m                       -                                                       1 argv
setarch         vhRFZLXBITS3p:          addr-no-randomize,verbose,pid:                          1 argv
linux32         vhRFZLXBITS3            -                                                       0 argv
linux64         vhRFZLXBITS3            -                                                       0 argv
unshare         imnpuUCTrcfR:w:S:G:     map-root-user,fork,mount-proc,root:,wd:,setuid:,setgid: 0 argv
systemd-run     p:u:H:M:t:E:Ppqdr       unit:,property:,slice:,uid:,gid:,setenv:,working-directory:,user,scope,pty,pipe,wait,on-calendar:,on-active: 0 argv
watch           n:q:bcdegptwrx          interval:,differences,beep,color,errexit,chgexit,equexit:,exec,no-title,precise 0 text
screen          c:e:h:p:S:s:T:t:adDfmRrUwx -                                                   0 argv
entr            acdnprsxz               -                                                       0 argv
rlwrap          a:b:c:C:D:e:f:g:H:l:L:m:M:nNo:O:p:P:q:rRsS:t:TUvw:W:X:z: -                      0 argv
ts              irsm                    -                                                       0 argv
pv              -                       -                                                       9 argv
bundle_exec     -                       keep-file-descriptors,gemfile:                          0 argv
poetry_run      -                       -                                                       0 argv
pipenv_run      -                       -                                                       0 argv
pdm_run         sp:                     -                                                       0 argv
hatch_run       -                       -                                                       0 argv
rye_run         -                       -                                                       0 argv
mise_exec       -                       -                                                       0 argv
direnv_exec     -                       -                                                       1 argv
conda_run       n:p:                    name:,prefix:,no-capture-output,live-stream             0 argv
`

// wrapper is one row of wrapperTable.
type wrapper struct {
	opts  getopt
	skip  int
	shell bool
}

func findWrapper(name string) (wrapper, bool) {
	_, row, found := strings.Cut(wrapperTable, "\n"+name+" ")
	if !found || name == "" {
		return wrapper{}, false
	}
	row, _, _ = strings.Cut(row, "\n")
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
