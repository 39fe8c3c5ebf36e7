package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func testOptions() Options {
	return Options{Dir: "/root/project", Env: map[string]string{"HOME": "/home/dev", "USER": "dev", "TMPDIR": "/tmp/s", "PATH": "/bin"}}
}

// render writes what a reading came to: commands in order, words joined, unknown
// parts as ?, globs as *…*, what is special behind them.
func render(s Script) string {
	var out []string
	for _, c := range s.Commands {
		var b strings.Builder
		for _, a := range c.Assigns {
			fmt.Fprintf(&b, "%s=%s ", a.Name, word(a.Value))
		}
		for i, w := range c.Words {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word(w))
		}
		for _, r := range c.Redirs {
			if r.Op != RedirDup {
				fmt.Fprintf(&b, " %s%s", [...]string{"<", ">", ">>", "<>"}[r.Op], word(r.Target))
			}
		}
		if c.Dir != "/root/project" && c.DirKnown {
			fmt.Fprintf(&b, " @%s", c.Dir)
		}
		if !c.DirKnown {
			b.WriteString(" @?")
		}
		if c.Input.Known {
			fmt.Fprintf(&b, " in=%q", c.Input.Text)
		}
		for _, f := range []struct {
			on   bool
			name string
		}{{c.Wraps, "wraps"}, {c.Remote, "remote"}, {c.Opaque != "", "opaque"}, {c.Recursive, "recursive"}, {c.Forks, "forks"}, {c.Background, "background"}, {c.Loop, "loop"}, {c.Lookup, "lookup"}} {
			if f.on {
				b.WriteString(" " + f.name)
			}
		}
		out = append(out, strings.TrimSpace(b.String()))
	}
	return strings.Join(out, " | ")
}

func word(w Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case Literal:
			b.WriteString(p.Text)
		case Pattern:
			b.WriteString("*" + p.Text + "*")
		case Unknown:
			b.WriteString("?")
		}
	}
	if len(w.Parts) == 0 {
		return "''"
	}
	return b.String()
}

