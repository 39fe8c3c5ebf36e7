package assistant

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"car/internal/engine/ir"
)

// seal is the state of a goal's check: the files that its command names, and the
// test files of the workspace (A-GOAL-10, D-29). The command itself cannot change
// in a run, nor can its environment: no call can set either.
type seal struct {
	files map[string]sealed
	tests testFiles
}

// sealed is one file at one time; a file that is too large has no text.
type sealed struct {
	digest ir.Digest
	text   string
}

// inspectors look at files that a goal is about: those are the work, not the check.
var inspectors = []string{"test", "[", "[[", "grep", "egrep", "fgrep", "rg", "cat", "wc", "head", "tail", "ls", "stat", "jq", "cd", "echo", "printf"}

// takeSeal reads what the check names. files may be nil.
func takeSeal(files fs.FS, check, dialect string) *seal {
	s := &seal{files: map[string]sealed{}}
	if files == nil {
		return s
	}
	commands, _ := readCommands(check, dialect)
	for _, words := range commands {
		if slices.Contains(inspectors, path.Base(words[0])) {
			continue
		}
		for _, w := range words {
			if name := path.Clean(strings.TrimPrefix(w, "./")); fs.ValidPath(name) && name != "." {
				s.add(files, name)
			}
		}
	}
	s.tests = takeTests(files)
	return s
}

func (s *seal) add(files fs.FS, name string) {
	info, err := fs.Stat(files, name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return
	}
	f := sealed{digest: ir.DigestBytes(content)}
	if len(content) <= goalFileBytes && !bytes.ContainsRune(content, 0) {
		f.text = string(content)
	}
	s.files[name] = f
}

// stable is the seal without what the check itself changed from one to the other.
func (s *seal) stable(after *seal) *seal {
	for name, f := range s.files {
		if after.files[name].digest != f.digest {
			delete(s.files, name)
		}
	}
	return s
}

// altered is the difference of the watched files, as a diff that a person reads;
// empty when nothing changed.
func (s *seal) altered(now *seal) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		was, is := s.files[name], now.files[name]
		switch {
		case was.digest == is.digest:
		case is.digest == "":
			fmt.Fprintf(&b, "%s is gone\n", name)
		case was.text == "" || is.text == "":
			fmt.Fprintf(&b, "%s changed (%s to %s)\n", name, was.digest[:12], is.digest[:12])
		default:
			b.WriteString(udiff.Unified("a/"+name, "b/"+name, was.text, is.text))
		}
	}
	return b.String()
}

var errTooMany = errors.New("more files than a goal looks at")

// testFiles are digests by path.
type testFiles map[string]ir.Digest

// testName is how languages name their test files.
var testName = regexp.MustCompile(`_test\.(?:go|py|rb|exs|dart|cc|cpp)$|^test_.*\.py$|(?:_|\.)(?:spec|test)s?\.(?:[cm]?[jt]sx?|rb|php|lua)$|(?:Test|Tests|Spec|IT)\.(?:java|kt|scala|cs|swift|php)$`)

// skippedFolders hold other people's tests.
var skippedFolders = []string{".git", "node_modules", "vendor", "target", "dist", "build", ".venv", "venv", "third_party"}

// takeTests lists the test files of a workspace; nil when there are more files than
// it looks at, or they cannot be read: then nothing is said of them.
func takeTests(files fs.FS) testFiles {
	if files == nil {
		return nil
	}
	found, seen := testFiles{}, 0
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > goalFiles {
			return errTooMany
		}
		if d.IsDir() && slices.Contains(skippedFolders, d.Name()) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !testName.MatchString(d.Name()) {
			return nil
		}
		if content, err := fs.ReadFile(files, name); err == nil {
			found[name] = ir.DigestBytes(content)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return found
}

// compare lists the tests that are gone and those that were edited.
func (t testFiles) compare(now testFiles) (gone, edited []string) {
	if now == nil {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		switch digest, there := now[name]; {
		case !there:
			gone = append(gone, name)
		case digest != t[name]:
			edited = append(edited, name)
		}
	}
	return gone, edited
}
