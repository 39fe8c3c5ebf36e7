package gitignore

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tree is the folder that both matchers judge: names ending in a slash are folders.
var tree = []string{
	"a", "b.go", "c.o", "#x", "!y", "trail ", "tab\t", "é", "[z", "back\\slash", "-dash", "a.b", "Z", "12",
	"d/", "d/a", "d/b.go", "d/e/", "d/e/a", "d/e/b.go", "d/e/f/", "d/e/f/a", "d/e/f/c.o",
	"gen/", "gen/api.go", "gen/sub/", "gen/sub/x.o", "e/", "e/a", "e/d/", "e/d/a", "foo/", "foo/bar/", "foo/bar/baz",
}

// ours judges a path as a walk would: below an ignored folder everything is.
func ours(l List, path string) bool {
	path, dir := strings.CutSuffix(path, "/")
	for i := range path {
		if path[i] == '/' && l.Ignored(path[:i], true) {
			return true
		}
	}
	return l.Ignored(path, dir)
}

// repository lays the tree out for git.
func repository(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	for _, name := range tree {
		path := filepath.Join(dir, name)
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// gits asks git which paths of the tree are ignored.
func gits(t interface{ Fatalf(string, ...any) }, dir string) map[string]bool {
	cmd := exec.Command("git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z")
	// Without their slash, folders are looked up on disk; with it git would match an empty name.
	names := strings.ReplaceAll(strings.Join(tree, "\x00")+"\x00", "/\x00", "\x00")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(names)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("git check-ignore: %v %s", err, errs.String())
	}
	found := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		found[path] = true
	}
	return found
}

// T-FILE-19: the same answers as git for patterns that matchers get wrong.
func TestPatternsAgainstGit(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, text := range []string{
		"gen/*", "gen/*\n!gen/api.go", "gen/\n!gen/api.go", "*.o", "*.o\n!c.o", "d/**", "d/**/a", "**/a", "**/e/a", "a/**", "/a", "/d/e", "d/", "d", "**",
		"**/", "/**", "foo/**/baz", "foo/**/bar/baz", "[!b]", "[^a]*", "[a-c]", "?", "??", "a?b", "\\#x", "#x", "\\!y", "!y", "trail\\ ", "trail ", "trail",
		"tab\t", "é", "[z", "\\[z", "[[]z", "back\\\\slash", "*\\\\*", "-dash", "[[:digit:]]*", "[[:upper:]]", "[[:bogus:]]", "[]a]", "[!]a]", "[a-]", "d/*/a", "*/a",
		"*/", "*/*", "d/e/", "e/d", "foo/bar", "foo*", "f*o/b*r", "**/foo/bar", "foo**", "d**", "d/**b.go", "/", "//", "!", "", "   ", "\r", "*.go\r", "\ufeff*.go", "a\\", "\\a",
		"d/e\n!d/e\nd/e/f", "*\n!*/\n!*.go", "/*\n!/d", "gen/sub/**", "gen/**/x.o", "*.[go]", "*.[^g]*", "e/**/a", "**/d/**", "[a-z].b", "a[.]b", "a[/]b", "d[/]a", "*a*", "*a*a*",
	} {
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		want, l := gits(t, dir), List{Parse("", text)}
		for _, path := range tree {
			if got := ours(l, path); got != want[strings.TrimSuffix(path, "/")] {
				t.Errorf("%q on %q: got %v, git says %v", text, path, got, !got)
			}
		}
	}
}

// T-FILE-19: the same answers as git for whatever comes.
func TestRandomPatternsAgainstGit(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	if err := os.WriteFile(filepath.Join(dir, "d", ".gitignore"), []byte("!a\n/e/*\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`!?/?([adefgz]|\*|\*\*|/|\*\*/|\?|\[a-e\]|\[!a\]|\.go|\.o|gen|foo|bar|\\a| ){1,5}/?`)
		text := strings.Join(rapid.SliceOfN(line, 1, 4).Draw(t, "lines"), "\n")
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
		want, l := gits(t, dir), List{Parse("", text), Parse("d", "!a\n/e/*\n")}
		for _, path := range tree {
			if got := ours(l, path); got != want[strings.TrimSuffix(path, "/")] {
				t.Fatalf("%q on %q: got %v, git says %v", text, path, got, !got)
			}
		}
	})
}

// A hostile ignore file costs no time.
func TestHostilePatternsAreQuick(t *testing.T) {
	t.Parallel()
	began := time.Now()
	l := List{Parse("", strings.Repeat("*a", 200)+"b\n"+strings.Repeat("**/a/", 200)+"b\n"+strings.Repeat("[", 5000))}
	l.Ignored(strings.Repeat("a", 4000), false)
	l.Ignored(strings.Repeat("a/", 2000)+"a", false)
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
}