// G-SHELL-1: text to simple commands, wherever they stand.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"ls -la", "ls -la"},
		{"a; b && c || d", "a | b | c | d"},
		{"a | b > out 2>> err < in", "a | b >out >>err <in"},
		{"if a; then b; else c; fi", "a | b | c"},
		{"(a; b) & { c; }", "a background | b background | c"},
		// quoting and expansion
		{`s\udo "su"'do' $'\x73udo' su"$@"do`, "sudo sudo sudo sudo"},
		{"{rm,-rf,/home}", "rm -rf /home"},
		{"rm$IFS-rf${IFS}x", "rm -rf x"},
		{"a=su; b=do; $a$b id", "a=su | b=do | sudo id"},
		{"x=abcrm; ${x#abc}; x=rn; ${x/n/m}; x=RM; ${x,,}", "x=abcrm | rm | x=rn | rm | x=RM | rm"},
		{"a=(rm -rf); \"${a[@]}\" /", "a=? | rm -rf /"},
		{"v=x; w=v; echo ${!w}", "v=x | w=v | echo x"},
		{"set -- a b; c \"$@\" $2", "set -- a b | c a b b"},
		{"echo ~/x ~ '~' a~", "echo /home/dev/x /home/dev ~ a~"},
		{"echo *.go '*.go' \\*", "echo **.go* *.go *"},
		{"echo $UNSET \"$UNSET/x\"", "echo ? ?/x"},
		{"echo $((3*4)) $((x+1))", "echo 12 ?"},
		{"echo $(echo hi) `printf x`", "echo hi | printf x | echo hi x"},
		{"echo $(date)", "date | echo ?"},
		{"cat <<EOF\n$(id) x\nEOF", "id | cat"},
		{"cat <<'EOF'\n$(id) x\nEOF", `cat in="$(id) x\n"`},
		{"cat <<< hi", `cat in="hi\n"`},
		{"diff <(a) >(b)", "a | b | diff ? ?"},
		// the directory
		{"cd src && ls && cd .. && pwd", "cd src | ls @/root/project/src | cd .. @/root/project/src | pwd"},
		{"(cd /tmp; ls); ls", "cd /tmp | ls @/tmp | ls | ls"},
		{"cd $X && ls", "cd ? | ls @?"},
		{"cd /a || exit; ls", "cd /a | exit | ls @/a"},
		{"set -e; cd /a; ls", "set -e | cd /a | ls @/a"},
		{"pushd /a && popd && ls", "pushd /a | popd @/a | ls"},
		// wrappers
		{"env -u B A=1 timeout -k 1 5 nice -n 3 ls", "A=1 env -u B A=1 wraps | timeout -k 1 5 wraps | nice -n 3 wraps | ls"},
		{"env -S 'ls -l'", "env wraps | ls -l"},
		{"bash -xc 'echo $1' _ hi", "bash -xc wraps | echo hi"},
		{"bash -n x.sh", "bash -n x.sh lookup"},
		{"bash x.sh", "bash x.sh"},
		{"echo ls | sh", "echo ls | sh in=\"ls\\n\" wraps | ls"},
		{"cat x | sh", "cat x | sh opaque"},
		{"eval 'a; b'", "eval wraps | a | b"},
		{"eval \"$X\"", "eval ? opaque | __any"},
		{"trap 'a b' EXIT", "trap a b EXIT wraps | a b"},
		{"xargs -n1 rm -f < list", "xargs -n1 <list wraps | rm -f ?"},
		{"printf 'a\\0b' | xargs -0 cat", "printf a\\0b | xargs -0 in=\"a\\x00b\" wraps | cat a b in=\"a\\x00b\""},
		{"find . -name x -exec rm {} + -o -exec ls {} \\;", "find . -name x -exec rm {} + -o -exec ls {} ; | rm ? | ls ?"},
		{"parallel -j2 rm {} ::: a b", "parallel -j2 wraps | rm a | rm b"},
		{"command -v ls", "command -v ls lookup"},
		{"command rm x; builtin cd y", "rm x | cd y"},
		{"busybox sh -c 'a'", "busybox wraps | sh -c wraps | a"},
		{"ssh -p 2 host 'a | b'", "ssh -p 2 host a | b | a @? remote | b @? remote"},
		{"watch -n1 'a; b'", "watch -n1 wraps | a | b"},
		{"sudo ls", "sudo ls"},
		// functions, aliases, loops
		{"f() { a \"$1\"; }; f x", "a x"},
		{"f() { a; }", "a"},
		{"ls() { command ls -l; }; ls x", "ls -l"},
		{":(){ :|:& };:", ": recursive forks background | : recursive forks background"},
		{"shopt -s expand_aliases\nalias x='a b'\nx c", "shopt -s expand_aliases | alias x=a b | a b | a b c"},
		{"for f in a b; do c $f; done", "c a | c b"},
		{"for f in *.go; do c $f; done", "c **.go*"},
		{"while true; do a & done", "true loop | a background loop"},
		{"case $x in a) b;; *) c;; esac", "b | c"},
		{"true || a; exit; b", "true | a | exit | b"},
		{"export A=1 B; readonly C=2", "A=1 export A=1 B | C=2 readonly C=2"},
		{"hash -p /bin/rm ls; ls x", "hash -p /bin/rm ls | /bin/rm x"},
		{"[ -v 'a[$(id)]' ]", "[ -v a[$(id)] ] | id"},
	} {
		s := Read(c.text, testOptions())
		if got := render(s); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
		if len(s.Problems) > 0 && !strings.Contains(c.text, "$X") {
			t.Errorf("%q: problems %+v", c.text, s.Problems)
		}
	}
}

// G-SHELL-2, D18, D19, D30, D31: what cannot be decided says so.
func TestProblems(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("$(", MaxDepth+2) + strings.Repeat(")", MaxDepth+2)
	for _, c := range []struct {
		text string
		want ProblemKind
	}{
		{"ls\x00", NUL}, {"ls\x1b[2K", Control}, {"a\rb", Control}, {"echo a\\\r\nb", Control}, {"echo \xff", Control}, {"echo \u202e", Bidi}, {"", Empty}, {"  # only a comment", Empty},
		{"echo 'x", Unparsed}, {"}", Unparsed}, {"cat <<X\n", Unparsed}, {strings.Repeat("x", MaxBytes+1), TooLong}, {"echo " + deep, TooDeep},
		{"echo ${x@P}", Opaque},
	} {
		s := Read(c.text, testOptions())
		found := false
		for _, p := range s.Problems {
			found = found || p.Kind == c.want
		}
		if !found {
			t.Errorf("%.40q: %+v, want kind %d", c.text, s.Problems, c.want)
		}
	}
	if s := Read("a\r\nb\r\n", testOptions()); len(s.Problems) > 0 || render(s) != "a | b" {
		t.Errorf("line endings of another system: %+v", s)
	}
	// What runs before a syntax error runs.
	if got := render(Read("rm x\necho (", testOptions())); !strings.HasPrefix(got, "rm x") {
		t.Errorf("before the error: %q", got)
	}
}

