package assistant

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"car/internal/engine/shell"
)

// inspectors look at files that a goal is about: those are the work, not the check.
var inspectors = []string{"test", "[", "[[", "grep", "egrep", "fgrep", "rg", "cat", "wc", "head", "tail", "ls", "stat", "jq", "cd", "echo", "printf"}

// recipes are the files that a program takes what it does from, without their being named.
var recipes = map[string][]string{
	"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"},
	"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"}, "npx": {"package.json"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"}, "rake": {"Rakefile"}, "composer": {"composer.json"},
	"pytest": {"conftest.py", "pytest.ini", "setup.cfg", "tox.ini"}, "tox": {"tox.ini"}, "ctest": {"CMakeLists.txt"}, "mvn": {"pom.xml"},
	"gradle": {"build.gradle", "build.gradle.kts"},
}

// leadDepth bounds how far scripts are followed that call scripts.
const leadDepth = 4

// reader finds the files that a shell text stands on, by names below the root of a workspace.
type reader struct {
	files   fs.FS
	root    string
	dialect string
}

// named are the names that the words of a text could mean; they need not be there.
func (r reader) named(text string) []string {
	found := map[string]bool{}
	r.each(text, func(c shell.Command) {
		for _, name := range r.candidates(c) {
			found[name] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// led are files that the text does not name and that decide all the same: recipes
// of the programs it runs, and what the scripts among seeds name in their turn.
func (r reader) led(text string, seeds []string) []string {
	found, followed := map[string]bool{}, map[string]bool{}
	r.addRecipes(text, found)
	for range leadDepth {
		var next []string
		for _, seed := range seeds {
			script, ok := r.script(seed)
			if followed[seed] || !ok {
				continue
			}
			followed[seed] = true
			r.addRecipes(script, found)
			for _, name := range r.named(script) {
				found[name] = true
				next = append(next, name)
			}
		}
		seeds = next
	}
	return slices.Sorted(maps.Keys(found))
}

func (r reader) addRecipes(text string, found map[string]bool) {
	r.each(text, func(c shell.Command) {
		for _, recipe := range recipes[path.Base(c.Words[0].String())] {
			for _, folder := range append([]string{"."}, r.candidates(c)...) {
				if name, ok := r.below(c, path.Join(folder, recipe)); ok {
					found[name] = true
				}
			}
		}
	})
}

// each visits the commands that run something. What an inspector prints is no part
// of a check, unless an interpreter runs it.
func (r reader) each(text string, visit func(shell.Command)) {
	o := shell.Options{Dialect: shell.Bash, Dir: r.root}
	if r.dialect == "sh" {
		o.Dialect = shell.POSIX
	}
	commands := shell.Read(text, o).Commands
	run := map[int]bool{} // by an interpreter that reads it
	for _, c := range commands {
		for i := c.Input.From; c.Input.Feeds && interpreter(c) && i < c.Input.To; i++ {
			run[i] = true
		}
	}
	for i, c := range commands {
		if len(c.Words) == 0 || c.Wraps || c.Lookup || c.Remote {
			continue
		}
		if run[i] || !slices.Contains(inspectors, path.Base(c.Words[0].String())) {
			visit(c)
		}
	}
}

// interpreter reports a program that runs what it reads.
func interpreter(c shell.Command) bool {
	if len(c.Words) == 0 {
		return false
	}
	switch base := path.Base(c.Words[0].String()); base {
	case "sh", "bash", "dash", "zsh", "ksh", "busybox", "node", "ruby", "perl", "php", "source", ".":
		return true
	default:
		return strings.HasPrefix(base, "python")
	}
}

// candidates are the files that a command's words, inputs and settings may mean.
func (r reader) candidates(c shell.Command) []string {
	var texts []string
	for _, w := range c.Words {
		texts = append(texts, w.String())
	}
	for _, rd := range c.Redirs {
		if rd.Op == shell.RedirRead || rd.Op == shell.RedirReadWrite {
			texts = append(texts, rd.Target.String())
		}
	}
	for _, a := range c.Assigns {
		texts = append(texts, a.Value.String())
	}
	var names []string
	for _, text := range texts {
		_, value, setting := strings.Cut(text, "=")
		for _, t := range []string{text, value} {
			if t == value && !setting || t == "" {
				continue
			}
			name, ok := r.below(c, t)
			if !ok {
				continue
			}
			names = append(names, name)
			if strings.ContainsAny(name, "*?[") {
				matches, _ := fs.Glob(r.files, name) // a pattern that is none matches nothing
				names = append(names, matches...)
			}
		}
	}
	return names
}

// below is a path of a command as a name below the root. Where nobody can tell in
// which folder a command runs, as after a script was sourced, it is the root.
func (r reader) below(c shell.Command, text string) (string, bool) {
	switch {
	case path.IsAbs(text):
	case c.DirKnown:
		text = path.Join(c.Dir, text)
	default:
		text = path.Join(r.root, text)
	}
	name, inside := strings.CutPrefix(path.Clean(text), strings.TrimSuffix(r.root, "/")+"/")
	return name, inside && fs.ValidPath(name)
}

// script is the text of a file that a shell runs.
func (r reader) script(name string) (string, bool) {
	info, err := fs.Stat(r.files, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > goalFileBytes {
		return "", false
	}
	content, err := fs.ReadFile(r.files, name)
	if err != nil {
		return "", false
	}
	first, _, _ := bytes.Cut(content, []byte("\n"))
	marked := bytes.HasPrefix(first, []byte("#!"))
	shellish := marked && bytes.Contains(first, []byte("sh")) || !marked && slices.Contains([]string{".sh", ".bash", ""}, path.Ext(name)) && !bytes.ContainsRune(content, 0)
	return string(content), shellish
}
