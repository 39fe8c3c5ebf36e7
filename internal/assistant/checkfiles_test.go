package assistant

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// P-TRUE-3, A-GOAL-10: a file that a check names is found however the check says it:
// after a cd, within the text of another shell, by its absolute path, as an input, in
// a setting, as a pattern, piped into an interpreter.
func TestCheckNamesItsFiles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"lib/inner.sh": {Data: []byte("exit 1\n")}, "k.sh": {Data: []byte("exit 1\n")}}
	for check, want := range map[string]string{
		"sh -c 'cd lib && sh inner.sh'":  "lib/inner.sh",
		"cd lib; ./inner.sh":             "lib/inner.sh",
		"sh /srv/lib/inner.sh":           "lib/inner.sh",
		"timeout 5 bash lib/inner.sh":    "lib/inner.sh",
		"sh < k.sh":                      "k.sh",
		"cat k.sh | sh":                  "k.sh",
		"run --script=lib/inner.sh":      "lib/inner.sh",
		"RC=k.sh ./run":                  "k.sh",
		"sh lib/*.sh":                    "lib/inner.sh",
		"env A=b bash -c '. ./k.sh'":     "k.sh",
		". ./gone.sh; sh k.sh":           "k.sh",
		"cat k.sh; test -f lib/inner.sh": "",
		"sh /elsewhere/k.sh":             "",
	} {
		s := takeSeal(reader{files: files, root: "/srv", dialect: "bash"}, check)
		var got []string
		for name := range s.files {
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s names %q, want %q", check, got, want)
		}
	}
}

// B045: what a check leads to without naming it, a recipe or a script's own scripts,
// is watched too; a change of it is said.
func TestCheckLeadsToFiles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"c.sh": {Data: []byte("#!/bin/sh\n. ./lib/a.sh\nmake -C sub\n")}, "lib/a.sh": {Data: []byte("sh lib/b.sh\n")}, "lib/b.sh": {Data: []byte("sh c.sh\n")},
		"Makefile": {Data: []byte("test:\n\tfalse\n")}, "sub/Makefile": {Data: []byte("x:\n")}, "prog": {Data: []byte("\x7fELF\x00lib/a.sh")},
	}
	at := reader{files: files, root: "/srv", dialect: "bash"}
	for check, want := range map[string][]string{
		"./c.sh":    {"Makefile", "lib/a.sh", "lib/b.sh", "sub/Makefile"},
		"make test": {"Makefile"},
		"./prog":    {},
	} {
		s := takeSeal(at, check)
		var got []string
		for name := range s.led {
			got = append(got, name)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s leads to %q, want %q", check, got, want)
		}
	}
	before := takeSeal(at, "./c.sh")
	files["lib/b.sh"] = &fstest.MapFile{Data: []byte("exit 0\n")}
	delete(files, "Makefile")
	if got := before.strayed(takeSeal(at, "./c.sh")); !slices.Equal(got, []string{"Makefile", "lib/b.sh"}) {
		t.Errorf("strayed are %q", got)
	}
}

// B045, P-TRUE-3: a check that the run itself wrote is not met, it is unverified; what
// the check makes while it runs is nobody's doing.
func TestB045CheckWrittenInTheRun(t *testing.T) {
	t.Parallel()
	h, files := seeking(t, passesAt(1), callsTools("write_file", `{"path":"check.sh","content":"exit 0\n"}`), says("It passes now."))
	delete(files, "check.sh")
	c, f := h.start()
	if err := c.Send(t.Context(), goalOf(0)); err != nil {
		t.Fatal(err)
	}
	done := mustEnd[Done](t, f.end())
	if !done.GoalUnevaluated || !strings.Contains(done.Text, "was not there at the start: check.sh") || ExitCode(c.Outcome()) != ExitUnverified {
		t.Errorf("ended with %+v, %+v", done, c.Outcome())
	}

	at := reader{files: files, root: "/srv", dialect: "bash"}
	files["check.sh"] = &fstest.MapFile{Data: []byte("a")}
	const check = "./check.sh --out=made.txt"
	before := takeSeal(at, check)
	files["made.txt"] = &fstest.MapFile{Data: []byte("1")}
	s := before.stable(takeSeal(at, check))
	files["made.txt"] = &fstest.MapFile{Data: []byte("2")}
	if now := takeSeal(at, check); len(s.appeared(now)) != 0 || s.altered(now) != "" {
		t.Errorf("the check's own product counts: %q %q", s.appeared(now), s.altered(now))
	}
}

// B045, D-29: a recipe that was edited is named in the verdict, and forbids nothing.
func TestB045RecipeEdited(t *testing.T) {
	t.Parallel()
	h, files := seeking(t, passesAt(1), callsTools("write_file", `{"path":"Makefile","content":"test:\n\ttrue\n"}`), says("Green."))
	files["check.sh"] = &fstest.MapFile{Data: []byte("#!/bin/sh\nmake test\n")}
	files["Makefile"] = &fstest.MapFile{Data: []byte("test:\n\tfalse\n")}
	events := h.say(goalOf(0))
	if v := bodies[GoalEvaluated](events); len(v) != 1 || !v[0].Met || !strings.Contains(v[0].Reason, "what the check runs was edited: Makefile") {
		t.Errorf("verdicts %+v", v)
	}
	mustEnd[Done](t, events)
}

// P-TRUE-3: a check that the shell could not even find is told apart from one that
// failed, before any work.
func TestBaselineSaysThatTheCheckIsMissing(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{127: "did not find", 126: "may not run it"} {
		v := readVerdict(exits(code, ""))
		if got := v.startup(); !strings.Contains(got, want) {
			t.Errorf("exit %d says %q, want %q", code, got, want)
		}
	}
	if got := readVerdict(exits(1, "")).startup(); got != "" {
		t.Errorf("exit 1 says %q", got)
	}
}