// Law 2: text that sh reads otherwise than bash is a problem there.
func TestDialect(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Dialect = POSIX
	for _, text := range []string{"echo $'x'", "[[ a > b ]]", "((x > y))", "ls &> f", "a=(b)", "rm {a,b}", "cat <(x)", "cat <<< x", "function f { x; }", "a |& b", "ls >& f", "coproc x"} {
		ambiguous := false
		for _, p := range Read(text, o).Problems {
			ambiguous = ambiguous || p.Kind == Ambiguous
		}
		if !ambiguous {
			t.Errorf("%q passes for sh", text)
		}
	}
	for _, text := range []string{"ls -l", "a && b | c", "x=$(y); echo \"$x\" >f 2>&1", "f() { x; }; f", "if [ -f a ]; then b; fi", "cat <<E\nx\nE"} {
		if s := Read(text, o); len(s.Problems) > 0 {
			t.Errorf("%q: %+v", text, s.Problems)
		}
	}
}

// A directory that is known to exist leaves one way only.
func TestDirExistsPrunes(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.DirExists = func(p string) (bool, bool) { return p == "/root/project/src", true }
	if got := render(Read("cd src; ls", o)); got != "cd src | ls @/root/project/src" {
		t.Errorf("%q", got)
	}
	if got := render(Read("cd nowhere; ls", o)); got != "cd nowhere | ls @/root/project/nowhere | ls" {
		t.Errorf("%q", got)
	}
}

// Work is bounded: loops in loops, functions that call each other, huge braces.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	many := "for a in {1..60}; do for b in {1..60}; do for c in {1..60}; do for d in {1..60}; do x $a$b$c$d; done; done; done; done"
	for _, text := range []string{
		many, "echo {1..99999999999}", "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
		"f() { g; g; }; g() { f; f; }; f", "f() { f \"$@\" \"$@\"; }; f a b", "x=aaaaaaaaaa; while :; do x=$x$x; done; echo $x", "eval 'eval \"eval x\"'", "a() { eval a; }; a",
		strings.Repeat("if a; then ", 60) + "b" + strings.Repeat("; fi", 60), strings.Repeat("cd a || cd b; ", 300), strings.Repeat("x; ", 15000), "printf %99999999d", "echo $((2**62 << 3))",
		"x=x; echo $((x))", "declare -n r=r; echo $r", "a=b; b=a; echo ${!a}", strings.Repeat("<<E ", 200),
	} {
		start := time.Now()
		s := Read(text, testOptions())
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%.60q took %s", text, d)
		}
		if len(s.Commands) > maxCommands+maxFields {
			t.Errorf("%.60q: %d commands", text, len(s.Commands))
		}
	}
	met := false
	for _, p := range Read(many, testOptions()).Problems {
		met = met || p.Kind == TooMuch
	}
	if !met {
		t.Error("a bound was met and nothing says so")
	}
}

// D30: nothing is dropped because there is much of it.
func TestEveryPartIsRead(t *testing.T) {
	t.Parallel()
	s := Read(strings.Repeat("true; ", 5000)+"last", testOptions())
	if n := len(s.Commands); n != 5001 || render(Script{Commands: s.Commands[n-1:]}) != "last" {
		t.Fatalf("%d commands", n)
	}
	if len(s.Problems) > 0 {
		t.Fatalf("%+v", s.Problems)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"ls", "a=(b c); ${a[@]}", "cat <<E\n$x\nE", "f(){ f|f& };f", "x=${y:-$(z)}", "env -S 'a b' c", "for((;;)){ x; }", "$'\\x41'", "[[ a =~ b ]] && ((c++))", "find . -exec sh -c 'x {}' \\;", "echo {1..3}{a,b}", "a\r\nb", "trap 'x' 0; eval \"$(y)\"", "xargs -I% sh -c '% a'", "X[$(id)]=1 ls"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []Dialect{Bash, POSIX} {
			o := testOptions()
			o.Dialect = d
			for _, p := range Read(text, o).Problems {
				if strings.Contains(p.Text, "cannot follow") {
					t.Fatalf("the reader panicked on %q", text)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("x=$(git rev-parse HEAD); for f in src/*.go; do grep -n \"$x\" \"$f\" | head -3 >> out.txt; done\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Read(text, testOptions())
	}
}
