package policy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"car/internal/engine/shell"
	"car/internal/engine/tool"
)

// ran is what an interpreter that executes nothing met.
type ran struct {
	argv  []string
	dir   string
	write string
}

// nothing swallows writes and reads as empty.
type nothing struct{}

func (nothing) Read([]byte) (int, error)    { return 0, io.EOF }
func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }

// pretend runs a text with every program and every open replaced by a note.
// status is what each program answers.
func pretend(ctx context.Context, text string, l layout, status uint8) []ran {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex // pipelines and background commands note at the same time
	var met []ran
	note := func(r ran) {
		mu.Lock()
		defer mu.Unlock()
		if met = append(met, r); len(met) > 200 {
			cancel()
		}
	}
	exec := func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
		return func(ctx context.Context, args []string) error {
			note(ran{argv: args, dir: interp.HandlerCtx(ctx).Dir})
			if status != 0 {
				return interp.ExitStatus(status)
			}
			return ctx.Err()
		}
	}
	open := func(ctx context.Context, path string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(interp.HandlerCtx(ctx).Dir, path)
		}
		if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0 {
			note(ran{write: path})
		}
		return nothing{}, nil
	}
	r, err := interp.New(
		interp.Dir(l.root), interp.StdIO(nil, io.Discard, io.Discard), interp.ExecHandlers(exec), interp.OpenHandler(open),
		interp.ReadDirHandler2(func(context.Context, string) ([]fs.DirEntry, error) { return nil, errors.New("nothing here") }),
		interp.Env(expand.ListEnviron("HOME="+l.home, "PATH=/usr/bin:/bin", "SHELL=/bin/bash", "LANG=C", "USER=dev", "TMPDIR="+l.scratch, "PWD="+l.root)),
	)
	if err != nil {
		return nil
	}
	func() {
		defer func() { _ = recover() }() // the interpreter's own faults are none of ours
		_ = r.Run(ctx, file)             // how it ends says nothing
	}()
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(met)
}

// checkAgainstInterpreter fails when a text leads to a program or a write that
// is judged stricter than the text was.
func checkAgainstInterpreter(t *testing.T, p *Policy, l layout, text string) {
	t.Helper()
	if strings.Contains(text, "$0") || strings.Contains(text, "alias") {
		return // the interpreter has another name, and joins the lines of an alias
	}
	if strings.Contains(text, "<(") || strings.Contains(text, ">(") || len(text) > 8<<10 || strings.Contains(text, "\x00") {
		return // process substitution makes pipes in the file system
	}
	j := p.Judge(shellAction("a", text), tool.Effects{})
	if j.Verdict == Deny {
		if j.Reasons[0].Rule == ruleInternal {
			t.Fatalf("%q cannot be judged", text)
		}
		return
	}
	if j.Verdict == Ask && holdsUnknown(text, l) {
		return // what it does is not known, and it said so
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	for _, status := range []uint8{0, 1} {
		for _, m := range pretend(ctx, text, l, status) {
			if m.write != "" {
				if deviceOf(m.write, m.write) == goodDevice {
					continue
				}
				w := p.Judge(shellAction("w", "> "+quoteArg(m.write)), tool.Effects{})
				if w.Verdict < j.Verdict {
					t.Fatalf("%q is %s, but it would write %q, which is %s: %s", text, j.Verdict, m.write, w.Verdict, w.Message())
				}
				continue
			}
			if len(m.argv) == 0 || strings.HasPrefix(m.argv[0], "-") {
				continue
			}
			switch filepath.Base(m.argv[0]) {
			case "xargs", "parallel", "sh", "bash", "dash", "ash", "zsh", "ksh":
				continue // what it would run hangs on what feeds it
			}
			if strings.ContainsFunc(strings.Join(m.argv, ""), unprintable) {
				continue // as text it is refused for that alone
			}
			one := "cd " + quoteArg(m.dir) + " && " + quoteArgs(m.argv)
			if w := p.Judge(shellAction("x", one), tool.Effects{}); w.Verdict < j.Verdict {
				t.Fatalf("%q is %s, but it would run %q in %s, which is %s: %s", text, j.Verdict, m.argv, m.dir, w.Verdict, w.Message())
			}
		}
	}
}

// holdsUnknown reports a text with words or parts that are not certain.
func holdsUnknown(text string, l layout) bool {
	s := shell.Read(text, shell.Options{Dir: l.root, Env: map[string]string{"HOME": l.home}})
	for _, c := range s.Commands {
		for _, w := range c.Words {
			if w.HasUnknown() || w.HasPattern() {
				return true
			}
		}
		for _, r := range c.Redirs {
			if r.Target.HasUnknown() {
				return true
			}
		}
		if !c.DirKnown || c.Opaque != "" {
			return true
		}
	}
	return len(s.Problems) > 0
}

func unprintable(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError || invisible(r)
}

func quoteArgs(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = quoteArg(a)
	}
	return strings.Join(out, " ")
}

func quoteArg(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// differential returns what the test and the fuzz target share.
func differential(t testing.TB) (*Policy, layout) {
	t.Helper()
	l := newLayout(t, false)
	p, err := New(l.config())
	if err != nil {
		t.Fatal(err)
	}
	return p, l
}

func eachText(t testing.TB, l layout, f func(text string)) {
	t.Helper()
	for _, line := range readCorpus(t, "commands.jsonl") {
		r := decodeRow(t, line, l)
		if text, ok := r.Input.Params["command"].(string); ok {
			f(text)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(l.fill(string(data)), "\n") {
			verdict, rest, ok := strings.Cut(line, " ")
			if !ok || verdict == "#" || verdict == "deny" {
				continue
			}
			_, text, _ := strings.Cut(rest, " ")
			f(strings.ReplaceAll(text, `\n`, "\n"))
		}
	}
}

// G-SHELL-1: what an interpreter would run is never stricter than what was said
// of the text.
func TestDifferential(t *testing.T) {
	t.Parallel()
	p, l := differential(t)
	n := 0
	eachText(t, l, func(text string) {
		n++
		checkAgainstInterpreter(t, p, l, text)
	})
	if n < 900 {
		t.Fatalf("only %d texts", n)
	}
}

func FuzzDifferential(f *testing.F) {
	p, l := differential(f)
	eachText(f, l, func(text string) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text string) { checkAgainstInterpreter(t, p, l, text) })
}
